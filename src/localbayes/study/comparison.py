"""Tests over all data sets: on the measured table, and beside them the same on a published one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from localbayes.study import significance
from localbayes.study.accuracy_table import SetInfo, Table
from localbayes.study.benchmark import current

__all__ = [
    "Answer",
    "Comparison",
    "answer",
    "compare",
    "counted",
    "covering_columns",
    "equality",
    "holm_against_reference",
    "is_compared",
    "own_or_not",
    "ranked_columns",
]


@dataclass(frozen=True)
class Answer:
    """The outcome of a test on one table: the hypothesis in words, the test's name, its p-value."""

    key: str
    question: str
    detail: str
    pvalue: float
    statistic: float | None = None


@dataclass(frozen=True)
class Comparison:
    """One test on the published table and on ours; None where it cannot be computed."""

    key: str
    question: str
    detail: str
    published: float | None
    here: float | None
    published_statistic: float | None = None
    here_statistic: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data; the published side is called by the benchmark's label."""
        label = current().label
        return {
            "key": self.key,
            "question": self.question,
            "detail": self.detail,
            label: self.published,
            "here": self.here,
            f"{label}_statistic": self.published_statistic,
            "here_statistic": self.here_statistic,
        }


def compare(here: Table) -> list[Comparison]:
    """Compute every test on both tables.

    The published side is computed from the published table, on the cells that ours has too. Tests whose
    columns are missing are left out. Data sets and columns that are not the benchmark's have tests of their
    own, which have no published side.
    """
    benchmark = current()
    names = [s.name for s in here.sets if s.published]
    table = here.only(names, benchmark.columns)
    table = table.only(names, table.measured())
    published = benchmark.table().only(names, table.columns)
    # Columns may be measured on different data sets; both sides of a test use the same ones.
    published = replace(published, cells={k: cell for k, cell in published.cells.items() if k in table.cells})
    theirs = {answer.key: answer for answer in benchmark.answers(published)}
    ours = {answer.key: answer for answer in benchmark.answers(table)}
    ours |= {answer.key: answer for answer in _every_column(here)}
    ours |= {answer.key: answer for answer in benchmark.answers_on_more(here)}
    keys = [*theirs, *(key for key in ours if key not in theirs)]
    return [_comparison(theirs.get(key), ours.get(key)) for key in keys]


def _comparison(their: Answer | None, our: Answer | None) -> Comparison:
    words = our or their
    assert words is not None
    return Comparison(
        words.key,
        words.question,
        words.detail,
        their.pvalue if their else None,
        our.pvalue if our else None,
        their.statistic if their else None,
        our.statistic if our else None,
    )


def ranked_columns(table: Table) -> list[str]:
    """Return the columns that are ranked among each other.

    Where a data set of the benchmark was measured, these are its columns, if there are two; else all.
    """
    measured = table.measured()
    known = [c for c in measured if c in current().columns]
    return known if len(known) > 1 and is_compared(table) else measured


def is_compared(table: Table) -> bool:
    """Whether a data set of the benchmark was measured: a study of one's own data speaks of itself alone."""
    measured = {name for name, _ in table.cells}
    return any(s.published and s.name in measured for s in table.sets)


def covering_columns(table: Table) -> list[str]:
    """Return all columns that have every data set which the ranked ones share."""
    base = table.shared_sets(ranked_columns(table))
    return [c for c in table.measured() if all(table.cell(s.name, c) for s in base)]


def holm_against_reference(table: Table) -> dict[str, tuple[float, float]]:
    """Test the reference against each other column: Wilcoxon's two-sided p-value, and Holm's adjusted one."""
    pvalues = {}
    for column in table.columns:
        pair = [table.reference, column]
        if column != table.reference and len(table.shared_sets(pair)) > 1:
            pvalues[column] = significance.wilcoxon_different(*table.means(pair).T)
    adjusted = significance.holm(list(pvalues.values()))
    return {c: (p, q) for (c, p), q in zip(pvalues.items(), adjusted, strict=True)}


def equality(key: str, question: str, means: Any) -> Iterator[Answer]:
    """Test that all columns are equal, in the two usual ways."""
    yield answer(f"friedman-{key}", question, "Friedman", significance.friedman(means))
    yield answer(f"iman-davenport-{key}", question, "Iman-Davenport", significance.iman_davenport(means))


def answer(key: str, question: str, detail: str, test: significance.Result) -> Answer:
    """Put a test's result into words."""
    return Answer(key, question, detail, test.pvalue, test.statistic)


def counted(sets: Sequence[SetInfo]) -> str:
    """Return the number of data sets in words."""
    return "1 set" if len(sets) == 1 else f"{len(sets)} sets"


def own_or_not(sets: Sequence[SetInfo]) -> str:
    """Return the number of data sets in words, and how many of them are one's own."""
    own = sum(not s.published for s in sets)
    if own == len(sets):
        return f"{counted(sets)} of one's own"
    return counted(sets) + (f", {own} of them one's own" if own else "")


def _every_column(table: Table) -> Iterator[Answer]:
    """Test all columns at once, where there are data sets or columns beside the benchmark's."""
    every = covering_columns(table)
    sets = table.shared_sets(every)
    more = not set(every) <= set(current().columns) or not all(s.published for s in sets)
    if len(every) > 2 and len(sets) > 1 and more:
        question = f"all {len(every)} columns are equal, on {own_or_not(sets)}: {', '.join(every)}"
        yield from equality("every-column", question, table.means(every))
