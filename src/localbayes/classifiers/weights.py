"""Weights of rows and classes, and priors."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding import ClassLabels

__all__ = ["prior_shift", "row_weights"]

Floats = npt.NDArray[np.float64]


def row_weights(
    sample_weight: Any, class_weight: Any, class_codes: npt.NDArray[np.int64], declared: list[Any]
) -> Floats | None:
    """Weight of every row, or None if all rows weigh one.

    Examples
    --------
    >>> row_weights([1, 2, 1], {"no": 3.0}, np.array([0, 1, 1]), ["no", "yes"]).tolist()
    [3.0, 2.0, 1.0]
    >>> row_weights([1, 1], None, np.array([0, 1]), ["no", "yes"]) is None
    True
    """
    if sample_weight is None and class_weight is None:
        return None
    n = len(class_codes)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},): one weight per row")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite, got NaN or infinity")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    weights = weights * _class_factors(class_weight, class_codes, weights, declared)[class_codes]
    if not weights.any():
        raise ValueError("the weights of all rows are zero; give some row a positive weight")
    return None if (weights == 1).all() else weights


def _class_factors(
    class_weight: Any, class_codes: npt.NDArray[np.int64], weights: Floats, declared: list[Any]
) -> Floats:
    r = len(declared)
    if class_weight is None:
        return np.ones(r)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(class_codes, weights, r)
        present = totals > 0
        factors: Floats = np.divide(totals.sum(), present.sum() * totals, out=np.ones(r), where=present)
        return factors
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    unknown = [label for label in class_weight if label not in declared]
    if unknown:
        raise ValueError(f"class_weight names the class {unknown[0]!r}, which is none of {declared[:10]}")
    factors = np.array([float(class_weight.get(label, 1.0)) for label in declared])
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError(f"class_weight must hold numbers >= 0, got {class_weight!r}")
    return factors


def prior_shift(priors: Any, labels: ClassLabels, class_count: npt.NDArray[Any]) -> Floats:
    """What to add to a log joint so that given priors take the place of the training rows' shares.

    A class's share is taken with Laplace's correction, as naive Bayes does.
    """
    given = np.asarray(priors, dtype=np.float64)
    r = len(labels)
    if given.shape != (r,):
        raise ValueError(f"priors must have one number per class ({r}), got shape {given.shape}")
    if not (np.isfinite(given) & (given >= 0)).all() or not np.isclose(given.sum(), 1.0):
        raise ValueError(f"priors must be numbers >= 0 that sum to 1, got {given.tolist()}")
    share = (1 + class_count) / (r + class_count.sum())
    with np.errstate(divide="ignore"):
        shift: Floats = np.log(given[labels.sorted_position]) - np.log(share)
    return shift
