"""Counts of values where some are not known."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.pair_counts import ValueCounts
from localbayes.encoding.coded import Codes, missing_code

__all__ = ["KnownCounts"]


class KnownCounts(ValueCounts):
    """Counts of values and, for every attribute, of the rows of each class that know it.

    A value that is missing is in no count of its attribute. One that is outside its domain is known,
    though it is no value that could be counted.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Number of declared values q_i of every attribute.
    n_classes : int
        Number of declared classes r.

    Attributes
    ----------
    known_counts : ndarray of shape (m, r)
        Rows of each class that know the attribute.

    Examples
    --------
    >>> missing = missing_code(np.uint8)
    >>> counts = KnownCounts(sizes=[2, 3], n_classes=2)
    >>> counts.add(np.array([[0, 1], [missing, 2], [1, missing]], np.uint8), np.array([0, 1, 1]))
    >>> counts.class_counts.tolist(), counts.known_counts.tolist()
    ([1, 2], [[1, 1], [1, 1]])
    """

    def __init__(self, sizes: npt.ArrayLike, n_classes: int) -> None:
        super().__init__(sizes, n_classes)
        self.known_counts: npt.NDArray[Any] = np.zeros((len(self.sizes), self.n_classes), dtype=np.int64)

    def add(
        self, codes: Codes, class_codes: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None = None
    ) -> None:
        """Add rows, see :meth:`ValueCounts.add`."""
        super().add(codes, class_codes, weights)
        known = codes != missing_code(codes.dtype)
        for i in range(len(self.sizes)):
            weight = known[:, i] if weights is None else known[:, i] * weights
            found = np.bincount(class_codes, weight, self.n_classes)
            self.known_counts[i] += found.astype(self.known_counts.dtype)

    def _tables(self) -> dict[str, npt.NDArray[Any]]:
        return super()._tables() | {"known_counts": self.known_counts}

    def _copy(self, source: Self, slots: npt.NDArray[np.int64]) -> None:
        super()._copy(source, slots)
        self.known_counts[:] = source.known_counts
