"""Local Bayesian classifiers for categorical data, with the scikit-learn API."""

__version__ = "0.1.0"
