"""Values that a column can be changed to: those of training rows, as people write them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.columns import (
    CategoricalColumn,
    NumericColumn,
    RawColumn,
    number_text,
    value_text,
)
from localbayes.encoding.encoder import TableEncoder
from localbayes.encoding.roles import TimeKind
from localbayes.encoding.terms import Intervals, Values

__all__ = ["Choices", "bin_labels", "choices_of", "round_number"]

_DAY = 86400.0


@dataclass(frozen=True)
class Choices:
    """Values of a column that training rows have; missing is none of them.

    Attributes
    ----------
    numeric : bool
        Whether the column is one of numbers to the encoder; a time is one, in seconds.
    cells : sequence
        What stands in the column as read: numbers or values. A number stands for its whole bin.
    values : list
        The same as a table holds them: numbers, values, times.
    labels : list of str
        Values or bins as text.
    """

    numeric: bool
    cells: Sequence[Any]
    values: list[Any]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.values)

    def column(self, raw: RawColumn, row: int, picks: npt.NDArray[np.int64]) -> RawColumn:
        """The cell of one row of a column as it came, or another value where ``picks`` is not negative."""
        if self.numeric:
            return RawColumn(raw.name, numbers=np.append(self.cells, raw.numbers[row])[picks])
        came = int(raw.codes[row])
        own = len(self) if came >= 0 else -1
        values = [*self.cells, *([raw.values[came]] if came >= 0 else [])]
        return RawColumn(raw.name, codes=np.where(picks < 0, own, picks), values=values)


def choices_of(encoder: TableEncoder, totals: Sequence[npt.NDArray[Any]]) -> list[Choices]:
    """Values that a row can take in every column.

    Parameters
    ----------
    encoder : TableEncoder
        What was learned of the columns.
    totals : sequence of arrays
        How many training rows have each code of every column.

    Returns
    -------
    list of Choices
        One for every column; empty for one that classifiers do not learn from.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "blue"], "size": [1.0, 11.0]})
    >>> encoder = TableEncoder(n_bins=3).fit(X)
    >>> found = choices_of(encoder, [np.array([1, 1]), np.array([1, 0, 1])])
    >>> found[0].values, found[1].values, found[1].labels
    (['blue', 'red'], [3.0, 10.0], ['≤ 4.33333', '> 7.66667'])
    """
    found = []
    for i, (name, column) in enumerate(zip(encoder.names, encoder.columns, strict=True)):
        if isinstance(column, NumericColumn):
            numbers, labels = _numbers(encoder, i, column.cuts)
            seen = totals[i][column.encode(RawColumn(name, numbers=np.array(numbers)))] > 0
            cells = [number for number, kept in zip(numbers, seen, strict=True) if kept]
            kind = encoder.times.get(i)
            values = cells if kind is None else [_time(cell, kind) for cell in cells]
            kept_labels = [label for label, kept in zip(labels, seen, strict=True) if kept]
            found.append(Choices(True, cells, values, kept_labels))
        elif isinstance(column, CategoricalColumn):
            raw = RawColumn(name, codes=np.arange(len(column.values)), values=column.values)
            kept = [
                v for v, code in zip(column.values, column.encode(raw), strict=True) if totals[i][code] > 0
            ]
            found.append(Choices(False, kept, kept, [value_text(value) for value in kept]))
        else:
            found.append(Choices(False, [], [], []))
    return found


def _numbers(encoder: TableEncoder, i: int, cuts: npt.NDArray[np.float64]) -> tuple[list[float], list[str]]:
    """A number for every bin of a column, and the bins as text; terms of the column make them finer."""
    kind = encoder.times.get(i)
    for term in encoder.terms:
        if isinstance(term, Values) and term.source == i:
            numbers = term.values.tolist()
            texts = [number_text(n) if kind is None else value_text(_time(n, kind)) for n in numbers]
            return numbers, texts
    finer = [term.cuts for term in encoder.terms if isinstance(term, Intervals) and term.source == i]
    cuts = np.unique(np.concatenate([cuts, *finer]))
    if not len(cuts):
        return [], []
    first, last = float(cuts[0]), float(cuts[-1])
    # The outer bins have no end: a number of theirs is as far from the cut as a bin is wide.
    below, above = (cuts[1] - cuts[0], cuts[-1] - cuts[-2]) if len(cuts) > 1 else (abs(first) or 1.0,) * 2
    edges = [first - float(below), *cuts.tolist(), last + float(above)]
    labels = NumericColumn(cuts).labels() if kind is None else _time_labels(cuts, kind)
    inside = _day if kind == "date" else round_number
    return [inside(low, high) for low, high in pairwise(edges)], labels


def bin_labels(encoder: TableEncoder, i: int) -> list[str]:
    """Readable names of the values of a column, by code; bins of times are said as times.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.0, 5.0, 11.0]})
    >>> bin_labels(TableEncoder(n_bins=2).fit(X), 1)
    ['≤ 6', '> 6']
    """
    column = encoder.columns[i]
    labels = column.labels()
    if i in encoder.times and isinstance(column, NumericColumn) and len(column.cuts):
        times = _time_labels(column.cuts, encoder.times[i])
        return times + labels[len(times) :]
    return labels


def _time_labels(cuts: npt.NDArray[np.float64], kind: TimeKind) -> list[str]:
    """Bins of times, to the second; of durations, to the millisecond where they are short."""
    short = kind == "duration" and np.abs(cuts).max() < 1000
    ends = [value_text(_time(round(cut, 3 if short else 0), kind)) for cut in cuts.tolist()]
    inner = [f"({a}, {b}]" for a, b in pairwise(ends)]
    return [f"≤ {ends[0]}", *inner, f"> {ends[-1]}"]


def round_number(low: float, high: float) -> float:
    """The number with the fewest digits that is greater than ``low`` and at most ``high``, near the middle.

    Examples
    --------
    >>> round_number(18.3, 34.1), round_number(0.4, 0.6), round_number(-3, 5), round_number(1.21, 1.29)
    (30.0, 0.5, 0.0, 1.25)
    """
    middle = low + (high - low) / 2
    if low < 0 <= high:
        return 0.0
    largest = max(abs(low), abs(high))
    for power in range(math.floor(math.log10(largest)) if largest else 0, -18, -1):
        for step in (10.0**power, 5 * 10.0 ** (power - 1)):
            first, last = math.floor(low / step) + 1, math.floor(high / step)
            if first <= last:
                number = round(min(max(round(middle / step), first), last) * step, max(0, 1 - power))
                if low < number <= high:
                    return number
    return high


def _day(low: float, high: float) -> float:
    """Midnight near the middle of two times, or the middle if there is none between them."""
    middle = low + (high - low) / 2
    day = round(middle / _DAY) * _DAY
    return day if low < day <= high else middle


def _time(seconds: float, kind: TimeKind) -> datetime | timedelta:
    unit = np.datetime64 if kind == "date" else np.timedelta64
    time: datetime | timedelta = unit(round(seconds * 1e6), "us").item()
    return time
