"""Learning in parts gives what one fit gives, however rows are cut and whoever adds them."""

import numpy as np
import pytest

from busy_threads import run_at_once
from localbayes.classifiers import METHODS

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def split_table(random):
    """A small table of undeclared text in which values may come late, and where to cut it."""
    n, m = random.integers(4, 14), random.integers(2, 5)
    X = np.array(["d", "b", "e", "a", "c"])[random.integers(0, random.integers(2, 6), (n, m))].astype(object)
    y = np.array(["no", "yes", "maybe"])[random.integers(0, random.integers(2, 4), n)]
    return X, y, random.integers(1, n)


@every_method
def test_two_parts_give_what_one_fit_gives(method):
    """Over 2,000 random tables and cuts, also where values that nobody declared come in the second part."""
    random = np.random.default_rng(5)
    for _ in range(2000):
        X, y, cut = split_table(random)
        whole = method().fit(X, y)
        parts = method().partial_fit(X[:cut], y[:cut], classes=whole.classes_).partial_fit(X[cut:], y[cut:])
        np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-12)


def test_a_tree_does_not_depend_on_the_order_of_values():
    """Equal gains fall the same way, so that parts grow the tree that a fit on all rows grows."""
    random, late = np.random.default_rng(8), 0
    for _ in range(3000):
        X, y, cut = split_table(random)
        whole = METHODS["TAN"]().fit(X, y)
        parts = METHODS["TAN"]().partial_fit(X[:cut], y[:cut], classes=whole.classes_)
        late += (parts.sizes_ < whole.sizes_).any()
        parts.partial_fit(X[cut:], y[cut:])
        assert parts.parents_.tolist() == whole.parents_.tolist()
    assert late > 1000


@every_method
def test_threads_that_teach_one_classifier_lose_no_row(method):
    """Two threads add rows to the same classifier at the same time; all rows are there afterwards."""
    X, y = [["a", "b"], ["b", "c"], ["a", "c"]], [0, 1, 0]
    model = method().partial_fit(X, y)

    def teach():
        for _ in range(30):
            model.partial_fit(X, y)

    run_at_once(teach, teach)
    assert model.class_count_.tolist() == [2 * 61, 61]
    expected = method().fit(X * 61, y * 61).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)
