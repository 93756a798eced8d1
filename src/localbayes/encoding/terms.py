"""Terms: columns that are made of others, as evidence beside them.

A term speaks where the column itself cannot: class boundaries inside a wide bin, the parity of a whole
number, two columns that tell more together than each. It is no part of the distance between rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, gammaln

from localbayes.encoding.columns import UNSEEN, RawColumn
from localbayes.encoding.discretize import cut_points
from localbayes.encoding.one_column import left_out_losses

__all__ = ["Crossed", "Intervals", "Odds", "Term", "Values", "learn_terms"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Intervals are learned from so many rows on: of fewer, a row that is left out has moved them too much.
_FEWEST_ROWS = 1000
# A whole-number column of at most so many values may speak value by value.
_FEW_CODES = 50
# How much less the log loss must be if it does.
_GAIN = 5.0
# Pairs of columns: how many, how surely they tell more together, and how many pairs of values.
_MOST_CROSSED, _LOG_P, _CROSSED_VALUES = 30, np.log(1e-6), 400


@dataclass(frozen=True)
class Intervals:
    """Intervals of a number between which the classes differ; the last value stands for a missing one."""

    source: int
    cuts: Floats
    missing: bool

    @property
    def sources(self) -> tuple[int, ...]:
        """Columns that the term is made of."""
        return (self.source,)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.cuts) + 1 + self.missing

    def encode(self, raws: Sequence[RawColumn], codes: Integers) -> Integers:
        """Codes of the rows."""
        numbers = raws[self.source].numbers
        found = np.searchsorted(self.cuts, numbers, side="left")
        return np.where(np.isnan(numbers), self.size - 1 if self.missing else UNSEEN, found)


@dataclass(frozen=True)
class Values:
    """Whole numbers, value by value."""

    source: int
    values: Floats

    @property
    def sources(self) -> tuple[int, ...]:
        """Columns that the term is made of."""
        return (self.source,)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    def encode(self, raws: Sequence[RawColumn], codes: Integers) -> Integers:
        """Codes of the rows."""
        numbers = raws[self.source].numbers
        at = np.searchsorted(self.values, numbers).clip(0, self.size - 1)
        return np.where(self.values[at] == numbers, at, UNSEEN)


@dataclass(frozen=True)
class Crossed:
    """Two nominal columns as one: a value for every pair of the values that they had when it was learned."""

    first: int
    second: int
    sizes: tuple[int, int]

    @property
    def sources(self) -> tuple[int, ...]:
        """Columns that the term is made of."""
        return (self.first, self.second)

    @property
    def size(self) -> int:
        """Number of values."""
        return self.sizes[0] * self.sizes[1]

    def encode(self, raws: Sequence[RawColumn], codes: Integers) -> Integers:
        """Codes of the rows."""
        a, b = codes[:, self.first], codes[:, self.second]
        known = (a >= 0) & (a < self.sizes[0]) & (b >= 0) & (b < self.sizes[1])
        return np.where(known, a * self.sizes[1] + b, UNSEEN)


@dataclass(frozen=True)
class Odds:
    """Log odds of a class by a discriminant, in bins in order; the columns of log odds follow the others."""

    number: int
    cuts: Floats
    sources: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.cuts) + 1

    def encode(self, raws: Sequence[RawColumn], codes: Integers) -> Integers:
        """Codes of the rows."""
        odds = raws[codes.shape[1] + self.number].numbers
        found: Integers = np.searchsorted(self.cuts, odds, side="left").astype(np.int64)
        return found


Term = Intervals | Values | Crossed | Odds


def learn_terms(
    raws: Sequence[RawColumn],
    codes: Integers,
    sizes: Sequence[int],
    bins: Sequence[int],
    y: Integers,
    weights: Floats | None,
) -> list[Term]:
    """Terms that the training rows ask for.

    Parameters
    ----------
    raws : sequence of RawColumn
        Columns as they came.
    codes : array of shape (n, m)
        Their codes.
    sizes, bins : sequences of m int
        Number of values of every column, and how many of them are bins in order.
    y : array of shape (n,)
        Classes.
    weights : array of shape (n,), optional
        Weights of the rows.
    """
    w = np.ones(len(y)) if weights is None else weights
    r = int(y.max(initial=0)) + 1
    found: list[Term] = []
    for i, raw in enumerate(raws):
        if bins[i] < 2:
            continue
        values = np.unique(raw.numbers[~np.isnan(raw.numbers)])
        whole = 2 < len(values) <= _FEW_CODES and bool((values == np.rint(values)).all())
        if whole and _speaks_by_value(values, raw.numbers, codes[:, i], bins[i], y, w, r):
            found.append(Values(i, values))
        cuts = cut_points("mdl", raw.numbers, y, weights, 0) if w.sum() >= _FEWEST_ROWS else np.empty(0)
        if len(cuts):
            found.append(Intervals(i, cuts, bool(np.isnan(raw.numbers).any())))
    return found + _crossed(codes, sizes, bins, y, w, r)


def _speaks_by_value(
    values: Floats, numbers: Floats, codes: Integers, bins: int, y: Integers, w: Floats, r: int
) -> bool:
    """Whether single values tell the classes of left-out rows better than near bins together."""
    own = np.searchsorted(values, numbers).clip(0, len(values) - 1)
    known = ~np.isnan(numbers)
    near = np.minimum(np.abs(np.arange(bins)[:, None] - np.arange(bins)), 3)
    rows = y[known], w[known], r
    exact = left_out_losses(own[known], len(values), None, *rows)
    soft = left_out_losses(np.minimum(codes[known], bins - 1), bins, (3 - near) / 9, *rows)
    return bool(exact < soft - _GAIN)


def _crossed(
    codes: Integers, sizes: Sequence[int], bins: Sequence[int], y: Integers, w: Floats, r: int
) -> list[Term]:
    """Pairs of nominal columns that tell more together than the sum of both, by the G statistic."""
    nominal = [i for i, (q, ordered) in enumerate(zip(sizes, bins, strict=True)) if q > 1 and not ordered]
    known = (codes[:, nominal] >= 0).all(axis=1)
    codes, y, w = codes[known], y[known], w[known]
    if not len(y):
        return []
    inside = {i: np.minimum(codes[:, i], sizes[i] - 1).astype(np.int64) for i in nominal}
    alone = {i: _g_statistic(inside[i], sizes[i], y, w, r) for i in nominal}
    freedom = len(np.unique(y)) - 1
    log_pairs = np.log(max(1, len(nominal) * (len(nominal) - 1) / 2))
    found = []
    for a, i in enumerate(nominal):
        for j in nominal[:a]:
            size = sizes[i] * sizes[j]
            if size > _CROSSED_VALUES:
                continue
            g, df = _g_statistic(inside[i] * sizes[j] + inside[j], size, y, w, r)
            df, excess = (df - alone[i][1] - alone[j][1]) * freedom, g - alone[i][0] - alone[j][0]
            if df > 0 and excess > 0:
                log_p = _log_tail(excess, df)
                if log_p + log_pairs < _LOG_P:
                    found.append((log_p, -excess, i, j))
    return [Crossed(i, j, (int(sizes[i]), int(sizes[j]))) for _, _, i, j in sorted(found)[:_MOST_CROSSED]]


def _g_statistic(codes: Integers, size: int, y: Integers, w: Floats, r: int) -> tuple[float, int]:
    """G statistic of a column and the class, and its values that occur, less one."""
    n = np.bincount(codes * r + y, w, size * r).reshape(size, r)
    expected = n.sum(axis=1, keepdims=True) * n.sum(axis=0) / n.sum()
    some = n > 0
    return float(2 * (n[some] * np.log(n[some] / expected[some])).sum()), int(n.any(axis=1).sum()) - 1


def _log_tail(x: float, df: int) -> float:
    """Log of the probability that a chi-squared variable exceeds x."""
    tail = gammaincc(df / 2, x / 2)
    if tail > 0:
        return float(np.log(tail))
    # Far out, where the tail is zero in floating point, its first term is enough.
    return float((df / 2 - 1) * np.log(x / 2) - x / 2 - gammaln(df / 2))
