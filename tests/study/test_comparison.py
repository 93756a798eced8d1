"""Tests over data sets where columns or sets of one's own stand beside the benchmark's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats

from localbayes.study import paper_table
from localbayes.study.comparison import compare, holm_against_reference
from localbayes.study.paper.printed_table import PAPER_COLUMNS
from study_support import friedman_by_ranks

PAPER = paper_table()


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
    assert every.published is None
    assert "all 11 columns are equal, on 36 sets: LCWNB5, " in every.question
    before = {test.key: test for test in compare(PAPER)}
    assert {key: found[key] for key in before} == before
    assert not any("every-column" in key for key in before)


def with_own_sets(papers: list[str], own: list[str], columns: list[str]):
    """The printed figures of some data sets, of which some go by the name of one's own."""
    part = PAPER.only([*papers, *own], columns)
    sets = tuple(replace(s, name=f"my {s.name}", published=False) if s.name in own else s for s in part.sets)
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
    assert every.published is f.published is None
    of_the_paper = found.get("friedman-all")
    if papers:
        printed = friedman_by_ranks(PAPER.only(papers, columns).means(columns))
        assert (of_the_paper.published_statistic, of_the_paper.published) == pytest.approx(printed)
        assert of_the_paper.question == "the 4 columns of the paper are equal, on 2 sets of the paper"
    else:
        assert of_the_paper is None
