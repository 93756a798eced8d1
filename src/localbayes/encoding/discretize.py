"""Where a numeric column is cut into bins, other than by equal width."""

import numpy as np
import numpy.typing as npt

__all__ = ["cut_points"]

Floats = npt.NDArray[np.float64]


def cut_points(
    method: str,
    numbers: Floats,
    class_codes: npt.NDArray[np.int64] | None,
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
        Cut points in ascending order.

    Examples
    --------
    >>> cut_points("quantile", np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), None, None, 3).tolist()
    [2.0, 4.0]
    """
    known = ~np.isnan(numbers)
    order = np.argsort(numbers[known], kind="stable")
    values = numbers[known][order]
    weight = np.ones(len(values)) if weights is None else weights[known][order]
    return quantile_cuts(values, weight, n_bins)


def quantile_cuts(values: Floats, weight: Floats, n_bins: int) -> Floats:
    """The smallest numbers up to which k / n_bins of the weight lies, for k below n_bins."""
    if not len(values):
        return np.empty(0)
    share = np.cumsum(weight) / weight.sum() * n_bins
    # The last row of the smallest prefix that holds the share; a hair's breadth of rounding does not matter.
    at = np.searchsorted(share, np.arange(1, n_bins) - 1e-9)
    cuts: Floats = np.unique(values[np.minimum(at, len(values) - 1)])
    inner: Floats = cuts[cuts < values[-1]]
    return inner
