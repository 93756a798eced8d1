"""Distances between values: a small integer for every attribute and pair of values."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from localbayes.counts.protocol import Codes
from localbayes.encoding.coded import missing_code
from localbayes.kernels import compiled

__all__ = [
    "HAMMING",
    "MISSING",
    "MOST",
    "UNSEEN",
    "Distance",
    "Hamming",
    "Measure",
    "Ordered",
    "marked",
]

# The largest distance of one attribute.
MOST = 7

# The most values of an attribute with a table of distances, which has an entry for every two.
MOST_GRADED = 1 << 13

# Marks of a value that was never seen, or lies outside its domain, and of one that is missing.
UNSEEN, MISSING = -1, -2


class Distance(ABC):
    """How far a row is from a query: the sum over attributes of small integers.

    A distance of one's own gives one table for every attribute. A value that was never seen is as far from
    all others as values of its attribute can be, or, if ``ignores_unseen``, has no part in the distance.

    Examples
    --------
    Days of the week, coded from 0 to 6, whose distance goes around:

    >>> class Weekday(Distance):
    ...     def table(self, attribute, size):
    ...         days = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    ...         return np.minimum(days, size - days)
    >>> Weekday().table(0, 7)[6].tolist()
    [1, 2, 3, 3, 2, 1, 0]
    """

    ignores_unseen: ClassVar[bool] = False

    @abstractmethod
    def table(self, attribute: int, size: int) -> npt.NDArray[Any]:
        """Distances between the values of one attribute.

        Parameters
        ----------
        attribute : int
            Number of the attribute.
        size : int
            Number of its values.

        Returns
        -------
        table : array of shape (size, size)
            Whole numbers from 0 to 7, by the query's and the row's value; 0 where they are the same.
        """

    def agreement(self, attribute: int, size: int) -> tuple[npt.NDArray[Any], float]:
        """How much values agree, and the unit in which it is counted; by default only the same value agrees.

        Returns
        -------
        table : array of shape (size, size)
            Whole numbers from 0 to 7, by the query's and the row's value.
        unit : float
            Sums of agreement over this are frequencies of the query's value.
        """
        return np.eye(size, dtype=np.uint8), 1.0

    def graded(self, attribute: int) -> bool:
        """Whether different values of an attribute may have different distances or agree in part."""
        return True

    def far(self, attribute: int) -> int:
        """Distance of two different values of an attribute that is not graded."""
        return 1

    def checked_table(self, attribute: int, size: int) -> npt.NDArray[np.uint8]:
        """What :meth:`table` gives; what is no distance is refused."""
        if size > MOST_GRADED:
            raise ValueError(
                f"attribute {attribute} has {size} values; a table of distances has at most {MOST_GRADED}: "
                "group its values, or declare it as not ordered"
            )
        name = f"{type(self).__name__}.table of attribute {attribute}"
        given = _whole_numbers(self.table(attribute, size), size, name)
        if given.diagonal().any():
            raise ValueError(f"{name} must be 0 for a value and itself, got {given.diagonal().max()}")
        return given

    def checked_agreement(self, attribute: int, size: int) -> tuple[npt.NDArray[np.uint8], float]:
        """What :meth:`agreement` gives; what is no agreement is refused."""
        given, unit = self.agreement(attribute, size)
        name = f"{type(self).__name__}.agreement of attribute {attribute}"
        if not unit > 0:
            raise ValueError(f"{name} must have a unit > 0, got {unit!r}")
        return _whole_numbers(given, size, name), float(unit)


def _whole_numbers(table: Any, size: int, name: str) -> npt.NDArray[np.uint8]:
    """A table of whole numbers from 0 to 7; anything else is refused."""
    try:
        given = np.asarray(table)
    except ValueError:  # rows of different lengths
        given = np.empty(0, dtype=object)
    if given.shape != (size, size) or given.dtype.kind not in "biuf":
        came = f"{given.dtype} of shape {given.shape}"
        raise ValueError(f"{name} must be numbers of shape {(size, size)}, got {came}")
    wrong = ~((given >= 0) & (given <= MOST) & (given == np.rint(given)))
    if wrong.any():
        raise ValueError(f"{name} must hold whole numbers from 0 to {MOST}, got {given[wrong][0]}")
    return np.ascontiguousarray(given, dtype=np.uint8)


class Hamming(Distance):
    """The number of attributes in which a row differs from the query.

    Examples
    --------
    >>> HAMMING.table(0, 3).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """

    def table(self, attribute: int, size: int) -> npt.NDArray[np.uint8]:
        """One for every pair of different values."""
        return 1 - np.eye(size, dtype=np.uint8)


HAMMING = Hamming()


@dataclass(frozen=True)
class Ordered(Distance):
    """The difference of bins for a number, and the cap for a nominal value that differs.

    Parameters
    ----------
    ordered_sizes : tuple of m int
        How many values of every attribute are bins in order, from the first one on; 0 for a nominal one.
    cap : int
        Bins that are farther apart count as this far.
    soft : bool
        Whether near bins agree in part: by the cap less their distance.

    Examples
    --------
    >>> Ordered((4, 0), cap=2).table(0, 4).tolist()
    [[0, 1, 2, 2], [1, 0, 1, 2], [2, 1, 0, 1], [2, 2, 1, 0]]
    >>> Ordered((4, 0), cap=2).table(1, 2).tolist()
    [[0, 2], [2, 0]]
    """

    ordered_sizes: tuple[int, ...]
    cap: int = 3
    soft: bool = False

    def far(self, attribute: int) -> int:
        """The cap."""
        return self.cap

    def agreement(self, attribute: int, size: int) -> tuple[npt.NDArray[Any], float]:
        """The same value, or by how much bins are nearer than the cap: a triangular kernel of unit mass."""
        if not self.soft or not self.graded(attribute):
            return super().agreement(attribute, size)
        return self.cap - self.table(attribute, size), float(self.cap**2)

    def graded(self, attribute: int) -> bool:
        """Whether an attribute has bins."""
        return self.ordered_sizes[attribute] > 0

    def table(self, attribute: int, size: int) -> npt.NDArray[np.uint8]:
        """Differences of bins up to the cap; a value that is no bin is the cap away from all others."""
        n = min(self.ordered_sizes[attribute], size)
        bins = np.arange(n)
        table = np.full((size, size), self.cap, dtype=np.uint8)
        table[:n, :n] = np.minimum(np.abs(bins[:, None] - bins), self.cap)
        np.fill_diagonal(table, 0)
        return table


class Measure:
    """A distance for attributes of given sizes, as the kernel takes it.

    Parameters
    ----------
    distance : Distance
        The distance.
    sizes : array of shape (m,)
        Number of values of every attribute.

    Attributes
    ----------
    n_distances : int
        Number of possible total distances: zero and all up to the largest.
    units : array of shape (m,)
        Sums of agreement over this are frequencies.
    by_value : array of shape (m,) or None
        Whether an attribute needs a bit plane for every value.
    kernel : object or None
        Tables for the kernel; None for Hamming's distance.
    """

    def __init__(self, distance: Distance, sizes: npt.NDArray[np.uint32]) -> None:
        self.n_distances, self.units = 1 + len(sizes), np.ones(len(sizes))
        self._tables: list[npt.NDArray[np.uint8]] | None = None
        self._distance, self._sizes = distance, sizes.astype(np.int64)
        self.by_value: npt.NDArray[np.uint8] | None = None
        self.kernel: Any = None
        if isinstance(distance, Hamming):
            return
        self.by_value = np.array([distance.graded(i) for i in range(len(sizes))], dtype=np.uint8)
        distances, agreements = [], []
        for i, size in enumerate(sizes.tolist()):
            if self.by_value[i]:
                table = distance.checked_table(i, size)
                agreement, self.units[i] = distance.checked_agreement(i, size)
            else:  # as of the same value, and of any other
                table, agreement = (
                    np.array([0, distance.far(i) if size > 1 else 0], np.uint8),
                    np.array([1, 0]),
                )
            self.n_distances += int(table.max(initial=0)) - 1
            distances.append(table)
            agreements.append(np.asarray(agreement, dtype=np.uint8).ravel())
        self._tables = distances
        tables = np.concatenate([table.ravel() for table in distances]), np.concatenate(agreements)
        self.kernel = compiled.Distance(np.ascontiguousarray(sizes), *tables, 1 - self.by_value)

    def __reduce__(self) -> Any:
        return Measure, (self._distance, self._sizes.astype(np.uint32))  # compiled tables cannot be sent

    def distances(self, query: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Distance of every row from a query, in NumPy; values are marked as by :func:`marked`.

        Examples
        --------
        >>> measure = Measure(HAMMING, np.array([2, 3], np.uint32))
        >>> measure.distances(np.array([0, 2]), np.array([[0, 2], [1, 0], [MISSING, 1]])).tolist()
        [0, 2, 1]
        """
        known = (rows != MISSING) & (query != MISSING)
        if self._tables is None:
            differ = ((rows != query) | (query == UNSEEN)) & known
            return np.asarray(differ.sum(axis=1), dtype=np.int64)
        total = np.zeros(len(rows), dtype=np.int64)
        for i in range(len(self._tables)):
            total += self.attribute_distances(i, query[i : i + 1], rows[:, i])[0]
        return total

    def attribute_distances(
        self, i: int, queries: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Distances of one attribute between values of queries and of rows, shape (n_queries, n_rows)."""
        size = int(self._sizes[i])
        known, mine = [(v >= 0) & (v < size) for v in (queries, rows)], queries[:, None]
        table = np.array([0, 1]) if self._tables is None else self._tables[i]
        if table.ndim == 1:
            between = np.where(mine == rows, 0, table.max())
        else:
            between = table[np.ix_(*(np.where(k, v, 0) for k, v in zip(known, (queries, rows), strict=True)))]
        far = 0 if self._distance.ignores_unseen else table.max(initial=0)
        unlike = np.where(known[0][:, None], table.max(initial=0), far)
        both = known[0][:, None] & known[1]
        missing = (mine == MISSING) | (rows == MISSING)
        return np.where(missing, 0, np.where(both, between, unlike)).astype(np.int64)


def marked(codes: Codes, sizes: npt.NDArray[np.uint32], may_miss: bool) -> npt.NDArray[np.int64]:
    """Codes of queries or rows as plain integers; UNSEEN and MISSING stand for values that are not known.

    Parameters
    ----------
    codes : array of shape (n_rows, n_attributes)
        Codes of an unsigned type.
    sizes : array of shape (n_attributes,)
        Number of values of each attribute.
    may_miss : bool
        Whether one code of the type stands for a missing value.

    Examples
    --------
    >>> marked(np.array([[0, 255], [254, 1]], np.uint8), np.array([2, 2], np.uint32), True).tolist()
    [[0, -1], [-2, 1]]
    """
    wide = np.where(codes < sizes, codes.astype(np.int64), UNSEEN)
    if may_miss:
        wide[codes == missing_code(codes.dtype)] = MISSING
    return wide
