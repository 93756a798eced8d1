"""The distance of the local Bayes classifier: bins in order, and columns that count as much as they tell."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from localbayes.counts import Distance, Floats, Neighbourhood, marked
from localbayes.counts.distance import MISSING, UNSEEN
from localbayes.encoding.one_column import left_out_losses

__all__ = ["LocalDistance", "agreement_units", "column_weights", "evenly", "relevance"]

# Largest distance of an attribute; 2, 3 and 6 divide it.
_TOP = 6

# How many rows are compared with how many others to learn the weights of columns.
_QUERIES, _ROWS = 500, 1000
_RIDGE, _STEPS, _GAIN = 2.5, 25, 1e-5
_SCALES = np.geomspace(0.1, 30, 16)

# Exponents with which a column is asked what it tells.
_POWERS = (0.5, 1.0)


@dataclass(frozen=True)
class LocalDistance(Distance):
    """Differences of bins up to a reach, weighted by column; terms have no distance.

    Parameters
    ----------
    ordered_sizes : tuple of m int
        How many values of every column are bins in order; 0 for a nominal one.
    n_columns : int
        The attributes from here on are terms, see :mod:`localbayes.encoding.terms`.
    weights : tuple of n_columns float
        Weights of the columns, from 0 to 1.

    Examples
    --------
    >>> LocalDistance((4, 0), 2, (1.0, 0.5)).table(0, 4)[0].tolist()
    [0, 3, 6, 6]
    >>> LocalDistance((4, 0), 2, (1.0, 0.5)).table(1, 2).tolist()
    [[0, 3], [3, 0]]
    """

    ignores_unseen: ClassVar[bool] = True

    ordered_sizes: tuple[int, ...]
    n_columns: int
    weights: tuple[float, ...] = ()

    def table(self, attribute: int, size: int) -> npt.NDArray[np.uint8]:
        """Distances between the values of one attribute."""
        if attribute >= self.n_columns:
            return np.zeros((size, size), dtype=np.uint8)
        reach = reach_of(self.ordered_sizes[attribute])
        weight = self.weights[attribute] if self.weights else 1.0
        table: npt.NDArray[np.uint8] = np.rint(
            weight * self._steps(attribute, size) * (_TOP // reach)
        ).astype(np.uint8)
        return table

    def agreement(self, attribute: int, size: int) -> tuple[npt.NDArray[Any], float]:
        """The same value, or by how much bins are nearer than the reach: a triangular kernel of unit mass."""
        if not self.graded(attribute):
            return super().agreement(attribute, size)
        reach = reach_of(self.ordered_sizes[attribute])
        return reach - self._steps(attribute, size), agreement_units([self.ordered_sizes[attribute]]).item()

    def graded(self, attribute: int) -> bool:
        """Whether an attribute has bins."""
        return self.ordered_sizes[attribute] > 0

    def far(self, attribute: int) -> int:
        """Distance of two nominal values: the largest, times the weight of the column; none for a term."""
        if attribute >= self.n_columns:
            return 0
        return round(_TOP * (self.weights[attribute] if self.weights else 1.0))

    def _steps(self, attribute: int, size: int) -> npt.NDArray[np.int64]:
        """Differences of bins up to the reach; a value that is no bin is that far from all others."""
        bins = min(self.ordered_sizes[attribute], size)
        reach = reach_of(self.ordered_sizes[attribute])
        steps = np.full((size, size), reach, dtype=np.int64)
        steps[:bins, :bins] = np.minimum(np.abs(np.arange(bins)[:, None] - np.arange(bins)), reach)
        np.fill_diagonal(steps, 0)
        return steps


def agreement_units(ordered_sizes: Iterable[int]) -> Floats:
    """Unit in which agreement is counted, for every attribute: the mass of the kernel over the bins."""
    return np.array([reach_of(bins) ** 2 if bins else 1 for bins in ordered_sizes], dtype=np.float64)


def reach_of(bins: int) -> int:
    """Bins over which neighbours agree in part: fewer where there are few bins."""
    return 1 if bins <= 2 else 2 if bins <= 7 else 3 if bins <= 20 else 6


def relevance(
    distance: LocalDistance,
    sizes: npt.NDArray[np.uint32],
    codes: npt.NDArray[Any],
    classes: npt.NDArray[np.int64],
    weights: Floats,
) -> Floats:
    """How surely each column tells the classes by itself, from 0 to 1.

    If a column lowers the log loss of left-out rows by g, their classes are exp(g) times as probable with it
    as without. So it tells something with the probability 1 / (1 + exp(-g)), if both were even before. The
    exponents and weights of columns are drawn to that, so that columns of noise count little in small tables.
    If all columns are constant, all have 1.

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> noise = np.arange(100) % 7
    >>> plain = LocalDistance((0, 0), 2)
    >>> relevance(plain, np.array([2, 7]), np.column_stack([y, noise]), y, np.ones(100)).round(2).tolist()
    [1.0, 0.04]
    """
    found, n_classes = np.zeros(distance.n_columns), int(classes.max(initial=0)) + 1
    for i in range(distance.n_columns):
        size, known = int(sizes[i]), codes[:, i] < sizes[i]
        if size < 2 or not known.any():
            continue
        values, agreement = codes[known, i].astype(np.int64), None
        if distance.graded(i):
            table, unit = distance.agreement(i, size)
            agreement = table / unit
        rows = classes[known], weights[known], n_classes
        without, *losses = left_out_losses(values, size, agreement, *rows, (0.0, *_POWERS))
        found[i] = expit(without - min(losses))
    return found if found.any() else np.ones(len(found))


def column_weights(
    distance: LocalDistance,
    sizes: npt.NDArray[np.uint32],
    codes: npt.NDArray[Any],
    classes: npt.NDArray[np.int64],
    weights: Floats,
    may_miss: bool,
    target: Floats,
) -> LocalDistance:
    """Learn weights of columns under which rows of the same class are near (neighbourhood components).

    With delta_i the distance of column i, as a share of the largest, a row q finds a row j with a
    probability proportional to exp(-sum_i a u_i delta_i). The weights u >= 0 maximise the log of the
    probability of rows of q's own class, less a ridge that draws them to a target; a is the best scale of it.

    Parameters
    ----------
    distance : LocalDistance
        Without weights.
    sizes : array of shape (m,)
        Number of values of every attribute.
    codes, classes, weights : arrays of shape (n, m), (n,) and (n,)
        Training rows.
    may_miss : bool
        Whether values may be missing.
    target : array of shape (n_columns,)
        Weights before any row is seen, see :func:`relevance`.

    Returns
    -------
    distance : LocalDistance
        With weights, the largest being one.
    """
    rows = evenly(len(classes), _ROWS)
    at = evenly(len(rows), _QUERIES)
    classes, mass = classes[rows], weights[rows]
    # Of a row of weight 2 one of two is the query, and the other one may be found.
    left = np.maximum(mass[at] - 1.0, 0.0)
    others = np.bincount(classes, mass > 0)[classes[at]] - ((mass[at] > 0) & (left <= 0))
    kept = others > 0
    if not kept.any():
        return distance
    at, left = at[kept], left[kept]
    marks = marked(codes[rows], sizes, may_miss)
    apart, picks = _differences(distance, sizes, marks[at], marks)
    neighbourhood = Neighbourhood(apart, picks, mass, at, left, classes, mass[at])

    def loss(u: Floats, scale: float) -> tuple[float, Floats]:
        value, slope = neighbourhood.loss(scale * u)
        off = u - target
        return value + _RIDGE * float((off**2).sum()), scale * slope + 2 * _RIDGE * off

    scale = min(_SCALES, key=lambda a: neighbourhood.loss(a * target, slope=False)[0])
    best = minimize(
        loss,
        target,
        (scale,),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(target),
        options={"maxiter": _STEPS, "ftol": _GAIN},
    ).x
    return replace(distance, weights=tuple((best / best.max()).tolist())) if best.max() > 0 else distance


def _differences(
    distance: LocalDistance,
    sizes: npt.NDArray[np.uint32],
    queries: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Distances by column, as shares of the largest, of the values that queries have to all rows.

    Returns vectors over the rows, shape (v, n_rows), and which of them belongs to every query and column.
    """
    picks = np.empty((len(queries), distance.n_columns), dtype=np.uint32)
    found, n_found = [], 0
    for i in range(distance.n_columns):
        values, which = np.unique(queries[:, i], return_inverse=True)
        picks[:, i] = which + n_found
        n_found += len(values)
        if distance.graded(i):
            size = int(sizes[i])
            # The two last rows and columns are those of missing values and of values never seen.
            table = np.zeros((size + 2, size + 2), dtype=np.float32)
            table[:size, :size] = distance.table(i, size) / np.float32(_TOP)
            table[:size, UNSEEN] = table.max()
            found.append(table[values][:, rows[:, i]])
        else:
            apart = values[:, None] != rows[:, i]
            apart &= (values >= 0)[:, None] & (rows[:, i] != MISSING)
            found.append(apart)
    return np.concatenate(found, dtype=np.float32), picks


def evenly(n: int, at_most: int) -> npt.NDArray[np.int64]:
    """Some of n positions, evenly spread, or all of them.

    Examples
    --------
    >>> evenly(9, 3).tolist(), evenly(3, 5).tolist()
    ([0, 3, 6], [0, 1, 2])
    """
    return np.arange(n) if n <= at_most else np.arange(at_most) * n // at_most
