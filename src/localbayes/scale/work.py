"""What runs on the workers: plain functions from parts of a table to statistics that add up."""

import copy
import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.eager import EagerClassifier
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.pair_counts import ValueCounts
from localbayes.encoding import ClassLabels, TableEncoder
from localbayes.encoding.coded import Codes
from localbayes.encoding.summaries import CategorySummary, Summary
from localbayes.kernels import MatchIndex
from localbayes.scale.counts import (
    Answers,
    Arrays,
    Floats,
    PartCounts,
    Questions,
    SummedCounts,
    with_index,
)

__all__ = [
    "MAX_PARTIAL_BYTES",
    "Part",
    "add_statistics",
    "add_summaries",
    "cells_bytes",
    "choose_weights",
    "classify_part",
    "count_correct",
    "count_distances",
    "count_part",
    "distance_counts",
    "empty_answer",
    "encode_queries",
    "index_part",
    "match_counts",
    "queries_of",
    "rows_counted",
    "rows_summarised",
    "score",
    "score_at_once",
    "summarise_part",
    "weigh_matches",
]

# The largest array that one task may pass to another.
MAX_PARTIAL_BYTES = 256 << 20


# --- learning -----------------------------------------------------------------------------------


def summarise_part(encoder: TableEncoder, part: tuple[Any, Any]) -> list[Summary]:
    """Summaries of the columns and, last, of the class."""
    X, y = part
    _check_lengths(X, y)
    return [*encoder.summarise(X), _summarise_labels(y)]


def _check_lengths(X: Any, y: Any) -> None:
    if len(X) != len(y):
        raise ValueError(
            f"X has {len(X)} rows here and y has {len(y)}; cut both at the same rows, or pass one table and "
            "the name of its class column as target"
        )


def _summarise_labels(y: Any) -> CategorySummary:
    declared = type(getattr(y, "dtype", None)).__name__ == "CategoricalDtype"
    if not len(y) and not declared:
        return CategorySummary("y", {}, False, 0)
    labels = ClassLabels.learn(y)
    counts = np.bincount(labels.encode(y), minlength=len(labels)).tolist()
    return CategorySummary("y", dict(zip(labels.declared, counts, strict=True)), declared, 0)


def add_summaries(parts: Sequence[list[Summary]]) -> list[Summary]:
    """Summaries of all rows."""
    return [functools.reduce(operator.add, column) for column in zip(*parts, strict=True)]


@dataclass
class Part:
    """The indexed rows of one partition.

    Attributes
    ----------
    index : MatchIndex
        The rows.
    left_out : tuple of arrays
        Codes, classes and numbers, counted over the whole table, of rows that are to be left out.
    """

    index: MatchIndex
    left_out: Arrays

    def __sizeof__(self) -> int:
        # Dask moves and spills by this size; of a plain object it would see the pointers only.
        return object.__sizeof__(self) + self.index.nbytes + sum(array.nbytes for array in self.left_out)


def index_part(
    estimator: LazyClassifier, part: tuple[Any, Any], numbers: npt.NDArray[np.int64], first: int
) -> Part:
    """Index the rows of one partition.

    Parameters
    ----------
    estimator : LazyClassifier
        With domains.
    part : tuple
        Table and classes.
    numbers : array
        Numbers, counted over the whole table, of rows that are to be left out.
    first : int
        Number of the first row of the partition.

    Returns
    -------
    part : Part
        The indexed rows.
    """
    model, codes, class_codes = _encoded(estimator, part)
    LazyClassifier._learn(model, codes, class_codes)
    none = np.empty((0, codes.shape[1]), np.uint32), class_codes[:0], numbers[:0], None
    rows, classes, places, _ = next(model.index_.training_rows(numbers - first), none)
    # The order of the rows serves samples drawn from a local index; here it would only take memory.
    index = model.index_
    segments = [replace(s, row_classes=s.row_classes[:0]) for s in index.segments]
    index = MatchIndex(index.sizes, index.n_classes, index.may_miss, segments)
    return Part(index, (model._as_queries(rows), classes, places + first))


def count_part(estimator: EagerClassifier, part: tuple[Any, Any]) -> ValueCounts:
    """Count the rows of one partition."""
    model, codes, class_codes = _encoded(estimator, part)
    model.counts_.add(codes, class_codes)
    counts: ValueCounts = model.counts_
    return counts


def _encoded(estimator: BayesClassifier, part: tuple[Any, Any]) -> tuple[Any, Codes, npt.NDArray[np.int64]]:
    """A classifier with an empty statistic, and the codes of the rows for it."""
    X, y = part
    model = copy.copy(estimator)
    model._start(estimator.sizes_, len(estimator.labels_))
    return model, estimator.encoder_.encode(X), estimator.labels_.encode(y)  # type: ignore[union-attr]


def rows_summarised(summaries: list[Summary]) -> int:
    """Number of rows of a part."""
    return int(sum(summaries[-1].counts.values()))  # type: ignore[union-attr]


def rows_counted(counts: ValueCounts) -> int:
    """Number of rows of a part; small enough to come back as a sign that the part is done."""
    return int(counts.n_rows)


def add_statistics(parts: Sequence[ValueCounts]) -> ValueCounts:
    """Counts of all rows."""
    return functools.reduce(operator.add, parts)


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
    _check_lengths(*part)
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
    return estimator.encoder_.encode(rows)  # type: ignore[union-attr]


def cells_bytes(estimator: LazyClassifier) -> int:
    """Bytes of a number for every class and distance."""
    return 8 * len(estimator.labels_) * (len(estimator.sizes_) + 1)


def count_distances(part: Part, codes: Codes) -> PartCounts:
    """Counts of queries against one part of the rows, to be kept for their weights."""
    return PartCounts(part.index, codes)


def match_counts(part: Part, codes: Codes) -> Arrays:
    """V and C of queries against one part of the rows: all that one pass needs."""
    return PartCounts(part.index, codes).match_counts()


def score_at_once(estimator: LazyClassifier, codes: Codes, counts: Arrays, method: str) -> npt.NDArray[Any]:
    """Predictions from V and C of all rows."""
    return _answer(estimator, SummedCounts(counts, codes), codes, method)


def distance_counts(counts: PartCounts) -> Arrays:
    """V of queries against one part of the rows: the first of two passes."""
    return (counts.totals,)


def choose_weights(estimator: LazyClassifier, codes: Codes, totals: Arrays, method: str) -> list[Floats]:
    """Weights that the classifier's formula wants for V of all rows."""
    questions = Questions(totals, codes)
    _answer(estimator, questions, codes, method)
    return questions.asked


def weigh_matches(part: Part, codes: Codes, counts: PartCounts, weights: Sequence[Floats]) -> Arrays:
    """S and T of one part of the rows, for each of the weightings: the second of two passes."""
    return counts.weighted_sums(part.index, codes, weights)


def score(
    estimator: LazyClassifier, codes: Codes, totals: Arrays, sums: Arrays, method: str
) -> npt.NDArray[Any]:
    """Predictions from V and the weighted sums of all rows."""
    pairs = zip(sums[0::2], sums[1::2], strict=True)
    return _answer(estimator, Answers(totals, pairs, codes), codes, method)


def _answer(estimator: LazyClassifier, counts: Any, codes: Codes, method: str) -> npt.NDArray[Any]:
    if not len(codes):
        return empty_answer(estimator, method)
    answer: npt.NDArray[Any] = getattr(with_index(estimator, counts), method)(codes)
    return answer
