"""Rows as cells with a frequency: equal rows of a class are packed once, rows of one weight side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.protocol import Codes, Floats
from localbayes.fields import Fields
from localbayes.kernels import compiled

__all__ = ["ClassCodes", "Frequencies", "arrange"]

ClassCodes = npt.NDArray[np.unsignedinteger[Any]]
Integers = npt.NDArray[np.int64]

# Equal rows are put together where that saves a quarter of the rows and a block of the kernel at least: below
# that, runs cost more than they save.
_LEAST_SHARE, _LEAST_ROWS = 0.25, 2048
# Cells of one weight from which on they are a run. Many rows of different weights are summed up for less; few
# are not, and frequencies, which must stay exact, are not either.
_LEAST_RUN, _SHORT_RUN, _MANY_LOOSE = 256, 8, 1024


@dataclass(frozen=True)
class Frequencies:
    """What the packed rows of a segment count, if not once each, and which row is which.

    A packed row is a cell: all rows of one class and the same values. The cells of a class are cut into runs;
    those of a run count the same, but for the last run, whose cells have weights of their own.

    Attributes
    ----------
    row_cells : array of shape (n,)
        Packed row of every row as it came.
    run_start : array of shape (n_runs + 1,)
        Where the runs begin, and the end of the last.
    run_weight : array of shape (n_runs,)
        What each cell of a run counts: a number of rows or the sum of their weights; 0 if `loose` tells it.
    loose : array
        What the cells of runs with weight 0 count, one after the other.
    weighted : bool
        Whether rows have weights.
    row_weights : array of shape (n,), optional
        Weights of the rows as they came, where a cell is more than one of them.
    """

    row_cells: npt.NDArray[np.unsignedinteger[Any]]
    run_start: Integers
    run_weight: Floats
    loose: Floats
    weighted: bool
    row_weights: npt.NDArray[Any] | None = None

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take, those of every row among them."""
        arrays = (self.row_cells, self.run_start, self.run_weight, self.loose, self.row_weights)
        return sum(a.nbytes for a in arrays if a is not None)

    @property
    def cell_weights(self) -> Floats:
        """What every packed row counts."""
        length = np.diff(self.run_start)
        weights = np.repeat(self.run_weight, length)
        weights[np.repeat(self.run_weight == 0, length)] = self.loose
        return weights

    def weights_of(self, rows: Integers) -> Floats | None:
        """Weights of rows, by their place among the rows as they came; None if they have none."""
        if not self.weighted:
            return None
        if self.row_weights is not None:
            return np.asarray(self.row_weights[rows], dtype=np.float64)
        return np.asarray(self.cell_weights[self.row_cells[rows]])

    def fields(self) -> dict[str, Any]:
        """Named arrays from which :meth:`restore` makes the frequencies."""
        return {
            "row_cells": self.row_cells,
            "run_start": self.run_start,
            "run_weight": self.run_weight,
            "loose_weights": self.loose,
            "weighted": self.weighted,
            "row_weights": self.row_weights,
        }

    @classmethod
    def restore(cls, fields: Fields) -> "Frequencies | None":
        """Frequencies from what :meth:`fields` gave; None where rows have none."""
        if "row_cells" not in fields.names() or fields.optional_array("row_cells", "u", 1) is None:
            return None
        return cls(
            fields.array("row_cells", "u", 1),
            fields.array("run_start", "i", 1).astype(np.int64, copy=False),
            fields.array("run_weight", "f", 1).astype(np.float64, copy=False),
            fields.array("loose_weights", "f", 1).astype(np.float64, copy=False),
            fields.get("weighted", bool),
            fields.optional_array("row_weights", "uf", 1),
        )

    def check(self, class_start: Integers) -> None:
        """Refuse frequencies from a file that do not fit the packed rows of the classes."""
        n_cells, start = int(class_start[-1]), self.run_start
        if len(start) != len(self.run_weight) + 1 or start[0] != 0 or start[-1] != n_cells:
            raise ValueError("the runs of the training rows do not cover them")
        length = np.diff(start)
        first = class_start[:-1][np.diff(class_start) > 0]
        if (length < 1).any() or not np.isin(first, start).all():
            raise ValueError("the runs of the training rows do not fit their classes")
        weights = np.concatenate([self.run_weight, self.loose])
        if not (np.isfinite(weights) & (weights >= 0)).all() or not (self.loose > 0).all():
            raise ValueError("the weights of the training rows must be positive numbers")
        if len(self.loose) != length[self.run_weight == 0].sum():
            raise ValueError("a weight is needed for every training row outside of runs")
        if len(self.row_cells) and self.row_cells.max() >= n_cells:
            raise ValueError("a training row must be one of the packed rows")
        given = self.row_weights
        if given is not None and (given.shape != self.row_cells.shape or not self.weighted):
            raise ValueError("a weight is needed for every training row, where rows have weights")
        if given is not None and not (np.isfinite(given) & (given > 0)).all():
            raise ValueError("the weights of the training rows must be positive numbers")
        counts = np.bincount(self.row_cells, given, minlength=n_cells)
        if self.weighted and given is None:
            fits = bool((counts == 1).all())
        else:
            fits = bool(np.allclose(counts, self.cell_weights, rtol=1e-9, atol=0))
        if not fits:
            raise ValueError("the training rows are not as many, or as heavy, as their cells")


