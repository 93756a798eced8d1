"""What a store has to say beside what the paper says: the content of a report, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localbayes.study import tests
from localbayes.study.comparison import (
    Comparison,
    compare,
    covering_columns,
    holm_against_reference,
    ranked_columns,
)
from localbayes.study.store import Store
from localbayes.study.summary import Summary, summarise
from localbayes.study.table import Cell, SetInfo, Table, paper_table, printed, shown

__all__ = ["DECLARED", "Difference", "Findings", "differences", "examine"]

# These columns repeat one of the paper's under the plain rule for ties. They are compared with the paper, and
# not shown or ranked beside the column that they repeat. A column of one's own may end in -declared too.
DECLARED = {"LWNB-declared": "LWNB", "ICLNB-declared": "ICLNB"}


@dataclass(frozen=True)
class Difference:
    """A cell that is not the printed one, and why.

    `within_ties` says whether it was measured on as many folds as the printed one, and breaking its ties
    otherwise reaches that one.
    """

    dataset: str
    column: str
    paper: Cell
    here: Cell
    within_ties: bool

    @property
    def cause(self) -> str:
        """The reason, as far as the store tells."""
        if self.within_ties:
            return (
                "equal scores: depending on how they are broken the mean is anything "
                f"from {shown(self.here.low)} to {shown(self.here.high)}, the printed one included"
            )
        if self.here.folds != self.paper.folds:
            return f"measured on {self.here.folds} folds, the paper's on {self.paper.folds}"
        return "not explained by ties: the data, the folds or the method differ from the paper's"


@dataclass(frozen=True)
class Findings:
    """Everything that a report tells, computed once.

    `plain_differences` are those of the columns whose ties are broken by the plain rule.
    """

    summary: Summary
    table: Table
    paper: Table
    comparisons: list[Comparison]
    differences: list[Difference]
    compared_cells: int
    equal_marks: int
    plain_differences: list[Difference]
    plain_cells: int
    holm: dict[str, tuple[float, float]]

    @property
    def ranked(self) -> list[str]:
        """The paper's columns if there are at least two, else all: those that are ranked among each other."""
        return ranked_columns(self.table)

    @property
    def base(self) -> list[SetInfo]:
        """The data sets that the ranked columns share: averages and ranks are taken over them."""
        return self.table.shared_sets(self.ranked)

    @property
    def covering(self) -> list[str]:
        """The columns, of the paper or not, that have all data sets of the base."""
        return covering_columns(self.table)

    @property
    def papers_reference(self) -> bool:
        """Whether marks and counts refer to the same column as the paper's, so that they can be compared."""
        return self.table.reference == self.paper.reference

    @property
    def dot_rules(self) -> list[tuple[int, int, str]]:
        """On how many of how many data sets the reference must be better for a dot, and the chance in %.

        There is a rule for every number of data sets that a column has, if that is enough for one.
        """
        rivals = [c for c in self.table.columns if c != self.table.reference]
        sizes = sorted({self.table.counts(c).sets for c in rivals}, reverse=True)
        needed = [(tests.wins_needed(sets), sets) for sets in sizes]
        return [
            (wins, sets, shown(100 * tests.binomial_at_least(wins, sets)))
            for wins, sets in needed
            if wins is not None
        ]

    def averages(self) -> dict[str, float]:
        """Average accuracy over the base, of every column that covers it."""
        return self.table.only([s.name for s in self.base], self.covering).averages(self.covering)

    def mean_ranks(self, columns: Sequence[str]) -> dict[str, float]:
        """Mean ranks over the base of columns that cover it."""
        return self.table.only([s.name for s in self.base], columns).mean_ranks(columns)

    def rank_rows(self) -> dict[str, dict[str, float]]:
        """Mean ranks by the words for who is ranked: the paper's columns, and all if there are others."""
        ranked = self.mean_ranks(self.ranked)
        if self.covering == self.ranked:
            return {"mean rank": ranked}
        return {
            "mean rank, paper's": ranked,
            "mean rank, all": self.mean_ranks(self.covering),
        }

    def paper_side(self) -> Table | None:
        """Return the paper's table on the base, if it has those data sets and ranked columns."""
        if not self.base or not all(s.paper for s in self.base) or not self.paper.has(*self.ranked):
            return None
        return self.paper.only([s.name for s in self.base], self.ranked)


def differences(here: Table, paper: Table) -> tuple[list[Difference], int, int]:
    """Return the cells that are not the printed ones, the number of cells compared, and of equal marks.

    Marks are compared where they refer to the same column.
    """
    found, compared, marks = [], 0, 0
    marked = here.reference == paper.reference
    for s in here.sets:
        for column in here.columns:
            ours, theirs = here.cell(s.name, column), paper.cell(s.name, DECLARED.get(column, column))
            if not s.paper or ours is None or theirs is None:
                continue
            compared += 1
            same_mark = ours.mark == theirs.mark
            marks += marked and column != here.reference and same_mark
            same = (printed(ours.mean), printed(ours.sd)) == (theirs.mean, theirs.sd)
            if not same or (marked and not same_mark):
                reached = printed(ours.low) <= theirs.mean <= printed(ours.high) and ours.low < ours.high
                within = reached and ours.folds == theirs.folds
                found.append(Difference(s.name, column, theirs, ours, within))
    return found, compared, marks


def examine(store: Store, reference: str | None = None) -> Findings:
    """Compute everything that a report tells.

    Parameters
    ----------
    store : Store
        An open store.
    reference : str, optional
        Column that marks and counts refer to; default LCWNB5, or the first with results if it has none.
    """
    summary = summarise(store, reference)
    every = summary.table
    names = [s.name for s in every.sets]
    plain = [c for c, papers in DECLARED.items() if every.has(c, papers) and c != every.reference]
    table = every.only(names, [c for c in every.columns if c not in plain])
    if not table.cells and summary.failures:
        reason = summary.failures[0].error
        raise ValueError(f"all folds in the store {store.path} failed, the first: {reason}")
    if not table.cells:
        raise ValueError(f"the store {store.path} has no results yet: run `localbayes study run` first")
    paper = paper_table()
    found, compared, marks = differences(table, paper)
    plainly, plain_cells, _ = differences(every.only(names, plain), paper)
    return Findings(
        summary,
        table,
        paper,
        compare(table),
        found,
        compared,
        marks,
        plainly,
        plain_cells,
        holm_against_reference(table),
    )
