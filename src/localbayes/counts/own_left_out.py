"""Counts of the values of queries that are training rows, each without itself."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.kept_rows import Rows
from localbayes.counts.protocol import Floats
from localbayes.counts.values import KnownCounts, ValueCounts
from localbayes.encoding.coded import missing_code

__all__ = ["LeftOutCounts"]

# Share by which sums of weights may differ because of rounding.
_ROUNDING = 1e-9


class LeftOutCounts:
    """What counts say of the values of training rows, when each row itself is not counted.

    Of a row that weighs more than one, one is left out. Arrays are by row, class and attribute.

    Parameters
    ----------
    counts : ValueCounts, KnownCounts or PairCounts
        Counts of all training rows.
    rows : Rows
        Training rows.

    Attributes
    ----------
    class_counts : ndarray of shape (n, r)
        Other rows of each class.
    n_rows : ndarray of shape (n, 1)
        All other rows.

    Examples
    --------
    Of three rows the last is the only one of its class:

    >>> counts, codes = ValueCounts(sizes=[2], n_classes=2), np.array([[0], [0], [1]], np.uint8)
    >>> counts.add(codes, np.array([0, 0, 1]))
    >>> others = LeftOutCounts(counts, Rows(codes, np.array([0, 0, 1])))
    >>> others.class_counts.tolist()
    [[1.0, 1.0], [1.0, 1.0], [2.0, 0.0]]
    >>> others.value_counts[:, :, 0].tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """

    def __init__(self, counts: ValueCounts, rows: Rows) -> None:
        self._counts, self._rows = counts, rows
        self._pairs: Any = counts
        self._at = np.arange(len(rows))
        self._own = np.ones(len(rows)) if rows.own_weight is None else rows.own_weight
        self._values = np.minimum(rows.codes, counts.sizes)
        self.sizes = counts.sizes
        self.n_classes = counts.n_classes
        totals = np.tile(counts.class_counts.astype(np.float64), (len(rows), 1))
        self.class_counts = self._without_own(totals, np.ones(len(rows), dtype=bool))
        self.n_rows: Floats = counts.n_rows - self._own[:, None]

    @cached_property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Whether the row's value is in its domain, so that it was counted; shape (n, m)."""
        return self._values < self.sizes

    @cached_property
    def lacking(self) -> npt.NDArray[np.bool_]:
        """Whether the row's value is not known; shape (n, m)."""
        codes = self._rows.codes
        lacking: npt.NDArray[np.bool_] = codes == missing_code(codes.dtype)
        return lacking if isinstance(self._counts, KnownCounts) else np.zeros_like(lacking)

    @cached_property
    def value_counts(self) -> Floats:
        """Other rows of a class that have the row's value of an attribute, shape (n, r, m)."""
        found = self._counts.value_counts[self._counts.slots(self._rows.codes)].swapaxes(1, 2)
        return self._without_own(found.astype(np.float64), self.inside)

    @cached_property
    def known_counts(self) -> Floats:
        """Other rows of a class that know an attribute; shape (n, r, m), or (n, r, 1) if all know all."""
        if not isinstance(self._counts, KnownCounts):
            return self.class_counts[:, :, None]
        found = np.tile(self._counts.known_counts.T.astype(np.float64), (len(self._rows), 1, 1))
        return self._without_own(found, ~self.lacking)

    def pair(self, i: int, j: int) -> Floats:
        """Other rows of a class that have the row's values of attributes i != j, shape (n, r)."""
        found = self._pairs.block(i, j)[self._values[:, i], self._values[:, j]].astype(np.float64)
        return self._without_own(found, self.inside[:, i] & self.inside[:, j])

    def pairs(self) -> Floats:
        """The same for every two attributes, shape (n, r, m, m); zero for an attribute and itself."""
        found = self._pairs.agreeing(self._rows.codes).astype(np.float64)
        both = self.inside[:, :, None] & self.inside[:, None, :] & ~np.eye(len(self.sizes), dtype=bool)
        return self._without_own(found, both)

    def _without_own(self, found: Floats, counted: npt.NDArray[np.bool_]) -> Floats:
        """Take each row out of the counts of its class, where it was counted."""
        own = self._own.reshape(-1, *[1] * (counted.ndim - 1))
        before = found[self._at, self._rows.classes]
        others = before - own * counted
        # Sums of weights are rounded: what is left of them may be no row.
        others[others < _ROUNDING * before] = 0.0
        found[self._at, self._rows.classes] = others
        return found
