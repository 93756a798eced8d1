"""The statistics of a comparison of classifiers over many data sets.

Every function takes plain arrays: `scores` has a row per data set and a column per classifier, larger is
better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = [
    "Bounds",
    "MeanRank",
    "Result",
    "binomial_at_least",
    "friedman",
    "holm",
    "iman_davenport",
    "mean_rank_test",
    "nemenyi_critical_difference",
    "permutation_bounds",
    "quade",
    "ranks",
    "wilcoxon_better",
    "wilcoxon_different",
    "wins_needed",
]

FloatArray = NDArray[np.float64]
# Up to this number of differences SciPy's own choice is the exact distribution.
_MOST_EXACT = 50
# The level of the sign test, a little above P(Bin(36, 1/2) >= 23).
_SIGN_LEVEL = 0.0663


class Result(NamedTuple):
    """A test statistic and its p-value."""

    statistic: float
    pvalue: float


class MeanRank(NamedTuple):
    """A mean rank, its standard deviation if all methods were equal, and the chance of one as small."""

    mean_rank: float
    sd: float
    pvalue: float


class Bounds(NamedTuple):
    """Simultaneous bounds within which every column stays with the stated probability."""

    low: float
    high: float


def ranks(scores: ArrayLike) -> FloatArray:
    """Rank the columns within each row: 1 for the largest score, equal scores share their mean rank.

    Examples
    --------
    >>> ranks([[90.0, 80.0, 90.0]]).tolist()
    [[1.5, 3.0, 1.5]]
    """
    table = _table(scores)
    return np.asarray(stats.rankdata(-table, axis=1), dtype=np.float64)


def friedman(scores: ArrayLike) -> Result:
    """Friedman's chi-squared test that all columns are equally good, corrected for ties.

    Examples
    --------
    >>> scores = [[9.0, 9.5, 5.0], [6.0, 7.0, 4.0], [8.0, 9.0, 7.0], [5.0, 8.0, 6.0]]
    >>> round(friedman(scores).statistic, 3)
    6.5
    """
    table = _table(scores, columns=3)
    if bool((np.ptp(table, axis=1) == 0).all()):
        return Result(0.0, 1.0)
    answer = stats.friedmanchisquare(*table.T)
    return Result(float(answer.statistic), float(answer.pvalue))


def iman_davenport(scores: ArrayLike) -> Result:
    """Iman and Davenport's F form of Friedman's test, which is less conservative.

    Examples
    --------
    >>> scores = [[9.0, 9.5, 5.0], [6.0, 7.0, 4.0], [8.0, 9.0, 7.0], [5.0, 8.0, 6.0]]
    >>> round(iman_davenport(scores).statistic, 3)
    13.0
    """
    table = _table(scores, rows=2, columns=3)
    n, k = table.shape
    chi_squared = friedman(table).statistic
    rest = n * (k - 1) - chi_squared
    if rest <= 1e-12 * n * k:
        return Result(float("inf"), 0.0)
    f = (n - 1) * chi_squared / rest
    return Result(f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))))


def quade(scores: ArrayLike) -> Result:
    """Quade's test that all columns are equally good: rows count by the rank of their range.

    Examples
    --------
    >>> scores = [[9.0, 9.5, 5.0], [6.0, 7.0, 4.0], [8.0, 9.0, 7.0], [5.0, 8.0, 6.0]]
    >>> round(quade(scores).statistic, 3)
    6.633
    """
    table = _table(scores, rows=2, columns=3)
    n, k = table.shape
    # Ranges of figures with few decimals must tie when they are equal as decimals, however a binary
    # subtraction rounds them.
    row_weight = stats.rankdata(np.ptp(table, axis=1).round(9))
    weighted = row_weight[:, None] * (ranks(table) - (k + 1) / 2)
    total = float((weighted**2).sum())
    between = float((weighted.sum(axis=0) ** 2).sum()) / n
    if total == 0:
        return Result(0.0, 1.0)
    if total - between <= 1e-12 * total:
        return Result(float("inf"), 0.0)
    f = (n - 1) * between / (total - between)
    return Result(f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))))


def wilcoxon_better(first: ArrayLike, second: ArrayLike) -> Result:
    """One-sided Wilcoxon signed-rank test that `first` is better than `second` (normal form, zeros dropped).

    Examples
    --------
    >>> wilcoxon_better([1.0, 2.0], [1.0, 2.0]).pvalue
    1.0
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if bool((a == b).all()):
        return Result(0.0, 1.0)
    answer = stats.wilcoxon(a, b, alternative="greater", zero_method="wilcox", method="approx")
    return Result(float(answer.statistic), float(answer.pvalue))


