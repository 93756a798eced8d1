"""Classifiers of scikit-learn as columns of a study."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ABOUT", "COLUMNS", "INPUT", "make"]

ABOUT = {
    "CategoricalNB": "scikit-learn's naive Bayes for categories",
    "kNN": "scikit-learn's 10 nearest neighbours, Hamming distance",
    "RandomForest": "scikit-learn's random forest of 100 trees on one-hot columns",
    "HistGradientBoosting": "scikit-learn's gradient boosting with categorical splits",
    "LogisticRegression": "scikit-learn's logistic regression on one-hot columns",
}
COLUMNS = tuple(ABOUT)
INPUT = {"HistGradientBoosting": "codes"}


def make(name: str, sizes: npt.NDArray[Any]) -> Any:
    """Make the classifier of a column, given the number of declared values of each attribute.

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
