"""The statistics of a study, against the paper's figures, textbooks, scipy and enumeration."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from localbayes.study import paper_table, tests
from localbayes.study.comparison import (
    KAPPAS,
    PRINTED_COUNTS,
    RIVALS,
    compare,
    holm_against_reference,
    rank_panel,
    switching_column,
)
from localbayes.study.table import PAPER_COLUMNS
from study_support import friedman_by_ranks

PAPER = paper_table()
PUBLISHED = {
    "friedman-kappa": "0.2366",
    "iman-davenport-kappa": "0.2393",
    "quade-kappa": "0.1449",
    "wilcoxon-LCWNB10": "0.2256",
    "wilcoxon-LCWNB20": "0.08192",
    "middle-count": "3.808e-07",
    "first-count": "0.02835",
    "pattern-m": "8.99e-06",
    "sign-threshold": "0.06625",
    "mean-rank-LCWNB5": "0.05855",
    "mean-rank-LCWNB*": "0.01559",
}
# Figure 2 as the paper prints it.
FIGURE_2 = {
    "n": """
LCWNB5 : 3 1 1 3 3 1 1 2 1 2 3 3 3 3 1 2-1 1 3 3 2 3 3 1 1-1 1 3 1 1 1 3-1 1 2 1
LCWNB10: 2 * * 2 2 2 2 1 2 3 * 2 2 2 2 1-2 2 2 1 1 * 2 2 2-2 2 2 2 2 2 2-2 2 2 2
LCWNB20: 1 * * 1 1 3 3 3 3 1 * 1 1 1 3 3-3 3 1 2 3 * 1 3 3-3 3 1 3 3 3 1-3 3 2 3""",
    "m": """
LCWNB5 : 3-3 3 3-3-2 3-3-2-1 2 3-1-1 3-1 1-1 3-1 3 2-1 1 2 3-1 1 3 1 1-1 1 1 1 1
LCWNB10: 2-2 2 *-*-1 2-2-3-2 1 2-2-2 2-* *-2 2-2 2 2-2 2 1 2-2 2 1 2 2-2 2 2 2 2
LCWNB20: 1-1 1 *-*-3 1-1-1-3 3 1-3-3 1-* *-3 1-3 1 2-3 3 3 1-3 3 2 3 3-3 3 3 3 3""",
    "r": """
