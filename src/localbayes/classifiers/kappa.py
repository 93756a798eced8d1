"""Choosing kappa, or weights for several, by leave-one-out on the training rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.scores import TIE, first_best, log_total, or_prior
from localbayes.counts import Floats

__all__ = [
    "KappaChoice",
    "LeftOut",
    "LeftOutRequest",
    "check_grid",
    "choose",
    "could_change",
    "kappa_grid",
    "least",
    "mix",
    "others_count",
    "rows_to_leave_out",
    "switching_rule",
]

_GRID = (0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 32, 50, 80, 130, 200, 500, 1000, 2000, 5000, 10_000, 100_000)

# Comparisons of a row with a query that leave-one-out may make; a table of more rows leaves out fewer.
_COMPARISONS = 10**9
_FEWEST_ROWS = 500

# A mixture leaves out kappas that weigh less than this share of the best.
_LEAST_WEIGHT = 1e-3

# The squares of smaller weights would underflow to zero.
_SMALLEST_KAPPA = 1e-100

# Every error on the left-out rows divides the weight of a kappa by exp(1/2).
_WEIGHT_PER_ERROR = 0.5


def kappa_grid(n_rows: float) -> Floats:
    """Kappas to choose from: below one up to all rows, where LCWNB is naive Bayes.

    Examples
    --------
    >>> kappa_grid(30).tolist()
    [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0]
    """
    return np.array([*(kappa for kappa in _GRID if kappa < n_rows), n_rows], dtype=np.float64)


def rows_to_leave_out(n_rows: int, at_most: int, random_state: Any) -> npt.NDArray[np.int64] | None:
    """Numbers of the rows to leave out, None for all: a seeded sample of the rows."""
    number = min(at_most, max(_FEWEST_ROWS, _COMPARISONS // max(n_rows, 1)))
    if n_rows <= number:
        return None
    drawn = isinstance(random_state, np.random.RandomState)
    seed = random_state.randint(1 << 31) if drawn else random_state
    return np.sort(np.random.default_rng(seed).choice(n_rows, number, replace=False))


@dataclass(frozen=True)
class LeftOutRequest:
    """Which training rows to classify without themselves, and under which kappas.

    Attributes
    ----------
    grid : ndarray of shape (k,)
        Kappas.
    rows : ndarray of shape (n,) or None
        Numbers of the rows; None for all.
    """

    grid: Floats
    rows: npt.NDArray[np.int64] | None


@dataclass(frozen=True)
class LeftOut:
    """What is predicted for training rows without themselves.

    Attributes
    ----------
    log_proba : ndarray of shape (k, n, r)
        Log probabilities for every kappa.
    truth : ndarray of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
        Weights of the rows.
    """

    log_proba: Floats
    truth: npt.NDArray[np.int64]
    weights: Floats

    @classmethod
    def of_scores(
        cls,
        log_joint: Floats,
        truth: npt.NDArray[np.int64],
        weights: Floats,
        class_count: npt.NDArray[Any],
    ) -> "LeftOut":
        """Normalise the log joint (k, n, r) of left-out rows; ``class_count`` counts all training rows."""
        others = others_count(class_count, truth, weights)
        log_joint = or_prior(log_joint, others)
        return cls(log_joint - log_total(log_joint), truth, weights)

    @classmethod
    def joined(cls, parts: "Sequence[LeftOut]") -> "LeftOut":
        """Predictions of several parts as one."""
        return cls(
            np.concatenate([part.log_proba for part in parts], axis=1),
            np.concatenate([part.truth for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    def correct(self) -> Floats:
        """Number of rows that every kappa gets right; ties are broken as in predict."""
        right = np.array([first_best(scores) == self.truth for scores in self.log_proba])
        return right @ self.weights

    def losses(self) -> Floats:
        """Sum of log losses of every kappa."""
        own = self.log_proba[:, np.arange(len(self.truth)), self.truth]
        return -own @ self.weights

    def temperature(self, mixture: Floats) -> float:
        """Power of the mixed probabilities, of a fixed list, that makes their log loss least.

        The loss is convex in the power, so bisection finds the least; a fixed list makes the answer
        independent of rounding.
        """

        def loss(position: int) -> float:
            scores = _POWERS[position] * mixture
            own = scores[np.arange(len(self.truth)), self.truth] - log_total(scores)[:, 0]
            return float(-np.maximum(own, _LEAST_LOG) @ self.weights)

        low, high = 0, len(_POWERS) - 1
        while low < high:
            middle = (low + high) // 2
            if loss(middle) > loss(middle + 1) * (1 + 1e-12):
                low = middle + 1
            else:
                high = middle
        return float(_POWERS[low])


_POWERS = np.exp(np.arange(-50, 21) / 20)
_LEAST_LOG = -700.0


@dataclass(frozen=True)
class KappaChoice:
    """Kappas in use, their weights, and the power that calibrates the mixed probabilities."""

    kappas: Floats
    weights: Floats
    temperature: float = 1.0


def choose(rule: str, grid: Floats, left_out: LeftOut, calibrate: bool) -> KappaChoice:
    """Choose kappas by the predictions for left-out rows.

    Parameters
    ----------
    rule : {"loo", "mixture"}
        The kappa of fewest errors (of these the one of least log loss), or all kappas, weighted by
        ``exp(-errors / 2)``, but for those of less than a thousandth of the greatest weight.
    grid : ndarray of shape (k,)
        Kappas.
    left_out : LeftOut
        Predictions for them.
    calibrate : bool
        Whether to find a temperature too.
    """
    correct = left_out.correct()
    if rule == "loo":
        kept = np.array([least(correct, left_out.losses())])
        weights = np.ones(1)
    else:
        weights = np.exp(_WEIGHT_PER_ERROR * (correct - correct.max()))
        kept = np.flatnonzero(weights >= _LEAST_WEIGHT)
        weights = weights[kept] / weights[kept].sum()
    mixture = mix(left_out.log_proba[kept], weights)
    return KappaChoice(grid[kept], weights, left_out.temperature(mixture) if calibrate else 1.0)


def least(correct: Floats, losses: Floats) -> int:
    """Position of the largest ``correct``; among equals, the one with the least loss.

    Examples
    --------
    >>> least(np.array([0.8, 0.9, 0.9]), np.array([0.1, 0.4, 0.3]))
    2
    """
    # Weights of rows are added in floating point: equal numbers of errors may differ in their last bits.
    best = np.flatnonzero(correct >= correct.max() * (1 - 1e-12))
    return int(best[losses[best].argmin()])


def mix(log_proba: Floats, weights: Floats) -> Floats:
    """Log of the average of probabilities along the first axis, with weights (k,), or by query (k, n)."""
    mixed: Floats = np.logaddexp.reduce(log_proba + np.log(weights).reshape(len(weights), -1, 1), axis=0)
    return mixed


def others_count(
    class_count: npt.NDArray[Any], truth: npt.NDArray[np.int64], weights: Floats
) -> npt.NDArray[Any]:
    """Rows of every class without each left-out row, shape (n, r).

    A row of weight 2 counts as two rows, of which one is left out.

    Examples
    --------
    >>> others_count(np.array([3, 2]), np.array([1]), np.ones(1)).tolist()
    [[3.0, 1.0]]
    """
    others: Floats = class_count - np.eye(len(class_count))[truth] * np.minimum(weights, 1.0)[:, None]
    return others


def could_change(scores: Floats, margin: float) -> npt.NDArray[np.bool_]:
    """Queries for which classes that were left out of a mixture could change which class wins.

    A class that is left out, with a score of minus infinity, stays a margin below the best under each kappa.
    So it has little probability, and takes little from the others.

    Parameters
    ----------
    scores : ndarray of shape (n, r)
        Mixed log probabilities among the classes that were scored.
    margin : float
        How far below the best the others stay.
    """
    n_left_out = np.isneginf(scores).sum(axis=1)
    if not n_left_out.any():
        return np.zeros(len(scores), dtype=bool)
    second, best = np.partition(scores, -2, axis=1)[:, -2:].T
    at_least = best - np.log1p(n_left_out * np.exp(-margin)) - TIE
    unsure: npt.NDArray[np.bool_] = (n_left_out > 0) & (at_least <= np.maximum(second, -margin) + TIE)
    return unsure


def switching_rule(n_attributes: int) -> float:
    """Kappa of the paper's LCWNB*; the paper's m counts the class, so it is one more than ours."""
    m = n_attributes + 1
    return 20.0 if m < 15 else 10.0 if m <= 16 else 5.0


def check_grid(kappas: npt.ArrayLike) -> Floats:
    """A grid of kappas as an array; an empty grid and kappas that are not positive, or tiny, are refused."""
    try:
        grid = np.atleast_1d(np.asarray(kappas, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"kappas must be one or more numbers > 0, got {kappas!r}")
    if grid.min() < _SMALLEST_KAPPA:
        raise ValueError(f"kappa must be at least {_SMALLEST_KAPPA:g}, got {grid.min()}")
    return grid
