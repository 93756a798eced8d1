"""Local Bayesian classifiers for categorical data, with the scikit-learn API."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localbayes.classifiers import AODE, HNB, ICLNB, LCWNB, LWNB, NB, TAN, WAODE

__version__ = "0.1.0"

__all__ = ["AODE", "HNB", "ICLNB", "LCWNB", "LWNB", "NB", "TAN", "WAODE", "__version__"]


def __getattr__(name: str) -> Any:
    """Load a classifier, and scikit-learn with it, when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'localbayes' has no attribute {name!r}")
    from localbayes import classifiers

    return getattr(classifiers, name)


def __dir__() -> list[str]:
    return sorted(__all__)