LCWNB5 : 3-3-3-3-3-3-2-2-2-2-1-1-1-1-1-1 3-3-1-1 3-1-1 3-3 1-1 2-1-1-1 1 3 3 1 1
LCWNB10: 2-2-2-2-*-*-3-2-1-1-2-2-2-2-2-2 2-2-2-2 2-*-2 2-2 2-2 1-*-2-2 2 1 2 2 2
LCWNB20: 1-1-1-1-*-*-1-2-3-3-3-3-3-3-3-3 1-1-3-3 1-*-3 1-1 3-3 3-*-3-3 3 2 1 3 3""",
}


@pytest.mark.parametrize(("key", "pvalue"), PUBLISHED.items())
def test_published_p_values(key, pvalue):
    """The printed table gives the published p-value of every test."""
    found = {test.key: test for test in compare(PAPER)}[key]
    assert f"{found.paper:.4g}" == pvalue
    assert found.here == found.paper


def test_published_mean_rank_details():
    """LCWNB5 has mean rank 3.0556 among six methods, with s = 0.28362; the switching rule makes it 2.8889."""
    five = tests.mean_rank_test(PAPER.means(["LCWNB5", *RIVALS]))
    assert (round(five.mean_rank, 4), round(five.sd, 5)) == (3.0556, 0.28362)
    switched = np.column_stack([switching_column(PAPER), PAPER.means(RIVALS)])
    assert round(tests.mean_rank_test(switched).mean_rank, 4) == 2.8889


def test_published_average_and_rank_rows():
    """The printed cells give the printed average and mean-rank rows."""
    averages = [85.78, 85.61, 85.14, 82.34, 84.33, 85.07, 85.59, 85.18, 85.20, 85.09]
    ranks = [4.4167, 4.3194, 4.8472, 7.3611, 7.0417, 5.4583, 4.7500, 5.6389, 5.6944, 5.4722]
    # 85.195 is exactly between two figures; the paper prints the upper one.
    found = PAPER.averages(PAPER_COLUMNS)
    assert [round(found[c] + 1e-9, 2) for c in PAPER_COLUMNS] == averages
    assert [round(PAPER.mean_ranks(PAPER_COLUMNS)[c], 4) for c in PAPER_COLUMNS] == ranks


def test_published_counts_row():
    """The printed cells give the printed counts, except two that contradict the cells above them."""
    found = {c: str(PAPER.counts(c)) for c in PAPER_COLUMNS[1:]}
    different = {c for c in found if found[c] != PRINTED_COUNTS[c]}
    assert different == {"WAODE", "ICLNB"}
    # The printed 11 for WAODE: 17 of its means exceed LCWNB5's, 5 of them significantly, and none is equal.
    means = PAPER.means(["LCWNB5", "WAODE"])
    assert ((means[:, 1] > means[:, 0]).sum(), (means[:, 1] == means[:, 0]).sum()) == (17, 0)
    assert found["WAODE"] == "[5/12/15/4]"
    # The printed 14 for ICLNB: 14 means exceed LCWNB5's without significance, and two are equal.
    means = PAPER.means(["LCWNB5", "ICLNB"])
    assert ((means[:, 1] > means[:, 0]).sum(), (means[:, 1] == means[:, 0]).sum()) == (15, 2)
    assert found["ICLNB"] == "[1/15/14/6]"
    assert {c for c in found if PAPER.counts(c).dot} == {"NB", "TAN", "HNB"}


@pytest.mark.parametrize("constant", ["n", "m", "r"])
def test_figure_2_character_by_character(constant):
    """The printed cells and constants give Figure 2 as it is printed."""
    lines, sets = rank_panel(PAPER, constant)
    assert "\n".join(lines) == FIGURE_2[constant].strip()
    values = [getattr(s, constant) for s in sets]
    assert values == sorted(values)


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
    found = tests.quade(sales)
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
    assert tests.nemenyi_critical_difference(methods, 14) == pytest.approx(expected, rel=4e-4)


tables = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).integers(0, 6, size=(8, 4)).astype(float)
)


@given(tables)
def test_friedman_is_the_textbooks(table):
    """The statistic follows from sums of ranks and the sizes of ties; it is 0 where all columns are equal."""
    assert tests.friedman(table) == pytest.approx(friedman_by_ranks(table))
    assert tests.friedman(table[:, :1] + np.zeros(4)) == (0.0, 1.0)


@given(tables)
def test_iman_davenport_is_the_analysis_of_variance_of_ranks(table):
    """Without ties, Iman and Davenport's F is the two-way analysis of variance of the ranks."""
    untied = table + np.arange(4) / 10
    rank = tests.ranks(untied)
    n, k = rank.shape
    columns = n * ((rank.mean(axis=0) - rank.mean()) ** 2).sum()
    rest = ((rank - rank.mean()) ** 2).sum() - columns
    expected = (columns / (k - 1)) / (rest / ((k - 1) * (n - 1))) if rest > 1e-9 else np.inf
    assert tests.iman_davenport(untied).statistic == pytest.approx(expected)


def test_perfect_order_is_certain():
    """Where every row orders the columns alike, the F forms are infinite and p is 0."""
    table = [[3.0, 2.0, 1.0]] * 5
    assert tests.iman_davenport(table) == (np.inf, 0.0)
    assert tests.quade(table) == (np.inf, 0.0)


def test_equal_columns_show_nothing():
    """Where all columns are equal, no test finds a difference."""
    table = np.ones((5, 3))
    assert tests.quade(table) == (0.0, 1.0)
    assert tests.friedman(table) == (0.0, 1.0)
    assert tests.mean_rank_test(table) == (2.0, 0.0, 1.0)
    assert tests.wilcoxon_better(table[:, 0], table[:, 1]) == (0.0, 1.0)


