"""How often values, and pairs of values, occur in each class: the statistic of the eager family."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import localbayes.kernels._kernels as _kernels
from localbayes.encoding.coded import Codes

__all__ = ["MAX_TABLE_BYTES", "NEGLIGIBLE", "PairCounts", "ValueCounts", "telling"]

MAX_TABLE_BYTES = 2 << 30

# Weka leaves out of a mutual information what has a probability below this.
NEGLIGIBLE = 1e-6

# Bits of information that weights which are no whole numbers may leave where there is none.
_ROUNDING = 1e-12

# Rows that are counted at a time.
_STEP = 1 << 12


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

    def slots(self, codes: Codes) -> npt.NDArray[np.int64]:
        """Slot of every code; a code that is no declared value goes to the attribute's unseen slot."""
        if codes.shape[1:] != self.sizes.shape:
            raise ValueError(f"rows must have {len(self.sizes)} codes, got shape {codes.shape}")
        slots: npt.NDArray[np.int64] = np.minimum(codes, self.sizes, order="C")
        slots += self.first_slot[:-1]
        return slots

    def add(
        self, codes: Codes, class_codes: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None = None
    ) -> None:
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
        self._check_room(len(codes) if weights is None else 0)
        if weights is not None:
            self._convert(np.float64)
            weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.class_counts += np.bincount(classes, weights, self.n_classes).astype(self.class_counts.dtype)
        for begin in range(0, len(codes), _STEP):
            part = slice(begin, begin + _STEP)
            self._count(self.slots(codes[part]), classes[part], None if weights is None else weights[part])
        self._clear(self._unseen)

    def copy(self) -> Self:
        """Return the same counts, to add others to; tables that do not fit the sizes are refused."""
        copied = self._empty(self.sizes)
        for name, table in copied._tables().items():
            own = getattr(self, name)
            if own.shape != table.shape or own.dtype not in (table.dtype, np.float64):
                raise ValueError(f"{name} does not fit the sizes: {own.dtype} of shape {own.shape}")
            setattr(copied, name, own.copy())
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
            total._check_room(part.n_rows)
            for name, table in total._tables().items():
                table += getattr(part, name)
        return total

    def as_integers(self) -> Self:
        """Counts that weights made floating point but left whole, as integers; others as they are."""
        tables = self._tables()
        if self.value_counts.dtype.kind == "i" or any((t != np.rint(t)).any() for t in tables.values()):
            return self
        whole = self._empty(self.sizes)
        for name, table in whole._tables().items():
            if tables[name].max(initial=0) > np.iinfo(table.dtype).max:
                return self
            table[:] = tables[name]
        return whole

    def _tables(self) -> dict[str, npt.NDArray[Any]]:
        return {"class_counts": self.class_counts, "value_counts": self.value_counts}

    def _empty(self, sizes: npt.ArrayLike) -> Self:
        return type(self)(sizes, self.n_classes)

    def _convert(self, dtype: npt.DTypeLike) -> None:
        if np.dtype(dtype).kind == "f":
            for name, table in self._tables().items():
                setattr(self, name, table.astype(np.float64, copy=False))

    def _check_room(self, n_more: float) -> None:
        """Refuse rows that a count could not hold."""

    def _moved(self, grown: Self) -> npt.NDArray[np.int64]:
        """Slot in the grown table of every slot of this one; the unseen slots, all zero, go anywhere."""
        shift = grown.first_slot[:-1] - self.first_slot[:-1]
        return np.arange(self.n_slots) + np.repeat(shift, self.sizes + 1)

    def _clear(self, slots: npt.NDArray[np.int64]) -> None:
        """Take out what was counted of some slots, one of each attribute."""
        self.value_counts[slots] = 0

    def _copy(self, source: Self, slots: npt.NDArray[np.int64]) -> None:
        self.value_counts[slots] = source.value_counts

    def _count(
        self,
        slots: npt.NDArray[np.int64],
        classes: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64] | None,
    ) -> None:
        at, values = slots * self.n_classes, self.value_counts
        _kernels.count_values(values, at, at, classes, _each(weights, len(slots), values.dtype))


