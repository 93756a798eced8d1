"""The parameters that all classifiers share, written once."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict

from localbayes.parameters import Discretize, Missing

__all__ = ["SharedParameters", "with_shared_parameters"]


class SharedParameters(TypedDict, total=False):
    """Keywords that the constructor of every classifier takes; see `BayesClassifier` for what they mean."""

    categorical_features: Any
    n_bins: int
    discretize: Discretize
    missing: Missing
    class_weight: Any
    priors: Any
    n_jobs: int | None


# Their defaults.
DEFAULTS: SharedParameters = {
    "categorical_features": "from_dtype",
    "n_bins": 10,
    "discretize": "auto",
    "missing": "impute",
    "class_weight": None,
    "priors": None,
    "n_jobs": None,
}


def with_shared_parameters(init: Callable[..., None]) -> Callable[..., None]:
    """Replace ``**shared`` in the signature of a constructor by the shared parameters.

    Scikit-learn reads the parameters of an estimator from the signature of its constructor.

    Examples
    --------
    >>> class Example:
    ...     @with_shared_parameters
    ...     def __init__(self, k=3, **shared):
    ...         self.k, self.n_bins = k, shared["n_bins"]
    >>> list(inspect.signature(Example).parameters)[:3], Example(n_bins=5).n_bins
    (['k', 'categorical_features', 'n_bins'], 5)
    """
    signature = inspect.signature(init)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    hints = SharedParameters.__annotations__
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        for name, default in DEFAULTS.items()
        if name not in signature.parameters
    ]

    @wraps(init)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        unknown = [name for name in given if name not in known]
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; it has {', '.join(known[1:])}"
            )
        init(self, *args, **{**defaults, **given})

    defaults = {p.name: p.default for p in shared}
    full = signature.replace(parameters=[*own, *shared])
    known = list(full.parameters)
    checked.__signature__ = full  # type: ignore[attr-defined]
    return checked