def test_wilcoxon_normal_form():
    """The p-value is that of the textbook's normal approximation without correction for continuity."""
    a, b = np.array([5.0, 9, 4, 8, 7, 12, 3, 10]), np.array([3.0, 4, 5, 2, 4, 4, 7, 9.5])
    difference = a - b
    rank = stats.rankdata(abs(difference))
    n, plus = len(a), rank[difference > 0].sum()
    variance = n * (n + 1) * (2 * n + 1) / 24
    ties = sum(t**3 - t for t in np.unique(rank, return_counts=True)[1]) / 48
    z = (plus - n * (n + 1) / 4) / np.sqrt(variance - ties)
    assert tests.wilcoxon_better(a, b) == pytest.approx((plus, stats.norm.sf(z)))


@given(st.lists(st.integers(-4000, 4000), min_size=2, max_size=60, unique_by=abs))
def test_wilcoxon_of_few_sets_is_scipys(hundredths):
    """Without ties and zeros the p-value is that of scipy's own choice between exact and normal."""
    if 0 not in hundredths:
        second = np.arange(len(hundredths)) + 40.0
        first = second + np.array(hundredths) / 100
        expected = stats.wilcoxon(hundredths, method="auto").pvalue
        assert tests.wilcoxon_different(first, second) == pytest.approx(expected)


def test_wilcoxon_by_enumeration():
    """The exact p-value is the share of all signs that are as extreme; a set that is equal does not count."""
    difference = [0.0, 0.03, -0.07, 1.1, 2.0, 3.5, -0.01]
    rank = stats.rankdata(np.abs(difference[1:]))
    signs = list(itertools.product((-1, 1), repeat=6))
    seen = abs(rank @ np.sign(difference[1:]))
    share = np.mean([abs(rank @ np.array(s)) >= seen for s in signs])
    assert tests.wilcoxon_different(np.add(difference, 80), np.full(7, 80.0)) == pytest.approx(share)
    # 80.1 - 80 and 70.1 - 70 are equal on paper only: the normal form, which has a place for ties.
    tied = stats.wilcoxon([10, 10, 30, -5], method="approx").pvalue
    found = tests.wilcoxon_different([80.1, 70.1, 60.3, 50.0], [80.0, 70.0, 60.0, 50.05])
    assert found == pytest.approx(tied)
    assert tests.wilcoxon_different([80.1], [80.1]) == 1.0


def test_each_column_against_the_reference_is_exact_on_few_sets():
    """On five sets that LCWNB5 wins, the p-value is 2 / 2^5."""
    sets = [s.name for s in PAPER.sets if PAPER.cells[s.name, "LCWNB5"].mean > PAPER.cells[s.name, "NB"].mean]
    part = PAPER.only(sets[:5], ["LCWNB5", "NB"])
    assert holm_against_reference(part) == {"NB": pytest.approx((1 / 16, 1 / 16))}


def test_all_columns_are_tested_beside_the_papers():
    """A column of one's own adds the test of all columns, and moves none of the paper's."""
    extra = {(s.name, "Mine"): PAPER.cells[s.name, "NB"] for s in PAPER.sets}
    mine = replace(PAPER, columns=(*PAPER_COLUMNS, "Mine"), cells=PAPER.cells | extra)
    found = {test.key: test for test in compare(mine)}
    every = found["friedman-every-column"]
    assert (every.here_statistic, every.here) == pytest.approx(friedman_by_ranks(mine.means(mine.columns)))
    assert every.paper is None
    assert "all 11 columns are equal, on 36 sets: LCWNB5, " in every.question
    before = {test.key: test for test in compare(PAPER)}
    assert {key: found[key] for key in before} == before
    assert not any("every-column" in key for key in before)


def with_own_sets(papers: list[str], own: list[str], columns: list[str]):
    """The printed figures of some data sets, of which some go by the name of one's own."""
    part = PAPER.only([*papers, *own], columns)
    sets = tuple(replace(s, name=f"my {s.name}", paper=False) if s.name in own else s for s in part.sets)
    named = {s.name: t.name for s, t in zip(part.sets, sets, strict=True)}
    cells = {(named[name], column): cell for (name, column), cell in part.cells.items()}
    return replace(part, sets=sets, cells=cells)


