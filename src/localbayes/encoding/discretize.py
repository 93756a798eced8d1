"""Where a numeric column is cut into bins, other than by equal width."""

import math

import numpy as np
import numpy.typing as npt

__all__ = ["cut_points"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Cuts whose entropies (bits per row) differ by no more than this are equally good; the first is taken.
_TIE = 1e-12


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
    method : {"quantile", "mdl"}
        Bins of equal weight, or Fayyad and Irani's cuts.
    numbers : array of shape (n,)
        The column; NaN is missing and has no part in it.
    class_codes : array of shape (n,)
        Classes, for ``"mdl"``.
    weights : array of shape (n,), optional
        Weights of the rows; 2 is the row twice.
    n_bins : int
        Number of bins, for ``"quantile"``; equal numbers are never parted, so there may be fewer.

    Returns
    -------
    cuts : array
        Cut points in ascending order; none where the column is one bin.

    References
    ----------
    U. M. Fayyad and K. B. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for
    Classification Learning", IJCAI 1993. The cuts are those of Weka's supervised ``Discretize``.

    Examples
    --------
    >>> numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> cut_points("quantile", numbers, None, None, 3).tolist()
    [2.0, 4.0]
    >>> cut_points("mdl", numbers, np.array([0, 0, 0, 0, 1, 1]), None, 3).tolist()
    [4.5]
    """
    if method == "mdl" and class_codes is None:
        raise ValueError("discretize='mdl' cuts where the classes part, got no classes; give them to fit")
    used = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
    order = np.flatnonzero(used)[np.argsort(numbers[used], kind="stable")]
    values = numbers[order]
    weight = np.ones(len(values)) if weights is None else weights[order]
    if not len(values):
        return np.empty(0)
    if class_codes is None or method == "quantile":
        return quantile_cuts(values, weight, n_bins)
    return mdl_cuts(values, class_codes[order], weight)


def quantile_cuts(values: Floats, weight: Floats, n_bins: int) -> Floats:
    """The smallest numbers up to which k / n_bins of the weight lies, for k below n_bins."""
    share = np.cumsum(weight) / weight.sum() * n_bins
    # The last row of the smallest prefix that holds the share; a hair's breadth of rounding does not matter.
    at = np.searchsorted(share, np.arange(1, n_bins) - 1e-9)
    cuts: Floats = np.unique(values[np.minimum(at, len(values) - 1)])
    inner: Floats = cuts[cuts < values[-1]]
    return inner


def mdl_cuts(values: Floats, classes: Integers, weight: Floats) -> Floats:
    """Fayyad and Irani's cuts of a sorted column.

    An interval is cut where the entropy of the classes in its two parts is least, if that saves more
    than it costs to tell where the cut is and which classes the parts hold; then so are its parts.
    """
    starts = _run_starts(values, classes)
    n_runs, r = len(starts), int(classes.max()) + 1
    run = np.repeat(np.arange(n_runs), np.diff(starts, append=len(values)))
    cell = np.ravel_multi_index((classes, run), (r, n_runs))
    in_run: Floats = np.bincount(cell, weight, r * n_runs).astype(np.float64).reshape(r, n_runs)
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
    """First rows of the runs that no good cut parts: equal numbers, and neighbours of one class alone."""
    starts = np.flatnonzero(np.append(True, values[1:] > values[:-1]))
    low, high = np.minimum.reduceat(classes, starts), np.maximum.reduceat(classes, starts)
    pure = np.where(low == high, low, -1)
    boundary = (pure[1:] != pure[:-1]) | (pure[1:] < 0)
    return np.concatenate([starts[:1], starts[1:][boundary]])


def _best_cut(before: Floats, in_run: Floats) -> int:
    """Number of runs left of the cut that is worth its cost, 0 if there is none.

    ``in_run[y, k]`` is the weight of class y in the k-th run, ``before[y, k]`` in the runs before it; sums
    of weights are rounded, so that only the former says which classes are absent.
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
    """Entropy of the classes, which the first axis counts, times the number of rows."""
    bits: Floats = _x_log_x(counts.sum(axis=0)) - _x_log_x(counts).sum(axis=0)
    return bits


def _x_log_x(x: Floats) -> Floats:
    """Logarithms to base two; zero for zero."""
    product: Floats = x * np.log2(np.maximum(x, np.finfo(np.float64).tiny))
    return product


def _mean_bits(counts: Floats) -> float:
    return float(_bits(counts) / counts.sum())


def _between(low: float, high: float) -> float:
    """The middle of two numbers, but always below the higher one, whose bin is another."""
    middle = (low + high) / 2 if np.isfinite(low + high) else low / 2 + high / 2
    return float(middle if low <= middle < high else low)
