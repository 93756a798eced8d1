"""What a fit on all rows would know of columns and classes, from summaries that were made in parts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.class_shares import check_total
from localbayes.counts import Floats
from localbayes.distributed.part_learning import TableSummary, joined_rows
from localbayes.encoding import ClassLabels
from localbayes.encoding.columns import sorted_values

__all__ = ["set_domains"]


# Gives table, classes and weights, part by part, of training rows by number.
Fetch = Callable[[npt.NDArray[np.int64]], Sequence[tuple[Any, Any, Floats]]]


def set_domains(estimator: BayesClassifier, names: list[str], summary: TableSummary, fetch: Fetch) -> None:
    """Give a classifier the domains, classes and class counts that a fit on all rows would.

    Parameters
    ----------
    estimator : classifier
        What to give them to.
    names : list of str
        Names of the columns.
    summary : TableSummary
        Of all rows.
    fetch : callable
        Gives the rows that the encoder wants to see, by number.
    """
    labels = summary.labels
    if not summary.n_rows:
        raise ValueError(
            "the training table has no rows, or none with a weight above zero; check the path, the filter "
            "that made it, or sample_weight"
        )
    declared = list(labels.counts) if labels.declared else sorted_values(list(labels.counts))
    encoder, classes = (
        estimator.new_encoder().start(names).learn(summary.columns, declared),
        ClassLabels(declared),
    )
    wanted = encoder.rows_wanted(summary.n_rows)
    if len(wanted):
        X, codes, weights = joined_rows(fetch(wanted), classes)
        encoder.learn_from_rows(X, codes, weights if summary.weighted else None)
    estimator.encoder_ = encoder
    estimator.begin(encoder.sizes, classes)
    kind = np.float64 if summary.weighted else np.int64
    class_count = np.array([labels.counts[label] for label in declared], dtype=kind)
    check_total(float(class_count.sum()))
    estimator.set_class_count(class_count)
    if not summary.weighted:
        estimator.empty_statistic(estimator.sizes_, len(declared)).check_room(summary.n_rows)
