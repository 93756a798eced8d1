"""What all classifiers share: tables and labels in, predictions out."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import cpu_count, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from localbayes._warnings import warn
from localbayes.classifiers.weights import check_total, log_shift, row_weights, shifted
from localbayes.encoding import ClassLabels, Coded, TableEncoder
from localbayes.encoding.coded import Codes
from localbayes.encoding.labels import take_labels
from localbayes.encoding.tables import check_table, is_frame, take_rows
from localbayes.parameters import Discretize, Missing, check_jobs

if TYPE_CHECKING:
    from localbayes.explain import Explanation

__all__ = ["BATCH", "TIE", "BayesClassifier", "as_of_now", "first_best", "log_total", "or_prior", "shares"]

Model = TypeVar("Model", bound="BayesClassifier")
Given = ParamSpec("Given")
Result = TypeVar("Result")

Floats = npt.NDArray[np.float64]

# Scores that differ by no more than this (log scale) are a tie; the class declared first wins.
TIE = 1e-9


def first_best(log_joint: Floats) -> npt.NDArray[np.intp]:
    """Position of the first score that ties with the best of its row.

    Examples
    --------
    >>> first_best(np.array([[-3.0, -1.0 - 1e-12, -1.0]])).tolist()
    [1]
    """
    position: npt.NDArray[np.intp] = (log_joint >= _best_scores(log_joint) - TIE).argmax(axis=1)
    return position


def _best_scores(log_joint: Floats) -> Floats:
    # NumPy finds out where the best of a short row is faster than what it is.
    return np.take_along_axis(log_joint, log_joint.argmax(axis=-1, keepdims=True), axis=-1)


def log_total(log_joint: Floats) -> Floats:
    """Log of the sum over classes, the last axis, which is kept.

    That is SciPy's ``logsumexp``, which for few classes takes eight times as long.

    Examples
    --------
    >>> np.exp(log_total(np.log([[0.1, 0.2], [0.3, 0.5]]))).round(9).tolist()
    [[0.3], [0.8]]
    """
    at = log_joint.argmax(axis=-1, keepdims=True)
    best = np.take_along_axis(log_joint, at, axis=-1)
    others = np.exp(log_joint - np.maximum(best, np.finfo(np.float64).min))  # the best may be minus infinity
    np.put_along_axis(others, at, 0.0, axis=-1)
    total: Floats = best + np.log1p(others.sum(axis=-1, keepdims=True))
    return total


def or_prior(log_joint: Floats, class_count: npt.NDArray[Any]) -> Floats:
    """Log joint, and the log of the prior where no class has any probability.

    Examples
    --------
    >>> or_prior(np.array([[-np.inf, -np.inf]]), np.array([1, 3])).round(3).tolist()
    [[-1.386, -0.288]]
    """
    if log_joint.min(initial=0.0) > -np.inf:
        return log_joint
    lost = _best_scores(log_joint) == -np.inf
    if not lost.any():
        return log_joint
    with np.errstate(divide="ignore"):
        prior = np.log(class_count / class_count.sum(axis=-1, keepdims=True))
    return np.where(lost, prior, log_joint)


def as_of_now(
    method: Callable[Concatenate[Model, Given], Result],
) -> Callable[Concatenate[Model, Given], Result]:
    """Let a method see the classifier as it was when it was called, whatever another thread teaches it."""

    @wraps(method)
    def on_a_copy(model: Model, /, *args: Given.args, **options: Given.kwargs) -> Result:
        return method(model._as_of_now(), *args, **options)

    return on_a_copy


class BayesClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all classifiers.

    It encodes tables and labels, cuts queries into chunks, runs them on threads and turns a log
    joint into predictions. A subclass keeps a statistic of the training rows that adds up and gives
    a formula over it, in three hooks: ``_start``, ``_learn`` and ``_log_joint``.
    """

    categorical_features: Any
    n_bins: int
    discretize: Discretize
    missing: Missing
    class_weight: Any
    priors: Any
    n_jobs: int | None
    labels_: ClassLabels

    # --- hooks ----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense; called by fit."""

    def _start(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> None:
        """Make an empty statistic for attributes with ``sizes`` values."""
        raise NotImplementedError

    def _learn(self, codes: Codes, class_codes: npt.NDArray[np.int64], weights: Floats | None = None) -> None:
        """Add training rows, which may have weights, to the statistic."""
        raise NotImplementedError

    def _grow(self, sizes: npt.NDArray[np.uint32]) -> None:
        """Undeclared domains got longer between two calls of partial_fit."""
        raise NotImplementedError

    def _log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class, classes in declared order."""
        raise NotImplementedError

    def _contenders(self, codes: Codes) -> Floats:
        """Log joint in which a class that cannot win may be minus infinity: enough for predict."""
        return self._log_joint(codes)

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint into a base (n, r) and a term for every attribute (n, r, m)."""
        raise NotImplementedError

    def _class_pseudo_count(self, n_classes: int) -> float:
        """Rows that the formula adds to those of every class before it takes their shares."""
        return float(getattr(self, "alpha", 1.0))

    def _bytes_per_query(self) -> int:
        """Scratch memory that ``_log_joint`` needs for one query and set of weights."""
        return 64 * (len(self.sizes_) + len(self.labels_))

    def _n_sets(self) -> int:
        """Sets of weights that a prediction is made with."""
        return 1

    def _most_queries(self) -> int:
        """Queries that are worked on without a break in which an interrupt is heard."""
        return _MOST_QUERIES

    # --- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table and its class labels.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Training rows. A categorical column declares its domain.
        y : array-like of shape (n,)
            Class labels. A categorical y declares the classes; one without a row keeps its share of the
            smoothing and may be predicted, of which a warning tells.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows: 2 is the row twice, 0 its absence. Counts are floating point then.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with self._learning() as learner:
            learner.__dict__.pop("labels_", None)
            learner.partial_fit(X, y, sample_weight=sample_weight)
            empty = learner.classes_[learner.class_count_ == 0].tolist()
            if empty:
                warn(
                    f"{len(empty)} of {len(learner.classes_)} declared classes have no training row, such as "
                    f"{empty[0]!r}, and may yet be predicted; declare only classes that occur (in pandas, "
                    "y.cat.remove_unused_categories())"
                )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was learned; the result is that of one fit on all rows.

        Domains, bins, means and modes are those of the first call, except that a domain which was
        not declared takes in the values that come later.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Training rows.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like, optional
            All classes, if the first call does not show them.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with self._learning() as learner:
            learner._add(X, y, classes, sample_weight)
        return self

    def _add(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        self._check_parameters()
        check_jobs(self.n_jobs)
        first = not hasattr(self, "labels_")
        X = self._check_table(X, reset=first)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give classes"
            )
        check_consistent_length(X, y)
        weights = row_weights(sample_weight, len(X))
        if weights is not None and not weights.all():
            # A row of weight zero is not there: it has no class, declares no value and moves no bin.
            kept = weights > 0
            X, y, weights = take_rows(X, kept), take_labels(y, kept), weights[kept]
        labels: ClassLabels = ClassLabels.learn(y, classes) if first else self.labels_
        if classes is not None and not first:
            labels.check_same(classes)
        class_codes = labels.encode(y)
        if first:
            encoder = TableEncoder(self.categorical_features, self.n_bins, self.missing, self.discretize)
            if isinstance(X, Coded):
                encoder.check_options()
                self.encoder_, sizes = None, X.sizes
            else:
                self.encoder_ = encoder.fit(X, class_codes, weights)
                sizes = encoder.sizes
            self.sizes_: npt.NDArray[np.uint32] = sizes
            self._start(self.sizes_, len(labels))
            self._class_count: npt.NDArray[Any] = np.zeros(len(labels), dtype=np.int64)
        elif self.encoder_ is not None:
            if isinstance(X, Coded):
                self.encoder_.check_codes(X.codes)
            else:
                self.encoder_ = self.encoder_.extended(X)
            sizes = self.encoder_.sizes
            if (sizes != self.sizes_).any():
                self._grow(sizes)
                self.sizes_ = sizes
        self.labels_ = labels
        self.classes_ = labels.classes
        class_count = self._class_count + np.bincount(class_codes, weights, len(labels))
        check_total(class_count.sum())
        self._log_shift = self._shift(labels, class_count)
        self._class_count = class_count
        self._learn(self._encode(X), class_codes, weights)

    def _shift(self, labels: ClassLabels, class_count: npt.NDArray[Any]) -> Floats | None:
        """What priors and class weights add to the log joint, None if there are none."""
        smoothing = self._class_pseudo_count(len(labels))
        return log_shift(self.priors, self.class_weight, labels, class_count, smoothing)

    def _check_unchanged(self) -> None:
        """Refuse to be saved where a loaded model would begin with other parameters than those of fit."""

    def _restore(self) -> None:
        """Put together what a file holds: check what fits what, and derive the rest anew."""

    @contextmanager
    def _learning(self) -> Iterator[Self]:
        """Give a copy to learn with, which takes this one's place, at once, when all is learned.

        So an error leaves the classifier as it was, and threads that predict see all of it or nothing.
        """
        learner = self._as_of_now()
        yield learner
        self.__dict__ = learner.__dict__

    def _as_of_now(self) -> Self:
        """The classifier as it is, whatever another thread may teach it meanwhile."""
        copy = object.__new__(type(self))
        copy.__dict__ = dict(self.__dict__)
        return copy

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
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n,)
            Class labels.
        """
        codes = self._queries(X)
        best = self._in_chunks(codes, self._best_class, np.intp)
        labels: npt.NDArray[Any] = self.classes_[self.labels_.sorted_position[best]]
        return labels

    def predict_log_proba(self, X: Any) -> Floats:
        """Log of the probability of every class, in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify.

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
            Rows to classify.

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
            Rows to classify.

        Returns
        -------
        log_joint : ndarray of shape (n, n_classes)
            Unnormalised log probabilities.
        """
        log_joint: Floats = self._in_chunks(
            self._queries(X), self._defined_log_joint, np.float64, len(self.labels_)
        )
        return self.labels_.arranged(log_joint)

    @as_of_now
    def explain(self, X: Any, top: int = 10, kappas: Any = None) -> "Explanation":
        """Say why every row of X is predicted as it is.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to explain.
        top : int, default=10
            How many of the training rows that weigh most to list (lazy classifiers).
        kappas : array-like, optional
            Values of kappa at which to show the prediction (LCWNB).

        Returns
        -------
        explanation : localbayes.explain.Explanation
            What every attribute adds to the log probability of every class, and more.
        """
        from localbayes.explain import explain

        return explain(self, X, top=top, kappas=kappas)

    def _best_class(self, codes: Codes) -> npt.NDArray[np.intp]:
        if self._log_shift is not None:
            return first_best(self._defined_log_joint(codes))
        return first_best(or_prior(self._contenders(codes), self._class_count))

    def _defined_log_joint(self, codes: Codes) -> Floats:
        return self._shifted(or_prior(self._log_joint(codes), self._class_count))

    def _shifted(self, log_joint: Floats) -> Floats:
        """Log joint under the given priors and class weights."""
        return (
            log_joint if self._log_shift is None else shifted(log_joint, self._log_shift, self._class_count)
        )

    # --- tables ---------------------------------------------------------------------------------

    def _check_table(self, X: Any, reset: bool) -> Any:
        if isinstance(X, Coded):
            if reset:
                if 0 in X.shape:
                    raise ValueError(f"X must have rows and columns to learn from, got shape {X.shape}")
                self.n_features_in_ = len(X.sizes)
                self.__dict__.pop("feature_names_in_", None)
                if X.names is not None:
                    self.feature_names_in_ = np.array(X.names, dtype=object)
            elif len(X.sizes) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(X.sizes)} features, but it was fitted with {self.n_features_in_}"
                )
            known = getattr(self, "feature_names_in_", None)
            if X.names is not None and known is not None and list(known) != X.names:
                first = next(k for k, name in enumerate(X.names) if name != known[k])
                raise ValueError(
                    f"column {first} of the codes is called {X.names[first]!r}, but {known[first]!r} in fit; "
                    "give the columns in that order"
                )
            return X
        X = check_table(X, self)
        names = getattr(self, "feature_names_in_", None)
        # Scikit-learn takes a third of a millisecond to say that the names are those of fit.
        if reset or names is None or not is_frame(X) or list(X.columns) != names.tolist():
            validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _encode(self, X: Any) -> Codes:
        if not isinstance(X, Coded):
            if self.encoder_ is None:
                raise ValueError(
                    f"{type(self).__name__} was fitted on codes (Coded); pass codes to it here too"
                )
            return self.encoder_.encode(X)
        return X.recoded(self.sizes_, keep_missing=self.missing == "ignore")

    def _queries(self, X: Any) -> Codes:
        if not hasattr(self, "labels_"):
            check_is_fitted(self, "labels_")  # which takes longer than a query to say that all is well
        return self._encode(self._check_table(X, reset=False))

    def _in_chunks(
        self,
        codes: npt.NDArray[Any],
        function: Callable[..., Any],
        dtype: Any,
        *shape: int,
        sets: int | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> Any:
        """Apply a function to chunks of queries, on ``n_jobs`` threads, within bounded memory.

        A function that works with several ``sets`` of weights at once needs the memory of each; those
        of a prediction unless said otherwise. Results go to ``out`` if it is given.
        """
        check_jobs(self.n_jobs)
        n = len(codes)
        out = np.empty((n, *shape), dtype=dtype) if out is None else out
        most = _n_threads(self.n_jobs)
        threads = min(most, max(1, n // _FEWEST_QUERIES))
        fitting = _CACHE_BYTES // ((sets or self._n_sets()) * self._bytes_per_query())
        cut = shares(n, threads, max(1, min(self._most_queries(), fitting)))

        def run(chunks: Iterator[tuple[int, int]]) -> None:
            for begin, end in chunks:
                out[begin:end] = function(codes[begin:end])

        if threads == 1:
            run(iter(cut))
        else:
            # Joblib's dispatch takes as long as some thousand queries. This thread works too.
            others: list[Future[None]] = []
            chunks = iter(cut)
            try:
                with suppress(RuntimeError):  # as of a program that is about to end, or has too many threads
                    others.extend(_helpers(most - 1).submit(run, chunks) for _ in range(threads - 1))
                if len(others) < threads - 1:
                    # What could not be handed over may yet be begun by somebody whom nobody waits for.
                    chunks = iter(cut)
                run(chunks)
            finally:
                for _ in chunks:  # after an error nobody takes another one
                    pass
                # Who never began has other work to do and is not waited for.
                others = [other for other in others if not other.cancel()]
                wait(others)
            for other in others:
                other.result()
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def shares(n: int, threads: int, most: int) -> list[tuple[int, int]]:
    """Cut n queries into chunks, from begin to end, that threads take one after the other.

    Each is a thread's share of what is left, so that chunks are few and yet all threads are busy to the
    end; but in batches, since the kernel reads the training rows once for each.

    Examples
    --------
    >>> shares(1000, threads=2, most=400)
    [(0, 384), (384, 640), (640, 768), (768, 896), (896, 1000)]
    """
    batch = min(BATCH, -(-n // threads))
    chunks, begin = [], 0
    while begin < n:
        share = max(batch, (n - begin) // threads // batch * batch)
        end = min(n, begin + min(most, share))
        chunks.append((begin, end))
        begin = end
    return chunks


def _n_threads(n_jobs: int | None) -> int:
    """How many threads to work on; None asks joblib's ``parallel_config``, which may speak of a cluster."""
    processors = _processors()
    wanted = min(effective_n_jobs(None), processors) if n_jobs is None else n_jobs
    return min(wanted, max(processors, _THREADS)) if wanted > 0 else max(1, processors + 1 + wanted)


@cache
def _processors() -> int:
    processors: int = cpu_count()
    return processors


@cache
def _helpers(n: int) -> ThreadPoolExecutor:
    """Threads that stay: to start two takes as long as some dozen queries.

    As many as are asked for and no more: where one would do, two take turns and find nothing in their cache.
    """
    return ThreadPoolExecutor(n, thread_name_prefix="localbayes")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # a forked process has none of them

# What a chunk of queries works with stays in cache, and so within any bound of memory.
_CACHE_BYTES = 4 << 20
_MOST_QUERIES, _FEWEST_QUERIES = 1024, 16
# More threads than processors gain nothing, but so many can always be had.
_THREADS = 4
# Queries of which fewer at a time would each cost more: on letter 2 % on two threads, on a million rows 20 %.
BATCH = 128
