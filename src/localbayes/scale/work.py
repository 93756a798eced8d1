"""What runs on the workers: plain functions from parts of a table to statistics that add up."""

import copy
import functools
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

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
    "add_statistics",
    "add_summaries",
    "cells_bytes",
    "choose_weights",
    "classify_part",
    "count_distances",
    "distance_counts",
    "empty_answer",
    "encode_queries",
    "index_part",
    "match_counts",
    "n_rows",
    "score",
    "score_at_once",
    "summarise_part",
    "weigh_matches",
]

Statistic = MatchIndex | ValueCounts

# The largest array that one task may pass to another.
MAX_PARTIAL_BYTES = 256 << 20


# --- learning -----------------------------------------------------------------------------------


def summarise_part(encoder: TableEncoder, part: tuple[Any, Any]) -> list[Summary]:
    """Summaries of the columns and, last, of the class."""
    X, y = part
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows here and y has {len(y)}; cut both at the same rows")
    return [*encoder.summarise(X), _summarise_labels(y)]


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


def index_part(estimator: BayesClassifier, part: tuple[Any, Any]) -> Statistic:
    """Statistic of the rows of one part: an index for the lazy family, counts for the eager one."""
    X, y = part
    model = copy.copy(estimator)
    codes = estimator.encoder_.encode(X)  # type: ignore[union-attr]
    class_codes = estimator.labels_.encode(y)
    model._start(estimator.sizes_, len(estimator.labels_))
    if isinstance(model, EagerClassifier):
        model.counts_.add(codes, class_codes)
        return model.counts_
    assert isinstance(model, LazyClassifier)
    model._learn(codes, class_codes)
    # Row numbers serve samples drawn from a local index; here they would be a third of the memory.
    model.index_.segments = [replace(s, order=s.order[:0]) for s in model.index_.segments]
    return model.index_


def n_rows(statistic: Statistic) -> int:
    """Number of rows of a part; small enough to come back as a sign that the part is done."""
    return int(statistic.n_rows)


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


def count_distances(index: MatchIndex, codes: Codes) -> PartCounts:
    """Counts of queries against one part of the rows, to be kept for their weights."""
    return PartCounts(index, codes)


def match_counts(index: MatchIndex, codes: Codes) -> Arrays:
    """V and C of queries against one part of the rows: all that one pass needs."""
    return PartCounts(index, codes).match_counts()


def score_at_once(estimator: LazyClassifier, codes: Codes, counts: Arrays, method: str) -> npt.NDArray[Any]:
    """Predictions from V and C of all rows."""
    return _answer(estimator, SummedCounts(counts, codes), codes, method)


def distance_counts(part: PartCounts) -> Arrays:
    """V of queries against one part of the rows: the first of two passes."""
    return (part.totals,)


def choose_weights(estimator: LazyClassifier, codes: Codes, totals: Arrays, method: str) -> list[Floats]:
    """Weights that the classifier's formula wants for V of all rows."""
    questions = Questions(totals, codes)
    _answer(estimator, questions, codes, method)
    return questions.asked


def weigh_matches(index: MatchIndex, codes: Codes, part: PartCounts, weights: Sequence[Floats]) -> Arrays:
    """S and T of one part of the rows, for each of the weights: the second of two passes."""
    return tuple(array for w in weights for array in part.weighted_sums(index, codes, w))


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
