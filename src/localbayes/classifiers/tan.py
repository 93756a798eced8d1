"""Tree-augmented naive Bayes (TAN)."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

import localbayes.kernels._kernels as _kernels
from localbayes.classifiers.base import Floats
from localbayes.classifiers.eager import PairClassifier, row_terms, sum_rows
from localbayes.classifiers.pair_counts import MAX_TABLE_BYTES, PairCounts
from localbayes.encoding.coded import Codes
from localbayes.parameters import Discretize, Missing, check_alpha, check_number

__all__ = ["TAN", "grow_tree", "parent_gains"]

# Log Gamma is looked up for counts below this, computed for larger ones.
_TABLE_SIZE = 1 << 20


class TAN(PairClassifier):
    """Tree-augmented naive Bayes, the tree chosen by a Bayesian score.

    Besides the class, every attribute but the root has one attribute as parent. An arc from j to i
    gains what it adds to the log marginal likelihood of attribute i under a Dirichlet prior with
    ``alpha`` in every cell; the tree grows from the best arc by the best arc that reaches a new
    attribute, whatever the sign of its gain. With pa(i) the parent of i the score of class y is::

        (alpha + n_y) / (alpha r + n)  *  prod_i (alpha + n_{i,pa(i),y}) / (alpha q_i + n_{pa(i),y})

    Gains that are equal in theory differ in their last bits, by the order in which values are added. So on
    tables of a few rows, if values that were not declared come later, ``partial_fit`` may find another of
    several equally good trees than ``fit`` on all rows.

    Parameters
    ----------
    alpha : float, default=0.5
        Prior count of every cell, in the search and in the probabilities.
    max_table_bytes : int, default=2 GiB
        A table of pairs that would be larger is refused.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LCWNB`.

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

    def __init__(
        self,
        alpha: float = 0.5,
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
        from localbayes.classifiers.tree_plot import plot_tree

        check_is_fitted(self, "labels_")
        names = getattr(self, "feature_names_in_", None)
        return plot_tree(
            self.parents_, [str(i) for i in range(len(self.parents_))] if names is None else names, ax
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("alpha", self.alpha, above=0)
        check_alpha(self.alpha)

    def _derive(self) -> None:
        counts, alpha = self.counts_, float(self.alpha)
        self.parents_ = grow_tree(parent_gains(counts, alpha))
        n_y = counts.class_counts
        self._log_prior = np.log((alpha + n_y) / (alpha * counts.n_classes + counts.n_rows))
        tables = []
        for i, parent in enumerate(self.parents_):
            below = n_y if parent < 0 else counts.value_counts[_own(counts, parent)]
            above = counts.value_counts[_own(counts, i)] if parent < 0 else counts.block(i, parent)
            tables.append(
                np.log((alpha + above) / (alpha * counts.sizes[i] + below)).reshape(-1, counts.n_classes)
            )
        self._log_table = np.concatenate(tables)
        # Row of the table of (value of i, value of its parent): first + step * value + value of the parent.
        self._first_row = np.cumsum([0] + [len(table) for table in tables[:-1]])
        self._step = np.where(self.parents_ < 0, 1, counts.sizes[self.parents_] + 1)

    def _log_joint(self, codes: Codes) -> Floats:
        return sum_rows(self._rows(codes), self._log_table, self._log_prior)

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        return row_terms(self._rows(codes), self._log_table, self._log_prior)

    def _rows(self, codes: Codes) -> npt.NDArray[np.int64]:
        values = np.minimum(codes, self.counts_.sizes)
        rows: npt.NDArray[np.int64] = self._first_row + self._step * values
        children = np.flatnonzero(self.parents_ >= 0)
        rows[:, children] += values[:, self.parents_[children]]
        return rows


def parent_gains(counts: PairCounts, alpha: float) -> Floats:
    """Gain in log marginal likelihood of every (child, parent) arc, given the class."""
    counts = counts.as_integers()  # so that a whole weight decides a tie as that many rows do
    sizes, kind = np.unique(counts.sizes, return_inverse=True)
    values = counts.value_counts
    whole = values.dtype.kind == "i"
    table = gammaln(alpha + np.arange(min(int(counts.class_counts.max()) + 1, _TABLE_SIZE) if whole else 0))
    parents = np.concatenate([values, counts.class_counts[None]])
    empty = np.column_stack([counts.sizes * gammaln(alpha), gammaln(alpha * counts.sizes)])
    scores = np.empty((len(counts.sizes), len(counts.sizes)))
    _kernels.arc_scores(
        *counts.whole,
        counts.first_slot,
        kind.astype(np.int64),
        gammaln(alpha + values),
        gammaln(alpha * sizes[:, None, None] + parents),
        empty,
        table,
        np.array([len(table)]),
        np.array([float(alpha)]),
        scores,
    )
    gains: Floats = scores - scores.diagonal()[:, None]
    return gains


def grow_tree(gains: Floats) -> npt.NDArray[np.intp]:
    """Parents of the tree that grows by the best arc between an attribute inside and one outside.

    This is the search of Weka 3.6, seen from outside. Of equally good arcs the first wins, in the order
    of children and then of parents. An arc is laid against the direction in which it was scored, from
    the child to the parent, unless the parent already has one: with a symmetric score it would not
    matter.

    Parameters
    ----------
    gains : ndarray of shape (m, m)
        Gain of the arc to a child (row) from a parent (column).

    Returns
    -------
    parents : ndarray of shape (m,)
        Parent of every attribute, -1 for the root.

    Examples
    --------
    >>> grow_tree(np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0]])).tolist()
    [-1, 0, 1]
    """
    m = len(gains)
    parents = np.full(m, -1, dtype=np.intp)
    inside = np.zeros(m, dtype=bool)
    allowed = ~np.eye(m, dtype=bool)
    for _ in range(m - 1):
        a, b = np.unravel_index(np.where(allowed, gains, -np.inf).argmax(), gains.shape)
        if parents[b] < 0:
            parents[b] = a
        else:
            parents[a] = b
        inside[[a, b]] = True
        allowed = inside[:, None] != inside
    return parents


def _own(counts: PairCounts, i: int) -> slice:
    return slice(counts.first_slot[i], counts.first_slot[i + 1])
