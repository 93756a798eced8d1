"""Averaged one-dependence estimators (AODE)."""

from typing import Any, Unpack

import numpy as np

from localbayes.classifiers.eager import OneDependence, row_terms
from localbayes.classifiers.nb import naive_tables, naive_terms
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.counts import Codes, Floats, LeftOutCounts
from localbayes.counts.pairs import MAX_TABLE_BYTES
from localbayes.counts.values import sum_rows
from localbayes.parameters import check_number

__all__ = ["AODE"]


class AODE(OneDependence):
    """Averaged one-dependence estimators.

    Every attribute in turn is the superparent p, on which all others depend besides the class; the
    joint probability is the mean over superparents whose value occurs in training::

        sum_p  (1 + n_py) / (n + r q_p)  *  prod_{i != p} (1 + n_piy) / (q_i + n_py)

    with n_py rows of class y that agree with the query on attribute p, n_piy of them also on i. If no
    value of the query occurs, it is naive Bayes.

    Parameters
    ----------
    min_count : int, default=1
        A value is a superparent if the training rows that have it are at least so many, or weigh so much.
        With 1, every value that occurs is one.
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    counts_ : PairCounts
        Counts of classes, values and pairs of values, classes in declared order.

    References
    ----------
    G. I. Webb, J. R. Boughton and Z. Wang, "Not So Naive Bayes: Aggregating One-Dependence Estimators",
    Machine Learning 58(1), 2005. The probabilities are those of Weka 3.6's ``AODE``.

    Examples
    --------
    Which class it is depends on two attributes together:

    >>> X = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5
    >>> y = ["same", "other", "other", "same"] * 5
    >>> AODE().fit(X, y).predict([["a", "b"], ["b", "b"]]).tolist()
    ['other', 'same']
    """

    @with_shared_parameters
    def __init__(
        self,
        min_count: int = 1,
        *,
        max_table_bytes: int = MAX_TABLE_BYTES,
        **shared: Unpack[SharedParameters],
    ) -> None:
        super().__init__(max_table_bytes=max_table_bytes, **shared)
        self.min_count = min_count

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""
        super().check_parameters()
        check_number("min_count", self.min_count, at_least=1)

    def derive(self) -> None:
        """Turn counts into the tables of the formula."""
        counts = self.counts_
        n_py, q_p = counts.value_counts, counts.slot_sizes[:, None]
        log_joint = np.log((1 + n_py) / (counts.n_rows + counts.n_classes * q_p))
        log_children = -np.log(n_py + q_p)
        for q, times in zip(*np.unique(counts.sizes, return_counts=True), strict=True):
            log_children += times * np.log(n_py + q)
        occurs = n_py.sum(axis=1, keepdims=True)
        used = self._used(occurs)
        self.set_superparents(np.where(used, log_joint - log_children, -np.inf), np.ones(len(counts.sizes)))
        self._naive = naive_tables(counts, 1.0)

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class."""
        log_joint = super().log_joint(codes)
        alone = np.isneginf(log_joint[:, 0])
        if alone.any():
            prior, table = self._naive
            log_joint[alone] = sum_rows(self.counts_.slots(codes[alone]), table, prior)
        return log_joint

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint by attribute."""
        base, terms = super().terms(codes)
        alone = np.isneginf(base[:, 0])
        prior, table = self._naive
        base[alone], terms[alone] = row_terms(self.counts_.slots(codes[alone]), table, prior)
        return base, terms

    def log_first(self, counts: LeftOutCounts) -> Floats:
        """Log P(x_p, y), minus infinity for a superparent of too few rows."""
        n_py = counts.value_counts
        below = counts.n_rows[..., None] + counts.n_classes * counts.sizes
        return np.where(self._used(n_py.sum(axis=1, keepdims=True)), np.log((1 + n_py) / below), -np.inf)

    def terms_of_counts(self, counts: LeftOutCounts) -> tuple[Floats, Floats]:
        """Split the log joint by attribute, for rows that are left out."""
        base, terms = super().terms_of_counts(counts)
        alone = np.isneginf(base[:, 0])
        if alone.any():
            base[alone], terms[alone] = (part[alone] for part in naive_terms(counts, 1.0))
        return base, terms

    def _used(self, occurs: Any) -> Any:
        """Whether a value that occurs so often may be a superparent; one row may weigh less than one."""
        return occurs >= self.min_count if self.min_count > 1 else occurs > 0
