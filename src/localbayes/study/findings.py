"""What a store tells, and how it compares with a published table: the content of a report, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localbayes.study import significance
from localbayes.study.accuracy_table import Cell, SetInfo, Table, printed, shown
from localbayes.study.benchmark import current
from localbayes.study.comparison import (
    Comparison,
    compare,
    covering_columns,
    holm_against_reference,
    ranked_columns,
)
from localbayes.study.store import Store
from localbayes.study.summary import Summary, summarise

__all__ = ["Difference", "Findings", "differences", "examine"]


@dataclass(frozen=True)
class Difference:
    """A cell that is not the published one, and why.

    `within_ties` says whether it was measured on as many folds as the published one, and would reach it if
    its ties were broken otherwise.
    """

    dataset: str
    column: str
    published: Cell
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
        whose = current().possessive
        if self.here.folds != self.published.folds:
            return f"measured on {self.here.folds} folds, {whose} on {self.published.folds}"
        return f"not explained by ties: the data, the folds or the method differ from {whose}"


@dataclass(frozen=True)
class Findings:
    """Everything that a report tells, computed once.

    `plain_differences` are those of the columns that repeat a published one with the plain rule for ties.
    """

    summary: Summary
    table: Table
    published: Table
    comparisons: list[Comparison]
    differences: list[Difference]
    compared_cells: int
    equal_marks: int
    plain_differences: list[Difference]
    plain_cells: int
    holm: dict[str, tuple[float, float]]

    @property
    def ranked(self) -> list[str]:
        """The columns that are ranked among each other, see `ranked_columns`."""
        return ranked_columns(self.table)

    @property
    def base(self) -> list[SetInfo]:
        """The data sets that the ranked columns share: averages and ranks are taken over them."""
        return self.table.shared_sets(self.ranked)

    @property
    def covering(self) -> list[str]:
        """All columns that have every data set of the base."""
        return covering_columns(self.table)

    @property
    def published_reference(self) -> bool:
        """Whether marks and counts refer to the same column as the published ones, so that both compare."""
        return self.table.reference == self.published.reference

    @property
    def dot_rules(self) -> list[tuple[int, int, str]]:
        """On how many of how many data sets the reference must be better for a dot, and the chance in %.

        There is a rule for every number of data sets that a column has, if that number is large enough.
        """
        rivals = [c for c in self.table.columns if c != self.table.reference]
        sizes = sorted({self.table.counts(c).sets for c in rivals}, reverse=True)
        needed = [(significance.wins_needed(sets), sets) for sets in sizes]
        return [
            (wins, sets, shown(100 * significance.binomial_at_least(wins, sets)))
            for wins, sets in needed
            if wins is not None
        ]

    @property
    def partial(self) -> dict[str, str]:
        """The columns that were measured on fewer folds or data sets than others, and on how many."""
        table = self.table
        most = max(cell.folds for cell in table.cells.values())
        found = {}
        for column in table.columns:
            cells = [cell for s in table.sets if (cell := table.cell(s.name, column))]
            fewest = min((cell.folds for cell in cells), default=0)
            if fewest < most or len(cells) < len(table.sets):
                found[column] = f"{len(cells)} of {len(table.sets)} sets, {fewest} of {most} folds"
        return found

    def averages(self) -> dict[str, float]:
        """Average accuracy over the base, of every column that covers it."""
        return self.table.only([s.name for s in self.base], self.covering).averages(self.covering)

    def mean_ranks(self, columns: Sequence[str]) -> dict[str, float]:
        """Mean ranks over the base of columns that cover it."""
        return self.table.only([s.name for s in self.base], columns).mean_ranks(columns)

    def rank_rows(self) -> dict[str, dict[str, float]]:
        """Mean ranks by what is ranked: the benchmark's columns, and all columns if there are others."""
        ranked = self.mean_ranks(self.ranked)
        if self.covering == self.ranked:
            return {"mean rank": ranked}
        whose = current().possessive.removeprefix("the ")
        return {f"mean rank, {whose}": ranked, "mean rank, all": self.mean_ranks(self.covering)}

    def published_side(self) -> Table | None:
        """Return the published table on the base, if it has those data sets and ranked columns."""
        if not self.base or not all(s.published for s in self.base) or not self.published.has(*self.ranked):
            return None
        return self.published.only([s.name for s in self.base], self.ranked)


def differences(here: Table, published: Table) -> tuple[list[Difference], int, int]:
    """Return the cells that are not the published ones, the number of cells compared, and of equal marks.

    Marks are compared where they refer to the same column.
    """
    repeats = current().repeats
    found, compared, marks = [], 0, 0
    marked = here.reference == published.reference
    for s in here.sets:
        for column in here.columns:
            ours, theirs = here.cell(s.name, column), published.cell(s.name, repeats.get(column, column))
            if not s.published or ours is None or theirs is None:
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
        Column that marks and counts refer to; default the benchmark's, or the first with results if that has
        none.
    """
    benchmark = current()
    summary = summarise(store, reference)
    every = summary.table
    names = [s.name for s in every.sets]
    plain = [c for c, known in benchmark.repeats.items() if every.has(c, known) and c != every.reference]
    table = every.only(names, [c for c in every.columns if c not in plain])
    if not table.cells and summary.failures:
        reason = summary.failures[0].error
        raise ValueError(f"all folds in the store {store.path} failed, the first: {reason}")
    if not table.cells:
        raise ValueError(f"the store {store.path} has no results yet: run `localbayes study run` first")
    published = benchmark.table()
    found, compared, marks = differences(table, published)
    plainly, plain_cells, _ = differences(every.only(names, plain), published)
    return Findings(
        summary,
        table,
        published,
        compare(table),
        found,
        compared,
        marks,
        plainly,
        plain_cells,
        holm_against_reference(table),
    )
