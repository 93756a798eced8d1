"""Averaged one-dependence estimators (AODE)."""

from typing import Any

import numpy as np

from localbayes.classifiers.base import Floats
from localbayes.classifiers.eager import OneDependence, row_terms, sum_rows
from localbayes.classifiers.nb import naive_tables
from localbayes.classifiers.pair_counts import MAX_TABLE_BYTES
from localbayes.encoding.coded import Codes
from localbayes.parameters import Discretize, Missing, check_number

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
        A value is a superparent if it occurs in at least so many training rows, or if those in which it
        occurs weigh so much; for 1, if it occurs at all.
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LCWNB`.

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

    def __init__(
        self,
        min_count: int = 1,
        *,
        max_table_bytes: int = MAX_TABLE_BYTES,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: Discretize = "width",
        missing: Missing = "impute",
        class_weight: Any = None,
        priors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            max_table_bytes=max_table_bytes,
            categorical_features=categorical_features,
            n_bins=n_bins,
            discretize=discretize,
            missing=missing,
            class_weight=class_weight,
            priors=priors,
            n_jobs=n_jobs,
        )
        self.min_count = min_count

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("min_count", self.min_count, at_least=1)

    def _derive(self) -> None:
        counts = self.counts_
        n_py, q_p = counts.value_counts, counts.slot_sizes[:, None]
        log_joint = np.log((1 + n_py) / (counts.n_rows + counts.n_classes * q_p))
        log_children = -np.log(n_py + q_p)
        for q, times in zip(*np.unique(counts.sizes, return_counts=True), strict=True):
            log_children += times * np.log(n_py + q)
        occurs = n_py.sum(axis=1, keepdims=True)
        # One row may weigh less than one.
        used = occurs >= self.min_count if self.min_count > 1 else occurs > 0
        self._set_superparents(np.where(used, log_joint - log_children, -np.inf), np.ones(len(counts.sizes)))
        self._naive = naive_tables(counts, 1.0)

    def _log_joint(self, codes: Codes) -> Floats:
        log_joint = super()._log_joint(codes)
        alone = np.isneginf(log_joint[:, 0])
        if alone.any():
            prior, table = self._naive
            log_joint[alone] = sum_rows(self.counts_.slots(codes[alone]), table, prior)
        return log_joint

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        base, terms = super()._terms(codes)
        alone = np.isneginf(base[:, 0])
        prior, table = self._naive
        base[alone], terms[alone] = row_terms(self.counts_.slots(codes[alone]), table, prior)
        return base, terms