class PairCounts(ValueCounts):
    """Value counts and, for every pair of values of two attributes, its count in each class.

    N[y, i, v, j, u] of the house's words. Every eager classifier here is a formula over it. Pairs take
    ``4 r sum_j (q_j + 1) sum_{i<j} (q_i + 1)`` bytes (twice that with weights), about 2 r times the
    squared number of values: 1.5 MB for 16 attributes of ten values and 26 classes. What a classifier derives
    from it is smaller, but for tables of a few attributes.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Number of declared values q_i of every attribute.
    n_classes : int
        Number of declared classes r.
    max_table_bytes : int, default=2 GiB
        A table that would be larger is refused.
    names : sequence of str, optional
        Names of the columns, for that message.

    Attributes
    ----------
    pair_counts : ndarray of shape (n_cells, r)
        Counts of pairs; :meth:`block` gives those of two attributes.

    Examples
    --------
    >>> counts = PairCounts(sizes=[2, 3], n_classes=2)
    >>> counts.add(np.array([[0, 1], [1, 2], [1, 2]], np.uint8), np.array([0, 1, 1]))
    >>> counts.block(0, 1)[:2, :3, 1].tolist()
    [[0, 0, 0], [0, 0, 2]]
    """

    def __init__(
        self,
        sizes: npt.ArrayLike,
        n_classes: int,
        *,
        max_table_bytes: int = MAX_TABLE_BYTES,
        names: Sequence[Any] | None = None,
    ) -> None:
        widths = [int(q) + 1 for q in np.asarray(sizes)]
        start, slots_before = [0], 0
        for width in widths:
            start.append(start[-1] + width * slots_before)
            slots_before += width
        self.max_table_bytes = max_table_bytes
        self.names = None if names is None else list(names)
        self._refuse_beyond_limit(4 * start[-1] * int(n_classes), widths)
        super().__init__(sizes, n_classes)
        before = np.repeat(self.first_slot[:-1], self.sizes + 1)
        self.first_cell = np.repeat(start[:-1], self.sizes + 1) + (np.arange(self.n_slots) - before) * before
        self.pair_counts: npt.NDArray[Any] = np.zeros((start[-1], self.n_classes), dtype=np.int32)

    def block(self, i: int, j: int) -> npt.NDArray[Any]:
        """Counts of the pairs of values of attributes i != j, shape (q_i + 1, q_j + 1, r), a view."""
        low, high = min(i, j), max(i, j)
        block = self._rows_of(high)[:, self.first_slot[low] : self.first_slot[low + 1]]
        return block if high == i else block.swapaxes(0, 1)

    def conditional_information(self) -> npt.NDArray[np.float64]:
        """Conditional mutual information of every two attributes given the class, in bits.

        It is exactly zero where they are independent in every class. Cells with P(i, j, y) P(y) or
        P(i, y) P(j, y) below 1e-6 are left out, as in Weka; see :func:`telling`.
        """
        m = len(self.sizes)
        information: npt.NDArray[np.float64] = np.zeros((m, m))
        limits = np.array([float(self.n_rows)]), np.array([NEGLIGIBLE])
        _kernels.conditional_information(*self.whole, self.first_slot, *limits, information)
        information /= self.n_rows or 1
        return telling(information, self)

    def offsets(self, slots: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the kernels find the counts of i < j: at the first of j plus the second of i."""
        return (self.first_cell * self.n_classes)[slots], slots * self.n_classes

    @property
    def whole(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The table, and where the kernels find the counts of all slots in it."""
        return self.pair_counts, *self.offsets(np.arange(self.n_slots)[None])

    def _tables(self) -> dict[str, npt.NDArray[Any]]:
        return super()._tables() | {"pair_counts": self.pair_counts}

    def _empty(self, sizes: npt.ArrayLike) -> Self:
        return type(self)(sizes, self.n_classes, max_table_bytes=self.max_table_bytes, names=self.names)

    def _convert(self, dtype: npt.DTypeLike) -> None:
        if np.dtype(dtype).kind == "f":
            self._refuse_beyond_limit(8 * self.pair_counts.size, (self.sizes + 1).tolist())
        super()._convert(dtype)

    def _check_room(self, n_more: float) -> None:
        most = np.iinfo(np.int32).max
        if self.pair_counts.dtype == np.int32 and self.n_rows + n_more > most:
            raise ValueError(
                f"counts of pairs hold at most {most} rows, got {n_more} more than {self.n_rows}"
            )

    def _copy(self, source: Self, slots: npt.NDArray[np.int64]) -> None:
        super()._copy(source, slots)
        for j, q in enumerate(source.sizes):
            self._rows_of(j)[:q, slots[: source.first_slot[j]]] = source._rows_of(j)[:q]

    def _clear(self, slots: npt.NDArray[np.int64]) -> None:
        super()._clear(slots)
        for j, slot in enumerate(slots):
            self._rows_of(j)[slot - self.first_slot[j]] = 0
            self._rows_of(j)[:, slots[:j]] = 0

    def _count(
        self,
        slots: npt.NDArray[np.int64],
        classes: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64] | None,
    ) -> None:
        super()._count(slots, classes, weights)
        each = _each(weights, len(slots), self.pair_counts.dtype)
        _kernels.count_pairs(self.pair_counts, *self.offsets(slots), classes, each)

    def _rows_of(self, j: int) -> npt.NDArray[Any]:
        """Counts of the values of attribute j with all slots before it, shape (q_j + 1, first_slot[j], r)."""
        shape = (self.sizes[j] + 1, self.first_slot[j], self.n_classes)
        begin = self.first_cell[self.first_slot[j]]
        return self.pair_counts[begin : begin + shape[0] * shape[1]].reshape(shape)

    def _refuse_beyond_limit(self, needed: int, widths: list[int]) -> None:
        if needed <= self.max_table_bytes:
            return
        widest = max(range(len(widths)), key=widths.__getitem__)
        name = widest if self.names is None else repr(self.names[widest])
        raise ValueError(
            f"the table of pairs would take {_readable(needed)}, more than max_table_bytes = "
            f"{_readable(self.max_table_bytes)}; column {name} has the most values ({widths[widest] - 1}): "
            "bin, group or drop it, or allow a larger table"
        )


def _each(weights: npt.NDArray[np.float64] | None, n: int, dtype: Any) -> npt.NDArray[Any]:
    """What each of n rows counts."""
    return np.ones(n, dtype) if weights is None else weights.astype(dtype, copy=False)


def _readable(size: float) -> str:
    power = min(3, max(0, int(size).bit_length() - 1) // 10)
    return f"{size / 1024**power:.1f} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"


def telling(information: npt.NDArray[np.float64], counts: ValueCounts) -> npt.NDArray[np.float64]:
    """Information, and zero where there is none.

    A sum from which rare cells are left out may fall below zero, and where rows have weights that are no
    whole numbers, rounding takes the place of an exact zero.

    Examples
    --------
    >>> telling(np.array([0.5, -0.001]), ValueCounts([2], n_classes=2)).tolist()
    [0.5, 0.0]
    """
    least = _ROUNDING if counts.value_counts.dtype.kind == "f" else 0.0
    return np.where(information > least, information, 0.0)
