"""The statistics of a study, against textbooks, scipy and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from localbayes.study import paper_table, significance
from localbayes.study.paper.printed_table import PAPER_COLUMNS
from study_support import friedman_by_ranks

PAPER = paper_table()


def test_quade_textbook_example():
    """Conover's example of seven stores and five brands has F = 3.8293 and p = 0.01519."""
    sales = [
        [5, 4, 7, 10, 12],
        [1, 3, 1, 0, 2],
        [16, 12, 22, 22, 35],
        [5, 4, 3, 5, 4],
        [10, 9, 7, 13, 10],
        [19, 18, 28, 37, 58],
        [10, 7, 6, 8, 7],
    ]
    found = significance.quade(sales)
    assert (round(found.statistic, 4), round(found.pvalue, 5)) == (3.8293, 0.01519)


@pytest.mark.parametrize(
    ("methods", "quantile"),
    [
        (2, 1.960),
        (3, 2.343),
        (4, 2.569),
        (5, 2.728),
        (6, 2.850),
        (7, 2.949),
        (8, 3.031),
        (9, 3.102),
        (10, 3.164),
    ],
)
def test_nemenyi_against_published_quantiles(methods, quantile):
    """Demsar's critical values at 5 %, rounded to three digits, give the same differences."""
    expected = quantile * np.sqrt(methods * (methods + 1) / (6 * 14))
    assert significance.nemenyi_critical_difference(methods, 14) == pytest.approx(expected, rel=4e-4)


tables = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).integers(0, 6, size=(8, 4)).astype(float)
)


@given(tables)
def test_friedman_is_the_textbooks(table):
    """The statistic follows from sums of ranks and the sizes of ties; it is 0 where all columns are equal."""
    assert significance.friedman(table) == pytest.approx(friedman_by_ranks(table))
    assert significance.friedman(table[:, :1] + np.zeros(4)) == (0.0, 1.0)


@given(tables)
def test_iman_davenport_is_the_analysis_of_variance_of_ranks(table):
    """Without ties, Iman and Davenport's F is the two-way analysis of variance of the ranks."""
    untied = table + np.arange(4) / 10
    rank = significance.ranks(untied)
    n, k = rank.shape
    columns = n * ((rank.mean(axis=0) - rank.mean()) ** 2).sum()
    rest = ((rank - rank.mean()) ** 2).sum() - columns
    expected = (columns / (k - 1)) / (rest / ((k - 1) * (n - 1))) if rest > 1e-9 else np.inf
    assert significance.iman_davenport(untied).statistic == pytest.approx(expected)


def test_perfect_order_is_certain():
    """Where every row orders the columns alike, the F forms are infinite and p is 0."""
    table = [[3.0, 2.0, 1.0]] * 5
    assert significance.iman_davenport(table) == (np.inf, 0.0)
    assert significance.quade(table) == (np.inf, 0.0)


def test_equal_columns_show_nothing():
    """Where all columns are equal, no test finds a difference."""
    table = np.ones((5, 3))
    assert significance.quade(table) == (0.0, 1.0)
    assert significance.friedman(table) == (0.0, 1.0)
    assert significance.mean_rank_test(table) == (2.0, 0.0, 1.0)
    assert significance.wilcoxon_better(table[:, 0], table[:, 1]) == (0.0, 1.0)


def test_wilcoxon_normal_form():
    """The p-value is that of the textbook's normal approximation without correction for continuity."""
    a, b = np.array([5.0, 9, 4, 8, 7, 12, 3, 10]), np.array([3.0, 4, 5, 2, 4, 4, 7, 9.5])
    difference = a - b
    rank = stats.rankdata(abs(difference))
    n, plus = len(a), rank[difference > 0].sum()
    variance = n * (n + 1) * (2 * n + 1) / 24
    ties = sum(t**3 - t for t in np.unique(rank, return_counts=True)[1]) / 48
    z = (plus - n * (n + 1) / 4) / np.sqrt(variance - ties)
    assert significance.wilcoxon_better(a, b) == pytest.approx((plus, stats.norm.sf(z)))


