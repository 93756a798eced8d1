"""How often pairs of values occur in each class, and the sums over pairs that formulas ask for."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from localbayes.counts.protocol import Codes, Floats
from localbayes.counts.values import ValueCounts, each_weight, exceeds
from localbayes.kernels import compiled

__all__ = ["MAX_TABLE_BYTES", "NEGLIGIBLE", "PairCounts", "telling"]

MAX_TABLE_BYTES = 2 << 30

# Weka leaves cells with a probability below this out of a mutual information.
NEGLIGIBLE = 1e-6

# Information, in bits, that rounding may leave where there is none, if weights are not whole numbers.
_ROUNDING = 1e-12


class PairCounts(ValueCounts):
    """Value counts and, for every pair of values of two attributes, its count in each class.

    This is N[y, i, v, j, u] of ``docs/architecture.md``; TAN, AODE, WAODE and HNB are formulas over it. Pairs
    take ``4 r sum_j (q_j + 1) sum_{i<j} (q_i + 1)`` bytes (twice that with weights), about 2 r times the
    squared number of values: 1.5 MB for 16 attributes of ten values and 26 classes. What a classifier derives
    from it is smaller, except for tables of few attributes.

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

    def conditional_information(self) -> Floats:
        """Conditional mutual information of every two attributes given the class, in bits.

        It is exactly zero where they are independent in every class. Cells with P(i, j, y) P(y) or
        P(i, y) P(j, y) below 1e-6 are left out, as in Weka; see :func:`telling`.
        """
        m = len(self.sizes)
        information: Floats = np.zeros((m, m))
        limits = np.array([float(self.n_rows)]), np.array([NEGLIGIBLE])
        compiled.conditional_information(*self.whole, self.first_slot, *limits, information)
        information /= self.n_rows or 1
        return telling(information, self)

    def reordered(self, orders: Sequence[npt.NDArray[np.int64]]) -> Self:
        """Return the same counts with other codes: the value with code ``orders[i][k]`` gets the code k."""
        moved = self._empty(self.sizes)
        moved._convert(self.value_counts.dtype)
        moved.class_counts[:] = self.class_counts
        full = [np.append(order, q) for order, q in zip(orders, self.sizes, strict=True)]
        for i, order in enumerate(full):
            moved.value_counts[self.own_slots(i)] = self.value_counts[self.own_slots(i)][order]
            for j in range(i):
                moved.block(i, j)[...] = self.block(i, j)[order][:, full[j]]
        return moved

    def agreeing(self, codes: Codes) -> npt.NDArray[Any]:
        """Count training rows by query, class and two attributes on which they agree with the query."""
        m = len(self.sizes)
        values = np.minimum(codes, self.sizes)
        pairs = np.zeros((len(codes), self.n_classes, m, m), dtype=self.pair_counts.dtype)
        for i in range(m):
            for j in range(i):
                pairs[:, :, i, j] = pairs[:, :, j, i] = self.block(i, j)[values[:, i], values[:, j]]
        return pairs

    def products(self, codes: Codes, pseudo: Floats, base: Floats, spans: npt.NDArray[np.int64]) -> Floats:
        """Products over attributes i != p of (n(x_p, x_i, y) + pseudo_i), times base(x_p, y).

        Parameters
        ----------
        codes : array of shape (n, m)
            Queries.
        pseudo : array of shape (m,)
            What is added to the counts of every attribute.
        base : array of shape (n_slots, r)
            What every slot and class begins with.
        spans : array of shape (k, 2)
            Attributes, from begin to end, of each of several products.

        Returns
        -------
        products : array of shape (k, m, n, r)
            By span, superparent p, query and class.
        """
        offsets = self.offsets(self.slots(codes))
        parts = np.empty((len(spans), len(self.sizes), len(codes), self.n_classes))
        for span, part in zip(spans, parts, strict=True):
            compiled.multiply_counts(self.pair_counts, *offsets, pseudo, base, span, part)
        return parts

    def mixtures(self, codes: Codes, pseudo: Floats, weights: Floats, alone: Floats, scale: Floats) -> Floats:
        """Sums over j != i of weights_ij (n(x_i, x_j, y) + pseudo_i) scale(x_j, y), plus alone(x_i, y).

        Parameters
        ----------
        codes : array of shape (n, m)
            Queries.
        pseudo : array of shape (m,)
            What is added to the counts of every attribute.
        weights : array of shape (m, m)
            Weight of attribute j for attribute i.
        alone, scale : arrays of shape (n_slots, r)
            By slot and class.

        Returns
        -------
        mixtures : array of shape (m, n, r)
            By attribute i, query and class.
        """
        mixed = np.empty((len(self.sizes), len(codes), self.n_classes))
        offsets = self.offsets(self.slots(codes))
        compiled.mix_counts(self.pair_counts, *offsets, pseudo, weights, alone, scale, mixed)
        return mixed

    def arc_scores(self, alpha: float, table_size: int) -> Floats:
        """Log marginal likelihood of every child (row) given the class and a parent (column); itself is none.

        Logarithms of the gamma function of up to ``table_size`` whole numbers are looked up.
        """
        counts = self.as_integers()  # so that a whole weight decides a tie as that many rows do
        sizes, kind = np.unique(counts.sizes, return_inverse=True)
        values = counts.value_counts
        whole = values.dtype.kind == "i"
        table = gammaln(
            alpha + np.arange(min(int(counts.class_counts.max()) + 1, table_size) if whole else 0)
        )
        parents = np.concatenate([values, counts.class_counts[None]])
        empty = np.column_stack([counts.sizes * gammaln(alpha), gammaln(alpha * counts.sizes)])
        scores = np.empty((len(counts.sizes), len(counts.sizes)))
        compiled.arc_scores(
            *counts.whole,
            counts.first_slot,
            kind.astype(np.int64),
            gammaln(alpha + values),
            gammaln(alpha * sizes[:, None, None] + parents),
            empty,
            table,
            np.array([len(table)]),
            np.array([float(alpha)]),
            scores,
        )
        return scores

    def offsets(self, slots: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the kernels find the counts of i < j: at the first of j plus the second of i."""
        return (self.first_cell * self.n_classes)[slots], slots * self.n_classes

    @property
    def whole(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The table, and where the kernels find the counts of all slots in it."""
        return self.pair_counts, *self.offsets(np.arange(self.n_slots)[None])

    def _check_sums(self) -> None:
        super()._check_sums()
        for i in range(len(self.sizes)):
            for j in range(i):
                pairs, own, other = self.block(i, j), self.own_slots(i), self.own_slots(j)
                if (
                    exceeds(pairs.sum(axis=1), self.value_counts[own])
                    or exceeds(pairs.sum(axis=0), self.value_counts[other])
                    or pairs[-1].any()
                    or pairs[:, -1].any()
                ):
                    raise ValueError("the counts of pairs do not add up to those of values")

    def _tables(self) -> dict[str, npt.NDArray[Any]]:
        return super()._tables() | {"pair_counts": self.pair_counts}

    def _empty(self, sizes: npt.ArrayLike) -> Self:
        return type(self)(sizes, self.n_classes, max_table_bytes=self.max_table_bytes, names=self.names)

    def _convert(self, dtype: npt.DTypeLike) -> None:
        if np.dtype(dtype).kind == "f":
            self._refuse_beyond_limit(8 * self.pair_counts.size, (self.sizes + 1).tolist())
        super()._convert(dtype)

    def check_room(self, n_more: float) -> None:
        """Refuse more rows than the counts can hold."""
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
        weights: Floats | None,
    ) -> None:
        super()._count(slots, classes, weights)
        each = each_weight(weights, len(slots), self.pair_counts.dtype)
        compiled.count_pairs(self.pair_counts, *self.offsets(slots), classes, each)

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


def _readable(size: float) -> str:
    power = min(3, max(0, int(size).bit_length() - 1) // 10)
    return f"{size / 1024**power:.1f} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"


def telling(information: Floats, counts: ValueCounts) -> Floats:
    """Information, with zero in place of negative values and of rounding errors.

    A sum without its rare cells may be negative. Where weights of rows are not whole numbers, rounding may
    leave a small number in place of zero.

    Examples
    --------
    >>> telling(np.array([0.5, -0.001]), ValueCounts([2], n_classes=2)).tolist()
    [0.5, 0.0]
    """
    least = _ROUNDING if counts.value_counts.dtype.kind == "f" else 0.0
    return np.where(information > least, information, 0.0)
