"""Training rows, packed into bit planes and sorted by class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.frequencies import ClassCodes, Frequencies, arrange
from localbayes.counts.protocol import Codes, Floats
from localbayes.encoding.coded import missing_code
from localbayes.fields import Fields
from localbayes.kernels import compiled

__all__ = ["ClassCodes", "Segment", "check_segment", "merge", "pack", "rows_of", "unpack"]


@dataclass(frozen=True)
class Segment:
    """Training rows, sorted by class and cut into bit planes (see ``layout.hpp``).

    The sort is stable, so ``row_classes``, the class of every row in the order in which the rows came,
    tells which sorted row is which. Where rows are cells with a frequency, ``frequencies`` tells it, and the
    packed rows are the cells.

    Attributes
    ----------
    words : array of uint64
        The bit planes.
    class_start : array of shape (n_classes + 1,)
        Where the packed rows of each class begin and end.
    sizes : array of shape (m,)
        Number of codes of every attribute.
    row_classes : array of shape (n,)
        Class of every row as it came; empty if there are frequencies.
    first_row : int
        Number of the first row among the rows of all segments.
    weights : array of shape (n,), optional
        Weights of the sorted rows; None if there are frequencies.
    by_value : array of shape (m,), optional
        Attributes that have a bit plane for every value, however many there are.
    frequencies : Frequencies, optional
        What every packed row counts, if that is not one row.

    Examples
    --------
    >>> rows, classes = np.array([[0], [1], [1]], np.uint8), np.array([1, 0, 1], np.uint8)
    >>> segment = pack(rows, classes, None, np.array([2], np.uint32), n_classes=2, may_miss=False)
    >>> segment.class_codes.tolist(), segment.order.tolist()
    ([0, 1, 1], [1, 0, 2])
    """

    words: npt.NDArray[np.uint64]
    class_start: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.uint32]
    row_classes: ClassCodes
    first_row: int
    weights: Floats | None = None
    by_value: npt.NDArray[np.uint8] | None = None
    frequencies: Frequencies | None = None

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.n_cells if self.frequencies is None else len(self.frequencies.row_cells)

    @property
    def n_cells(self) -> int:
        """Number of packed rows, each of which may be several rows."""
        return int(self.class_start[-1])

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        arrays = (self.words, self.class_start, self.sizes, self.row_classes, self.weights)
        return sum(a.nbytes for a in (*arrays, self.frequencies) if a is not None)

    @property
    def nbytes_counted(self) -> int:
        """The part of the memory that a query reads: the packed rows and what they count."""
        if self.frequencies is None:
            return self.nbytes - self.row_classes.nbytes
        of_rows = (self.frequencies.row_cells, self.frequencies.row_weights)
        return self.nbytes - sum(a.nbytes for a in of_rows if a is not None)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None if self.frequencies is None else self.frequencies.weighted

    @property
    def class_codes(self) -> npt.NDArray[np.int64]:
        """Class of every row, in sorted order."""
        return np.sort(self.came_as, kind="stable").astype(np.int64)

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Number of every sorted row in the order in which rows were added."""
        return self.first_row + np.argsort(self.came_as, kind="stable")

    @property
    def came_as(self) -> ClassCodes:
        """Class of every row, in the order in which rows were added."""
        if self.frequencies is None:
            return self.row_classes
        cells = np.repeat(np.arange(len(self.class_start) - 1), np.diff(self.class_start))
        classes: ClassCodes = cells.astype(np.min_scalar_type(max(len(self.class_start) - 2, 0)))
        return np.asarray(classes[self.frequencies.row_cells])

    @property
    def row_weights(self) -> Floats:
        """Weight of every sorted row; one where rows have none."""
        if self.frequencies is None:
            return np.ones(self.n_rows) if self.weights is None else self.weights
        weights = self.frequencies.weights_of(self.order - self.first_row)
        return np.ones(self.n_rows) if weights is None else weights

    @property
    def mapped(self) -> bool:
        """Whether the rows are in a file that is mapped into memory, and may exceed it."""
        base: Any = self.words
        while isinstance(base, np.ndarray):
            if isinstance(base, np.memmap):
                return True
            base = base.base
        return isinstance(base, mmap)

    def as_kernel_input(self, weighted: bool) -> tuple[Any, ...]:
        """Arrays that the kernel counts from."""
        rows = self.words, self.class_start, self.sizes
        if self.frequencies is not None:
            found = self.frequencies
            return *rows, found.loose, self.by_value, found.run_start, found.run_weight
        if not weighted or self.weights is not None:
            return *rows, self.weights, self.by_value
        start = np.unique(self.class_start)
        return *rows, None, self.by_value, start, np.ones(len(start) - 1)

    def plain(self, may_miss: bool) -> "Segment":
        """The same rows without frequencies, every row packed."""
        if self.frequencies is None:
            return self
        order = self.order - self.first_row
        codes = unpack(self, self.frequencies.row_cells[order].astype(np.int64), may_miss)
        start = np.searchsorted(self.class_codes, np.arange(len(self.class_start)))
        words = compiled.pack(codes, np.arange(len(codes)), self.sizes, may_miss, self.by_value)
        weights = self.row_weights if self.weighted else None
        rows = words, start, self.sizes, self.came_as, self.first_row, weights
        return Segment(*rows, self.by_value)

    def fields(self) -> dict[str, Any]:
        """Named arrays from which :meth:`restore` takes the rows."""
        frequencies = {} if self.frequencies is None else self.frequencies.fields()
        return {
            "words": self.words,
            "class_start": self.class_start,
            "sizes": self.sizes,
            "row_classes": self.row_classes,
            "first_row": self.first_row,
            "weights": self.weights,
            "by_value": self.by_value,
            **frequencies,
        }

    @classmethod
    def restore(cls, fields: Fields) -> "Segment":
        """A segment from named arrays, whose types are checked."""
        return cls(
            at_cache_line(fields.array("words", "u", 1).astype(np.uint64, copy=False)),
            fields.array("class_start", "i", 1).astype(np.int64, copy=False),
            fields.array("sizes", "u", 1).astype(np.uint32, copy=False),
            fields.array("row_classes", "u", 1),
            fields.get("first_row", int),
            fields.optional_array("weights", "f", 1),
            fields.optional_array("by_value", "u", 1),
            Frequencies.restore(fields),
        )


