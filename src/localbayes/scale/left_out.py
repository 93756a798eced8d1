"""Leave-one-out on a cluster: LCWNB chooses kappa by the same rows, and to the same bits, as elsewhere."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.lazy import LazyClassifier
from localbayes.encoding.coded import Codes
from localbayes.scale.counts import Arrays, Floats, SummedCounts, add_arrays, with_index
from localbayes.scale.graph import Graph
from localbayes.scale.queries import Places
from localbayes.scale.work import Part

__all__ = ["Wanted", "add_choice", "finish"]

# Match counts of a batch of left-out rows against one part.
_BATCH_BYTES = 32 << 20


@dataclass(frozen=True)
class Wanted:
    """Which rows a classifier wants to classify without themselves, and for which kappas."""

    grid: Floats
    numbers: npt.NDArray[np.int64]


def finish(estimator: LazyClassifier, n_rows: int, left_out: Sequence[Any] | None = None) -> Any:
    """Let a classifier do what it does after it has learned rows, which are elsewhere.

    Parameters
    ----------
    estimator : LazyClassifier
        With domains and class counts.
    n_rows : int
        Number of rows.
    left_out : list of LeftOut, optional
        What was predicted for the rows that it wanted left out.

    Returns
    -------
    dict or Wanted
        The attributes it has learned, or the rows it wants left out first.
    """

    class Finishing(type(estimator)):  # type: ignore[misc]
        def _left_out(self, grid: Floats, chosen: npt.NDArray[np.int64] | None = None) -> Any:
            if left_out is None:
                raise _AskedError(Wanted(grid, np.arange(n_rows) if chosen is None else chosen))
            return iter(left_out)

    model: Any = copy.copy(estimator)
    model.__class__ = Finishing
    model.index_ = _NoRows(n_rows)
    try:
        model._learn(np.empty((0, len(estimator.sizes_)), np.uint8), np.empty(0, np.int64))
    except _AskedError as asked:
        return asked.args[0]
    before = estimator.__dict__
    return {name: value for name, value in model.__dict__.items() if name not in before and name != "index_"}


def add_choice(
    graph: Graph, estimator: LazyClassifier, model: str, index: Places, wanted: Wanted
) -> tuple[str, list[str]]:
    """Add the tasks that leave rows out.

    Parameters
    ----------
    graph : Graph
        The graph to add to.
    estimator, model : LazyClassifier and its key
        The classifier without its rows.
    index : list of (key, addresses)
        The parts of the rows and where they are.
    wanted : Wanted
        What to leave out.

    Returns
    -------
    choice : key
        The attributes which :func:`finish` gives.
    batches : list of keys
        Predictions for left-out rows, to follow progress by.
    """
    sample = graph.tree(
        "join-left-out-rows", _join, [graph.call("send-left-out-rows", _own, p, near=at) for p, at in index]
    )
    grid, m, n = graph.put("kappas", wanted.grid), len(estimator.sizes_), len(wanted.numbers)
    step = max(1, _BATCH_BYTES // (8 * len(estimator.labels_) * (m + 1) * 2 * m))
    results = []
    for begin in range(0, n, step):
        batch = graph.call("sort-left-out-rows", _batch, sample, begin, begin + step)
        counts = [graph.call("count-left-out-rows", _count, p, batch, near=at) for p, at in index]
        total = graph.tree("add-match-counts", add_arrays, counts)
        results.append(graph.call("score-left-out-rows", _score, model, batch, total, grid))
    n_rows = int(estimator._class_count.sum())
    return graph.call("choose-kappa", finish, model, n_rows, results), results


class _AskedError(Exception):
    """A classifier wants rows left out."""


class _NoRows:
    """In the place of an index, while nothing but the number of its rows is needed."""

    may_miss = False

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def copy(self) -> "_NoRows":
        """Return itself."""
        return self

    def append(self, *_: Any) -> None:
        """Add no rows."""


class _Rows(SummedCounts):
    """Left-out rows and their counts, in the place of an index."""

    def __init__(self, sample: Arrays, counts: Arrays, may_miss: bool) -> None:
        super().__init__(counts, sample[0])
        self._sample = sample
        self.may_miss = may_miss

    def training_rows(self, *_: Any) -> Iterator[tuple[Codes, npt.NDArray[Any], npt.NDArray[Any], None]]:
        """Give the rows."""
        codes, classes, numbers = self._sample
        yield codes, classes, numbers, None


def _own(part: Part) -> Arrays:
    """Codes, classes and numbers of the rows of one part that are left out."""
    return part.left_out


def _join(samples: Sequence[Arrays]) -> Arrays:
    return tuple(np.concatenate(arrays) for arrays in zip(*samples, strict=True))


def _batch(sample: Arrays, begin: int, end: int) -> Arrays:
    """Some of the rows, in the order in which an index holds them: by class, then by number."""
    order = np.lexsort((sample[2], sample[1]))[begin:end]
    return tuple(array[order] for array in sample)


def _count(part: Part, batch: Arrays) -> Arrays:
    """V and C of left-out rows against one part, which does not count its own."""
    codes, classes, numbers = batch
    own = np.isin(numbers, part.left_out[2])
    first, second = part.index.count(codes[own], classes[own]), part.index.count(codes[~own])
    place = np.argsort(np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)]))
    pairs = (
        (first.distance_counts, second.distance_counts),
        (first.match_counts, second.match_counts),
    )
    return add_arrays([tuple(np.concatenate(pair)[place] for pair in pairs)])


def _score(estimator: LazyClassifier, batch: Arrays, counts: Arrays, grid: Floats) -> Any:
    """What is predicted for left-out rows, for every kappa."""
    rows = _Rows(batch, counts, may_miss=estimator.missing == "ignore")
    (left_out,) = with_index(estimator, rows)._left_out(grid)
    return left_out
