"""The big table: a mean, its spread and a significance mark for every data set and column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from localbayes.study.benchmark import current
from localbayes.study.significance import ranks, wins_needed

__all__ = ["Cell", "Counts", "SetInfo", "Table", "printed", "shown"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SetInfo:
    """A data set: `n` rows, `m` attributes with the class counted, `r` classes.

    `published` says whether it is the benchmark's set of that name, and not a file of one's own.
    """

    name: str
    n: int
    m: int
    r: int
    published: bool = True


@dataclass(frozen=True)
class Cell:
    """Accuracy of one column on one data set, in per cent, and how it compares with the reference column.

    `low` and `high` are the means if every tie of the best score had fallen badly or well. `measures` has
    the mean of every other measure by its name, see `localbayes.study.measures`.
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
    measures: dict[str, float] = field(default_factory=dict)

    def measure(self, name: str) -> float:
        """Return the mean of a measure over the folds; NaN if some fold lacks it."""
        return self.log_loss if name == "log_loss" else self.measures.get(name, math.nan)

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
        """Whether the reference wins so often that a sign test calls the column worse."""
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
    """Cells by (data set, column), and the averages, ranks and counts that follow from them.

    Averages, ranks and counts use the figures as printed, with two decimals: cells that read the same are
    ties. `reference` is the column that marks and counts refer to.

    Examples
    --------
    >>> sets = (SetInfo("mine", 60, 5, 2), SetInfo("yours", 90, 3, 2))
    >>> cells = {("mine", "NB"): Cell(81.5, 2.0), ("yours", "NB"): Cell(90.5, 1.0)}
    >>> table = Table(sets, ("NB",), cells, reference="NB")
    >>> str(table.cell("mine", "NB")), table.averages(["NB"])
    ('81.50±2.00', {'NB': 86.0})
    """

    sets: tuple[SetInfo, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Cell] = field(repr=False)
    reference: str = field(default_factory=lambda: current().reference)

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
    """Write a figure with the decimals of a printed table.

    Examples
    --------
    >>> shown(85.195), shown(4.75, 4)
    ('85.20', '4.7500')
    """
    return f"{printed(value, digits):.{digits}f}"