def pack(
    codes: Codes,
    row_classes: ClassCodes,
    weights: Floats | None,
    sizes: npt.NDArray[np.uint32],
    n_classes: int,
    may_miss: bool,
    by_value: npt.NDArray[np.uint8] | None = None,
    first_row: int = 0,
) -> Segment:
    """Sort rows by class and cut them into bit planes; equal rows may become one."""
    codes = np.ascontiguousarray(codes)
    sizes = np.ascontiguousarray(sizes, dtype=np.uint32)
    order, start, frequencies = arrange(codes, row_classes, weights, n_classes)
    words = compiled.pack(codes, order, sizes, may_miss, by_value)
    if frequencies is not None:
        return Segment(words, start, sizes, row_classes[:0], first_row, None, by_value, frequencies)
    sorted_weights = None if weights is None else weights[order]
    return Segment(words, start, sizes, row_classes, first_row, sorted_weights, by_value)


def at_cache_line(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The same words, beginning at a line of the cache: the kernel reads such rows in a seventh less time.

    Examples
    --------
    >>> words = np.arange(20, dtype=np.uint64)
    >>> [at_cache_line(words[k:]).ctypes.data % 64 for k in range(3)]
    [0, 0, 0]
    """
    if words.ctypes.data % 64 == 0:
        return words
    room = np.empty(len(words) + 7, dtype=np.uint64)
    begin = -room.ctypes.data % 64 // 8
    moved = room[begin : begin + len(words)]
    moved[:] = words
    return moved


def unpack(segment: Segment, rows: npt.NDArray[np.int64], may_miss: bool) -> Codes:
    """Codes of some sorted rows."""
    codes: Codes = compiled.unpack(segment.words, segment.sizes, may_miss, rows, segment.by_value)
    if may_miss:
        codes[codes == segment.sizes] = missing_code(np.uint32)
    return codes


def merge(
    first: Segment,
    second: Segment,
    sizes: npt.NDArray[np.uint32],
    n_classes: int,
    may_miss: bool,
    by_value: npt.NDArray[np.uint8] | None = None,
) -> Segment:
    """One segment of the rows of two that follow each other."""
    codes = np.empty((first.n_rows + second.n_rows, len(sizes)), dtype=np.uint32)
    weights = np.ones(len(codes))
    for segment in (first, second):
        begin, cells = (
            segment.first_row - first.first_row,
            unpack(segment, np.arange(segment.n_cells), may_miss),
        )
        if segment.frequencies is not None:
            codes[begin : begin + segment.n_rows] = cells[segment.frequencies.row_cells]
        else:
            codes[segment.order - first.first_row] = cells
        weights[segment.order - first.first_row] = segment.row_weights
    classes = np.concatenate([first.came_as, second.came_as])
    weighted = first.weighted or second.weighted
    shape = sizes, n_classes, may_miss, by_value
    return pack(codes, classes, weights if weighted else None, *shape, first.first_row)


def rows_of(
    segments: Sequence[Segment], chosen: npt.NDArray[np.int64] | None, step: int, may_miss: bool
) -> Iterator[tuple[Codes, npt.NDArray[np.int64], npt.NDArray[np.int64], Floats | None]]:
    """Yield rows, all or the chosen numbers, as (codes, class codes, numbers, weights)."""
    for segment in segments:
        classes, order, found = segment.class_codes, segment.order, segment.frequencies
        at = np.arange(segment.n_rows) if chosen is None else np.flatnonzero(np.isin(order, chosen))
        for begin in range(0, len(at), step):
            part = at[begin : begin + step]
            if found is None:
                weights = None if segment.weights is None else segment.weights[part]
                packed = part
            else:
                came = order[part] - segment.first_row
                weights, packed = found.weights_of(came), found.row_cells[came].astype(np.int64)
            yield unpack(segment, packed, may_miss), classes[part], order[part], weights


def check_segment(segment: Segment, n_classes: int, n_attributes: int, may_miss: bool) -> None:
    """Refuse a segment from a file if its arrays do not fit each other or hold impossible values."""
    words, start, sizes, classes = segment.words, segment.class_start, segment.sizes, segment.row_classes
    one_row_each = all(array.ndim == 1 for array in (words, start, sizes, classes))
    if not one_row_each or len(start) != n_classes + 1 or len(sizes) != n_attributes:
        raise ValueError("the arrays of the training rows do not fit the columns and classes")
    by_value = segment.by_value
    if by_value is not None and (by_value.shape != sizes.shape or (by_value > 1).any()):
        raise ValueError("by_value must say 0 or 1 of every column")
    if segment.first_row < 0:
        raise ValueError(f"rows are numbered from 0, got {segment.first_row}")
    compiled.check_rows(words, start, sizes, may_miss, segment.by_value)
    if segment.frequencies is not None:
        if len(classes) or segment.weights is not None:
            raise ValueError("training rows with frequencies have no classes or weights beside them")
        return segment.frequencies.check(start)
    n = segment.n_rows
    if len(classes) != n or not np.array_equal(np.bincount(classes, minlength=n_classes), np.diff(start)):
        raise ValueError("the order of the training rows does not fit their classes")
    if segment.weights is not None:
        weights = segment.weights
        if weights.shape != (n,) or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError("the weights of the training rows must be positive numbers, one for each")
