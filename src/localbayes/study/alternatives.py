"""Classifiers of scikit-learn and of other libraries as columns of a study."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ABOUT", "COLUMNS", "INPUT", "OPTIONAL", "installed", "make"]

ABOUT = {
    "CategoricalNB": "scikit-learn's naive Bayes for categories",
    "kNN": "scikit-learn's 10 nearest neighbours, Hamming distance",
    "RandomForest": "scikit-learn's random forest of 100 trees on one-hot columns",
    "HistGradientBoosting": "scikit-learn's gradient boosting with categorical splits",
    "LogisticRegression": "scikit-learn's logistic regression on one-hot columns",
    "LightGBM": "LightGBM's gradient boosting with its own splits of categories",
    "CatBoost": "CatBoost's gradient boosting with its own encoding of categories",
    "EBM": "InterpretML's explainable boosting machine",
}
# Columns that need another library: its module, and what to install.
OPTIONAL = {
    "LightGBM": ("lightgbm", "lightgbm"),
    "CatBoost": ("catboost", "catboost"),
    "EBM": ("interpret", "interpret-core"),
}
# Scikit-learn's.
COLUMNS = tuple(name for name in ABOUT if name not in OPTIONAL)
INPUT = dict.fromkeys(("HistGradientBoosting", *OPTIONAL), "codes")


def installed() -> tuple[str, ...]:
    """Return the columns whose library is installed.

    Examples
    --------
    >>> installed()[0]
    'CategoricalNB'
    """
    return tuple(name for name in ABOUT if name not in OPTIONAL or find_spec(OPTIONAL[name][0]))


def make(name: str, sizes: npt.NDArray[Any]) -> Any:
    """Make the classifier of a column of scikit-learn's for codes.

    Parameters
    ----------
    name : str
        The column.
    sizes : array of shape (m,)
        Number of declared values of each attribute.

    Examples
    --------
    >>> make("kNN", [2, 3])
    KNeighborsClassifier(algorithm='brute', metric='hamming', n_neighbors=10)
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    one_hot = OneHotEncoder(categories=[range(size) for size in sizes])
    if name == "CategoricalNB":
        return CategoricalNB(min_categories=np.asarray(sizes, dtype=np.int64))
    if name == "kNN":
        return KNeighborsClassifier(10, metric="hamming", algorithm="brute")
    if name == "RandomForest":
        return make_pipeline(one_hot, RandomForestClassifier(100, random_state=0))
    if name == "HistGradientBoosting":
        return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    return make_pipeline(one_hot, LogisticRegression(max_iter=1000))
