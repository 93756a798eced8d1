"""The distance of the local Bayes classifier: columns of noise count less than those that tell something."""

import numpy as np
import pytest

from localbayes import LocalBayesClassifier
from localbayes.classifiers.local_distance import LocalDistance, column_weights, relevance


def with_noise(seed, n=300):
    """A number and a category that tell the class, and four columns that are drawn without it."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    number = np.clip(random.integers(0, 12, n) + 6 * y, 0, 19)
    name = np.where(random.random(n) < 0.8, y, 1 - y)
    noise = [random.integers(0, 20, n), random.integers(0, 20, n), random.integers(0, 4, n), np.zeros(n, int)]
    codes = np.column_stack([number, name, *noise]).astype(np.uint8)
    return codes, y, np.array([20, 2, 20, 20, 4, 1], np.uint32), (20, 0, 20, 20, 0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_noise_are_told_from_others(seed):
    """They have little relevance, and count little in the distance; a constant has none."""
    codes, y, sizes, ordered = with_noise(seed)
    plain, ones = LocalDistance(ordered, 6), np.ones(len(y))
    found = relevance(plain, sizes, codes, y, ones)
    assert found[:2].min() > 0.99
    assert found[2:5].mean() < 0.6
    assert found[5] == 0
    weights = column_weights(plain, sizes, codes, y, ones, False, found).weights
    alike = column_weights(plain, sizes, codes, y, ones, False, np.ones(6)).weights
    assert np.mean(weights[2:]) < 0.5 * min(weights[:2])
    assert sum(weights[2:]) < sum(alike[2:])


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_tell_only_together_still_count(seed):
    """The parity of two columns, neither of which tells anything alone, is learned beside three of noise."""
    bits = np.random.default_rng(seed).integers(0, 2, (300, 5))
    X, y = bits.astype(str), bits[:, 0] ^ bits[:, 1]
    model = LocalBayesClassifier().fit(X[:200], y[:200])
    assert (model.predict(X[200:]) == y[200:]).all()


def test_constant_columns_decide_nothing():
    """Where all columns are constant, none is weighed against the others."""
    codes = np.zeros((20, 2), np.uint8)
    plain = LocalDistance((0, 0), 2)
    found = relevance(plain, np.array([1, 1], np.uint32), codes, np.arange(20) % 2, np.ones(20))
    assert found.tolist() == [1.0, 1.0]


def test_values_that_are_missing_or_new_are_left_aside():
    """Codes at the number of values and above are neither; the other rows decide."""
    codes, y, sizes, ordered = with_noise(0)
    holes = codes.copy()
    holes[::3, 0] = 255
    plain = LocalDistance(ordered, 6)
    found = relevance(plain, sizes, holes, y, np.ones(len(y)))
    rest = np.arange(len(y)) % 3 != 0
    alone = relevance(plain, sizes, codes[rest], y[rest], np.ones(rest.sum()))
    np.testing.assert_allclose(found[:1], alone[:1], rtol=1e-12)
