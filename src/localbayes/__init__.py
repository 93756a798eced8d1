"""Local Bayesian classifiers for categorical data, with the scikit-learn API."""

from localbayes.classifiers import AODE, HNB, ICLNB, LCWNB, LWNB, NB, TAN, WAODE

__version__ = "0.1.0"

__all__ = ["AODE", "HNB", "ICLNB", "LCWNB", "LWNB", "NB", "TAN", "WAODE", "__version__"]
