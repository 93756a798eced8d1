"""Prediction sets of a classifier on a cluster, calibrated on rows that were set aside."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.prediction_sets import true_scores, within
from localbayes.distributed.dask.lazy_answer import LazyAnswer
from localbayes.distributed.dask.partitions import is_lazy
from localbayes.parameters import check_share

__all__ = ["RemoteSets"]

# What a classifier in memory can do and one on a cluster cannot, and what to do instead.
_ELSEWHERE = {
    "decide": "compare the largest of predict_proba with a confidence",
    "explain": "save it and explain with load_folder(folder)",
    "forget": "fit again without these rows",
    "partial_fit": "fit on the old and the new rows together",
}


class RemoteSets:
    """Classes that a row may have, where training rows are not at hand to be left out."""

    estimator_: BayesClassifier

    def _predict(self, X: Any, method: str) -> Any:
        raise NotImplementedError

    def predict_set(
        self,
        X: Any,
        coverage: float = 0.9,
        by_class: bool = False,
        *,
        calibration: tuple[Any, Any] | None = None,
    ) -> Any:
        """Classes that a row may have, so that the true one is among them for a wanted share of rows.

        Parameters
        ----------
        X : DataFrame, array, Dask DataFrame, Dask array, or path of Parquet files
            Rows to classify.
        coverage : float, default=0.9
            Share of rows whose set is to hold the true class, between 0 and 1.
        by_class : bool, default=False
            Whether this is to hold for the rows of every class, not only for all rows together.
        calibration : tuple (X, y)
            Rows in memory that were not learned from, and their classes. One thousand give the coverage to
            about a point, by class one thousand of each.

        Returns
        -------
        sets : ndarray or Dask array of bool, of shape (n, n_classes)
            Whether a class is in the set of a row, in the order of ``classes_``; lazy if X is.
        """
        check_share("coverage", coverage)
        check_is_fitted(self, "estimator_")
        if calibration is None:
            raise ValueError(
                "on a cluster no training rows are left out for prediction sets; set some rows aside before "
                "fit and pass calibration=(X, y)"
            )

        def log_joint(X: Any) -> Any:
            if is_lazy(X):
                raise ValueError("calibration must be rows in memory; call compute() on a sample of them")
            return self._predict(X, "predict_log_joint")

        labels = self.estimator_.labels_
        limits = true_scores(log_joint, labels, calibration).limits(coverage, by_class, labels)
        joint = self._predict(X, "predict_log_joint")
        if not is_lazy(X):
            return within(joint, limits)
        sets = joint.map_blocks(within, limits, dtype=bool)
        if not isinstance(joint, LazyAnswer):
            return sets
        known = LazyAnswer(sets.dask, sets.name, sets.chunks, meta=sets._meta)
        known.client = joint.client
        return known

    if not TYPE_CHECKING:  # a type checker would take every misspelt name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Say what to do in place of a method that only a classifier in memory has."""
            if name in _ELSEWHERE:
                raise AttributeError(f"a model on a cluster has no {name}: {_ELSEWHERE[name]}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
