"""Pipelines of scikit-learn in model files: known steps in front of a classifier of localbayes.

A step of a known class is kept as the values of its attributes, without code. Classes that hold functions,
such as FunctionTransformer, are not among the known ones, and no step may hold another object inside.
"""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from localbayes.fields import Fields
from localbayes.persistence.schema import fields_of, model_of

__all__ = ["STEPS", "known_steps", "pipeline_fields", "pipeline_of"]

STEPS = {
    "sklearn.preprocessing": (
        "Binarizer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "sklearn.impute": ("SimpleImputer",),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
}
"""The classes that a step may have, by the module that they are imported from."""

_PASS = "passthrough"
_SCALARS = (str, int, float, bool, type(None), np.generic, np.ndarray, np.dtype, type)


@cache
def known_steps() -> dict[tuple[str, str], type]:
    """Return the classes of steps by the names under which a file has them.

    Examples
    --------
    >>> known_steps()["sklearn.impute._base", "SimpleImputer"].__name__
    'SimpleImputer'
    """
    found = [getattr(import_module(module), name) for module, names in STEPS.items() for name in names]
    return {(step.__module__, step.__name__): step for step in found}


def pipeline_fields(pipeline: Pipeline, with_rows: bool = False) -> dict[str, Any]:
    """Named fields of a fitted pipeline; one with a step that is not known is refused."""
    names = [name for name, _ in pipeline.steps]
    steps = [_PASS if step is None else step for _, step in pipeline.steps[:-1]]
    for name, step in zip(names, steps, strict=False):
        _check_step(name, step)
    if pipeline.memory is not None:
        raise ValueError("a model file does not keep the memory of a pipeline; set memory=None")
    return {"pipeline": {"names": names, "steps": steps}, "model": fields_of(pipeline[-1], with_rows)}


def pipeline_of(given: dict[str, Any]) -> Pipeline:
    """The pipeline that the fields describe; what does not fit is refused."""
    fields = Fields(given)
    outer = fields.inner("pipeline")
    names, steps = outer.get("names", list), outer.get("steps", list)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("the names of the steps must be different texts")
    if len(names) != len(steps) + 1:
        raise ValueError(f"{len(names)} names were given to {len(steps)} steps and a classifier")
    for name, step in zip(names, steps, strict=False):
        _check_step(name, step)
    return Pipeline(list(zip(names, [*steps, model_of(fields.get("model", dict))], strict=True)))


def _check_step(name: str, step: Any) -> None:
    """Refuse a step of another class, one that is not fitted, and one that holds more than values."""
    if isinstance(step, str) and step == _PASS:
        return
    if type(step) not in known_steps().values():
        known = ", ".join(sorted(name for names in STEPS.values() for name in names))
        kind = f"{type(step).__module__}.{type(step).__qualname__}"
        raise ValueError(
            f"the step {name!r} is a {kind}, which a model file does not keep; it keeps {known}. Save the "
            "classifier alone, or keep the pipeline with joblib and load nothing that you do not trust"
        )
    lacking = sorted(set(type(step)().get_params()) - set(vars(step)))
    strange = [key for key, value in vars(step).items() if not _is_plain(value)]
    if lacking or strange:
        raise ValueError(
            f"the step {name!r} {'lacks' if lacking else 'holds an object in'} {(lacking or strange)[0]}"
        )
    check_is_fitted(step)


def _is_plain(value: Any) -> bool:
    """Whether a value consists of numbers, texts, arrays and NumPy's types of numbers."""
    if isinstance(value, dict):
        return all(_is_plain(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | set):
        return all(map(_is_plain, value))
    if isinstance(value, type):
        return value.__module__ in ("builtins", "numpy")
    return isinstance(value, _SCALARS)
