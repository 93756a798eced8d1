"""Scores of a prediction: correct answers, the range that ties allow, log loss, reliability."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localbayes.classifiers.scores import TIE
from localbayes.study.measures import Scored, measure_all

__all__ = ["Prediction", "Score", "score"]

N_BINS = 10
_SHOWN_CLASSES = 5


class Prediction(NamedTuple):
    """Predictions of a method for the test rows of a fold.

    `log_joint` has a column per entry of `classes` and need not be normalised; `labels` are predicted labels.
    With scores alone, the class declared first among those within 1e-9 of the best is predicted.

    Examples
    --------
    >>> Prediction(["no", "yes"], labels=["yes", "yes", "no"]).log_joint is None
    True
    """

    classes: Sequence[Any]
    log_joint: NDArray[np.float64] | None = None
    labels: Sequence[Any] | NDArray[Any] | None = None


class Score(NamedTuple):
    """Counts of one fold; log loss, bins and measures are None without scores.

    `measures` holds the measures beside the log loss, as JSON; None if there are none.
    """

    correct: int
    ties_well: int
    ties_badly: int
    log_loss: float | None
    bins: str | None
    measures: str | None = None


def score(prediction: Prediction, classes: Sequence[Any], truth: NDArray[np.intp]) -> Score:
    """Compare a prediction with the truth.

    Parameters
    ----------
    prediction : Prediction
        Scores, labels or both for each test row.
    classes : sequence
        All declared classes, in declared order.
    truth : array of int
        Class of each row, as a position in `classes`.

    Examples
    --------
    >>> even = np.log([[0.5, 0.5], [0.2, 0.8]])
    >>> found = score(Prediction(["no", "yes"], even), ["yes", "no"], np.array([1, 0]))
    >>> found.correct, found.ties_well, found.ties_badly
    (1, 2, 1)
    """
    labels = None if prediction.labels is None else _label_codes(prediction.labels, classes, len(truth))
    if labels is not None and len(labels) and (labels < 0).all():
        names = ", ".join(map(repr, classes[:_SHOWN_CLASSES])) + ", …" * (len(classes) > _SHOWN_CLASSES)
        label = np.asarray(prediction.labels, dtype=object)[0]
        raise ValueError(f"the method predicted no class of the data set, but {label!r}: expected {names}")
    if prediction.log_joint is None:
        if labels is None:
            raise ValueError("a prediction needs scores, labels or both, got neither")
        correct = int((labels == truth).sum())
        return Score(correct, correct, correct, None, None)
    log_joint = _declared(prediction, classes, len(truth))
    rows = np.arange(len(truth))
    tied = log_joint >= log_joint.max(axis=1, keepdims=True) - TIE
    chosen = tied.argmax(axis=1) if labels is None else labels
    right = chosen == truth
    # Where a method does not predict its own best score (a voting rule, say), no tie decides the answer.
    decided = (chosen < 0) | ~tied[rows, chosen]
    well = np.where(decided, right, tied[rows, truth])
    badly = np.where(decided, right, tied[rows, truth] & (tied.sum(axis=1) == 1))
    log_probability = log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True)
    confidence = np.exp(np.where(chosen < 0, -np.inf, log_probability[rows, chosen]))
    measures = measure_all(Scored(log_probability, truth, chosen))
    return Score(
        int(right.sum()),
        int(well.sum()),
        int(badly.sum()),
        measures.pop("log_loss"),
        _bins(confidence, right),
        json.dumps(measures) if measures else None,
    )


def _label_codes(labels: Sequence[Any] | NDArray[Any], classes: Sequence[Any], n: int) -> NDArray[np.intp]:
    shape = np.shape(labels)
    if shape != (n,):
        if len(shape) == 1:
            came = f"predicted {shape[0]} label{'s' if shape[0] != 1 else ''}"
        else:
            came = f"predicted labels of shape {shape}"
        raise ValueError(f"the method {came} for {n} rows: expected one for each")
    return _codes(labels, classes)


def _declared(prediction: Prediction, classes: Sequence[Any], n: int) -> NDArray[np.float64]:
    """Bring the columns into declared order; a class that the method does not know has probability 0."""
    given = np.asarray(prediction.log_joint, dtype=np.float64)
    k = len(prediction.classes)
    if given.shape != (n, k):
        raise ValueError(
            f"the method gave scores of shape {given.shape} for {n} rows and {k} classes: "
            f"expected {n} rows and {k} columns"
        )
    if np.isnan(given).any() or np.isposinf(given).any():
        raise ValueError("the method gave NaN, an infinite or a negative number as a probability")
    empty = np.isneginf(given).all(axis=1)
    if empty.any():
        raise ValueError(
            f"row {empty.argmax()} has no probability for any class: expected one above 0 in every row"
        )
    log_joint = np.full((len(given), len(classes)), -np.inf)
    columns = _codes(prediction.classes, classes)
    for label, column in zip(prediction.classes, columns, strict=True):
        if column < 0:
            raise ValueError(
                f"the method has scores for the class {label!r}, which the data set does not declare"
            )
    log_joint[:, columns] = given
    return log_joint


def _codes(labels: Sequence[Any] | NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    position = {label: code for code, label in enumerate(classes)}
    values = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return np.array([position.get(label, -1) for label in values], dtype=np.intp)


def _bins(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> str:
    place = np.minimum((confidence * N_BINS).astype(np.intp), N_BINS - 1)
    count = np.bincount(place, minlength=N_BINS).tolist()
    total = np.bincount(place, weights=confidence, minlength=N_BINS).round(6).tolist()
    hits = np.bincount(place, weights=right, minlength=N_BINS).astype(int).tolist()
    return json.dumps(list(zip(count, total, hits, strict=True)), separators=(",", ":"))
