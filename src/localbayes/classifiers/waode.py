"""Weightily averaged one-dependence estimators (WAODE)."""

import numpy as np

from localbayes.classifiers.eager import OneDependence
from localbayes.counts import Floats, LeftOutCounts, ValueCounts
from localbayes.counts.pairs import NEGLIGIBLE, telling

__all__ = ["WAODE"]


class WAODE(OneDependence):
    """Weightily averaged one-dependence estimators.

    As AODE, but a superparent p weighs w_p, its mutual information with the class, and m-estimates with
    m = 1 take the place of Laplace's::

        sum_p w_p  (n_py + 1 / (r q_p)) / (n + 1)  *  prod_{i != p} (n_piy + 1 / q_i) / (n_py + 1)

    If no attribute tells anything about the class, all weigh the same.

    Parameters
    ----------
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    weights_ : ndarray of shape (m,)
        Mutual information of every attribute with the class, in bits.
    counts_ : PairCounts
        Counts of classes, values and pairs of values, classes in declared order.

    References
    ----------
    L. Jiang and H. Zhang, "Weightily Averaged One-Dependence Estimators", PRICAI 2006. The
    probabilities are those of Weka 3.6's ``WAODE``.

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "round"]]
    >>> y = ["apple", "pepper", "pepper", "apple"]
    >>> clf = WAODE().fit(X, y)
    >>> clf.weights_.tolist(), clf.predict([["green", "long"]]).tolist()
    ([0.0, 1.0], ['pepper'])
    """

    def derive(self) -> None:
        """Turn counts into the tables of the formula."""
        counts = self.counts_
        n_py = counts.value_counts
        self.weights_ = mutual_information(counts)
        log_weight = np.repeat(self._log_weights(), counts.sizes + 1)[:, None]
        pairs_of_class = counts.n_classes * counts.slot_sizes[:, None]
        log_joint = np.log((n_py + 1 / pairs_of_class) / (counts.n_rows + 1))
        log_children = (len(counts.sizes) - 1) * np.log(n_py + 1)
        self.set_superparents(log_weight + log_joint - log_children, 1 / counts.sizes)

    def _log_weights(self) -> Floats:
        weights = self.weights_ if self.weights_.any() else np.ones_like(self.weights_)
        with np.errstate(divide="ignore"):
            log_weights: Floats = np.log(weights)
        return log_weights

    def log_first(self, counts: LeftOutCounts) -> Floats:
        """Log of the weight of a superparent and P(x_p, y); weights are those of all rows."""
        pairs_of_class = counts.n_classes * counts.sizes
        joint = (counts.value_counts + 1 / pairs_of_class) / (counts.n_rows[..., None] + 1)
        log_first: Floats = self._log_weights() + np.log(joint)
        return log_first


def mutual_information(counts: ValueCounts) -> Floats:
    """Mutual information of every attribute with the class, in bits, exactly zero for an independent one.

    Cells with P(i, y) or P(i) P(y) below 1e-6 are left out, as in Weka; see :func:`telling`.
    """
    n_iy, first, n = counts.value_counts, counts.first_slot[:-1], counts.n_rows
    n_i = n_iy.sum(axis=1, keepdims=True)
    # Rows in which the attribute has a declared value: all rows, unless some have values outside the domain.
    n_y = np.repeat(np.add.reduceat(n_iy, first), counts.sizes + 1, axis=0)
    known = n_y.sum(axis=1, keepdims=True)
    counted = (n_iy / n >= NEGLIGIBLE) & (n_i / n * (n_y / n) >= NEGLIGIBLE)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counted, n_iy * np.log2(n_iy * known / (n_i * n_y)), 0.0)
    return telling(np.add.reduceat(terms.sum(axis=1), first) / n, counts)
