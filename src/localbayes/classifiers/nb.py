"""Naive Bayes (NB)."""

from typing import Any

import numpy as np

from localbayes.classifiers.base import Floats
from localbayes.classifiers.eager import EagerClassifier, row_terms, sum_rows
from localbayes.classifiers.lazy import check_number
from localbayes.classifiers.pair_counts import ValueCounts
from localbayes.encoding.coded import Codes

__all__ = ["NB", "naive_tables"]


class NB(EagerClassifier):
    """Naive Bayes with Laplace's correction.

    The score of class y is::

        (alpha + n_y) / (alpha r + n)  *  prod_i (alpha + n_iy) / (alpha q_i + n_y)

    with n_y rows of class y, n_iy of which agree with the query on attribute i; r classes and q_i
    values are declared.

    Parameters
    ----------
    alpha : float, default=1.0
        Laplace's constant; 0 gives relative frequencies.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LCWNB`.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    counts_ : ValueCounts
        Counts of classes and values, classes in declared order.

    References
    ----------
    P. Langley, W. Iba and K. Thompson, "An Analysis of Bayesian Classifiers", AAAI 1992. The
    probabilities are those of Weka's ``NaiveBayes`` on nominal attributes.

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> y = ["apple", "pepper", "pepper", "pepper"]
    >>> NB().fit(X, y).predict_proba([["red", "round"]]).round(3).tolist()
    [[0.735, 0.265]]
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: str = "width",
        missing: str = "impute",
        class_weight: Any = None,
        priors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.n_bins = n_bins
        self.discretize = discretize
        self.missing = missing
        self.class_weight = class_weight
        self.priors = priors
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, at_least=0)

    def _derive(self) -> None:
        self._log_prior, self._log_table = naive_tables(self.counts_, float(self.alpha))

    def _log_joint(self, codes: Codes) -> Floats:
        return sum_rows(self.counts_.slots(codes), self._log_table, self._log_prior)

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        return row_terms(self.counts_.slots(codes), self._log_table, self._log_prior)


def naive_tables(counts: ValueCounts, alpha: float) -> tuple[Floats, Floats]:
    """Log P(y) and, for every slot, log P(value | y)."""
    n_y, n_iy = counts.class_counts, counts.value_counts
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.log((alpha + n_y) / (alpha * counts.n_classes + counts.n_rows))
        table = np.log((alpha + n_iy) / (alpha * counts.slot_sizes[:, None] + n_y))
    # A class without rows has no probability when alpha is 0, whatever its values.
    return prior, np.where(np.isnan(table), -np.inf, table)