@given(st.lists(st.integers(-4000, 4000), min_size=2, max_size=60, unique_by=abs))
def test_wilcoxon_of_few_sets_is_scipys(hundredths):
    """Without ties and zeros the p-value is that of scipy's own choice between exact and normal."""
    if 0 not in hundredths:
        second = np.arange(len(hundredths)) + 40.0
        first = second + np.array(hundredths) / 100
        expected = stats.wilcoxon(hundredths, method="auto").pvalue
        assert significance.wilcoxon_different(first, second) == pytest.approx(expected)


def test_wilcoxon_by_enumeration():
    """The exact p-value is the share of all signs that are as extreme; a set that is equal does not count."""
    difference = [0.0, 0.03, -0.07, 1.1, 2.0, 3.5, -0.01]
    rank = stats.rankdata(np.abs(difference[1:]))
    signs = list(itertools.product((-1, 1), repeat=6))
    seen = abs(rank @ np.sign(difference[1:]))
    share = np.mean([abs(rank @ np.array(s)) >= seen for s in signs])
    assert significance.wilcoxon_different(np.add(difference, 80), np.full(7, 80.0)) == pytest.approx(share)
    # 80.1 - 80 and 70.1 - 70 are equal on paper only: the normal form, which has a place for ties.
    tied = stats.wilcoxon([10, 10, 30, -5], method="approx").pvalue
    found = significance.wilcoxon_different([80.1, 70.1, 60.3, 50.0], [80.0, 70.0, 60.0, 50.05])
    assert found == pytest.approx(tied)
    assert significance.wilcoxon_different([80.1], [80.1]) == 1.0


@pytest.mark.parametrize("count", [0, 3, 6.5, 10])
def test_binomial_by_addition(count):
    """The tail is the sum of its terms; a half counts as the next whole number."""
    terms = [stats.binom.pmf(j, 10, 0.3) for j in range(11) if j >= count]
    assert significance.binomial_at_least(count, 10, 0.3) == pytest.approx(sum(terms))


def test_permutation_bounds_by_enumeration():
    """On a small table the bounds are those of all permutations."""
    table = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0], [9.0, 5.0, 1.0]])
    farthest = sorted(
        abs(np.mean(rows, axis=0) - table.mean()).max()
        for rows in itertools.product(*(list(itertools.permutations(row)) for row in table))
    )
    bounds = significance.permutation_bounds(table, permutations=9999, level=0.8)
    reach = bounds.high - table.mean()
    assert (bounds.low + bounds.high) / 2 == pytest.approx(table.mean())
    share = np.mean(np.array(farthest) < reach + 1e-9)
    assert share >= 0.78
    assert np.mean(np.array(farthest) < reach - 1e-9) <= 0.82


def test_permutation_bounds_are_repeatable():
    """The same seed gives the same bounds, whatever the size of the chunks."""
    means = PAPER.means(PAPER_COLUMNS)
    assert significance.permutation_bounds(means) == significance.permutation_bounds(means)
    assert significance.permutation_bounds(means, seed=1) != significance.permutation_bounds(means, seed=2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_its_definition(pvalues):
    """An adjusted p-value is the largest, over smaller ones, of p times the number not smaller."""
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    expected = {}
    for place, i in enumerate(order):
        steps = [pvalues[order[j]] * (len(pvalues) - j) for j in range(place + 1)]
        expected[i] = min(1.0, max(steps))
    assert significance.holm(pvalues) == pytest.approx([expected[i] for i in range(len(pvalues))])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: significance.friedman([[1.0, 2.0]]), "3 methods"),
        (lambda: significance.quade([[1.0, 2.0, 3.0]]), "2 data sets"),
        (lambda: significance.ranks([[1.0, np.nan]]), "NaN"),
        (lambda: significance.nemenyi_critical_difference(1, 5), "at least 2 methods"),
    ],
)
def test_too_little_to_compare(call, message):
    """A test that cannot be computed says what it needs."""
    with pytest.raises(ValueError, match=message):
        call()
