"""The rows under the big table: described once, written by the page, the LaTeX table and the terminal.

To add a row, add a `SummaryRow` to `summary_rows`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from localbayes.study.accuracy_table import shown
from localbayes.study.benchmark import current
from localbayes.study.comparison import counted
from localbayes.study.findings import Findings

__all__ = ["COUNTS", "SummaryRow", "summary_rows"]

COUNTS = "s.w./m.w./m.b./s.b."


@dataclass(frozen=True)
class SummaryRow:
    """A row: its name, its texts by column, the published ones, and the columns that have a dot.

    `empty` stands for a text that is missing, where an empty cell would look like a mistake.
    """

    name: str
    here: dict[str, str]
    published: dict[str, str] = field(default_factory=dict)
    dots: frozenset[str] = frozenset()
    empty: str = "--"

    @property
    def title(self) -> str:
        """The name as the first word of a line."""
        return self.name if self.name == COUNTS else self.name.capitalize()


def summary_rows(findings: Findings) -> list[SummaryRow]:
    """Return the rows: averages, mean ranks, and counts against the reference."""
    ranked, published = findings.ranked, findings.published_side()
    rows = [
        SummaryRow(
            f"average, {counted(findings.base)}",
            _texts(findings.averages(), 2),
            _texts(published.averages(ranked), 2) if published else {},
        )
    ]
    for place, (name, ranks) in enumerate(findings.rank_rows().items()):
        theirs = _texts(published.mean_ranks(ranked), 4) if published and place == 0 else {}
        rows.append(SummaryRow(name, _texts(ranks, 4), theirs))
    return [*rows, _counts(findings)]


def _counts(findings: Findings) -> SummaryRow:
    table, published = findings.table, findings.published_side()
    counts = {c: table.counts(c) for c in table.columns if c != table.reference}
    counts = {c: n for c, n in counts.items() if n.sets}
    whole = published is not None and len(published.sets) == len(findings.published.sets)
    compared = whole and findings.published_reference
    theirs = {c: current().counts[c] for c in counts if c in current().counts} if compared else {}
    dots = frozenset(c for c, n in counts.items() if n.dot)
    return SummaryRow(COUNTS, {c: str(n) for c, n in counts.items()}, theirs, dots, empty="")


def _texts(values: dict[str, float], digits: int) -> dict[str, str]:
    return {c: shown(value, digits) for c, value in values.items()}
