"""What a fit on all rows would know of columns and classes, from summaries that were made in parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.eager import PairClassifier
from localbayes.encoding import ClassLabels, TableEncoder
from localbayes.encoding.columns import sorted_values
from localbayes.encoding.summaries import NumberSummary, Summary

__all__ = ["set_domains", "start_encoder"]


def start_encoder(estimator: BayesClassifier, names: Sequence[str]) -> TableEncoder:
    """Encoder with a classifier's options, which has not learned anything yet."""
    options = estimator.categorical_features, estimator.n_bins, estimator.missing, estimator.discretize
    return TableEncoder(*options).start(names)


def set_domains(estimator: Any, names: list[str], columns: list[Summary], labels: Any) -> None:
    """Give a classifier the domains, classes and class counts that a fit on all rows would.

    Parameters
    ----------
    estimator : classifier
        What to give them to.
    names : list of str
        Names of the columns.
    columns, labels : list of Summary, CategorySummary
        Summaries of all rows.
    """
    n = sum(labels.counts.values())
    if not n:
        raise ValueError("the training table has no rows; check the path or the filter that made it")
    if isinstance(estimator, PairClassifier) and n > np.iinfo(np.int32).max:
        raise ValueError(f"pair counts hold at most {np.iinfo(np.int32).max} rows, got {n}; take a sample")
    numeric = [c.name for c in columns if isinstance(c, NumberSummary)]
    if numeric and estimator.discretize != "width":
        raise ValueError(
            f"discretize={estimator.discretize!r} needs all numbers of column {numeric[0]!r} in one place; "
            "use 'width', or cut the column into categories before"
        )
    estimator.encoder_ = start_encoder(estimator, names).learn(columns)
    estimator.sizes_ = estimator.encoder_.sizes
    declared = list(labels.counts) if labels.declared else sorted_values(list(labels.counts))
    estimator.labels_ = ClassLabels(declared)
    estimator.classes_ = estimator.labels_.classes
    estimator._class_count = np.array([labels.counts[label] for label in declared], dtype=np.int64)
    estimator._log_shift = estimator._shift(estimator.labels_, estimator._class_count)
