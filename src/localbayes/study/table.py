"""The big table: a mean, its spread and a significance mark for every data set and column."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from localbayes.study.tests import ranks, wins_needed

__all__ = [
    "PAPER_COLUMNS",
    "REFERENCE",
    "Cell",
    "Counts",
    "SetInfo",
    "Table",
    "paper_table",
    "printed",
    "shown",
]

PAPER_COLUMNS = ("LCWNB5", "LCWNB10", "LCWNB20", "NB", "TAN", "AODE", "WAODE", "HNB", "LWNB", "ICLNB")
REFERENCE = "LCWNB5"
_MARKS = {"": "", "-": "worse", "+": "better"}

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SetInfo:
    """A data set as the study knows it: `m` counts the class attribute, as the paper does."""

    name: str
    n: int
    m: int
    r: int
    paper: bool = True


@dataclass(frozen=True)
class Cell:
    """Accuracy of one column on one data set, in per cent, and how it compares with the reference column.

    `low` and `high` are the means if every tie of the best score had fallen badly or well.
    """

    mean: float
    sd: float
    folds: int = 100
    mark: str = ""
    difference: float = math.nan
    statistic: float = math.nan
    pvalue: float = math.nan
    low: float = math.nan
    high: float = math.nan
    log_loss: float = math.nan
    fit_seconds: float = math.nan
    predict_seconds: float = math.nan

    def __str__(self) -> str:
        return f"{shown(self.mean)}±{shown(self.sd)}"


@dataclass(frozen=True)
class Counts:
    """On how many data sets the reference is significantly or marginally worse or better than a column."""

    significantly_worse: int
    marginally_worse: float
    marginally_better: float
    significantly_better: int

    @property
    def better(self) -> float:
        """Number of data sets on which the reference is better, a tie counting a half."""
        return self.marginally_better + self.significantly_better

    @property
    def sets(self) -> int:
        """Number of data sets compared."""
        return round(self.significantly_worse + self.marginally_worse + self.better)

    @property
    def dot(self) -> bool:
        """Whether the reference wins often enough: the paper's sign test, P(Bin(36, 1/2) >= 23) = 0.0662."""
        need = wins_needed(self.sets)
        return need is not None and self.better >= need

    def __str__(self) -> str:
        parts = (
            self.significantly_worse,
            self.marginally_worse,
            self.marginally_better,
            self.significantly_better,
        )
        return "[" + "/".join(f"{part:g}" for part in parts) + "]"


@dataclass(frozen=True)
class Table:
    """Cells by (data set, column), with the summaries that the paper prints under them.

    Ranks, averages and counts are taken from the figures as printed, with two decimals, so that cells that
    read the same are ties.

    Examples
    --------
    >>> table = paper_table()
    >>> table.cell("iris", "LCWNB5").mean
    94.73
    >>> printed(table.averages(["LCWNB5", "NB"])["NB"])
    82.34
    """

    sets: tuple[SetInfo, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell] = field(repr=False)
    reference: str = REFERENCE

    def cell(self, dataset: str, column: str) -> Cell | None:
        """Return the cell, or None where nothing was measured."""
        return self.cells.get((dataset, column))

    def has(self, *columns: str) -> bool:
        """Whether all these columns exist."""
        return set(columns) <= set(self.columns)

    def measured(self) -> list[str]:
        """Columns that have a result on some data set."""
        return [c for c in self.columns if any((s.name, c) in self.cells for s in self.sets)]

    def shared_sets(self, columns: Sequence[str]) -> list[SetInfo]:
        """Data sets that have a cell in every one of the columns."""
        return [s for s in self.sets if all((s.name, column) in self.cells for column in columns)]

    def only(self, names: Sequence[str], columns: Sequence[str]) -> Table:
        """Return the part of the table with these data sets and columns."""
        sets = tuple(s for s in self.sets if s.name in names)
        kept = {key: cell for key, cell in self.cells.items() if key[0] in names and key[1] in columns}
        return Table(sets, tuple(c for c in self.columns if c in columns), kept, self.reference)

    def means(self, columns: Sequence[str]) -> FloatArray:
        """Printed means of the data sets that the columns share, a row per data set."""
        rows = [[printed(self.cells[s.name, c].mean) for c in columns] for s in self.shared_sets(columns)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(columns))

    def averages(self, columns: Sequence[str]) -> dict[str, float]:
        """Average accuracy of each column over the data sets that they share."""
        means = self.means(columns)
        if not len(means):
            return {}
        return {c: float(value) for c, value in zip(columns, means.mean(axis=0), strict=True)}

    def mean_ranks(self, columns: Sequence[str]) -> dict[str, float]:
        """Mean rank of each column among `columns`, over the data sets that they share."""
        means = self.means(columns)
        if not len(means) or len(columns) < 2:
            return {}
        return {c: float(value) for c, value in zip(columns, ranks(means).mean(axis=0), strict=True)}

    def counts(self, column: str) -> Counts:
        """Count the data sets by how the reference compares with `column`."""
        tally = {"better": 0, "worse": 0}
        below = above = 0.0
        for s in self.shared_sets([self.reference, column]):
            cell = self.cells[s.name, column]
            difference = printed(self.cells[s.name, self.reference].mean) - printed(cell.mean)
            if cell.mark:
                tally[cell.mark] += 1
            else:
                above += 0.5 + 0.5 * float(np.sign(difference))
                below += 0.5 - 0.5 * float(np.sign(difference))
        return Counts(tally["better"], below, above, tally["worse"])


def printed(value: float, digits: int = 2) -> float:
    """Round to the two decimals of the printed table, halves up.

    Examples
    --------
    >>> printed(94.7333), printed(0.125)
    (94.73, 0.13)
    """
    scale = 10.0**digits
    return math.floor(value * scale + 0.5 + 1e-9) / scale


def shown(value: float, digits: int = 2) -> str:
    """Write a figure as the paper would print it.

    Examples
    --------
    >>> shown(85.195), shown(4.75, 4)
    ('85.20', '4.7500')
    """
    return f"{printed(value, digits):.{digits}f}"


def paper_table() -> Table:
    """Return the table as the paper prints it: 36 data sets, ten columns.

    Examples
    --------
    >>> table = paper_table()
    >>> len(table.sets), len(table.columns), table.cell("vote", "NB").mark
    (36, 10, 'worse')
    """
    text = resources.files("localbayes.study").joinpath("paper_results.csv").read_text(encoding="utf-8")
    sets, cells = [], {}
    for row in csv.DictReader(text.splitlines()):
        name = row["dataset"]
        sets.append(SetInfo(name, int(row["n"]), int(row["m"]), int(row["r"])))
        for column in PAPER_COLUMNS:
            mean, sd, mark = (row[column] + " ").split(" ", 2)
            cells[name, column] = Cell(float(mean), float(sd), mark=_MARKS[mark.strip()])
    return Table(tuple(sets), PAPER_COLUMNS, cells)
