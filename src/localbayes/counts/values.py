"""How often values occur in each class, and how many rows know each attribute."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from localbayes.counts.protocol import Codes, Floats
from localbayes.encoding.coded import missing_code
from localbayes.fields import Fields
from localbayes.kernels import compiled

__all__ = ["KnownCounts", "ValueCounts", "each_weight", "exceeds", "sum_rows"]

# Rows that are counted at a time.
_STEP = 1 << 12

# Share by which sums of weights may differ because of rounding.
_ROUNDING = 1e-9


class ValueCounts:
    """Class counts and, for every value of every attribute, its count in each class.

    Every attribute has one slot more than it has values: the last one stands for a value that was
    never seen and stays at zero, in training too. Counts are exact integers; once rows with weights
    are added they are floating point. It takes ``8 r sum_i (q_i + 1)`` bytes.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Number of declared values q_i of every attribute.
    n_classes : int
        Number of declared classes r.

    Attributes
    ----------
    first_slot : ndarray of shape (m + 1,)
        Attribute i owns the slots from ``first_slot[i]`` up to ``first_slot[i + 1] - 1``.
    class_counts : ndarray of shape (r,)
        Rows of each class.
    value_counts : ndarray of shape (n_slots, r)
        Rows of each class that have the value of the slot.

    Examples
    --------
    >>> counts = ValueCounts(sizes=[2, 3], n_classes=2)
    >>> counts.add(np.array([[0, 1], [1, 2], [1, 2]], np.uint8), np.array([0, 1, 1]))
    >>> counts.class_counts.tolist(), counts.value_counts[:2].tolist()
    ([1, 2], [[1, 0], [0, 2]])
    """

    def __init__(self, sizes: npt.ArrayLike, n_classes: int) -> None:
        self.sizes = np.asarray(sizes, dtype=np.int64)
        self.n_classes = int(n_classes)
        self.first_slot = np.concatenate([[0], np.cumsum(self.sizes + 1)]).astype(np.int64)
        self.class_counts: npt.NDArray[Any] = np.zeros(self.n_classes, dtype=np.int64)
        self.value_counts: npt.NDArray[Any] = np.zeros((self.n_slots, self.n_classes), dtype=np.int64)

    @property
    def n_slots(self) -> int:
        """Number of slots: the values of all attributes and an unseen one for each."""
        return int(self.first_slot[-1])

    @property
    def n_rows(self) -> float:
        """Number of rows, or their total weight."""
        total: float = self.class_counts.sum().item()
        return total

    @property
    def nbytes(self) -> int:
        """Memory that the counts take."""
        return sum(table.nbytes for table in self._tables().values())

    @property
    def _unseen(self) -> npt.NDArray[np.int64]:
        """The unseen slot of every attribute."""
        return self.first_slot[1:] - 1

    @property
    def slot_sizes(self) -> npt.NDArray[np.int64]:
        """The q_i of the attribute that owns each slot."""
        return np.repeat(self.sizes, self.sizes + 1)

    def own_slots(self, i: int) -> slice:
        """Slots of attribute i."""
        return slice(int(self.first_slot[i]), int(self.first_slot[i + 1]))

    def value_totals(self) -> list[npt.NDArray[Any]]:
        """How many rows have each value of every attribute, or their weight."""
        totals = self.value_counts.sum(axis=1)
        return [totals[self.own_slots(i)][:-1] for i in range(len(self.sizes))]

    def slots(self, codes: Codes) -> npt.NDArray[np.int64]:
        """Slot of every code; a code that is no declared value goes to the attribute's unseen slot."""
        if codes.shape[1:] != self.sizes.shape:
            raise ValueError(f"rows must have {len(self.sizes)} codes, got shape {codes.shape}")
        slots: npt.NDArray[np.int64] = np.minimum(codes, self.sizes, order="C")
        slots += self.first_slot[:-1]
        return slots

    def add(self, codes: Codes, class_codes: npt.NDArray[Any], weights: Floats | None = None) -> None:
        """Add rows.

        Parameters
        ----------
        codes : array of shape (n, m)
            Codes; one that is no declared value is not counted.
        class_codes : array of shape (n,)
            Classes, 0 <= code < r.
        weights : array of shape (n,), optional
            Weight of each row; all counts are floating point from then on.
        """
        classes = np.ascontiguousarray(class_codes, dtype=np.int64)
        if len(classes) and not (classes.min() >= 0 and classes.max() < self.n_classes):
            raise ValueError(
                f"class codes must be from 0 to {self.n_classes - 1}, got {classes.min()} to {classes.max()}"
            )
        self.check_room(len(codes) if weights is None else 0)
        if weights is not None:
            self._convert(np.float64)
            weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.class_counts += np.bincount(classes, weights, self.n_classes).astype(self.class_counts.dtype)
        for begin in range(0, len(codes), _STEP):
            part = slice(begin, begin + _STEP)
            self._count(self.slots(codes[part]), classes[part], None if weights is None else weights[part])
        self._clear(self._unseen)

    def copy(self) -> Self:
        """Return the same counts, to add others to."""
        copied = self._empty(self.sizes)
        for name, table in self._tables().items():
            setattr(copied, name, table.copy())
        return copied

    def grown(self, sizes: npt.ArrayLike) -> Self:
        """Return the same counts with room for new values at the end of the domains."""
        grown = self._empty(sizes)
        if (grown.sizes < self.sizes).any():
            raise ValueError(
                f"a domain can only grow: sizes were {self.sizes.tolist()}, got {grown.sizes.tolist()}"
            )
        grown._convert(self.value_counts.dtype)
        grown.class_counts[:] = self.class_counts
        grown._copy(self, self._moved(grown))
        return grown

    def __add__(self, other: Self) -> Self:
        """Counts of the rows of both."""
        if self.n_classes != other.n_classes or not np.array_equal(self.sizes, other.sizes):
            raise ValueError(
                "counts add up only over the same domains and classes: give them the same sizes first (grown)"
            )
        total = self._empty(self.sizes)
        for part in (self, other):
            total._convert(part.value_counts.dtype)
        for part in (self, other):
            total.check_room(part.n_rows)
            for name, table in total._tables().items():
                table += getattr(part, name)
        return total

    def __sub__(self, other: Self) -> Self:
        """Counts of the rows of this one that are not in the other; counts must be whole numbers."""
        left = self.copy()
        for name, table in left._tables().items():
            table -= getattr(other, name)
            if (table < 0).any():
                raise ValueError("only rows that were counted can be taken out of the counts")
        return left

    def as_integers(self) -> Self:
        """As integers, if all counts are whole numbers; otherwise as they are."""
        tables = self._tables()
        if self.value_counts.dtype.kind == "i" or any((t != np.rint(t)).any() for t in tables.values()):
            return self
        whole = self._empty(self.sizes)
        for name, table in whole._tables().items():
            if tables[name].max(initial=0) > np.iinfo(table.dtype).max:
                return self
            table[:] = tables[name]
        return whole

    def fields(self) -> dict[str, Any]:
        """Named arrays from which :meth:`restore` takes the counts."""
        return dict(self._tables())

    def restore(self, fields: Fields) -> None:
        """Take in tables as :meth:`fields` gave them; impossible counts are refused."""
        for name, table in self._tables().items():
            given = fields.array(name, "if", table.ndim)
            if given.shape != table.shape or given.dtype not in (table.dtype, np.float64):
                raise ValueError(f"{name} does not fit the sizes: {given.dtype} of shape {given.shape}")
            if not (np.isfinite(given).all() and (given >= 0).all()):
                raise ValueError(f"{name} must be numbers of rows, finite and not negative")
            setattr(self, name, given)
        if len({table.dtype.kind for table in self._tables().values()}) > 1:
            raise ValueError("some counts have weights and others have none")
        self.check_room(0)
        self._check_sums()

    @property
    def class_totals(self) -> npt.NDArray[Any]:
        """Rows of each class, or their weight."""
        return self.class_counts

    def _check_sums(self) -> None:
        """Refuse counts of values that do not add up to those of classes."""
        # One by one first: the sum of huge numbers wraps around.
        by_attribute = np.add.reduceat(self.value_counts, self.first_slot[:-1])
        each_fits = not exceeds(self.value_counts, self.class_counts)
        if not each_fits or exceeds(by_attribute, self.class_counts) or self.value_counts[self._unseen].any():
            raise ValueError("the counts of values do not add up to those of the classes")

    def _tables(self) -> dict[str, npt.NDArray[Any]]:
        return {"class_counts": self.class_counts, "value_counts": self.value_counts}

    def _empty(self, sizes: npt.ArrayLike) -> Self:
        return type(self)(sizes, self.n_classes)

    def _convert(self, dtype: npt.DTypeLike) -> None:
        if np.dtype(dtype).kind == "f":
            for name, table in self._tables().items():
                setattr(self, name, table.astype(np.float64, copy=False))

    def check_room(self, n_more: float) -> None:
        """Refuse more rows than the counts can hold."""

    def _moved(self, grown: Self) -> npt.NDArray[np.int64]:
        """Slot in the grown table of every slot of this one; unseen slots are zero and may go anywhere."""
        shift = grown.first_slot[:-1] - self.first_slot[:-1]
        return np.arange(self.n_slots) + np.repeat(shift, self.sizes + 1)

    def _clear(self, slots: npt.NDArray[np.int64]) -> None:
        """Set the counts of some slots, one of each attribute, to zero."""
        self.value_counts[slots] = 0

    def _copy(self, source: Self, slots: npt.NDArray[np.int64]) -> None:
        self.value_counts[slots] = source.value_counts

    def _count(
        self,
        slots: npt.NDArray[np.int64],
        classes: npt.NDArray[np.int64],
        weights: Floats | None,
    ) -> None:
        at, values = slots * self.n_classes, self.value_counts
        compiled.count_values(values, at, at, classes, each_weight(weights, len(slots), values.dtype))


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

    def add(self, codes: Codes, class_codes: npt.NDArray[Any], weights: Floats | None = None) -> None:
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

    def _check_sums(self) -> None:
        super()._check_sums()
        counted = np.add.reduceat(self.value_counts, self.first_slot[:-1])
        if exceeds(counted, self.known_counts) or exceeds(self.known_counts, self.class_counts):
            raise ValueError("the counts of known values do not fit those of values and classes")


def sum_rows(rows: npt.NDArray[np.int64], table: Floats, start: Floats) -> Floats:
    """Start plus, for every query, the sum of the rows of a table that it names.

    Examples
    --------
    >>> table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> sum_rows(np.array([[0, 2]]), table, start=np.array([10.0, 20.0])).tolist()
    [[16.0, 28.0]]
    """
    at, out = rows * table.shape[1], np.empty((len(rows), table.shape[1]))
    compiled.sum_values(table, at, at, start, out)
    return out


def each_weight(weights: Floats | None, n: int, dtype: Any) -> npt.NDArray[Any]:
    """Weight of each of n rows; one where there are no weights."""
    return np.ones(n, dtype) if weights is None else weights.astype(dtype, copy=False)


def exceeds(counts: npt.NDArray[Any], limit: npt.NDArray[Any]) -> bool:
    """Whether any count is above its limit; sums of weights may be off by their rounding."""
    slack = _ROUNDING if counts.dtype.kind == "f" else 0.0
    return bool((counts > limit * (1 + slack)).any())