def wilcoxon_different(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test for figures with two decimals, zeros dropped.

    It is exact where the differences have no ties and are at most 50, else that of the normal form.

    Examples
    --------
    >>> wilcoxon_different([80.01, 90.0, 70.0], [80.0, 85.0, 69.0])
    0.25
    """
    # Differences that are equal as decimals are ties, however a binary subtraction rounds them.
    hundredths = np.rint(
        100 * np.asarray(first, dtype=np.float64) - 100 * np.asarray(second, dtype=np.float64)
    )
    difference = hundredths[hundredths != 0]
    if not len(difference):
        return 1.0
    untied = len(np.unique(np.abs(difference))) == len(difference)
    method = "exact" if untied and len(difference) <= _MOST_EXACT else "approx"
    return float(stats.wilcoxon(difference, method=method).pvalue)


def binomial_at_least(count: float, trials: int, chance: float = 0.5) -> float:
    """Probability that a binomial variable reaches at least `count`, which may be a half.

    Examples
    --------
    >>> round(binomial_at_least(23, 36), 4)
    0.0662
    """
    return float(stats.binom.sf(int(np.ceil(count)) - 1, trials, chance))


def wins_needed(sets: int) -> int | None:
    """Fewest wins that are too many for chance, at the level of 23 wins on 36 data sets.

    None if even a win on every data set is not enough.

    Examples
    --------
    >>> wins_needed(36), wins_needed(3)
    (23, None)
    """
    return next((wins for wins in range(sets + 1) if binomial_at_least(wins, sets) <= _SIGN_LEVEL), None)


def mean_rank_test(scores: ArrayLike) -> MeanRank:
    """Test whether the mean rank of the first column is too small for chance, by a Gaussian approximation.

    Under equal performance the mean rank has mean (k + 1) / 2 and variance
    (v_1 + ... + v_N) / N^2, where v_j is the variance of the ranks within data set j.

    Examples
    --------
    >>> test = mean_rank_test([[3.0, 2.0, 1.0]] * 6)
    >>> round(test.mean_rank, 2), round(test.sd, 4), round(test.pvalue, 4)
    (1.0, 0.3333, 0.0013)
    """
    rank = ranks(scores)
    n, k = rank.shape
    expected = (k + 1) / 2
    sd = float(np.sqrt(((rank - expected) ** 2).mean(axis=1).sum())) / n
    mean = float(rank[:, 0].mean())
    if sd == 0:
        return MeanRank(mean, 0.0, 1.0)
    return MeanRank(mean, sd, float(stats.norm.cdf((mean - expected) / sd)))


def permutation_bounds(
    values: ArrayLike, *, permutations: int = 9999, level: float = 0.95, seed: int = 0
) -> Bounds:
    """Bounds that hold for all column means at once if the columns are exchangeable within each row.

    The values of each row are shuffled among the columns; of every shuffle the largest distance of a column
    mean from the grand mean is kept, and its `level` quantile gives the bounds.

    Parameters
    ----------
    values : array of shape (data sets, methods)
        Scores, or ranks.
    permutations : int
        Number of random shuffles.
    level : float
        Probability with which all columns lie within the bounds.
    seed : int
        Seed of the shuffles; the same seed gives the same bounds.

    Examples
    --------
    >>> bounds = permutation_bounds([[1.0, 2.0], [2.0, 1.0]], permutations=99)
    >>> bounds.low, bounds.high
    (1.0, 2.0)
    """
    table = _table(values)
    rng = np.random.default_rng(seed)
    centre = float(table.mean())
    farthest = np.empty(permutations)
    step = max(1, 2_000_000 // table.size)
    for start in range(0, permutations, step):
        size = min(step, permutations - start)
        shuffled = rng.permuted(np.broadcast_to(table, (size, *table.shape)), axis=2)
        farthest[start : start + size] = np.abs(shuffled.mean(axis=1) - centre).max(axis=1)
    # The observed table is one of the permutations: with 9999 others, the quantile is an order statistic of
    # 10000.
    rank = min(permutations, int(np.ceil(level * (permutations + 1)))) - 1
    reach = float(np.partition(farthest, rank)[rank])
    return Bounds(centre - reach, centre + reach)


def nemenyi_critical_difference(methods: int, data_sets: int) -> float:
    """Difference of two mean ranks that is significant in Nemenyi's test of all pairs at the level 0.05.

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    if methods < 2 or data_sets < 1:
        raise ValueError(f"expected at least 2 methods and 1 data set, got {methods} and {data_sets}")
    quantile = float(stats.studentized_range.ppf(0.95, methods, np.inf))
    return float(quantile / np.sqrt(2) * np.sqrt(methods * (methods + 1) / (6 * data_sets)))


def holm(pvalues: Sequence[float]) -> list[float]:
    """Adjust p-values for their number by Holm's step-down rule.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(value) for value in adjusted]


def _table(scores: ArrayLike, rows: int = 1, columns: int = 2) -> FloatArray:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < rows or table.shape[1] < columns:
        raise ValueError(
            f"expected scores of at least {rows} data sets (rows) and {columns} methods (columns), "
            f"got an array of shape {table.shape}"
        )
    if np.isnan(table).any():
        raise ValueError("scores contain NaN: leave out data sets that lack a method")
    return table
