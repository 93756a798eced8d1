"""What a fit on all rows would know of columns and classes, from summaries that were made in parts."""

import numpy as np

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.class_shares import check_total
from localbayes.distributed.part_learning import TableSummary
from localbayes.encoding import ClassLabels
from localbayes.encoding.columns import sorted_values

__all__ = ["set_domains"]


def set_domains(estimator: BayesClassifier, names: list[str], summary: TableSummary) -> None:
    """Give a classifier the domains, classes and class counts that a fit on all rows would.

    Parameters
    ----------
    estimator : classifier
        What to give them to.
    names : list of str
        Names of the columns.
    summary : TableSummary
        Of all rows.
    """
    labels = summary.labels
    if not summary.n_rows:
        raise ValueError(
            "the training table has no rows, or none with a weight above zero; check the path, the filter "
            "that made it, or sample_weight"
        )
    declared = list(labels.counts) if labels.declared else sorted_values(list(labels.counts))
    estimator.encoder_ = estimator.new_encoder().start(names).learn(summary.columns, declared)
    estimator.begin(estimator.encoder_.sizes, ClassLabels(declared))
    kind = np.float64 if summary.weighted else np.int64
    class_count = np.array([labels.counts[label] for label in declared], dtype=kind)
    check_total(float(class_count.sum()))
    estimator.set_class_count(class_count)
    if not summary.weighted:
        estimator.empty_statistic(estimator.sizes_, len(declared)).check_room(summary.n_rows)
