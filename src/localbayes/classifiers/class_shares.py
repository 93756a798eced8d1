"""Weights of rows and of classes, and priors."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts import Floats
from localbayes.encoding import ClassLabels

__all__ = ["check_total", "log_shift", "row_weights", "shifted"]

# Whole numbers up to this are exact in floating point, and products of sixteen counts stay in its range.
MOST_WEIGHT = 1e15


def row_weights(sample_weight: Any, n: int) -> Floats | None:
    """Weight of every row, or None if all rows weigh one.

    Examples
    --------
    >>> row_weights([1, 2, 0], 3).tolist(), row_weights([1, 1], 2)
    ([1.0, 2.0, 0.0], None)
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be numbers, one per row, got {sample_weight!r:.80}") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},): one weight per row")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite, got NaN or infinity")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows; give some row a positive weight")
    check_total(weights.sum())
    return None if (weights == 1).all() else weights


def check_total(weight: float) -> None:
    """Refuse rows that weigh more, together, than floating point counts exactly.

    Examples
    --------
    >>> check_total(2e15)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: sample_weight adds up to 2e+15, above 1e+15 counts are not exact; divide all ...
    """
    if weight > MOST_WEIGHT:
        raise ValueError(
            f"sample_weight adds up to {weight:.3g}, above {MOST_WEIGHT:g} counts are not exact; "
            "divide all weights by the same number"
        )


def log_shift(
    priors: Any,
    class_weight: Any,
    labels: ClassLabels,
    class_count: npt.NDArray[Any],
    pseudo_count: float = 1.0,
) -> Floats | None:
    """What to add to a log joint, classes in declared order, for given priors and class weights.

    ``class_count`` may have leading axes, for several tables: its shape is (..., r).

    Priors replace the shares of the training rows. These shares are computed with ``pseudo_count`` more rows
    of every class, as in the classifier's formula. A class weight multiplies the probability of
    its class.
    """
    if priors is None and class_weight is None:
        return None
    with np.errstate(divide="ignore"):
        shift: Floats = np.log(_class_factors(class_weight, labels.declared, class_count))
        if priors is not None:
            given = _check_priors(priors, len(labels))[labels.sorted_position]
            share = _share(class_count, pseudo_count)
            # A class without rows and without smoothing has no share to replace: it stays impossible.
            shift = shift + np.log(given) - np.log(share, out=np.zeros(share.shape), where=share > 0)
    if np.isneginf(shift).all(axis=-1).any():
        raise ValueError(
            "priors and class_weight leave no class possible; give one of them a positive number"
        )
    return shift


def shifted(log_joint: Floats, shift: Floats, class_count: npt.NDArray[Any]) -> Floats:
    """Log joint under priors and class weights; where they exclude all possible classes, they alone count.

    Examples
    --------
    >>> shifted(np.log([[0.2, 0.1]]), np.log([1.0, 4.0]), np.array([1, 1])).round(3).tolist()
    [[-1.609, -0.916]]
    """
    moved = log_joint + shift
    lost = np.isneginf(moved).all(axis=-1, keepdims=True)
    if lost.any():
        moved = np.where(lost, np.log(_share(class_count, 1.0)) + shift, moved)
    return moved


def _share(class_count: npt.NDArray[Any], pseudo_count: float) -> Floats:
    total = pseudo_count * class_count.shape[-1] + class_count.sum(axis=-1, keepdims=True)
    share: Floats = (pseudo_count + class_count) / total
    return share


def _check_priors(priors: Any, r: int) -> Floats:
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"priors must be numbers, one per class, got {priors!r}") from None
    if given.shape != (r,):
        raise ValueError(f"priors must have one number per class ({r}), got shape {given.shape}")
    if not (np.isfinite(given) & (given >= 0)).all() or not np.isclose(given.sum(), 1.0):
        raise ValueError(f"priors must be numbers >= 0 that sum to 1, got {given.tolist()}")
    return given


def _class_factors(class_weight: Any, declared: list[Any], class_count: npt.NDArray[Any]) -> Floats:
    r = len(declared)
    if class_weight is None:
        return np.ones(r)
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = class_count > 0
        rows, classes = (count.sum(axis=-1, keepdims=True) for count in (class_count, present))
        balanced: Floats = np.divide(
            rows, classes * class_count, out=np.ones(class_count.shape), where=present
        )
        return balanced
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    unknown = [label for label in class_weight if label not in declared]
    if unknown:
        raise ValueError(f"class_weight names the class {unknown[0]!r}, which is none of {declared[:10]}")
    try:
        factors = np.array([float(class_weight.get(label, 1.0)) for label in declared])
    except (TypeError, ValueError):
        raise ValueError(f"class_weight must hold a number for every class, got {class_weight!r}") from None
    if not (np.isfinite(factors) & (factors >= 0)).all() or not factors.any():
        raise ValueError(f"class_weight must hold numbers >= 0, one of them positive, got {class_weight!r}")
    return factors
