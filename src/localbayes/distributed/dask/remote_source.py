"""Training rows on the workers of a cluster as a source to learn from."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.row_source import RowSource, SampledRows
from localbayes.counts import Distance, Floats
from localbayes.distributed import left_out_work as work
from localbayes.distributed.dask.connection import Progress, release, result, results, watch
from localbayes.distributed.dask.remote_rows import LEFT_OUT_BYTES, RemoteRows
from localbayes.distributed.dask.task_graph import Graph
from localbayes.distributed.part_counts import add_arrays

__all__ = ["RemoteSource", "remote_value_totals"]


class RemoteSource(RowSource):
    """Answers what learning asks for by tasks on the workers that hold the rows.

    Parameters
    ----------
    rows : RemoteRows
        The indexed rows.
    lengths : list of int
        Number of rows of every part, in the order of the table.
    bytes_per_row : int
        Memory of the counts of one row that is left out.
    progress : callable, optional
        Called with the name of a stage, how much of it is done, and how much there is.
    """

    def __init__(
        self, rows: RemoteRows, lengths: list[int], bytes_per_row: int, progress: Progress | None
    ) -> None:
        self.rows = rows
        self.first = np.cumsum([0, *lengths])
        self.step = max(1, LEFT_OUT_BYTES // bytes_per_row)
        self.progress = progress

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.first[-1])

    def value_totals(self) -> list[Floats]:
        """Weight of the rows that have each value, for every attribute."""
        return remote_value_totals(self.rows)

    def sample_rows(self, numbers: npt.NDArray[np.int64]) -> SampledRows:
        """Training rows by number, in increasing order; from now on the parts leave these out."""
        owned = np.split(numbers, np.searchsorted(numbers, self.first[1:-1]))
        self._replace(
            "choose-left-out-rows", work.with_rows_left_out, zip(owned, self.first.tolist(), strict=False)
        )
        graph = Graph(self.rows.graph())
        sent = [
            graph.call("send-left-out-rows", work.rows_left_out, p, near=at) for p, at in self.rows.places()
        ]
        joined = graph.tree("join-left-out-rows", work.join_rows, sent)
        with self.rows.cluster.started(graph, [joined]) as (sample,):
            codes, classes, weights, at = result(sample, "rows left out")
        return SampledRows(codes, classes.astype(np.int64), weights, at).take(np.argsort(at, kind="stable"))

    def use_distance(self, distance: Distance) -> None:
        """Measure with another distance from now on."""
        self._replace("change-distance", work.with_distance, ((distance,) for _ in self.rows.parts))

    def left_out_sums(self, rows: SampledRows, kappas: Floats) -> tuple[Floats, Floats]:
        """S (k, n, r) and T (k, n, r, m or 2 m) around training rows, which do not count themselves."""
        graph = Graph(self.rows.graph())
        asked, grid = (rows.codes, rows.classes, rows.weights, rows.numbers), graph.put("kappas", kappas)
        places, sums = self.rows.places(), []
        for begin in range(0, len(rows), self.step):
            some = slice(begin, begin + self.step)
            batch = graph.put("left-out-rows", tuple(array[some] for array in asked))
            counts = [
                graph.call("count-left-out-rows", work.count_batch, p, batch, near=at) for p, at in places
            ]
            total = graph.tree("add-match-counts", add_arrays, counts)
            sums.append(graph.call("sum-left-out-rows", work.sums_of_batch, batch, total, grid))
        names = ["rows left out"] * len(sums)
        with self.rows.cluster.started(graph, sums) as futures:
            parts = results(futures, names, "leave rows out", self.progress)
        S, T = (np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))
        return S, T

    def _replace(self, name: str, function: Any, arguments: Any) -> None:
        """Put other parts in the place of those on the workers."""
        graph, near = Graph(self.rows.graph()), dict(self.rows.places())
        keys = [
            graph.call(
                name, function, part.key, *(graph.put("argument", a) for a in given), near=near[part.key]
            )
            for part, given in zip(self.rows.parts, arguments, strict=True)
        ]
        with self.rows.cluster.started(graph, keys) as futures:
            watch(futures, ["rows"] * len(futures))
        old = self.rows.parts
        self.rows = RemoteRows(self.rows.cluster, futures, self.rows.passes)
        release(old)


def remote_value_totals(rows: RemoteRows) -> list[Floats]:
    """Weight of the rows on the workers that have each value, for every attribute."""
    graph = Graph(rows.graph())
    found = [graph.call("count-values", work.value_totals_of_part, p, near=at) for p, at in rows.places()]
    with rows.cluster.started(graph, [graph.tree("add-values", add_arrays, found)]) as (total,):
        return list(result(total, "all parts"))
