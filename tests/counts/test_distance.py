"""Distances between values: what a researcher gives is what is added up, and what is none is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from localbayes.classifiers import ICLNB, LCWNB, LWNB
from localbayes.counts import HAMMING, Distance, MatchIndex, Ordered
from localbayes.encoding import Coded

LAZY = [LCWNB, LWNB, ICLNB]


class Tables(Distance):
    """Tables as they are given, one for every attribute."""

    def __init__(self, tables):
        self.tables = tables

    def table(self, attribute, size):
        """The table of an attribute."""
        return self.tables[attribute]


@st.composite
def problems(draw, most_rows=40):
    """Random tables of distances, not symmetric, with rows and a query."""
    m, r = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 5), min_size=m, max_size=m))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = [rng.integers(0, 8, (q, q)) * (1 - np.eye(q, dtype=int)) for q in sizes]
    n = draw(st.integers(r, most_rows))
    codes = rng.integers(0, sizes, (n, m))
    classes = np.append(np.arange(r), rng.integers(0, r, n - r))  # every class occurs
    return tables, sizes, codes, classes, r, rng.integers(0, sizes)


def distances_by_hand(tables, codes, query):
    """Distance of every row: the sum of the tables' numbers, value by value."""
    return [sum(int(table[query[i]][row[i]]) for i, table in enumerate(tables)) for row in codes.tolist()]


@settings(max_examples=60)
@given(problem=problems())
def test_rows_are_counted_at_the_sum_of_the_tables(problem):
    """V[y, d] is the number of rows of class y whose numbers in the tables sum to d, and C of those agree."""
    tables, sizes, codes, classes, r, query = problem
    index = MatchIndex(np.array(sizes, np.uint32), r, distance=Tables(tables))
    index.add(codes.astype(np.uint8), classes)
    counts = index.count(query[None].astype(np.uint8))
    V = np.zeros(counts.distance_counts.shape[1:], int)
    C = np.zeros((*V.shape, len(sizes)), int)
    for row, y, d in zip(codes, classes, distances_by_hand(tables, codes, query), strict=True):
        V[y, d] += 1
        C[y, d] += row == query
    np.testing.assert_array_equal(counts.distance_counts[0], V)
    np.testing.assert_array_equal(counts.match_counts[0], C)
    assert V.shape[1] == 1 + sum(int(table.max()) for table in tables)


@settings(max_examples=40)
@given(problem=problems(), size=st.integers(1, 12))
def test_lazy_classifiers_weigh_rows_by_a_distance_of_ones_own(problem, size):
    """Their formulas on weights that were found by looking at every row; LWNB and ICLNB in fractions."""
    tables, sizes, codes, classes, r, query = problem
    d = distances_by_hand(tables, codes, query)
    farthest, most = sorted(d)[:size][-1], sum(int(table.max()) for table in tables)
    linear = [1 - Fraction(k, farthest) if k < farthest else Fraction(0) for k in d]
    linear = linear if any(linear) else [Fraction(int(k == farthest)) for k in d]
    V = np.zeros((r, most + 1), int)
    np.add.at(V, (classes, d), 1)
    gamma = [oracle.solve_gamma(V[y], size) for y in range(r)]
    cells = [gamma[y] ** k for y, k in zip(classes, d, strict=True)]
    weights = {
        LWNB(size): [w * sum(map(bool, linear)) / sum(linear) for w in linear],
        ICLNB(size): [1 + most - k if k <= farthest else 0 for k in d],
        LCWNB(size): [Fraction(w) * Fraction(sum(cells) / sum(w * w for w in cells)) for w in cells],
    }
    for model, by_hand in weights.items():
        model.set_params(distance=Tables(tables)).fit(Coded(codes, sizes), classes)
        S, T = oracle.weighted_sums(codes, classes, r, query, by_hand.__getitem__)
        scores = oracle.naive_bayes_scores(S, T, sizes)
        proba = np.exp(scores - np.logaddexp.reduce(scores))
        np.testing.assert_allclose(model.predict_proba(Coded([query], sizes))[0], proba, rtol=1e-9)


@pytest.mark.parametrize("method", LAZY)
def test_hammings_distance_by_tables_is_hammings_distance(method):
    """A table of ones off the diagonal gives the same probabilities as the word "hamming"."""
    rng = np.random.default_rng(0)
    sizes = [3, 2, 4]
    X, y = Coded(rng.integers(0, sizes, (60, 3)), sizes), rng.integers(0, 3, 60)
    named = method(distance="hamming").fit(X, y).predict_proba(X)
    given_ = method(distance=Tables([1 - np.eye(q, dtype=int) for q in sizes])).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(given_, named, rtol=1e-12)
    np.testing.assert_array_equal(HAMMING.table(0, 3), 1 - np.eye(3))


