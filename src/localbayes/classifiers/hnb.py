"""Hidden naive Bayes (HNB)."""

import numpy as np

from localbayes.classifiers.eager import AllPairs, product_spans
from localbayes.counts import Codes, Floats, LeftOutCounts

__all__ = ["HNB"]


class HNB(AllPairs):
    """Hidden naive Bayes.

    Every attribute i has a hidden parent, the mixture of all other attributes j with weights W_ij
    proportional to the conditional mutual information I(i; j | class)::

        (n_y + 1 / r) / (n + 1)  *  prod_i sum_{j != i} W_ij (n_ijy + 1 / q_i) / (n_jy + 1)

    with n_jy rows of class y that agree with the query on attribute j, n_ijy of them also on i. An
    attribute that depends on no other given the class has the factor (n_iy + 1 / q_i) / (n_y + 1).

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
    weights_ : ndarray of shape (m, m)
        W; a row sums to one, or is zero for an attribute that depends on no other.
    counts_ : PairCounts
        Counts of classes, values and pairs of values, classes in declared order.

    References
    ----------
    H. Zhang, L. Jiang and J. Su, "Hidden Naive Bayes", AAAI 2005. The probabilities are those of Weka
    3.6's ``HNB``.

    Examples
    --------
    Which class it is depends on two attributes together:

    >>> X = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5
    >>> y = ["same", "other", "other", "same"] * 5
    >>> HNB().fit(X, y).predict([["a", "b"], ["b", "b"]]).tolist()
    ['other', 'same']
    """

    def derive(self) -> None:
        """Turn counts into the tables of the formula."""
        counts = self.counts_
        information = counts.conditional_information()
        total = information.sum(axis=1, keepdims=True)
        self.weights_ = np.divide(information, total, out=np.zeros_like(information), where=total > 0)
        n_y, n_iy = counts.class_counts, counts.value_counts
        self._log_prior = np.log((n_y + 1 / counts.n_classes) / (counts.n_rows + 1))
        self._scale = 1 / (n_iy + 1)
        alone = np.repeat(total <= 0, counts.sizes + 1)[:, None]
        self._alone = np.where(alone, (n_iy + 1 / counts.slot_sizes[:, None]) / (n_y + 1), 0.0)

    def bytes_per_query(self) -> int:
        """Scratch memory that the formula needs for one query."""
        return super().bytes_per_query() + 8 * len(self.sizes_) * len(self.labels_)

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class."""
        counts = self.counts_
        m = len(counts.sizes)
        mixed = counts.mixtures(codes, 1 / counts.sizes, self.weights_, self._alone, self._scale)
        least = 1 / counts.sizes.max() / (counts.class_counts.max() + 1)
        log_joint = np.tile(self._log_prior, (len(codes), 1))
        for begin, end in product_spans(m, least, 2.0):
            log_joint += np.log(np.multiply.reduce(mixed[begin:end], axis=0))
        return log_joint

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint by attribute."""
        counts = self.counts_
        slots = counts.slots(codes)
        # Of attribute i given its parent j: P(x_i | x_j, y).
        scale = self._scale[slots].swapaxes(1, 2)[:, :, None]
        given = (counts.agreeing(codes) + 1 / counts.sizes[:, None]) * scale
        mixed = (given * self.weights_).sum(axis=3) + self._alone[slots].swapaxes(1, 2)
        return np.broadcast_to(self._log_prior, mixed.shape[:2]), np.log(mixed)

    def terms_of_counts(self, counts: LeftOutCounts) -> tuple[Floats, Floats]:
        """Split the log joint by attribute, for rows that are left out; W is that of all rows."""
        n_y, n_jy, pseudo = counts.class_counts, counts.value_counts, 1 / counts.sizes
        given = (counts.pairs() + pseudo[:, None]) / (n_jy[:, :, None] + 1)
        alone = (n_jy + pseudo) / (n_y[..., None] + 1)
        mixed = (given * self.weights_).sum(axis=3) + np.where(self.weights_.any(axis=1), 0.0, alone)
        return np.log((n_y + 1 / counts.n_classes) / (counts.n_rows + 1)), np.log(mixed)