def arrange(
    codes: Codes, row_classes: ClassCodes, weights: Floats | None, n_classes: int
) -> tuple[Integers, Integers, Frequencies | None]:
    """Choose what to pack: which rows in which order, and what they count.

    Parameters
    ----------
    codes : array of shape (n, m)
        The rows.
    row_classes : array of shape (n,)
        Their classes.
    weights : array of shape (n,), optional
        Their weights.
    n_classes : int
        Number of classes.

    Returns
    -------
    order : array
        Rows to be packed, sorted by class.
    class_start : array of shape (n_classes + 1,)
        Where the packed rows of each class begin and end.
    frequencies : Frequencies or None
        None where all rows are packed, sorted by class alone.

    Examples
    --------
    Few rows are packed as they are.

    >>> rows, classes = np.array([[0], [1], [0]], np.uint8), np.array([1, 0, 1], np.uint8)
    >>> order, class_start, frequencies = arrange(rows, classes, None, 2)
    >>> order.tolist(), class_start.tolist(), frequencies
    ([1, 0, 2], [0, 1, 3], None)
    """
    n = len(codes)
    most = n - max(int(_LEAST_SHARE * n), _LEAST_ROWS)
    found = compiled.find_repeats(codes, row_classes.astype(np.int64), most) if most > 0 else None
    if found is None and weights is None:
        return _by_class(row_classes, n_classes)
    if found is None:
        first, cells, counts = None, None, weights
    else:
        first, cells = found
        counts = np.bincount(cells, weights, minlength=len(first)).astype(np.float64)
    assert counts is not None
    classes = row_classes if first is None else row_classes[first]
    group, values = _runs(counts, classes, n_classes, _SHORT_RUN if weights is None else _LEAST_RUN)
    if weights is not None and (group % len(values) == len(values) - 1).sum() < _MANY_LOOSE:
        group, values = _runs(counts, classes, n_classes, _SHORT_RUN)
    if found is None and len(values) == 1:
        return _by_class(row_classes, n_classes)
    order = np.argsort(group, kind="stable")
    length = np.bincount(group, minlength=n_classes * len(values))
    run_weight = np.tile(values, n_classes)[length > 0]
    place = np.empty(len(order), dtype=np.min_scalar_type(max(len(order) - 1, 0)))
    place[order] = np.arange(len(order))
    loose = counts[order][np.repeat(run_weight == 0, length[length > 0])]
    frequencies = Frequencies(
        place if cells is None else place[cells],
        _starts(length[length > 0]),
        run_weight,
        loose,
        weights is not None,
        None if weights is None or cells is None else _narrow(weights),
    )
    class_start = _starts(length.reshape(n_classes, -1).sum(axis=1))
    return order if first is None else first[order], class_start, frequencies


def _by_class(row_classes: ClassCodes, n_classes: int) -> tuple[Integers, Integers, None]:
    start = _starts(np.bincount(row_classes, minlength=n_classes))
    return np.argsort(row_classes, kind="stable"), start, None


def _starts(lengths: npt.NDArray[Any]) -> Integers:
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


def _runs(
    weights: npt.NDArray[Any], classes: ClassCodes, n_classes: int, least: int
) -> tuple[npt.NDArray[Any], Floats]:
    """Run of every cell, by class and then by weight, and the weights of a class's runs, 0 for the last."""
    values, which, counts = np.unique(weights, return_inverse=True, return_counts=True)
    common = (counts >= least) & (values > 0)
    values, place = values[common], np.where(common, np.cumsum(common) - 1, common.sum())
    runs = len(values) + 1
    group = classes.astype(np.int64) * runs + place[which]
    few = np.bincount(group, minlength=n_classes * runs) < least
    group = np.where(few[group], classes.astype(np.int64) * runs + runs - 1, group)
    # Numbers of two bytes are sorted digit by digit.
    return group.astype(np.min_scalar_type(n_classes * runs)), np.append(values, 0.0).astype(np.float64)


def _narrow(weights: Floats) -> npt.NDArray[Any]:
    """Weights that are whole numbers as integers."""
    whole = weights.astype(np.uint32) if weights.max(initial=0) < 2**32 else weights
    return whole.astype(np.min_scalar_type(whole.max())) if np.array_equal(whole, weights) else weights