@pytest.mark.parametrize(
    ("papers", "words"), [([], "3 sets of one's own"), (["glass", "iris"], "5 sets, 3 of them one's own")]
)
def test_data_sets_of_ones_own_are_tested_too(papers, words):
    """Friedman over all data sets is scipy's, and stands beside the test of the paper's sets."""
    columns = ["LCWNB5", "NB", "TAN", "AODE"]
    mine = with_own_sets(papers, ["labor", "vote", "breast-cancer"], columns)
    found = {test.key: test for test in compare(mine)}
    every = found["friedman-every-column"]
    expected = stats.friedmanchisquare(*mine.means(columns).T)
    assert (every.here_statistic, every.here) == pytest.approx((expected.statistic, expected.pvalue))
    assert every.question == f"all 4 columns are equal, on {words}: {', '.join(columns)}"
    f = found["iman-davenport-every-column"]
    n, chi_squared = len(mine.sets), expected.statistic
    assert f.here_statistic == pytest.approx((n - 1) * chi_squared / (n * 3 - chi_squared))
    assert every.paper is f.paper is None
    of_the_paper = found.get("friedman-all")
    if papers:
        printed = friedman_by_ranks(PAPER.only(papers, columns).means(columns))
        assert (of_the_paper.paper_statistic, of_the_paper.paper) == pytest.approx(printed)
        assert of_the_paper.question == "the 4 columns of the paper are equal, on 2 sets of the paper"
    else:
        assert of_the_paper is None


def test_a_column_on_ones_own_sets_alone_empties_no_test_of_the_papers():
    """TAN without a result on the paper's sets leaves the test of the others as it was."""
    mine = with_own_sets(["glass", "iris", "vote"], ["labor"], list(PAPER_COLUMNS))
    lacking = {key: c for key, c in mine.cells.items() if key[1] != "TAN" or key[0] == "my labor"}
    found = {test.key: test for test in compare(replace(mine, cells=lacking))}["friedman-all"]
    others = [c for c in PAPER_COLUMNS if c != "TAN"]
    _, pvalue = friedman_by_ranks(PAPER.only(["glass", "iris", "vote"], others).means(others))
    assert found.here == found.paper == pytest.approx(pvalue)


def test_both_sides_rest_on_the_same_data_sets():
    """Where columns have different data sets, the paper's side is that of the sets that they share."""
    wide, narrow = ["iris", "glass", "labor", "vote", "breast-cancer"], ["iris", "glass", "labor"]
    few = PAPER.only(wide, PAPER_COLUMNS)
    cells = {key: c for key, c in few.cells.items() if key[1] in (*KAPPAS, "NB") or key[0] in narrow}
    found = {test.key: test for test in compare(replace(few, cells=cells))}
    # Every cell is the printed one, so that the two sides can differ in their data sets only.
    assert all(test.paper == test.here for test in found.values())
    _, pvalue = friedman_by_ranks(PAPER.only(narrow, PAPER_COLUMNS).means(PAPER_COLUMNS))
    assert found["friedman-all"].paper == pytest.approx(pvalue)
    assert found["friedman-all"].question.endswith("on 3 sets of the paper")
    ranks = PAPER.only(narrow, ["LCWNB5", *RIVALS]).mean_ranks(["LCWNB5", *RIVALS])
    assert found["mean-rank-LCWNB5"].paper_statistic == pytest.approx(ranks["LCWNB5"])
    _, pvalue = friedman_by_ranks(PAPER.only(wide, KAPPAS).means(KAPPAS))
    assert found["friedman-kappa"].paper == pytest.approx(pvalue)
    assert found["friedman-kappa"].question == "kappa 5, 10 and 20 are equal, on 5 sets of the paper"


