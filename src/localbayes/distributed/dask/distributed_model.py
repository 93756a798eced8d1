"""Any classifier of the library, fitted and asked on a Dask cluster."""

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from localbayes.classifiers import BayesClassifier
from localbayes.distributed import part_work as work
from localbayes.distributed.dask.connection import Cluster, Progress, result, watch
from localbayes.distributed.dask.lazy_answer import LazyAnswer
from localbayes.distributed.dask.learning import Learning
from localbayes.distributed.dask.partitions import is_lazy, labelled_parts, query_parts
from localbayes.distributed.dask.remote_rows import RemoteRows
from localbayes.distributed.dask.remote_sets import RemoteSets
from localbayes.distributed.dask.remote_source import remote_value_totals
from localbayes.distributed.dask.saved_rows import load_rows, save_rows
from localbayes.distributed.dask.task_graph import Graph
from localbayes.distributed.domains import set_domains
from localbayes.distributed.model_folder import (
    check_kind,
    new_folder,
    read_description,
    without_rows,
    write_description,
)
from localbayes.distributed.part_counts import RowsElsewhere
from localbayes.encoding.tables import column_names
from localbayes.persistence.archive import damaged

__all__ = ["Distributed"]


class Distributed(RemoteSets, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose training rows live on the workers of a Dask cluster.

    Rows are encoded and indexed on the worker that loads them and stay there. Queries go out in batches,
    counts come back added up, so predictions are those of the same classifier fitted on all rows in one
    place, however the rows are cut. A worker that dies takes time, not the answer: its partitions are
    loaded again elsewhere.

    Parameters
    ----------
    estimator : classifier
        One of the library's classifiers, not fitted.
    client : distributed.Client, optional
        The cluster. Without one the current client is used; if there is none, processes are started on
        this machine and stopped by :meth:`close` or at the end of a ``with`` block.
    passes : {1, 2}, optional
        How queries travel, see ``docs/distributed.md``; by default whichever is cheaper.
    progress : callable, optional
        Called with the name of a stage, how much of it is done, and how much there is.

    Attributes
    ----------
    estimator_ : classifier
        Fitted. One of the eager family (NB, TAN, AODE, WAODE, HNB) is complete and needs no cluster any
        more; one of the lazy family lacks its rows, which are on the workers, and refuses what needs them.
    classes_ : ndarray of shape (r,)
        Class labels, sorted.
    client_ : distributed.Client
        The cluster of the last fit. ``answer.compute()`` of a lazy answer computes it there.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from localbayes import LCWNB
    >>> X = da.from_array([[0, 0], [0, 1], [1, 1], [1, 0]], chunks=(2, 2))
    >>> y = da.from_array([0, 1, 1, 0], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     model = Distributed(LCWNB(kappa=1), client).fit(X, y)
    ...     model.predict([[0, 0], [1, 1]]).tolist(), model.predict(X).compute().tolist()
    ([0, 1], [0, 1, 1, 0])
    """

    _cluster: Cluster
    # The cluster and the indexed rows of the last fit that went well.
    _held: tuple[Cluster, list[Any]] | None = None

    def __init__(
        self,
        estimator: BayesClassifier,
        client: Any = None,
        *,
        passes: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.estimator = estimator
        self.client = client
        self.passes = passes
        self.progress = progress

    # --- learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, target: str | None = None, sample_weight: Any = None) -> Self:
        """Learn from a table on the cluster.

        The partitions are read twice: once for domains, bins, means and modes, once to be counted or
        indexed. If anything fails, what was fitted before stays as it was.

        Parameters
        ----------
        X : Dask DataFrame, Dask array, or path of Parquet files
            Training rows. A categorical column declares its domain.
        y : Dask Series or Dask array
            Class labels, cut at the same rows as X.
        target : str, optional
            Name of the class column, in place of y.
        sample_weight : str, Dask Series or Dask array, optional
            Weights of the rows: the name of a column of X, which is not learned from, or weights cut at the
            same rows as X.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if not isinstance(self.estimator, BayesClassifier):
            raise TypeError(f"estimator must be a classifier of localbayes, got {self.estimator!r}")
        if self.passes not in (None, 1, 2):
            raise ValueError(f"passes must be 1, 2 or None, got {self.passes!r}")
        estimator = clone(self.estimator)
        estimator.check_parameters()
        parts = labelled_parts(X, y, target, weights=sample_weight)
        validate_data(estimator, parts.sample, reset=True, skip_check_array=True)
        before: Cluster | None = getattr(self, "_cluster", None)
        if self.client is not None or before is None or not before.stays:
            self._cluster = Cluster(self.client)
        try:
            learning = Learning(self._cluster, parts, self.passes, self.progress)
            summary, lengths = learning.summarise(estimator)
            set_domains(estimator, column_names(parts.sample), summary, partial(learning.rows, lengths))
            # Rows of an earlier fit are let go only now that this one went well: meanwhile workers hold both.
            if estimator.keeps_rows:
                estimator, held = learning.index(estimator, summary.weighted, lengths)
                self._held = self._cluster, held
            else:
                learning.count(estimator, summary.weighted)
                self._held = None
        except BaseException:
            if before is not None and before.stays:
                self._cluster = before  # whose processes close() is to stop
            raise
        if before is not None and before is not self._cluster:
            before.close()
        self._set_fitted(estimator)
        return self

    # --- saving ---------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save the fitted classifier to a new folder, which appears complete or not at all.

        The folder holds a description and, for the lazy classifiers, one file for each part of the rows.
        :meth:`load` brings it back on another cluster, :func:`localbayes.distributed.load_folder` on one
        machine.

        Parameters
        ----------
        folder : path
            Must not exist yet. Workers that see it write their rows there, those of others come here first.
        """
        check_is_fitted(self, "estimator_")
        check_kind(self.estimator_)
        with new_folder(folder) as beside:
            rows = save_rows(self._rows(), beside, self.progress) if self.estimator_.keeps_rows else []
            write_description(beside, self.estimator_, rows)

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        client: Any = None,
        *,
        passes: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Load a classifier that :meth:`save` or :func:`localbayes.distributed.fit_files` wrote.

        Parameters
        ----------
        folder : path
            The folder; all workers must see it under this path, as long as the model is used.
        client, passes, progress
            As in the constructor.

        Returns
        -------
        model : Distributed
            Fitted; it predicts what the saved one did.
        """
        fields = read_description(folder)
        try:
            estimator, files = without_rows(fields)
        except Exception as error:
            raise damaged(os.fspath(folder), error) from error
        model = cls(clone(estimator), client, passes=passes, progress=progress)
        model._cluster = Cluster(client)
        try:
            if estimator.keeps_rows:
                held = load_rows(model._cluster, estimator, folder, files, progress)
                estimator.index_ = RowsElsewhere()
                model._held = model._cluster, held
                estimator.set_value_totals(remote_value_totals(model._rows()))
            model._set_fitted(estimator)
        except BaseException:
            model._cluster.close()
            raise
        return model

    def _set_fitted(self, estimator: Any) -> None:
        self.estimator_ = estimator
        self.classes_ = estimator.classes_
        self.n_features_in_ = estimator.n_features_in_
        self.client_ = self._cluster.get_client("connect again")

    # --- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Most probable class of every row; the class declared first wins a tie.

        Parameters
        ----------
        X : DataFrame, array, Dask DataFrame, Dask array, or path of Parquet files
            Rows to classify.

        Returns
        -------
        y : ndarray or Dask array of shape (n,)
            Class labels; lazy if X is.
        """
        return self._predict(X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """Probability of every class, in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, array, Dask DataFrame, Dask array, or path of Parquet files
            Rows to classify.

        Returns
        -------
        proba : ndarray or Dask array of shape (n, n_classes)
            Probabilities; lazy if X is.
        """
        return self._predict(X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """Log of the probability of every class, in the order of ``classes_``.

        Parameters
        ----------
        X : DataFrame, array, Dask DataFrame, Dask array, or path of Parquet files
            Rows to classify.

        Returns
        -------
        log_proba : ndarray or Dask array of shape (n, n_classes)
            Log probabilities; lazy if X is.
        """
        return self._predict(X, "predict_log_proba")

    def _predict(self, X: Any, method: str) -> Any:
        check_is_fitted(self, "estimator_")
        if is_lazy(X):
            return self._predict_lazily(X, method)
        if not self.estimator_.keeps_rows:
            return getattr(self.estimator_, method)(X)
        queries = self.estimator_.known_queries(self.estimator_.encode(X))
        return self._rows().ask(self.estimator_, queries, method, self.progress)

    def _predict_lazily(self, X: Any, method: str) -> Any:
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        estimator = self.estimator_
        parts = query_parts(X, getattr(estimator, "feature_names_in_", None))
        validate_data(estimator, parts.sample, reset=False, skip_check_array=True)
        graph = Graph(parts.graph)
        answers = self._add_answers(graph, parts.keys, parts.lengths, method)
        sample = work.empty_answer(estimator, method)
        name = f"{method.replace('_', '-')}-{graph.token}"
        columns = (0,) * (sample.ndim - 1)
        graph.update({(name, k, *columns): answer for k, answer in enumerate(answers)})
        lengths = tuple(np.nan if n is None else n for n in parts.lengths)
        chunks = (lengths, *((n,) for n in sample.shape[1:]))
        with graph.annotated():
            layers = HighLevelGraph.from_collections(name, dict(graph), dependencies=[])
        if not estimator.keeps_rows:
            return da.Array(layers, name, chunks, meta=sample)
        answer = LazyAnswer(layers, name, chunks, meta=sample)
        answer.client = self._rows().cluster.get_client("connect again")
        return answer

    def _add_answers(
        self, graph: Graph, tables: Sequence[Any], lengths: Sequence[int | None], method: str
    ) -> list[Any]:
        """Add the tasks that classify partitions of queries."""
        estimator = self.estimator_
        if not estimator.keeps_rows:
            model = graph.put("model", estimator.without_rows())
            return [graph.call("classify-part", work.classify_part, model, p, method) for p in tables]
        model = graph.put("model", estimator.without_rows())
        rows = self._rows()
        places = rows.places()
        graph.update(rows.graph())
        return [
            rows.add_part(graph, estimator, model, places, table, n, method)
            for table, n in zip(tables, lengths, strict=True)
        ]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted.

        Parameters
        ----------
        X : DataFrame, array, Dask DataFrame, Dask array, or path of Parquet files
            Rows to classify.
        y : array, Dask Series or Dask array
            Their classes; of a Dask collection or Parquet files a Dask collection cut at the same rows.
        sample_weight : array, optional
            Weight of every row, if the rows are in memory.

        Returns
        -------
        accuracy : float
            Computed at once, on the workers if X is lazy.
        """
        if not is_lazy(X):
            return float(super().score(X, y, sample_weight))
        check_is_fitted(self, "estimator_")
        if sample_weight is not None:
            raise ValueError("rows on a cluster are scored without sample_weight: leave it out")
        parts = labelled_parts(X, y, None, getattr(self.estimator_, "feature_names_in_", None))
        validate_data(self.estimator_, parts.sample, reset=False, skip_check_array=True)
        graph = Graph(parts.graph)
        tables = [graph.call("take-queries", work.queries_of, pair) for pair in parts.keys]
        answers = self._add_answers(graph, tables, parts.lengths, "predict")
        correct = [
            graph.call("count-correct", work.count_correct, *keys)
            for keys in zip(answers, parts.keys, strict=True)
        ]
        cluster = self._held[0] if self._held else self._cluster
        with cluster.started(graph, [graph.tree("add-correct", sum, correct), *correct]) as (total, *done):
            watch(done, parts.names, "score rows", self.progress)
            right, n = result(total, "all partitions")
        if not n:
            raise ValueError("the table to score has no rows; check the path or the filter that made it")
        return float(right / n)

    # --- the cluster ----------------------------------------------------------------------------

    def close(self) -> None:
        """Let the training rows go; stop processes that were started here, unless another model uses them."""
        self._held = None
        if hasattr(self, "_cluster"):
            self._cluster.close()

    def _rows(self) -> RemoteRows:
        cluster, parts = self._held or (self._cluster, [])
        cluster.get_client("the training rows went with it: connect again and call fit")
        if not parts:
            raise NotFittedError("the training rows were let go by close(): call fit again")
        if any(future.cancelled() for future in parts):
            raise ConnectionError("the Dask cluster was restarted; the training rows went with it: call fit")
        return RemoteRows(cluster, parts, self.passes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __sklearn_clone__(self) -> Self:
        # A client is a connection: two models share it, it cannot be copied.
        return type(self)(clone(self.estimator), self.client, passes=self.passes, progress=self.progress)
