"""Any classifier of the library, fitted and asked on a Dask cluster."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.eager import EagerClassifier
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.encoding.summaries import Summary
from localbayes.encoding.tables import column_names
from localbayes.scale import work
from localbayes.scale.cluster import Cluster, Progress, result, results, watch
from localbayes.scale.counts import RowsElsewhere, without_index
from localbayes.scale.domains import set_domains, start_encoder
from localbayes.scale.graph import Graph
from localbayes.scale.left_out import Wanted, add_choice, finish
from localbayes.scale.parts import Parts, is_lazy, labelled_parts, query_parts
from localbayes.scale.queries import RemoteRows

__all__ = ["Distributed"]


class Distributed(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
        How queries travel, see ``docs/scale.md``; by default whichever is cheaper.
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
        The cluster of the last fit. A lazy answer is computed there: by ``answer.compute()`` if this is the
        current client, as that of processes started here is, else by ``answer.compute(scheduler=client_)``.

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

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
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

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if not isinstance(self.estimator, LazyClassifier | EagerClassifier):
            raise TypeError(f"estimator must be a classifier of localbayes, got {self.estimator!r}")
        if self.passes not in (None, 1, 2):
            raise ValueError(f"passes must be 1, 2 or None, got {self.passes!r}")
        estimator = clone(self.estimator)
        estimator._check_parameters()
        parts = labelled_parts(X, y, target)
        validate_data(estimator, parts.sample, reset=True, skip_check_array=True)
        before: Cluster | None = getattr(self, "_cluster", None)
        if self.client is not None or before is None or not before.stays:
            self._cluster = Cluster(self.client)
        try:
            (*columns, labels), lengths = self._summaries(estimator, parts)
            set_domains(estimator, column_names(parts.sample), columns, labels)
            # Rows of an earlier fit are let go only now that this one went well: meanwhile workers hold both.
            if isinstance(estimator, EagerClassifier):
                self._count(estimator, parts)
                self._held = None
            else:
                self._held = self._cluster, self._index_rows(estimator, parts, lengths)
        except BaseException:
            if before is not None and before.stays:
                self._cluster = before  # whose processes close() is to stop
            raise
        if before is not None and before is not self._cluster:
            before.close()
        self.estimator_ = estimator
        self.classes_ = estimator.classes_
        self.n_features_in_ = estimator.n_features_in_
        self.client_ = self._cluster.get_client("connect again")
        return self

    def _summaries(self, estimator: BayesClassifier, parts: Parts) -> tuple[list[Summary], list[int]]:
        """Summaries of the columns and the class over all partitions, and the rows of each."""
        graph = Graph(parts.graph)
        empty = graph.put("encoder", start_encoder(estimator, column_names(parts.sample)))
        summaries = [graph.call("summarise-columns", work.summarise_part, empty, part) for part in parts.keys]
        total = graph.tree("add-summaries", work.add_summaries, summaries)
        rows = [graph.call("count-rows", work.rows_summarised, summary) for summary in summaries]
        with self._cluster.started(graph, [total, *rows]) as (total, *rows):
            lengths = results(rows, parts.names, "summarise columns", self.progress)
            return result(total, "all partitions"), lengths

    def _count(self, estimator: EagerClassifier, parts: Parts) -> None:
        """Count values on the workers and add the counts up."""
        graph = Graph(parts.graph)
        model = graph.put("model", estimator)
        counts = [graph.call("count-values", work.count_part, model, part) for part in parts.keys]
        total = graph.tree("add-counts", work.add_statistics, counts)
        done = [graph.call("count-rows", work.rows_counted, part) for part in counts]
        with self._cluster.started(graph, [total, *done]) as (total, *done):
            results(done, parts.names, "count values", self.progress)
            estimator.counts_ = result(total, "all partitions")
        estimator._derive()

    def _index_rows(self, estimator: LazyClassifier, parts: Parts, lengths: list[int]) -> list[Any]:
        """Index rows on the workers, where they stay, and choose what is chosen by leaving some out."""
        learned = finish(estimator, sum(lengths))
        wanted = learned.numbers if isinstance(learned, Wanted) else np.empty(0, np.int64)
        first = np.cumsum([0, *lengths])
        owned = np.split(wanted, np.searchsorted(wanted, first[1:-1]))
        graph = Graph(parts.graph)
        model = graph.put("model", estimator)
        index = [
            graph.call("index-rows", work.index_part, model, part, numbers, int(begin))
            for part, numbers, begin in zip(parts.keys, owned, first, strict=False)
        ]
        with self._cluster.started(graph, index) as held:
            watch(held, parts.names, "index rows", self.progress)
            if isinstance(learned, Wanted):
                learned = self._leave_out(estimator, held, learned)
        estimator.__dict__.update(learned, index_=RowsElsewhere())
        return held

    def _leave_out(self, estimator: LazyClassifier, held: list[Any], wanted: Wanted) -> Any:
        """What is chosen by leaving rows out."""
        rows = RemoteRows(self._cluster, held, self.passes)
        graph = Graph(rows.graph())
        model = graph.put("model", estimator)
        choice, batches = add_choice(graph, estimator, model, rows.places(), wanted)
        with self._cluster.started(graph, [choice, *batches]) as (choice, *done):
            watch(done, ["rows left out"] * len(done), "leave rows out", self.progress)
            return result(choice, "rows left out")

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
        if isinstance(self.estimator_, EagerClassifier):
            return getattr(self.estimator_, method)(X)
        return self._rows().ask(self.estimator_, self.estimator_._queries(X), method, self.progress)

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
        return da.Array(layers, name, chunks, meta=sample)

    def _add_answers(
        self, graph: Graph, tables: Sequence[Any], lengths: Sequence[int | None], method: str
    ) -> list[Any]:
        """Add the tasks that classify partitions of queries."""
        estimator = self.estimator_
        if isinstance(estimator, EagerClassifier):
            model = graph.put("model", estimator)
            return [graph.call("classify-part", work.classify_part, model, p, method) for p in tables]
        model = graph.put("model", without_index(estimator))
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
