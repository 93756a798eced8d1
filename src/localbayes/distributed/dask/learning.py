"""How a classifier learns on a cluster: summaries first, then counts or indexed rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.distributed import left_out_work
from localbayes.distributed import part_learning as learning
from localbayes.distributed.dask.connection import Cluster, Progress, result, results, watch
from localbayes.distributed.dask.partitions import Parts
from localbayes.distributed.dask.remote_rows import RemoteRows, add_choice
from localbayes.distributed.dask.remote_source import RemoteSource
from localbayes.distributed.dask.task_graph import Graph
from localbayes.distributed.part_counts import RowsElsewhere
from localbayes.distributed.part_learning import TableSummary
from localbayes.distributed.part_work import cells_bytes
from localbayes.encoding.tables import column_names

__all__ = ["Learning"]


@dataclass
class Learning:
    """One fit on a cluster.

    Attributes
    ----------
    cluster : Cluster
        Where.
    parts : Parts
        The training table.
    passes : {1, 2} or None
        How left-out rows travel.
    progress : callable or None
        Called with the name of a stage, how much of it is done, and how much there is.
    """

    cluster: Cluster
    parts: Parts
    passes: int | None
    progress: Progress | None

    def summarise(self, estimator: BayesClassifier) -> tuple[TableSummary, list[int]]:
        """Summary of all rows, and the number of rows of every partition."""
        graph = Graph(self.parts.graph)
        names = column_names(self.parts.sample)
        empty = graph.put("encoder", estimator.new_encoder().start(names))
        summaries = [
            graph.call("summarise-columns", learning.summarise_part, empty, part) for part in self.parts.keys
        ]
        total = graph.tree("add-summaries", learning.add_table_summaries, summaries)
        rows = [graph.call("count-rows", learning.rows_summarised, summary) for summary in summaries]
        with self.cluster.started(graph, [total, *rows]) as (total, *rows):
            lengths = results(rows, self.parts.names, "summarise columns", self.progress)
            return result(total, "all partitions"), lengths

    def count(self, estimator: BayesClassifier, weighted: bool) -> None:
        """Count values on the workers and add the counts up."""
        graph = Graph(self.parts.graph)
        model = graph.put("model", estimator)
        counts = [
            graph.call("count-values", learning.count_part, model, part, weighted) for part in self.parts.keys
        ]
        total = graph.tree("add-counts", learning.add_statistics, counts)
        done = [graph.call("count-rows", learning.rows_counted, part) for part in counts]
        with self.cluster.started(graph, [total, *done]) as (total, *done):
            results(done, self.parts.names, "count values", self.progress)
            estimator.adopt(result(total, "all partitions"))

    def index(self, estimator: Any, weighted: bool, lengths: list[int]) -> tuple[Any, list[Any]]:
        """Index rows on the workers, where they stay, and choose what is chosen by leaving some out."""
        request, wanted = None, np.empty(0, np.int64)
        if not estimator.learns_from_source:
            request = estimator.left_out_request(sum(lengths))
        if request is not None:
            wanted = np.arange(sum(lengths)) if request.rows is None else request.rows
        first = np.cumsum([0, *lengths])
        owned = np.split(wanted, np.searchsorted(wanted, first[1:-1]))
        graph = Graph(self.parts.graph)
        model = graph.put("model", estimator)
        index = [
            graph.call("index-rows", left_out_work.index_part, model, part, weighted, numbers, int(begin))
            for part, numbers, begin in zip(self.parts.keys, owned, first, strict=False)
        ]
        with self.cluster.started(graph, index) as held:
            watch(held, self.parts.names, "index rows", self.progress)
            if estimator.learns_from_source:
                held = self._learn(estimator, held, lengths)
            elif request is None:
                estimator.choose(None)
            else:
                estimator = self._choose(estimator, held, request, len(wanted))
        estimator.index_ = RowsElsewhere()
        return estimator, held

    def _learn(self, estimator: Any, held: list[Any], lengths: list[int]) -> list[Any]:
        """Let the classifier learn from the rows on the workers; give the parts as they are then."""
        estimator.index_ = estimator.empty_statistic(estimator.sizes_, len(estimator.labels_))
        bytes_per_row = cells_bytes(estimator) * 2 * len(estimator.sizes_)
        source = RemoteSource(
            RemoteRows(self.cluster, held, self.passes), lengths, bytes_per_row, self.progress
        )
        estimator.learn(source)
        return list(source.rows.parts)

    def rows(self, lengths: list[int], numbers: npt.NDArray[np.int64]) -> list[Any]:
        """Table, classes and weights of rows by number, part by part."""
        first = np.cumsum([0, *lengths])
        owned = np.split(numbers, np.searchsorted(numbers, first[1:-1]))
        graph = Graph(self.parts.graph)
        chosen = [
            graph.call("take-rows", learning.some_rows, part, graph.put("places", places - begin))
            for part, places, begin in zip(self.parts.keys, owned, first, strict=False)
        ]
        with self.cluster.started(graph, chosen) as futures:
            return results(futures, self.parts.names, "take rows", self.progress)

    def _choose(self, estimator: Any, held: list[Any], request: Any, n_rows: int) -> Any:
        """The classifier after it has chosen by rows that were left out."""
        rows = RemoteRows(self.cluster, held, self.passes)
        graph = Graph(rows.graph())
        model = graph.put("model", estimator)
        chosen, batches = add_choice(graph, estimator, model, rows.places(), request, n_rows)
        with self.cluster.started(graph, [chosen, *batches]) as (chosen, *done):
            watch(done, ["rows left out"] * len(done), "leave rows out", self.progress)
            return result(chosen, "rows left out")
