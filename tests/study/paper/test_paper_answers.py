"""The paper's tests: its printed table gives the published figures, part of it what part allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localbayes.study import paper_table, significance
from localbayes.study.comparison import compare
from localbayes.study.paper.kappa_ranks import rank_panel
from localbayes.study.paper.paper_answers import switching_column
from localbayes.study.paper.paper_columns import KAPPAS, RIVALS
from localbayes.study.paper.printed_table import PAPER_COLUMNS, PRINTED_COUNTS
from paper_figures import FIGURE_2, PUBLISHED
from study_support import friedman_by_ranks

PAPER = paper_table()


@pytest.mark.parametrize(("key", "pvalue"), PUBLISHED.items())
def test_published_p_values(key, pvalue):
    """The printed table gives the published p-value of every test."""
    found = {test.key: test for test in compare(PAPER)}[key]
    assert f"{found.published:.4g}" == pvalue
    assert found.here == found.published


def test_published_mean_rank_details():
    """LCWNB5 has mean rank 3.0556 among six methods, with s = 0.28362; the switching rule makes it 2.8889."""
    five = significance.mean_rank_test(PAPER.means(["LCWNB5", *RIVALS]))
    assert (round(five.mean_rank, 4), round(five.sd, 5)) == (3.0556, 0.28362)
    switched = np.column_stack([switching_column(PAPER), PAPER.means(RIVALS)])
    assert round(significance.mean_rank_test(switched).mean_rank, 4) == 2.8889


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


def with_own_sets(papers: list[str], own: list[str], columns: list[str]):
    """The printed figures of some data sets, of which some go by the name of one's own."""
    part = PAPER.only([*papers, *own], columns)
    sets = tuple(replace(s, name=f"my {s.name}", published=False) if s.name in own else s for s in part.sets)
    named = {s.name: t.name for s, t in zip(part.sets, sets, strict=True)}
    cells = {(named[name], column): cell for (name, column), cell in part.cells.items()}
    return replace(part, sets=sets, cells=cells)


def test_a_column_on_ones_own_sets_alone_empties_no_test_of_the_papers():
    """TAN without a result on the paper's sets leaves the test of the others as it was."""
    mine = with_own_sets(["glass", "iris", "vote"], ["labor"], list(PAPER_COLUMNS))
    lacking = {key: c for key, c in mine.cells.items() if key[1] != "TAN" or key[0] == "my labor"}
    found = {test.key: test for test in compare(replace(mine, cells=lacking))}["friedman-all"]
    others = [c for c in PAPER_COLUMNS if c != "TAN"]
    _, pvalue = friedman_by_ranks(PAPER.only(["glass", "iris", "vote"], others).means(others))
    assert found.here == found.published == pytest.approx(pvalue)


def test_both_sides_rest_on_the_same_data_sets():
    """Where columns have different data sets, the paper's side is that of the sets that they share."""
    wide, narrow = ["iris", "glass", "labor", "vote", "breast-cancer"], ["iris", "glass", "labor"]
    few = PAPER.only(wide, PAPER_COLUMNS)
    cells = {key: c for key, c in few.cells.items() if key[1] in (*KAPPAS, "NB") or key[0] in narrow}
    found = {test.key: test for test in compare(replace(few, cells=cells))}
    # Every cell is the printed one, so that the two sides can differ in their data sets only.
    assert all(test.published == test.here for test in found.values())
    _, pvalue = friedman_by_ranks(PAPER.only(narrow, PAPER_COLUMNS).means(PAPER_COLUMNS))
    assert found["friedman-all"].published == pytest.approx(pvalue)
    assert found["friedman-all"].question.endswith("on 3 sets of the paper")
    ranks = PAPER.only(narrow, ["LCWNB5", *RIVALS]).mean_ranks(["LCWNB5", *RIVALS])
    assert found["mean-rank-LCWNB5"].published_statistic == pytest.approx(ranks["LCWNB5"])
    _, pvalue = friedman_by_ranks(PAPER.only(wide, KAPPAS).means(KAPPAS))
    assert found["friedman-kappa"].published == pytest.approx(pvalue)
    assert found["friedman-kappa"].question == "kappa 5, 10 and 20 are equal, on 5 sets of the paper"


def test_wins_that_chance_cannot_exceed():
    """Three wins of three have chance 1/8, so no number is asked for; four of four have 1/16."""
    names = [s.name for s in PAPER.sets]
    keys = {test.key for test in compare(PAPER.only(names[:3], PAPER_COLUMNS))}
    assert "sign-threshold" not in keys
    found = {test.key: test for test in compare(PAPER.only(names[:4], PAPER_COLUMNS))}["sign-threshold"]
    assert (found.here, found.here_statistic) == (pytest.approx(1 / 16), 4)


def test_figure_1_of_the_paper_rejects_equality():
    """In both measures a bar lies outside the bounds, as the paper says of its Figure 1: NB's."""
    for values, of in (
        (PAPER.means(PAPER_COLUMNS), "low"),
        (significance.ranks(PAPER.means(PAPER_COLUMNS)), "high"),
    ):
        bounds = significance.permutation_bounds(values)
        nb = values.mean(axis=0)[PAPER_COLUMNS.index("NB")]
        assert nb < bounds.low if of == "low" else nb > bounds.high


def test_fewer_sets_and_columns():
    """On part of the table, only the tests that it allows are made, on both sides alike."""
    part = PAPER.only(["iris", "vote", "glass", "zoo"], [*KAPPAS, "NB"])
    keys = {test.key for test in compare(part)}
    assert {"friedman-kappa", "sign-threshold", "friedman-all"} <= keys
    assert not keys & {"pattern-m", "mean-rank-LCWNB5", "mean-rank-LCWNB*"}
    assert all(test.published == test.here for test in compare(part))
    assert compare(PAPER.only([], PAPER_COLUMNS)) == []
