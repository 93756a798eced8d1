"""What all classifiers share: tables and labels in, predictions out."""

from abc import abstractmethod
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from localbayes._warnings import warn
from localbayes.classifiers.class_shares import check_total, log_shift, row_weights
from localbayes.classifiers.explained import Explained
from localbayes.classifiers.forgetting import Forgetting
from localbayes.classifiers.input import TableInput
from localbayes.classifiers.prediction_sets import PredictionSets
from localbayes.classifiers.scores import log_total
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.classifiers.state import as_of_now, learning
from localbayes.counts import Codes, Floats, Rows, Statistic
from localbayes.encoding import ClassLabels, Coded, TableEncoder
from localbayes.encoding.labels import take_labels
from localbayes.encoding.tables import take_rows
from localbayes.fields import Fields
from localbayes.parallel import MOST_QUERIES
from localbayes.parameters import Discretize, Missing, check_jobs

__all__ = ["BayesClassifier"]


class BayesClassifier(
    TableInput,
    Explained,
    PredictionSets,
    Forgetting,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of all classifiers: it encodes tables and labels and turns a log joint into predictions.

    A subclass is a formula over a statistic that adds up. It gives five hooks: :meth:`check_parameters`,
    :meth:`empty_statistic`, :meth:`adopt`, :meth:`log_joint` and :meth:`terms`. Codes are tables of
    integers as :meth:`encode` makes them; classes are in declared order inside, and in the order of
    ``classes_`` in what a user gets.

    Parameters
    ----------
    categorical_features : {"from_dtype", "all"} or array-like, default="from_dtype"
        Which columns are categories; others are cut into bins.
    n_bins : int, default=10
        Bins of a numeric column.
    discretize : {"auto", "width", "quantile", "merged", "mdl"}, default="auto"
        A bin for each of few whole numbers and bins of equal width for other columns; of equal width for all;
        of equal numbers of rows; both together; or cut where the classes part (Fayyad and Irani's minimum
        description length; ``n_bins`` is then ignored). Learned in fit.
    missing : {"impute", "category", "ignore"}, default="impute"
        The mean or mode takes the place of a missing value; missing is a value of its own; or it stays
        unknown, so that it neither matches nor mismatches (lazy classifiers and NB).
    class_weight : dict or "balanced", optional
        Factors by which the probabilities of the classes are multiplied; "balanced" makes them inverse
        to the numbers of training rows.
    priors : array-like of shape (r,), optional
        Class probabilities to use in place of those of the training rows, in the order of
        ``classes_``.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    labels_ : ClassLabels
        Class labels in declared order, and how they are coded.
    encoder_ : TableEncoder or None
        How columns became codes; None if codes were given.
    sizes_ : ndarray of shape (m,)
        Number of values of every column.
    ordered_sizes_ : ndarray of shape (m,)
        Number of values of every column that are in order, as bins are, from the first on.
    n_features_in_ : int
        Number of columns.
    """

    categorical_features: Any
    n_bins: int
    discretize: Discretize
    missing: Missing
    class_weight: Any
    priors: Any
    n_jobs: int | None
    labels_: ClassLabels
    encoder_: TableEncoder | None
    sizes_: npt.NDArray[np.uint32]

    # Whether the statistic keeps training rows, which can be listed, rather than counts of values.
    keeps_rows: ClassVar[bool] = False

    @with_shared_parameters
    def __init__(self, **shared: Unpack[SharedParameters]) -> None:
        for name, value in shared.items():
            setattr(self, name, value)

    # --- hooks ----------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse invalid parameters; called by fit."""

    @abstractmethod
    def empty_statistic(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> Statistic:
        """Statistic without rows, for attributes with ``sizes`` values."""

    @property
    @abstractmethod
    def statistic(self) -> Statistic:
        """The statistic of the training rows."""

    @abstractmethod
    def adopt(self, statistic: Any) -> None:
        """Take a statistic as that of the training rows and derive from it what the formula looks up."""

    @abstractmethod
    def log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class, shape (n, r)."""

    @abstractmethod
    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint into a base (n, r) and a term for every attribute (n, r, m)."""

    # Hooks with a default that most classifiers keep.

    def contenders(self, codes: Codes) -> Floats:
        """Log joint in which a class that cannot win may be minus infinity: enough for predict."""
        return self.log_joint(codes)

    def class_pseudo_count(self, n_classes: int) -> float:
        """Rows that the formula adds to those of every class before it takes their shares."""
        return float(getattr(self, "alpha", 1.0))

    def bytes_per_query(self) -> int:
        """Scratch memory that the formula needs for one query."""
        return 64 * (len(self.sizes_) + len(self.labels_))

    def most_queries(self) -> int:
        """Most queries to work on before an interrupt (Ctrl-C) is handled."""
        return MOST_QUERIES

    @property
    def base_meaning(self) -> str:
        """What the base of :meth:`terms` stands for, in words."""
        return "frequency of the class"

    def learned(self) -> dict[str, Any]:
        """What was chosen in fit and does not follow from the statistic, by name, for a model file."""
        return {}

    def restore(self, statistic: Any, learned: Fields) -> None:
        """Take the statistic and what :meth:`learned` gave, as from a model file."""
        self.adopt(statistic)

    # --- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table and its class labels.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Training rows. A categorical column declares its domain.
        y : array-like of shape (n,)
            Class labels. A categorical y declares the classes; a class without rows
            keeps its share of the smoothing and may be predicted; fit warns about it.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows: 2 counts the row twice, 0 leaves it out. Counts are then floating point.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with learning(self) as learner:
            if hasattr(learner, "labels_"):
                del learner.labels_
            learner.partial_fit(X, y, sample_weight=sample_weight)
            empty = learner.classes_[learner.class_count_ == 0].tolist()
            if empty:
                warn(
                    f"{len(empty)} of {len(learner.classes_)} declared classes have no training row, such as "
                    f"{empty[0]!r}, and may still be predicted; declare only classes that occur (in pandas, "
                    "y.cat.remove_unused_categories())"
                )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was learned; the result is the same as from one fit on all rows.

        Domains, bins, means and modes are those of the first call, except that a domain which was
        not declared takes in the values that come later.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Training rows.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like, optional
            All classes, if the rows of the first call do not have all of them.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with learning(self) as learner:
            learner._add_rows(X, y, classes, sample_weight)
        return self

    def begin(
        self,
        sizes: npt.NDArray[np.uint32],
        labels: ClassLabels,
        ordered_sizes: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Set domains and classes; no row has been counted yet.

        Of every column the first ``ordered_sizes`` values are in order, as bins are; by default those that
        the encoder says.
        """
        self.sizes_, self.labels_, self.classes_ = sizes, labels, labels.classes
        if ordered_sizes is None:
            ordered_sizes = (
                np.zeros(len(sizes), np.int64) if self.encoder_ is None else self.encoder_.ordered_sizes
            )
        self.ordered_sizes_ = ordered_sizes
        self.set_class_count(np.zeros(len(labels), dtype=np.int64))

    def set_class_count(self, class_count: npt.NDArray[Any]) -> None:
        """Set how many training rows each class has, in declared order."""
        self._class_count = class_count
        self._log_shift = self.class_shift(class_count) if class_count.any() else None

    def _add_rows(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        self.check_parameters()
        check_jobs(self.n_jobs)
        first = not hasattr(self, "labels_")
        X = self.check_table(X, reset=first)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give classes"
            )
        check_consistent_length(X, y)
        weights = row_weights(sample_weight, len(X))
        if weights is not None and not weights.all():
            # A row of weight zero counts as absent: it shows no class and no value, and moves no bin.
            kept = weights > 0
            X, y, weights = take_rows(X, kept), take_labels(y, kept), weights[kept]
        labels = ClassLabels.learn(y, classes) if first else self.labels_
        if classes is not None and not first:
            labels.check_same(classes)
        class_codes = labels.encode(y)
        if first:
            ordered_sizes = None
            self.encoder_ = self.new_encoder()
            if isinstance(X, Coded):
                self.encoder_.check_options()
                self.encoder_, sizes, ordered_sizes = None, X.sizes, X.ordered_sizes
            else:
                sizes = self.encoder_.fit(X, class_codes, weights).sizes
            self.begin(sizes, labels, ordered_sizes)
            statistic = self.empty_statistic(sizes, len(labels))
        else:
            statistic = self._with_room(X)
        class_count = self._class_count + np.bincount(class_codes, weights, len(labels))
        check_total(class_count.sum())
        self.set_class_count(class_count)
        codes = self.encode_checked(X)
        statistic.add(codes, class_codes, weights)
        self.keep_rows(Rows(codes, class_codes, weights), first)
        self.adopt(statistic)

    def _with_room(self, X: Any) -> Statistic:
        """The statistic to add rows of X to; undeclared domains take in their new values."""
        if self.encoder_ is not None:
            if isinstance(X, Coded):
                self.encoder_.check_codes(X.codes)
            else:
                self.encoder_ = self.encoder_.extended(X)
            if (self.encoder_.sizes != self.sizes_).any():
                self.sizes_ = self.encoder_.sizes
                return self.statistic.grown(self.sizes_)
        return self.statistic.copy()

    def new_encoder(self) -> TableEncoder:
        """Encoder with this classifier's options, which has learned nothing yet."""
        return TableEncoder(self.categorical_features, self.n_bins, self.missing, self.discretize)

    def class_shift(self, class_count: npt.NDArray[Any]) -> Floats | None:
        """What priors and class weights add to the log joint, None if there are none."""
        smoothing = self.class_pseudo_count(len(self.labels_))
        return log_shift(self.priors, self.class_weight, self.labels_, class_count, smoothing)

    @property
    def class_count(self) -> npt.NDArray[Any]:
        """Number of training rows of every class, or their weight, in declared order."""
        return self._class_count

    @property
    def class_count_(self) -> npt.NDArray[Any]:
        """Number of training rows of every class, or their weight, in the order of ``classes_``."""
        return self._class_count[self.labels_.columns]

    # --- predicting -----------------------------------------------------------------------------

    @as_of_now
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Most probable class of every row; the class declared first wins a tie.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify; None for the training rows, each without itself.

        Returns
        -------
        y : ndarray of shape (n,)
            Class labels.
        """
        if X is None:
            return self.left_out_answer("predict")
        return self.labels_of(self.best_class(self.encode(X)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Log of the probability of every class, in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify; None for the training rows, each without itself.

        Returns
        -------
        log_proba : ndarray of shape (n, n_classes)
            Log probabilities.
        """
        log_joint = self.predict_log_joint(X)
        log_joint -= log_total(log_joint)
        return log_joint

    def predict_proba(self, X: Any) -> Floats:
        """Probability of every class, in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify; None for the training rows, each without itself.

        Returns
        -------
        proba : ndarray of shape (n, n_classes)
            Probabilities that sum to one in each row.
        """
        proba: Floats = np.exp(self.predict_log_proba(X))
        return proba

    @as_of_now
    def predict_log_joint(self, X: Any) -> Floats:
        """Log of the joint probability of every class with the row, in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify; None for the training rows, each without itself.

        Returns
        -------
        log_joint : ndarray of shape (n, n_classes)
            Unnormalised log probabilities.
        """
        if X is None:
            return self.left_out_answer("predict_log_joint")
        return self.answer(self.log_joint_in_chunks(self.encode(X)), "predict_log_joint")
