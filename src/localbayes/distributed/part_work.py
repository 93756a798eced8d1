"""Predicting with rows in parts: plain functions from one part of the rows or queries to what adds up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score

from localbayes.classifiers import BayesClassifier, LazyClassifier
from localbayes.classifiers.lazy import Weighting
from localbayes.counts import Codes, MatchIndex
from localbayes.distributed.part_counts import Arrays, PartCounts, matches_of, widened
from localbayes.distributed.part_learning import check_lengths
from localbayes.encoding import ClassLabels

__all__ = [
    "MAX_PARTIAL_BYTES",
    "Part",
    "cells_bytes",
    "choose_weights",
    "classify_part",
    "count_correct",
    "count_distances",
    "distance_counts",
    "empty_answer",
    "encode_queries",
    "match_counts",
    "queries_of",
    "score",
    "score_at_once",
    "weigh_matches",
]

# The largest array that one task may pass to another.
MAX_PARTIAL_BYTES = 256 << 20


@dataclass
class Part:
    """The indexed rows of one partition.

    Attributes
    ----------
    index : MatchIndex
        The rows.
    left_out : tuple of arrays
        Codes, classes, weights and numbers, counted over the whole table, of rows to leave out.
    """

    index: MatchIndex
    left_out: Arrays

    def __sizeof__(self) -> int:
        # Dask moves and spills by this size; of a plain object it would see the pointers only.
        # Rows that are mapped from a file take no memory that could be freed.
        held = sum(segment.nbytes for segment in self.index.segments if not segment.mapped)
        return object.__sizeof__(self) + held + sum(array.nbytes for array in self.left_out)


# --- predicting, eager family -------------------------------------------------------------------


def classify_part(estimator: BayesClassifier, X: Any, method: str) -> npt.NDArray[Any]:
    """Predictions for one part of the queries, by a classifier that holds all it needs."""
    answer: npt.NDArray[Any] = getattr(estimator, method)(X) if len(X) else empty_answer(estimator, method)
    return answer


def empty_answer(estimator: BayesClassifier, method: str) -> npt.NDArray[Any]:
    """Predictions for no queries at all."""
    return estimator.classes_[:0] if method == "predict" else np.empty((0, len(estimator.classes_)))


def queries_of(part: tuple[Any, Any]) -> Any:
    """Rows of a partition without their classes."""
    return part[0]


def count_correct(answer: npt.NDArray[Any], part: tuple[Any, Any]) -> npt.NDArray[np.int64]:
    """How many rows of a partition are of the class predicted, and how many there are."""
    check_lengths(*part)
    labels, n = part[1], len(answer)
    if n:
        ClassLabels.learn(labels)  # which says what a missing label is
    # As on one machine, labels of another type are refused.
    return np.array([accuracy_score(labels, answer, normalize=False) if n else 0, n], dtype=np.int64)


# --- predicting, lazy family --------------------------------------------------------------------


def encode_queries(estimator: LazyClassifier, X: Any, begin: int, end: int | None) -> Codes:
    """Codes of some rows of one part of the queries."""
    rows = X.iloc[begin:end] if hasattr(X, "iloc") else X[begin:end]
    most = MAX_PARTIAL_BYTES // cells_bytes(estimator)
    if len(rows) > most:
        raise ValueError(
            f"a partition of {len(rows)} queries is too large for {len(estimator.classes_)} classes; "
            f"repartition the queries into parts of at most {most} rows"
        )
    return estimator.known_queries(estimator.encode_checked(rows))


def cells_bytes(estimator: LazyClassifier) -> int:
    """Bytes of a number for every class and distance."""
    return 8 * len(estimator.labels_) * estimator.n_distances


def count_distances(part: Part, codes: Codes) -> PartCounts:
    """Counts of queries against one part of the rows, to be kept for their weights."""
    return PartCounts(part.index, codes)


def match_counts(part: Part, codes: Codes) -> Arrays:
    """V and C of queries against one part of the rows: all that one pass needs."""
    return PartCounts(part.index, codes).match_counts()


def score_at_once(estimator: LazyClassifier, codes: Codes, counts: Arrays, method: str) -> npt.NDArray[Any]:
    """Predictions from V and C of all rows."""
    weightings = choose_weights(estimator, counts[:1])
    matches = [matches_of(weighting, counts[1]) for weighting in weightings]
    return score(estimator, codes, counts[:1], weightings, matches, method)


def distance_counts(counts: PartCounts) -> Arrays:
    """V of queries against one part of the rows: the first of two passes."""
    return (counts.totals,)


def choose_weights(estimator: LazyClassifier, totals: Arrays) -> list[Weighting]:
    """Weightings that the formula asks for, given V of all rows."""
    return estimator.weightings(widened(totals[0]))


def weigh_matches(part: Part, codes: Codes, counts: PartCounts, weightings: Sequence[Weighting]) -> Arrays:
    """T of one part of the rows, for each of the weightings: the second of two passes."""
    return counts.weighted_matches(part.index, codes, weightings)


def score(
    estimator: LazyClassifier,
    codes: Codes,
    totals: Arrays,
    weightings: Sequence[Weighting],
    matches: Sequence[npt.NDArray[Any]],
    method: str,
) -> npt.NDArray[Any]:
    """Predictions from V and T of all rows."""
    if not len(codes):
        return empty_answer(estimator, method)
    pairs = zip(weightings, matches, strict=True)
    log_joints = [estimator.log_joint_of_sums(codes, weighting, T) for weighting, T in pairs]
    return estimator.answer(estimator.combine(log_joints, widened(totals[0])), method)
