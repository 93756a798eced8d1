"""Local Bayesian classifiers for categorical data, with the scikit-learn API."""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

__all__ = [
    "AODE",
    "HNB",
    "ICLNB",
    "LCWNB",
    "LWNB",
    "NB",
    "TAN",
    "WAODE",
    "LocalBayesClassifier",
    "__version__",
    "audit",
    "load_model",
    "save_model",
    "what_if",
]

if TYPE_CHECKING:
    from localbayes.auditing import audit
    from localbayes.classifiers import (
        AODE,
        HNB,
        ICLNB,
        LCWNB,
        LWNB,
        NB,
        TAN,
        WAODE,
        LocalBayesClassifier,
    )
    from localbayes.persistence import load_model, save_model
    from localbayes.whatif import what_if
else:

    def __getattr__(name: str) -> Any:
        """Load the classifiers, and scikit-learn with them, when one is first asked for."""
        if name not in __all__:
            raise AttributeError(f"module 'localbayes' has no attribute {name!r}")
        from localbayes import auditing, classifiers, persistence, whatif

        homes = (classifiers, persistence, auditing, whatif)
        return getattr(next(home for home in homes if name in home.__all__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
