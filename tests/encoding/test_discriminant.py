"""Cross-fitted linear discriminants against scikit-learn's, and what a row must not see."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from localbayes import LocalBayesClassifier, load_model, save_model
from localbayes.encoding.columns import RawColumn
from localbayes.encoding.discriminant import learn_discriminant
from localbayes.fields import Fields


def slanted(n=3000, r=3, seed=0):
    """Three columns whose sums part the classes."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 50.0, 3.0]
    score = x[:, 0] + x[:, 1] / 10 + 10 * x[:, 2] + random.normal(size=n)
    return x, np.searchsorted(np.quantile(score, np.arange(1, r) / r), score)


def columns(x):
    return [RawColumn(f"c{i}", numbers=column) for i, column in enumerate(x.T)]


@pytest.mark.parametrize("r", [2, 3, 5])
def test_log_odds_are_those_of_fishers_discriminant(r):
    """Of many rows, five discriminants that lack a fifth each are close to the one of all rows."""
    x, y = slanted(r=r)
    odds = np.column_stack(
        [c.numbers for c in learn_discriminant(columns(x), [0, 1, 2], y).columns(columns(x))]
    )
    share = LinearDiscriminantAnalysis().fit(x, y).predict_proba(x)[:, : odds.shape[1]]
    expected = np.log(share) - np.log1p(-share)
    near = np.abs(expected) < 4
    assert odds.shape[1] == (1 if r == 2 else r)
    assert np.abs(odds - expected)[near].mean() < 0.1


def test_a_row_is_judged_without_its_own_class():
    """Classes that are drawn at random are not told from as many columns as there are half of the rows."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(200, 100)), random.integers(0, 2, 200)
    odds = learn_discriminant(columns(x), range(100), y).columns(columns(x))[0].numbers
    assert 0.4 < ((odds < 0) == y).mean() < 0.6
    assert (LinearDiscriminantAnalysis().fit(x, y).predict(x) == y).mean() > 0.8


def test_weights_are_repeated_rows():
    """A row of weight 2 is the row twice."""
    x, y = slanted(n=300)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    weighted = learn_discriminant(columns(x), [0, 1, 2], y, weights.astype(float))
    repeated = learn_discriminant(columns(np.repeat(x, weights, axis=0)), [0, 1, 2], np.repeat(y, weights))
    np.testing.assert_allclose(weighted.slopes, repeated.slopes, rtol=1e-9)


def test_columns_that_say_nothing_are_not_used():
    """Constants, empty columns and numbers too large to square."""
    x, y = slanted(n=300)
    x = np.column_stack([x, np.full(300, 7.0), np.full(300, np.nan), x[:, 0] * 1e300])
    assert learn_discriminant(columns(x), range(6), y).sources == (0, 1, 2)
    assert learn_discriminant(columns(x), [0, 3], y) is None
    assert learn_discriminant(columns(x), [0, 1], np.zeros(300, np.int64)) is None


def test_slanted_boundaries_are_found_and_saved(tmp_path):
    """A plane through four columns, which steps along the columns find poorly; a saved model has it, too."""
    random = np.random.default_rng(0)
    x = random.normal(size=(900, 4))
    y = x.sum(axis=1) > 0
    model = LocalBayesClassifier().fit(x[:300], y[:300])
    assert model.score(x[300:], y[300:]) > 0.95
    save_model(model, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").predict_proba(x).tobytes() == model.predict_proba(x).tobytes()


@pytest.mark.parametrize("name", ["sources", "centre", "scale", "slopes", "offsets"])
def test_arrays_that_do_not_fit_are_refused(name):
    """In one line."""
    x, y = slanted(n=100)
    found = learn_discriminant(columns(x), [0, 1, 2], y)
    assert type(found).restored(Fields(found.fields()), [0, 1, 2]).sources == (0, 1, 2)
    with pytest.raises(ValueError, match="discriminant"):
        type(found).restored(Fields({**found.fields(), name: found.fields()[name][:2]}), [0, 1, 2])
