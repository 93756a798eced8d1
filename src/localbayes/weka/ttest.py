"""The corrected resampled t-test of Nadeau and Bengio, as Weka's Experimenter applies it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

__all__ = ["CorrectedTTest", "corrected_paired_ttest"]

# Weka treats a smaller standard deviation of the differences as zero.
NO_DEVIATION = 1e-6


class CorrectedTTest(NamedTuple):
    """Result of `corrected_paired_ttest`.

    Attributes
    ----------
    statistic : float
        t; infinite where all differences are the same and not zero.
    pvalue : float
        Two-sided.
    difference : float
        Mean of a - b.
    df : int
        Degrees of freedom, one less than the number of pairs.

    Examples
    --------
    >>> corrected_paired_ttest([81.0, 79.0, 83.0], [80.0, 79.0, 81.0]).difference
    1.0
    """

    statistic: float
    pvalue: float
    difference: float
    df: int


def corrected_paired_ttest(a: ArrayLike, b: ArrayLike, test_train_ratio: float = 1 / 9) -> CorrectedTTest:
    """Test whether two methods differ, given their results on the same folds of repeated cross-validation.

    Training sets of different folds overlap, so the plain paired t-test finds too many differences. Nadeau
    and Bengio (2003) multiply the variance of the differences by 1/n + (test rows / training rows) instead
    of 1/n: ``t = mean(a - b) / sqrt(var(a - b) * (1/n + test_train_ratio))`` with n - 1 degrees of freedom.
    As in Weka, differences with a standard deviation of at most 1e-6 give p = 1 if all of them are 0 and
    p = 0 otherwise.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Results of the two methods, pair by pair: n = 100 for ten runs of ten folds.
    test_train_ratio : float, default=1/9
        Test rows per training row; 1/9 for ten folds.

    Returns
    -------
    CorrectedTTest
        The named tuple (statistic, pvalue, difference, df).

    Examples
    --------
    >>> result = corrected_paired_ttest([90, 91, 92, 94], [88, 90, 91, 90])
    >>> print(f"t = {result.statistic:.3f}, p = {result.pvalue:.3f}")
    t = 2.353, p = 0.100
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.ndim != 1 or first.shape != second.shape or first.size < 2:
        raise ValueError(
            f"a and b must be paired results, at least two, got shapes {first.shape} and {second.shape}"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError(
            "a and b must be finite, got NaN or infinity: leave out the pairs that have no result"
        )
    if not 0 <= test_train_ratio < math.inf:
        raise ValueError(f"test_train_ratio must be a number >= 0, got {test_train_ratio}")
    differences = first - second
    mean, df = float(differences.mean()), differences.size - 1
    deviation = float(differences.std(ddof=1))
    if deviation > NO_DEVIATION:
        statistic = mean / (deviation * math.sqrt(1 / differences.size + test_train_ratio))
        return CorrectedTTest(statistic, float(2 * stats.t.sf(abs(statistic), df)), mean, df)
    if not differences.any():
        return CorrectedTTest(0.0, 1.0, mean, df)
    return CorrectedTTest(math.inf if mean > 0 else -math.inf, 0.0, mean, df)
