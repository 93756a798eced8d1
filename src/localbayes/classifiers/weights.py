"""Weights of rows and classes, and priors."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding import ClassLabels

__all__ = ["log_shift", "row_weights"]

Floats = npt.NDArray[np.float64]


def row_weights(sample_weight: Any, n: int) -> Floats | None:
    """Weight of every row, or None if all rows weigh one.

    Examples
    --------
    >>> row_weights([1, 2, 0], 3).tolist(), row_weights([1, 1], 2)
    ([1.0, 2.0, 0.0], None)
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
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
    return None if (weights == 1).all() else weights


def log_shift(
    priors: Any, class_weight: Any, labels: ClassLabels, class_count: npt.NDArray[Any]
) -> Floats | None:
    """What to add to a log joint, classes in declared order, for given priors and class weights.

    Given priors take the place of the training rows' shares, which are taken with Laplace's
    correction as in naive Bayes. A class weight multiplies the probability of its class.
    """
    if priors is None and class_weight is None:
        return None
    with np.errstate(divide="ignore"):
        shift: Floats = np.log(_class_factors(class_weight, labels.declared, class_count))
        if priors is not None:
            given = _check_priors(priors, len(labels))
            share = (1 + class_count) / (len(labels) + class_count.sum())
            shift += np.log(given[labels.sorted_position]) - np.log(share)
    return shift


def _check_priors(priors: Any, r: int) -> Floats:
    given = np.asarray(priors, dtype=np.float64)
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
        balanced: Floats = np.divide(
            class_count.sum(), present.sum() * class_count, out=np.ones(r), where=present
        )
        return balanced
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    unknown = [label for label in class_weight if label not in declared]
    if unknown:
        raise ValueError(f"class_weight names the class {unknown[0]!r}, which is none of {declared[:10]}")
    factors = np.array([float(class_weight.get(label, 1.0)) for label in declared])
    if not (np.isfinite(factors) & (factors >= 0)).all() or not factors.any():
        raise ValueError(f"class_weight must hold numbers >= 0, one of them positive, got {class_weight!r}")
    return factors
