"""How a batch of queries goes out to the parts of the rows and comes back as predictions.

One pass sends back V and C, r (m + 1) (m + 1) integers a query. Two passes send back V, send out weights and
send back T: r (m + 1) integers and 2 k r (m + 1) floating point numbers for k weightings. One pass is
taken where it is shorter, and for queries so few that its bytes cost less than a second journey.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import LazyClassifier
from localbayes.classifiers.kappa import LeftOutRequest
from localbayes.counts import Codes
from localbayes.distributed import left_out_work as left_out
from localbayes.distributed import part_work as work
from localbayes.distributed.dask.connection import Cluster, Progress, release, result, watch
from localbayes.distributed.dask.task_graph import Graph
from localbayes.distributed.part_counts import add_arrays

__all__ = ["Places", "RemoteRows", "add_batch", "add_choice", "batch_size", "choose_passes"]

# Key of every part and the addresses of the workers that hold it.
Places = Sequence[tuple[Any, Sequence[str]]]

# Memory of a worker for counts of queries and their weights, and the longest batch.
KEPT_BYTES = 128 << 20
MAX_BATCH = 4096
# What a network of a gigabit a second carries in the ten milliseconds that a second pass takes.
WORTH_A_PASS = 1 << 20
# Match counts of a batch of left-out rows against one part.
LEFT_OUT_BYTES = 32 << 20
# Batches on their way at the same time: one is counted while another travels.
IN_FLIGHT = 2


def batch_size(estimator: LazyClassifier, parts_per_worker: int, passes: int | None = None) -> int:
    """Queries that are counted at a time, so that what all parts of a worker have to pass on fits in it."""
    one = (passes or choose_passes(estimator, None)) == 1
    arrays = (len(estimator.sizes_) + 2) // 2 if one else 4 + estimator.n_weightings
    return max(1, min(MAX_BATCH, KEPT_BYTES // (arrays * work.cells_bytes(estimator) * parts_per_worker)))


def choose_passes(estimator: LazyClassifier, n_queries: int | None) -> int:
    """One pass or two, whichever is cheaper for the bytes that each sends; None is a number not known."""
    r, m = len(estimator.labels_), len(estimator.sizes_)
    one, two = 4 * r * (m + 1) * (m + 1), (4 + 16 * estimator.n_weightings) * r * (m + 1)
    if one <= two:
        return 1
    return 1 if n_queries is not None and n_queries * (one - two) <= WORTH_A_PASS else 2


class RemoteRows:
    """The indexed training rows on the workers, and how to ask them.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    parts : list of Future
        The index of every partition.
    passes : {1, 2} or None
        How queries travel; None chooses.
    """

    def __init__(self, cluster: Cluster, parts: Sequence[Any], passes: int | None) -> None:
        self.cluster = cluster
        self.parts = parts
        self.passes = passes

    def ask(
        self, estimator: LazyClassifier, codes: Codes, method: str, progress: Progress | None
    ) -> npt.NDArray[Any]:
        """Predictions for queries of any number."""
        step, places = self._step(estimator), self.places()
        starts = range(0, len(codes), step)
        answers: list[npt.NDArray[Any]] = []
        pending: deque[list[Any]] = deque()

        def receive() -> None:
            answer, *parts = pending[0]
            if progress is not None:
                done, total = len(answers) * len(parts), len(starts) * len(parts)
                note = lambda stage, n, _: progress(stage, done + n, total)  # noqa: E731
                watch(parts, ["queries"] * len(parts), "classify queries", note)
            answers.append(result(answer, "queries"))
            pending.popleft()

        try:
            for begin in starts:
                graph = Graph(self.graph())
                queries = graph.put("queries", codes[begin : begin + step])
                model = graph.put("model", estimator.without_rows())
                passes = self.passes or choose_passes(estimator, min(step, len(codes) - begin))
                answer, parts = add_batch(graph, model, places, queries, method, passes)
                pending.append(self.cluster.start(graph, [answer, *(parts if progress else [])]))
                if len(pending) == IN_FLIGHT:
                    receive()
            while pending:
                receive()
        except BaseException:
            for futures in pending:
                release(futures)
            raise
        return np.concatenate(answers) if answers else work.empty_answer(estimator, method)

    def add_part(
        self,
        graph: Graph,
        estimator: LazyClassifier,
        model: str,
        places: Places,
        table: Any,
        n: int | None,
        method: str,
    ) -> str:
        """Add the tasks of one partition of queries, in batches if its length is known."""
        step, answers = self._step(estimator), []
        for begin in range(0, 1 if n is None else max(1, n), step):
            end = None if n is None else min(begin + step, n)
            codes = graph.call("encode-queries", work.encode_queries, model, table, begin, end)
            passes = self.passes or choose_passes(estimator, None if end is None else end - begin)
            answers.append(add_batch(graph, model, places, codes, method, passes)[0])
        return answers[0] if len(answers) == 1 else graph.call("join-answers", np.concatenate, answers)

    def graph(self) -> dict[Any, Any]:
        """The rows as a graph: their keys, already computed."""
        return {future.key: future for future in self.parts}

    def places(self) -> Places:
        """Key of every partition and the workers that hold it, worker by worker.

        A tree adds up neighbours, so that what a worker's own partitions give is added up there.
        """
        found = self.cluster.places(self.parts)
        return sorted(((future.key, found.get(future.key, ())) for future in self.parts), key=lambda p: p[1])

    def _step(self, estimator: LazyClassifier) -> int:
        return batch_size(estimator, -(-len(self.parts) // self.cluster.n_workers), self.passes)


def add_batch(
    graph: Graph, model: str, index: Places, codes: str, method: str, passes: int
) -> tuple[str, list[str]]:
    """Add the tasks of one batch.

    Parameters
    ----------
    graph : Graph
        The graph to add to.
    model, codes : key
        The classifier without its rows, and the codes of the queries.
    index : list of (key, addresses)
        The parts of the rows and where they are.
    method : str
        Method of the classifier whose result is wanted.
    passes : {1, 2}
        See above.

    Returns
    -------
    answer : key
        The result of the method.
    parts : list of keys
        The last task of every part, to follow progress by.
    """
    if passes == 1:
        parts = [graph.call("count-matches", work.match_counts, p, codes, near=at) for p, at in index]
        counts = graph.tree("add-match-counts", add_arrays, parts)
        return graph.call("score-queries", work.score_at_once, model, codes, counts, method), parts
    kept = [graph.call("count-distances", work.count_distances, p, codes, near=at) for p, at in index]
    sent = [
        graph.call("send-distances", work.distance_counts, k, near=at)
        for k, (_, at) in zip(kept, index, strict=True)
    ]
    totals = graph.tree("add-distance-counts", add_arrays, sent)
    weightings = graph.call("choose-weights", work.choose_weights, model, totals)
    parts = [
        graph.call("weigh-matches", work.weigh_matches, p, codes, k, weightings, near=at)
        for k, (p, at) in zip(kept, index, strict=True)
    ]
    # Sums of weights are rounded: in the order of the parts, not of the workers, they come out the same.
    in_order = [part for _, part in sorted(zip((str(key) for key, _ in index), parts, strict=True))]
    matches = graph.tree("add-weighted-matches", add_arrays, in_order)
    answer = graph.call("score-queries", work.score, model, codes, totals, weightings, matches, method)
    return answer, parts


def add_choice(
    graph: Graph, estimator: LazyClassifier, model: str, index: Places, request: LeftOutRequest, n_rows: int
) -> tuple[str, list[str]]:
    """Add the tasks that leave rows out and let the classifier choose by them.

    Parameters
    ----------
    graph : Graph
        The graph to add to.
    estimator, model : LazyClassifier and its key
        The classifier without its rows.
    index : list of (key, addresses)
        The parts of the rows and where they are.
    request : LeftOutRequest
        What to leave out.
    n_rows : int
        Number of rows that are left out.

    Returns
    -------
    chosen : key
        The classifier without its rows, after it has chosen.
    batches : list of keys
        Predictions for left-out rows, to follow progress by.
    """
    own = [graph.call("send-left-out-rows", left_out.rows_left_out, p, near=at) for p, at in index]
    sample = graph.tree("join-left-out-rows", left_out.join_rows, own)
    asked = graph.put("left-out-request", request)
    m, cells = len(estimator.sizes_), work.cells_bytes(estimator)
    step = max(1, LEFT_OUT_BYTES // (cells * 2 * m))
    results = []
    for begin in range(0, n_rows, step):
        batch = graph.call("sort-left-out-rows", left_out.batch_of, sample, begin, begin + step)
        counts = [
            graph.call("count-left-out-rows", left_out.count_batch, p, batch, near=at) for p, at in index
        ]
        total = graph.tree("add-match-counts", add_arrays, counts)
        results.append(graph.call("score-left-out-rows", left_out.score_batch, model, batch, total, asked))
    return graph.call("choose-kappa", left_out.choose, model, results), results
