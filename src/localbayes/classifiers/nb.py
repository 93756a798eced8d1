"""Naive Bayes (NB)."""

from typing import Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.eager import EagerClassifier, row_terms
from localbayes.classifiers.scores import log_ratio
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.counts import Codes, Floats, KnownCounts, LeftOutCounts, ValueCounts
from localbayes.counts.values import sum_rows
from localbayes.encoding.coded import missing_code
from localbayes.parameters import check_alpha

__all__ = ["NB", "naive_tables", "naive_terms"]


class NB(EagerClassifier):
    """Naive Bayes with Laplace's correction.

    The score of class y is::

        (alpha + n_y) / (alpha r + n)  *  prod_i (alpha + n_iy) / (alpha q_i + n_y)

    with n_y rows of class y, n_iy of which agree with the query on attribute i; r classes and q_i
    values are declared. With ``missing="ignore"`` the second n_y counts the rows that know attribute i,
    and an attribute that the query lacks has no factor.

    Parameters
    ----------
    alpha : float, default=1.0
        Laplace's constant; 0 gives relative frequencies.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.

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

    @with_shared_parameters
    def __init__(self, alpha: float = 1.0, **shared: Unpack[SharedParameters]) -> None:
        super().__init__(**shared)
        self.alpha = alpha

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""
        check_alpha(self.alpha)

    def empty_statistic(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> ValueCounts:
        """Counts of no rows."""
        return (KnownCounts if self.missing == "ignore" else ValueCounts)(sizes, n_classes)

    def derive(self) -> None:
        """Turn counts into the tables of the formula."""
        self._log_prior, self._log_table = naive_tables(self.counts_, float(self.alpha))

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class."""
        return sum_rows(self._rows(codes), self._log_table, self._log_prior)

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint by attribute."""
        return row_terms(self._rows(codes), self._log_table, self._log_prior)

    def terms_of_counts(self, counts: LeftOutCounts) -> tuple[Floats, Floats]:
        """Split the log joint by attribute, for rows that are left out."""
        return naive_terms(counts, float(self.alpha))

    def _rows(self, codes: Codes) -> npt.NDArray[np.int64]:
        rows = self.counts_.slots(codes)
        if isinstance(self.counts_, KnownCounts):
            rows[codes == missing_code(codes.dtype)] = self.counts_.n_slots
        return rows


def naive_tables(counts: ValueCounts, alpha: float) -> tuple[Floats, Floats]:
    """Log P(y) and, for every slot, log P(value | y); one more slot for values that may be missing."""
    n_y, n_iy, known = counts.class_counts, counts.value_counts, counts.class_counts
    if isinstance(counts, KnownCounts):
        known = np.repeat(counts.known_counts, counts.sizes + 1, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.log((alpha + n_y) / (alpha * counts.n_classes + counts.n_rows))
        table = np.log((alpha + n_iy) / (alpha * counts.slot_sizes[:, None] + known))
    # A class without rows has no probability when alpha is 0, whatever its values.
    table = np.where(np.isnan(table), -np.inf, table)
    if isinstance(counts, KnownCounts):
        table = np.concatenate([table, np.zeros((1, counts.n_classes))])
    return prior, table


def naive_terms(counts: LeftOutCounts, alpha: float) -> tuple[Floats, Floats]:
    """Log P(y) and log P(value | y) of rows that are left out; a value that is not known adds nothing."""
    base = log_ratio(alpha + counts.class_counts, alpha * counts.n_classes + counts.n_rows)
    terms = log_ratio(alpha + counts.value_counts, alpha * counts.sizes + counts.known_counts)
    return base, np.where(counts.lacking[:, None], 0.0, terms)
