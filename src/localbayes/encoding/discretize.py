"""Discretizers: where a numeric column is cut into bins.

Each discretizer is one function below, registered under its name. The encoder, the check of the parameter
``discretize`` and the help of the command line read the registry, so a new one is added here alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "DISCRETIZERS",
    "FEW_VALUES",
    "MOST_VALUES",
    "Discretizer",
    "cut_points",
    "discretizer",
    "stable_order",
    "width_cuts",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
CutFunction = Callable[[Floats, Integers, Floats, int], Floats]

# Whole numbers of so few different values have a bin for each under "merged".
FEW_VALUES = 20
# Under "auto" they have, if they are no more than bins would be, or if each has so many rows on average.
MOST_VALUES, _ROWS_OF_VALUE = 30, 5

# A number that this share of the rows has gets a bin of its own under "merged".
_HEAVY = 0.5

# Ends of bins that are nearer than this share of the range are one.
_SAME_END = 1e-9

# Cuts whose entropies (bits per row) differ by no more than this are equally good; the first is taken.
_TIE = 1e-12


@dataclass(frozen=True)
class Discretizer:
    """A named way to cut a numeric column into bins.

    Attributes
    ----------
    name : str
        Value of the parameter ``discretize``.
    cuts : callable
        ``cuts(values, classes, weights, n_bins)`` gives the inner ends of the bins in ascending order. The
        values are sorted, none is missing and there is at least one; classes and weights belong to them.
    needs_classes : bool
        Whether the cuts depend on the classes.
    needs_range_only : bool
        Whether the smallest and the largest value determine the cuts, or the numbers of rows of each value
        where there are at most ``MOST_VALUES`` and all are whole.
    """

    name: str
    cuts: CutFunction
    needs_classes: bool = False
    needs_range_only: bool = False

    @property
    def summary(self) -> str:
        """First line of the function's docstring."""
        return (self.cuts.__doc__ or "").strip().split("\n")[0]


DISCRETIZERS: dict[str, Discretizer] = {}
"""All discretizers by name; the first one is the default."""


def discretizer(
    name: str, *, needs_classes: bool = False, needs_range_only: bool = False
) -> Callable[[CutFunction], CutFunction]:
    """Register the function below as a discretizer; see `Discretizer` for the arguments."""

    def register(cuts: CutFunction) -> CutFunction:
        DISCRETIZERS[name] = Discretizer(name, cuts, needs_classes, needs_range_only)
        return cuts

    return register


def cut_points(
    method: str,
    numbers: Floats,
    class_codes: Integers | None,
    weights: Floats | None,
    n_bins: int,
) -> Floats:
    """Inner ends of the bins, which are closed on the right.

    Parameters
    ----------
    method : str
        Name of a discretizer.
    numbers : array of shape (n,)
        The column; NaN is missing and has no influence.
    class_codes : array of shape (n,)
        Classes, for ``"mdl"``.
    weights : array of shape (n,), optional
        Weights of the rows; 2 is the row twice.
    n_bins : int
        Number of bins, where the discretizer does not find it.

    Returns
    -------
    cuts : array
        Cut points in ascending order; none where the column is one bin.

    Examples
    --------
    >>> numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> cut_points("quantile", numbers, None, None, 3).tolist()
    [2.0, 4.0]
    >>> cut_points("mdl", numbers, np.array([0, 0, 0, 0, 1, 1]), None, 3).tolist()
    [4.5]
    """
    chosen = DISCRETIZERS[method]
    if chosen.needs_classes and class_codes is None:
        raise ValueError(f"discretize={method!r} depends on the classes, got no classes; give them to fit")
    used = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
    order = np.flatnonzero(used)[stable_order(numbers[used])]
    if not len(order):
        return np.empty(0)
    classes = np.zeros(len(order), np.int64) if class_codes is None else class_codes[order]
    weight = np.ones(len(order)) if weights is None else weights[order]
    return chosen.cuts(numbers[order], classes, weight, n_bins)


