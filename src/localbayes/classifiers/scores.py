"""Log joints: ties, sums over classes, and how a log joint is split by attribute."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts import Floats

__all__ = [
    "TIE",
    "defined_terms",
    "first_best",
    "first_best_or_prior",
    "log_ratio",
    "log_total",
    "mix_terms",
    "or_prior",
    "sum_of_terms",
]

# Scores that differ by no more than this (log scale) are a tie; the class declared first wins.
TIE = 1e-9


def first_best(log_joint: Floats) -> npt.NDArray[np.intp]:
    """Position of the first score that ties with the best of its row.

    Examples
    --------
    >>> first_best(np.array([[-3.0, -1.0 - 1e-12, -1.0]])).tolist()
    [1]
    """
    return _first_tie(log_joint, _best_scores(log_joint))


def first_best_or_prior(log_joint: Floats, class_count: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Position of the first best of :func:`or_prior`; the best score is looked for only once.

    Examples
    --------
    >>> first_best_or_prior(np.array([[-np.inf, -np.inf], [-1.0, -2.0]]), np.array([1, 3])).tolist()
    [1, 0]
    """
    best = _best_scores(log_joint)
    if best.min(initial=0.0) == -np.inf:
        return first_best(or_prior(log_joint, class_count))
    return _first_tie(log_joint, best)


def _first_tie(log_joint: Floats, best: Floats) -> npt.NDArray[np.intp]:
    position: npt.NDArray[np.intp] = (log_joint >= best - TIE).argmax(axis=1)
    return position


def _best_scores(log_joint: Floats) -> Floats:
    if len(log_joint) == 1:
        return np.asarray(log_joint.max(axis=-1, keepdims=True))
    # For many short rows NumPy's argmax is faster than its max.
    return np.take_along_axis(log_joint, log_joint.argmax(axis=-1, keepdims=True), axis=-1)


def log_total(log_joint: Floats) -> Floats:
    """Log of the sum of exponentials over the classes, the last axis, which is kept.

    It is SciPy's ``logsumexp``, which takes eight times as long for few classes.

    Examples
    --------
    >>> np.exp(log_total(np.log([[0.1, 0.2], [0.3, 0.5]]))).round(9).tolist()
    [[0.3], [0.8]]
    """
    at = log_joint.argmax(axis=-1, keepdims=True)
    best = np.take_along_axis(log_joint, at, axis=-1)
    others = np.exp(log_joint - np.maximum(best, np.finfo(np.float64).min))  # the best may be minus infinity
    np.put_along_axis(others, at, 0.0, axis=-1)
    total: Floats = best + np.log1p(others.sum(axis=-1, keepdims=True))
    return total


def or_prior(log_joint: Floats, class_count: npt.NDArray[Any]) -> Floats:
    """Log joint; where no class has any probability, the log of the prior in its place.

    Examples
    --------
    >>> or_prior(np.array([[-np.inf, -np.inf]]), np.array([1, 3])).round(3).tolist()
    [[-1.386, -0.288]]
    """
    if log_joint.min(initial=0.0) > -np.inf:
        return log_joint
    lost = _best_scores(log_joint) == -np.inf
    if not lost.any():
        return log_joint
    with np.errstate(divide="ignore"):
        prior = np.log(class_count / class_count.sum(axis=-1, keepdims=True))
    return np.where(lost, prior, log_joint)


def sum_of_terms(base: Floats, terms: Floats) -> tuple[Floats, Floats]:
    """Write the log of a sum of products as one base and one term for every attribute.

    With s_k the share of product k in the sum, the identity ::

        log sum_k exp(base_k + sum_i term_ki)  =  sum_k s_k (base_k - log s_k)  +  sum_i sum_k s_k term_ki

    is exact: attributes keep the mean of their terms, weighted by what each product adds to the sum.

    Parameters
    ----------
    base : ndarray of shape (..., K)
        Log of the factor that belongs to no attribute.
    terms : ndarray of shape (..., K, m)
        Log of the factor of every attribute.

    Returns
    -------
    base : ndarray of shape (...)
        The base of the sum.
    terms : ndarray of shape (..., m)
        Its terms.

    Examples
    --------
    >>> base, terms = sum_of_terms(np.log([0.5, 0.5]), np.log([[0.2, 0.4], [0.6, 0.1]]))
    >>> float(np.exp(base + terms.sum()).round(9))
    0.07
    """
    parts = base + terms.sum(axis=-1)
    total = log_total(parts)
    with np.errstate(invalid="ignore"):
        # In a sum of zero no product has a share; equal shares keep the sum at zero.
        log_share = np.where(np.isneginf(total), -np.log(parts.shape[-1]), parts - total)
        share = np.exp(log_share)
        own = np.where(share > 0, share * (base - log_share), 0.0)
        shared = np.where(share[..., None] > 0, share[..., None] * terms, 0.0)
    return own.sum(axis=-1), shared.sum(axis=-2)


def mix_terms(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Base (n, r) and terms (n, r, m) of a sum of probabilities; the bases hold the logs of their shares."""
    bases, terms = zip(*parts, strict=True)
    return sum_of_terms(np.stack(bases, axis=2), np.stack(terms, axis=2))


def defined_terms(base: Floats, terms: Floats, class_count: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Where no class has any probability, use the prior as base and no terms, as :func:`or_prior` does.

    Parameters
    ----------
    base : ndarray of shape (..., r)
        Base by class.
    terms : ndarray of shape (..., r, m)
        Terms by class and attribute.
    class_count : ndarray of shape (r,)
        Training rows of each class.

    Returns
    -------
    base, terms : ndarray
        Of the same shapes.

    Examples
    --------
    >>> base, terms = defined_terms(np.zeros((1, 2)), np.full((1, 2, 3), -np.inf), np.array([1, 3]))
    >>> base.round(3).tolist(), terms.sum().item()
    ([[-1.386, -0.288]], 0.0)
    """
    joint = base + terms.sum(axis=-1)
    lost = np.isneginf(joint).all(axis=-1, keepdims=True)
    return np.where(lost, or_prior(joint, class_count), base), np.where(lost[..., None], 0.0, terms)


def log_ratio(above: Floats, below: Floats) -> Floats:
    """Log of a relative frequency; 0 / 0 counts as probability zero.

    Examples
    --------
    >>> log_ratio(np.array([1.0, 0.0]), np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(above / below)
    return np.where(np.isnan(ratio), -np.inf, ratio)
