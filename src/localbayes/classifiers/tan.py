"""Tree-augmented naive Bayes (TAN)."""

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.eager import PairClassifier, row_terms
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.classifiers.tree import grow_tree, in_canonical_order, parent_gains
from localbayes.counts import Codes, Floats, LeftOutCounts
from localbayes.counts.pairs import MAX_TABLE_BYTES
from localbayes.counts.values import sum_rows
from localbayes.parameters import check_alpha, check_number

__all__ = ["TAN", "grow_tree", "parent_gains"]


class TAN(PairClassifier):
    """Tree-augmented naive Bayes, the tree chosen by a Bayesian score.

    Besides the class, every attribute but the root has one attribute as parent. An arc from j to i
    gains what it adds to the log marginal likelihood of attribute i under a Dirichlet prior with
    ``alpha`` in every cell; the tree grows from the best arc by the best arc that reaches a new
    attribute, whatever the sign of its gain. With pa(i) the parent of i the score of class y is::

        (alpha + n_y) / (alpha r + n)  *  prod_i (alpha + n_{i,pa(i),y}) / (alpha q_i + n_{pa(i),y})

    Parameters
    ----------
    alpha : float, default=0.5
        Prior count of every cell, in the search and in the probabilities.
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.

    Attributes
    ----------
    parents_ : ndarray of shape (m,)
        Parent of every attribute, -1 for the root.
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    counts_ : PairCounts
        Counts of classes, values and pairs of values, classes in declared order.

    References
    ----------
    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian Network Classifiers", Machine Learning 29, 1997.
    Tree and probabilities are those of Weka 3.6's ``BayesNet`` with local search ``TAN``, score
    ``BAYES`` and ``SimpleEstimator``.

    Examples
    --------
    The second column copies the first:

    >>> X = [["a", "a", "x"], ["a", "a", "y"], ["b", "b", "x"], ["b", "b", "y"]] * 5
    >>> y = ["low", "high", "low", "high"] * 5
    >>> clf = TAN().fit(X, y)
    >>> clf.parents_.tolist(), clf.predict([["a", "a", "y"]]).tolist()
    ([-1, 0, 0], ['high'])
    """

    @with_shared_parameters
    def __init__(
        self,
        alpha: float = 0.5,
        *,
        max_table_bytes: int = MAX_TABLE_BYTES,
        **shared: Unpack[SharedParameters],
    ) -> None:
        super().__init__(max_table_bytes=max_table_bytes, **shared)
        self.alpha = alpha

    def plot_tree(self, ax: Any = None) -> Any:
        """Draw the tree, root on the left; the class, a parent of every attribute, is left out.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a figure of fitting size is made if none is given.

        Returns
        -------
        ax : matplotlib Axes
            The drawing.
        """
        from localbayes.plots.tree_plot import plot_tree

        check_is_fitted(self, "labels_")
        names = getattr(self, "feature_names_in_", None)
        return plot_tree(
            self.parents_, [str(i) for i in range(len(self.parents_))] if names is None else names, ax
        )

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""
        super().check_parameters()
        check_number("alpha", self.alpha, above=0)
        check_alpha(self.alpha)

    def derive(self) -> None:
        """Turn counts into the tables of the formula."""
        counts, alpha = self.counts_, float(self.alpha)
        self.parents_ = grow_tree(parent_gains(in_canonical_order(counts, self.encoder_), alpha))
        n_y = counts.class_counts
        self._log_prior = np.log((alpha + n_y) / (alpha * counts.n_classes + counts.n_rows))
        tables = []
        for i, parent in enumerate(self.parents_):
            below = n_y if parent < 0 else counts.value_counts[counts.own_slots(parent)]
            above = counts.value_counts[counts.own_slots(i)] if parent < 0 else counts.block(i, parent)
            tables.append(
                np.log((alpha + above) / (alpha * counts.sizes[i] + below)).reshape(-1, counts.n_classes)
            )
        self._log_table = np.concatenate(tables)
        # Row of the table of (value of i, value of its parent): first + step * value + value of the parent.
        self._first_row = np.cumsum([0] + [len(table) for table in tables[:-1]])
        self._step = np.where(self.parents_ < 0, 1, counts.sizes[self.parents_] + 1)

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class."""
        return sum_rows(self._rows(codes), self._log_table, self._log_prior)

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint by attribute."""
        return row_terms(self._rows(codes), self._log_table, self._log_prior)

    def terms_of_counts(self, counts: LeftOutCounts) -> tuple[Floats, Floats]:
        """Split the log joint by attribute, for rows that are left out; the tree is that of all rows."""
        alpha, n_y, n_iy = float(self.alpha), counts.class_counts, counts.value_counts
        terms = np.log((alpha + n_iy) / (alpha * counts.sizes + n_y[..., None]))
        for i, parent in enumerate(self.parents_):
            if parent >= 0:
                below = alpha * counts.sizes[i] + n_iy[..., parent]
                terms[..., i] = np.log((alpha + counts.pair(i, parent)) / below)
        return np.log((alpha + n_y) / (alpha * counts.n_classes + counts.n_rows)), terms

    def _rows(self, codes: Codes) -> npt.NDArray[np.int64]:
        values = np.minimum(codes, self.counts_.sizes)
        rows: npt.NDArray[np.int64] = self._first_row + self._step * values
        children = np.flatnonzero(self.parents_ >= 0)
        rows[:, children] += values[:, self.parents_[children]]
        return rows