@pytest.mark.parametrize("method", LAZY)
def test_the_word_ordered_means_differences_of_bins_up_to_three(method):
    """A number: differences of its ten bins, three at most. A nominal value that differs: three."""
    rng = np.random.default_rng(1)
    X = [[float(x), str(c)] for x, c in zip(rng.random(80), rng.integers(0, 3, 80), strict=True)]
    y = rng.integers(0, 2, 80)
    bins = np.arange(10)
    tables = [np.minimum(abs(bins[:, None] - bins), 3), 3 * (1 - np.eye(3, dtype=int))]
    named = method(distance="ordered").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(method(distance=Tables(tables)).fit(X, y).predict_proba(X), named, rtol=1e-12)


@given(bins=st.integers(0, 9), more=st.integers(0, 3), cap=st.integers(1, 7))
def test_ordered_tables_value_by_value(bins, more, cap):
    """Bins differ by their numbers up to the cap; a value that is no bin is the cap away from all others."""
    size = bins + more
    table = Ordered((bins,), cap=cap).table(0, size)
    for a in range(size):
        for b in range(size):
            both_bins = a < bins and b < bins
            assert table[a, b] == (0 if a == b else min(abs(a - b), cap) if both_bins else cap)


def square(number):
    """A 2 by 2 table with a number off the diagonal."""
    return np.array([[0, number], [number, 0]])


BAD_TABLES = {
    "negative": (square(-1), "must hold whole numbers from 0 to 7, got -1"),
    "not whole": (square(0.5), "must hold whole numbers from 0 to 7, got 0.5"),
    "above seven": (square(8), "must hold whole numbers from 0 to 7, got 8"),
    "not a number": (square(np.nan), "must hold whole numbers from 0 to 7, got nan"),
    "infinite": (square(np.inf), "must hold whole numbers from 0 to 7, got inf"),
    "not zero at agreement": (np.ones((2, 2), int), "must be 0 for a value and itself, got 1"),
    "too wide": (np.zeros((2, 3), int), r"must be numbers of shape \(2, 2\), got int64 of shape \(2, 3\)"),
    "flat": (np.zeros(4, int), r"must be numbers of shape \(2, 2\), got int64 of shape \(4,\)"),
    "text": (np.full((2, 2), "near"), r"must be numbers of shape \(2, 2\), got <U4"),
    "complex": (square(1j), r"must be numbers of shape \(2, 2\), got complex128"),
    "nothing": (None, r"must be numbers of shape \(2, 2\), got object of shape \(\)"),
}


@pytest.mark.parametrize("method", LAZY)
@pytest.mark.parametrize("bad", BAD_TABLES)
def test_a_table_that_is_no_distance_is_refused(method, bad):
    """One line that names the class, the attribute and what came; the second attribute is at fault."""
    table, message = BAD_TABLES[bad]
    model = method(distance=Tables([square(1), table]))
    with pytest.raises(ValueError, match=rf"^Tables\.table of attribute 1 {message}") as caught:
        model.fit(Coded([[0, 0], [1, 1]], [2, 2]), [0, 1])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", LAZY)
@pytest.mark.parametrize("bad", ["euclid", 3, None, Distance, [[0, 1], [1, 0]]])
def test_what_is_no_distance_at_all_is_refused(method, bad):
    """A word that is not known, a number, a class in place of an object, a bare table."""
    with pytest.raises(ValueError, match="distance must be 'hamming', 'ordered' or a"):
        method(distance=bad).fit([["a"], ["b"]], [0, 1])


def test_the_largest_distance_is_accepted():
    """Seven is a distance, and the rows are that far."""
    index = MatchIndex(np.array([2, 2], np.uint32), 1, distance=Tables([square(7), square(7)]))
    index.add(np.array([[0, 0], [0, 1], [1, 1]], np.uint8), np.zeros(3, int))
    V = index.count(np.array([[0, 0]], np.uint8)).distance_counts[0, 0]
    assert np.repeat(np.arange(15), V).tolist() == [0, 7, 14]


@pytest.mark.parametrize(
    ("agreement", "unit", "message"),
    [
        (-np.eye(3), 1.0, "whole numbers from 0 to 7, got -1"),
        (np.eye(3) / 2, 1.0, "whole numbers from 0 to 7, got 0.5"),
        (np.eye(2), 1.0, r"numbers of shape \(3, 3\)"),
        (np.eye(3), 0.0, "a unit > 0, got 0.0"),
    ],
    ids=["negative", "fraction", "shape", "unit"],
)
def test_what_is_no_agreement_is_refused(agreement, unit, message):
    """Agreement is whole numbers from 0 to 7 in a positive unit."""

    class Strange(Distance):
        def table(self, attribute, size):
            return 1 - np.eye(size)

        def agreement(self, attribute, size):
            return agreement, unit

    with pytest.raises(ValueError, match=message):
        LCWNB(1, distance=Strange()).fit([["a"], ["b"], ["c"]], [0, 1, 1])


def test_a_distance_that_is_none_is_refused():
    """Arrays and other objects are no distances, and the message says what is."""
    with pytest.raises(ValueError, match="distance must be 'hamming', 'ordered' or a localbayes"):
        LCWNB(1, distance=np.eye(2)).fit([["a"], ["b"]], [0, 1])