def stable_order(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Positions of numbers in increasing order, equal ones as they came.

    Small whole numbers are sorted digit by digit, in a tenth of the time.

    Examples
    --------
    >>> stable_order(np.array([3.0, 1.0, 3.0, -2.0])).tolist()
    [3, 1, 0, 2]
    """
    limits = np.iinfo(np.int16)
    if len(values) and values.min() >= limits.min and values.max() <= limits.max:
        small = values.astype(np.int16)
        if (small == values).all():
            return np.argsort(small, kind="stable")
    return np.argsort(values, kind="stable")


def width_cuts(low: float, high: float, n_bins: int) -> Floats:
    """Inner ends of bins of equal width between two numbers; none if the numbers are equal.

    Examples
    --------
    >>> width_cuts(0.0, 3.0, 3).tolist()
    [1.0, 2.0]
    """
    if not low < high:
        return np.empty(0)
    step = np.arange(1, n_bins, dtype=np.float64)
    if np.isinf(high - low):
        share = step / n_bins
        return low * (1 - share) + high * share
    width = (high - low) / n_bins
    return low + width * step if width > 0 else np.empty(0)


@discretizer("auto", needs_range_only=True)
def few_or_width(values: Floats, classes: Integers, weights: Floats, n_bins: int) -> Floats:
    """A bin for each of few whole numbers; ``n_bins`` bins of equal width for other columns.

    Up to ``n_bins`` different numbers are few, and up to 30 if each has five rows on average. A number
    between two of them belongs to the nearer one.
    """
    different = np.unique(values)
    most = min(MOST_VALUES, max(n_bins, int(weights.sum() / _ROWS_OF_VALUE)))
    if len(different) <= most and (different == np.rint(different)).all():
        return np.array([_between(low, high) for low, high in pairwise(different.tolist())])
    return equal_width(values, classes, weights, n_bins)


@discretizer("width", needs_range_only=True)
def equal_width(values: Floats, classes: Integers, weights: Floats, n_bins: int) -> Floats:
    """``n_bins`` bins of equal width."""
    return width_cuts(float(values[0]), float(values[-1]), n_bins)


@discretizer("quantile")
def quantile(values: Floats, classes: Integers, weights: Floats, n_bins: int) -> Floats:
    """Up to ``n_bins`` bins with equally many rows.

    The k-th cut is the smallest number up to which k / n_bins of the weight lies. Equal numbers stay in one
    bin, so there may be fewer bins.
    """
    share = np.cumsum(weights) / weights.sum() * n_bins
    # The last row of the shortest prefix that holds the share, up to rounding.
    at = np.searchsorted(share, np.arange(1, n_bins) - 1e-9)
    cuts: Floats = np.unique(values[np.minimum(at, len(values) - 1)])
    inner: Floats = cuts[cuts < values[-1]]
    return inner


@discretizer("merged")
def merged(values: Floats, classes: Integers, weights: Floats, n_bins: int) -> Floats:
    """``n_bins`` bins of equal width and as many with equally many rows, cut at the ends of both.

    Whole numbers of few different values have a bin for each. A number that half of the rows have gets a bin
    of its own, and the others are cut without it.
    """
    different, first = np.unique(values, return_index=True)
    if len(different) < 2:
        return np.empty(0)
    if len(different) <= FEW_VALUES and (different == np.rint(different)).all():
        return different[:-1]
    weight_of = np.add.reduceat(weights, first)
    heavy = different[weight_of >= _HEAVY * weights.sum()]
    rest = ~np.isin(values, heavy)
    cuts = [heavy, *(different[different < value][-1:] for value in heavy)]
    if rest.any():
        others, none = values[rest], classes[:0]
        share = weights[rest]
        cuts += [equal_width(others, none, share, n_bins), quantile(others, none, share, n_bins)]
    joined = np.unique(np.concatenate(cuts))
    inner: Floats = joined[(joined >= different[0]) & (joined < different[-1])]
    # Two ways to the same end may differ in the last digits: of such cuts the last one stays.
    apart = np.diff(inner) > _SAME_END * (different[-1] - different[0])
    kept: Floats = inner[np.append(apart, True)[: len(inner)]]
    return kept


@discretizer("mdl", needs_classes=True)
def minimum_description_length(values: Floats, classes: Integers, weights: Floats, n_bins: int) -> Floats:
    """As many bins as the classes justify (Fayyad and Irani); ``n_bins`` is not used.

    An interval is cut where the entropy of the classes in its two parts is least, if the cut saves more
    bits than it costs to describe the cut and the classes of the parts. Then the parts are cut likewise.
    The cuts are those of Weka's supervised ``Discretize``.

    References
    ----------
    U. M. Fayyad and K. B. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for
    Classification Learning", IJCAI 1993.
    """
    starts = _run_starts(values, classes)
    n_runs, r = len(starts), int(classes.max()) + 1
    run = np.repeat(np.arange(n_runs), np.diff(starts, append=len(values)))
    cell = np.ravel_multi_index((classes, run), (r, n_runs))
    in_run: Floats = np.bincount(cell, weights, r * n_runs).astype(np.float64).reshape(r, n_runs)
    before = np.concatenate([np.zeros((r, 1)), np.cumsum(in_run, axis=1)], axis=1)
    cuts = []
    intervals = [(0, n_runs)]
    while intervals:
        begin, end = intervals.pop()
        cut = _best_cut(before[:, begin : end + 1], in_run[:, begin:end])
        if cut:
            at = starts[begin + cut]
            cuts.append(_between(values[at - 1], values[at]))
            intervals += [(begin, begin + cut), (begin + cut, end)]
    return np.sort(np.array(cuts))


def _run_starts(values: Floats, classes: Integers) -> npt.NDArray[np.intp]:
    """First rows of the runs inside which no cut can be best: equal numbers, and neighbours of one class."""
    starts = np.flatnonzero(np.append(True, values[1:] > values[:-1]))
    low, high = np.minimum.reduceat(classes, starts), np.maximum.reduceat(classes, starts)
    pure = np.where(low == high, low, -1)
    boundary = (pure[1:] != pure[:-1]) | (pure[1:] < 0)
    return np.concatenate([starts[:1], starts[1:][boundary]])


def _best_cut(before: Floats, in_run: Floats) -> int:
    """Number of runs left of the best cut, or 0 if no cut is worth its cost.

    ``in_run[y, k]`` is the weight of class y in the k-th run, ``before[y, k]`` in the runs before it. Sums
    of weights are rounded, so only ``in_run`` says for certain which classes are absent.
    """
    if in_run.shape[1] < 2:
        return 0
    left = before[:, 1:-1] - before[:, :1]
    right = np.maximum(before[:, -1:] - before[:, 1:-1], 0.0)
    total = before[:, -1] - before[:, 0]
    n = float(total.sum())
    parts_bits = _bits(left) + _bits(right)
    cut = int((parts_bits <= parts_bits.min() + _TIE * n).argmax())
    whole = float(_bits(total))
    k, k_left, k_right = (
        int(some.any(axis=1).sum()) for some in (in_run, in_run[:, : cut + 1], in_run[:, cut + 1 :])
    )
    # Bits per row times the number of classes, as in the paper: k Ent(S) - k1 Ent(S1) - k2 Ent(S2).
    saved = k * whole / n - k_left * _mean_bits(left[:, cut]) - k_right * _mean_bits(right[:, cut])
    cost = math.log2(max(n - 1, 1.0)) + math.log2(3**k - 2) - saved
    return cut + 1 if whole - parts_bits[cut] > cost else 0


def _bits(counts: Floats) -> Floats:
    """Entropy of the classes times the number of rows; the first axis of ``counts`` is the class."""
    bits: Floats = _x_log_x(counts.sum(axis=0)) - _x_log_x(counts).sum(axis=0)
    return bits


def _x_log_x(x: Floats) -> Floats:
    """x log2(x), and 0 for 0."""
    product: Floats = x * np.log2(np.maximum(x, np.finfo(np.float64).tiny))
    return product


def _mean_bits(counts: Floats) -> float:
    return float(_bits(counts) / counts.sum())


def _between(low: float, high: float) -> float:
    """The middle of two numbers, rounded so that it stays below the higher one."""
    middle = (low + high) / 2 if np.isfinite(low + high) else low / 2 + high / 2
    return float(middle if low <= middle < high else low)
