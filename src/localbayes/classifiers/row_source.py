"""Where the local Bayes classifier learns from: training rows by number, and sums around them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts import Codes, Distance, Floats, MatchCounts, MatchIndex

__all__ = ["IndexedRows", "RowSource", "SampledRows"]

# Makes features of codes, S and T.
Formula = Callable[[Codes, Floats, Floats], Floats]


@dataclass(frozen=True)
class SampledRows:
    """Some training rows.

    Attributes
    ----------
    codes : ndarray of shape (n, m)
        Their values, as of queries.
    classes : ndarray of shape (n,)
        Their classes, in declared order.
    weights : ndarray of shape (n,)
        Their weights; ones where rows have none.
    numbers : ndarray of shape (n,)
        Their numbers, in the order in which rows came.
    """

    codes: Codes
    classes: npt.NDArray[np.int64]
    weights: Floats
    numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.classes)

    def take(self, at: Any) -> "SampledRows":
        """Some of the rows."""
        return SampledRows(self.codes[at], self.classes[at], self.weights[at], self.numbers[at])

    @property
    def own_weight(self) -> Floats:
        """What is left out of the counts of a row: of a row of weight 2, which is two rows, one of them."""
        return np.minimum(self.weights, 1.0)


class RowSource(ABC):
    """What learning asks for; rows may be in memory or on a cluster."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of training rows."""

    @abstractmethod
    def value_totals(self) -> list[Floats]:
        """Weight of the rows that have each value, for every attribute."""

    @abstractmethod
    def sample_rows(self, numbers: npt.NDArray[np.int64]) -> SampledRows:
        """Training rows by number, in increasing order."""

    @abstractmethod
    def use_distance(self, distance: Distance) -> None:
        """Measure with another distance from now on."""

    @abstractmethod
    def left_out_sums(self, rows: SampledRows, kappas: Floats) -> tuple[Floats, Floats]:
        """S (k, n, r) and T (k, n, r, m or 2 m) around training rows, which do not count themselves."""

    def left_out_features(self, rows: SampledRows, kappas: Floats, formula: Formula, alpha: float) -> Floats:
        """Features (k, n, r, 1 + m) that a formula makes of the sums of every kappa.

        ``alpha`` is what the formula adds to the count of a value, for sources that need no formula.
        """
        return np.stack(
            [formula(rows.codes, *sums) for sums in zip(*self.left_out_sums(rows, kappas), strict=True)]
        )


class IndexedRows(RowSource):
    """Training rows in memory.

    Examples
    --------
    >>> index = MatchIndex(np.array([2], np.uint32), n_classes=1)
    >>> index.add(np.array([[0], [1], [1]], np.uint8), np.array([0, 0, 0]))
    >>> rows = IndexedRows(index)
    >>> rows.sample_rows(np.array([1, 2])).codes.tolist()
    [[1], [1]]
    >>> [total.tolist() for total in rows.value_totals()]
    [[1.0, 2.0]]
    """

    def __init__(self, index: MatchIndex) -> None:
        self.index = index
        self._weighted = any(segment.weighted for segment in index.segments)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.index.n_rows

    def value_totals(self) -> list[Floats]:
        """Weight of the rows that have each value, for every attribute."""
        return self.index.value_totals()

    def sample_rows(self, numbers: npt.NDArray[np.int64]) -> SampledRows:
        """Training rows by number, in increasing order."""
        parts = [
            (self.index.as_queries(codes), classes, at, np.ones(len(at)) if weights is None else weights)
            for codes, classes, at, weights in self.index.training_rows(numbers)
        ]
        codes, classes, at, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return SampledRows(codes, classes.astype(np.int64), weights, at).take(np.argsort(at, kind="stable"))

    def use_distance(self, distance: Distance) -> None:
        """Measure with another distance from now on."""
        self.index = self.index.with_distance(distance)

    def left_out_sums(self, rows: SampledRows, kappas: Floats) -> tuple[Floats, Floats]:
        """S (k, n, r) and T (k, n, r, m or 2 m) around training rows, which do not count themselves."""
        _, _, S, T = self._count(rows).cell_sums(kappas)
        return S, T

    def left_out_features(self, rows: SampledRows, kappas: Floats, formula: Formula, alpha: float) -> Floats:
        """Features of every kappa in one compiled pass, which has the formula in it."""
        return self._count(rows).cell_features(kappas, self.index.sizes, self.index.measure.units, alpha)

    def _count(self, rows: SampledRows) -> MatchCounts:
        return self.index.count(rows.codes, rows.classes, rows.own_weight if self._weighted else None)