def test_wins_that_chance_cannot_exceed():
    """Three wins of three have chance 1/8, so no number is asked for; four of four have 1/16."""
    names = [s.name for s in PAPER.sets]
    keys = {test.key for test in compare(PAPER.only(names[:3], PAPER_COLUMNS))}
    assert "sign-threshold" not in keys
    found = {test.key: test for test in compare(PAPER.only(names[:4], PAPER_COLUMNS))}["sign-threshold"]
    assert (found.here, found.here_statistic) == (pytest.approx(1 / 16), 4)


@pytest.mark.parametrize("count", [0, 3, 6.5, 10])
def test_binomial_by_addition(count):
    """The tail is the sum of its terms; a half counts as the next whole number."""
    terms = [stats.binom.pmf(j, 10, 0.3) for j in range(11) if j >= count]
    assert tests.binomial_at_least(count, 10, 0.3) == pytest.approx(sum(terms))


def test_permutation_bounds_by_enumeration():
    """On a small table the bounds are those of all permutations."""
    table = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0], [9.0, 5.0, 1.0]])
    farthest = sorted(
        abs(np.mean(rows, axis=0) - table.mean()).max()
        for rows in itertools.product(*(list(itertools.permutations(row)) for row in table))
    )
    bounds = tests.permutation_bounds(table, permutations=9999, level=0.8)
    reach = bounds.high - table.mean()
    assert (bounds.low + bounds.high) / 2 == pytest.approx(table.mean())
    share = np.mean(np.array(farthest) < reach + 1e-9)
    assert share >= 0.78
    assert np.mean(np.array(farthest) < reach - 1e-9) <= 0.82


def test_permutation_bounds_are_repeatable():
    """The same seed gives the same bounds, whatever the size of the chunks."""
    means = PAPER.means(PAPER_COLUMNS)
    assert tests.permutation_bounds(means) == tests.permutation_bounds(means)
    assert tests.permutation_bounds(means, seed=1) != tests.permutation_bounds(means, seed=2)


def test_figure_1_of_the_paper_rejects_equality():
    """In both measures a bar lies outside the bounds, as the paper says of its Figure 1: NB's."""
    for values, of in (
        (PAPER.means(PAPER_COLUMNS), "low"),
        (tests.ranks(PAPER.means(PAPER_COLUMNS)), "high"),
    ):
        bounds = tests.permutation_bounds(values)
        nb = values.mean(axis=0)[PAPER_COLUMNS.index("NB")]
        assert nb < bounds.low if of == "low" else nb > bounds.high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_its_definition(pvalues):
    """An adjusted p-value is the largest, over smaller ones, of p times the number not smaller."""
    order = sorted(range(len(pvalues)), key=lambda i: pvalues[i])
    expected = {}
    for place, i in enumerate(order):
        steps = [pvalues[order[j]] * (len(pvalues) - j) for j in range(place + 1)]
        expected[i] = min(1.0, max(steps))
    assert tests.holm(pvalues) == pytest.approx([expected[i] for i in range(len(pvalues))])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tests.friedman([[1.0, 2.0]]), "3 methods"),
        (lambda: tests.quade([[1.0, 2.0, 3.0]]), "2 data sets"),
        (lambda: tests.ranks([[1.0, np.nan]]), "NaN"),
        (lambda: tests.nemenyi_critical_difference(1, 5), "at least 2 methods"),
    ],
)
def test_too_little_to_compare(call, message):
    """A test that cannot be computed says what it needs."""
    with pytest.raises(ValueError, match=message):
        call()


def test_fewer_sets_and_columns():
    """On part of the table, only the tests that it allows are made, on both sides alike."""
    part = PAPER.only(["iris", "vote", "glass", "zoo"], [*KAPPAS, "NB"])
    keys = {test.key for test in compare(part)}
    assert {"friedman-kappa", "sign-threshold", "friedman-all"} <= keys
    assert not keys & {"pattern-m", "mean-rank-LCWNB5", "mean-rank-LCWNB*"}
    assert all(test.paper == test.here for test in compare(part))
    assert compare(PAPER.only([], PAPER_COLUMNS)) == []
