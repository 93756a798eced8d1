"""Local Bayesian classifiers for categorical data, with the scikit-learn API."""

from localbayes.classifiers import LCWNB

__version__ = "0.1.0"

__all__ = ["LCWNB", "__version__"]
