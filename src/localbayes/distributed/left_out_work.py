"""Leave-one-out on parts of a table: the same rows are left out, with the same bits, as on one machine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.kappa import LeftOut, LeftOutRequest
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.lcwnb import cell_weightings
from localbayes.counts import Distance, Floats, MatchIndex
from localbayes.distributed.part_counts import Arrays, add_arrays, matches_of, widened
from localbayes.distributed.part_learning import LabelledRows, encode_part
from localbayes.distributed.part_work import Part

__all__ = [
    "batch_of",
    "choose",
    "count_batch",
    "index_part",
    "join_rows",
    "rows_left_out",
    "rows_of_part",
    "score_batch",
    "sums_of_batch",
    "value_totals_of_part",
    "with_distance",
    "with_rows_left_out",
]


def index_part(
    estimator: LazyClassifier, part: LabelledRows, weighted: bool, numbers: npt.NDArray[np.int64], first: int
) -> Part:
    """Index the rows of one part.

    Parameters
    ----------
    estimator : LazyClassifier
        With domains.
    part : tuple
        Table, classes and perhaps weights.
    weighted : bool
        Whether some row of the whole table has another weight than one.
    numbers : array
        Numbers, counted over the whole table, of rows that are to be left out.
    first : int
        Number of the first row of the part.

    Returns
    -------
    part : Part
        The indexed rows.
    """
    codes, class_codes, weights = encode_part(estimator, part, weighted)
    index = estimator.empty_statistic(estimator.sizes_, len(estimator.labels_))
    index.add(codes, class_codes, weights)
    return Part(index, rows_of_part(index, numbers - first, first))


def rows_of_part(index: MatchIndex, numbers: npt.NDArray[np.int64], first: int) -> Arrays:
    """Codes, classes, weights and numbers of some rows; weights of one where rows have none."""
    m = len(index.sizes)
    rows: list[Arrays] = [(np.empty((0, m), np.uint32), numbers[:0], np.empty(0), numbers[:0])]
    for codes, classes, places, weights in index.training_rows(numbers) if len(numbers) else ():
        own = np.ones(len(places)) if weights is None else weights
        rows.append((index.as_queries(codes), classes, own, places + first))
    return tuple(np.concatenate(arrays) for arrays in zip(*rows, strict=True))


def with_rows_left_out(part: Part, numbers: npt.NDArray[np.int64], first: int) -> Part:
    """The same part, which is to leave other rows out."""
    return Part(part.index, rows_of_part(part.index, numbers - first, first))


def with_distance(part: Part, distance: Distance) -> Part:
    """The same part under another distance."""
    return Part(part.index.with_distance(distance), part.left_out)


def value_totals_of_part(part: Part) -> Arrays:
    """Weight of the rows of one part that have each value, for every attribute."""
    return tuple(part.index.value_totals())


def rows_left_out(part: Part) -> Arrays:
    """Codes, classes, weights and numbers of the rows of one part that are left out."""
    return part.left_out


def join_rows(samples: Sequence[Arrays]) -> Arrays:
    """Rows of all parts that are left out."""
    return tuple(np.concatenate(arrays) for arrays in zip(*samples, strict=True))


def batch_of(sample: Arrays, begin: int, end: int) -> Arrays:
    """Some of the rows, in the order in which an index holds them: by class, then by number."""
    order = np.lexsort((sample[3], sample[1]))[begin:end]
    return tuple(array[order] for array in sample)


def count_batch(part: Part, batch: Arrays) -> Arrays:
    """V and C of left-out rows against one part, which does not count its own."""
    codes, classes, weights, numbers = batch
    own = np.isin(numbers, part.left_out[3])
    # A row of weight 2 is two rows, of which one is left out at a time.
    weighted = any(segment.weighted for segment in part.index.segments)
    own_weight = np.minimum(weights[own], 1.0) if weighted else None
    first = part.index.count(codes[own], classes[own], own_weight)
    second = part.index.count(codes[~own])
    place = np.argsort(np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)]))
    pairs = (
        (first.distance_counts, second.distance_counts),
        (first.match_counts, second.match_counts),
    )
    return add_arrays([tuple(np.concatenate(pair)[place] for pair in pairs)])


def score_batch(model: LazyClassifier, batch: Arrays, counts: Arrays, request: LeftOutRequest) -> LeftOut:
    """What is predicted for left-out rows under every kappa."""
    codes, classes, weights, _ = batch
    V, C = widened(counts[0]), counts[1]
    return model.score_left_out(
        codes, classes, V, lambda weighting: matches_of(weighting, C), request, weights
    )


def sums_of_batch(batch: Arrays, counts: Arrays, kappas: Floats) -> tuple[Floats, Floats]:
    """S (k, n, r) and T (k, n, r, m) around left-out rows, from V and C of all parts."""
    weightings = cell_weightings(widened(counts[0]), kappas)
    T = np.stack([matches_of(weighting, counts[1]) for weighting in weightings])
    return np.stack([weighting.total for weighting in weightings]), T


def choose(model: LazyClassifier, left_out: Sequence[LeftOut]) -> Any:
    """The classifier without its rows, after it has chosen by the rows that were left out."""
    chosen = model.without_rows()
    chosen.choose(LeftOut.joined(left_out))
    return chosen
