"""Scores of a classifier in cross-validation: how often it is right, and how far its probabilities hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FoldAnswer", "Scores", "calibration_error"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FoldAnswer:
    """What a classifier says of the test rows of one fold.

    Attributes
    ----------
    truth, predicted : array of shape (n,)
        Codes of the true and of the predicted classes.
    log_proba : array of shape (n, r)
        Log probabilities of the classes.
    fit_seconds, predict_seconds : float
        How long it took.
    """

    truth: Integers
    predicted: Integers
    log_proba: Floats
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0

    @property
    def accuracy(self) -> float:
        """Share of rows that are predicted right."""
        return float((self.predicted == self.truth).mean())

    @property
    def log_loss(self) -> float:
        """Mean of minus the log probability of the true class."""
        return float(-self.log_proba[np.arange(len(self.truth)), self.truth].mean())


class Scores:
    """Scores over all folds.

    Accuracy, log loss and AUC are taken in every fold. All other scores are taken over the test rows of a
    run together, because a fold may lack a class, and averaged over runs. Classes without rows do not count.

    Parameters
    ----------
    folds : list of FoldAnswer
        Folds in order, run after run.
    runs : int
        Number of runs.
    n_classes : int
        Number of declared classes.

    Examples
    --------
    >>> proba = np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
    >>> fold = FoldAnswer(np.array([0, 1, 1]), np.array([0, 1, 0]), np.log(proba))
    >>> scores = Scores([fold], 1, 2)
    >>> scores.confusion.tolist(), round(scores.balanced_accuracy, 3), scores.auc
    ([[1, 0], [1, 1]], 0.75, 1.0)
    """

    def __init__(self, folds: list[FoldAnswer], runs: int, n_classes: int) -> None:
        self.accuracy = np.array([fold.accuracy for fold in folds])
        self.log_loss = np.array([fold.log_loss for fold in folds])
        self.fit_seconds = sum(fold.fit_seconds for fold in folds)
        self.predict_seconds = sum(fold.predict_seconds for fold in folds)
        self.n_runs = runs
        per_run = len(folds) // runs
        self._runs = [_Run(folds[k : k + per_run], n_classes) for k in range(0, len(folds), per_run)]
        self.confusion: Integers = np.sum([run.confusion for run in self._runs], axis=0)

    def _mean(self, name: str) -> float:
        return float(np.mean([getattr(run, name) for run in self._runs]))

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the recalls of the classes."""
        return self._mean("balanced_accuracy")

    @property
    def macro_f1(self) -> float:
        """Mean of the F1 of the classes."""
        return self._mean("macro_f1")

    @property
    def auc(self) -> float:
        """Area under the ROC curve, each class against the rest: mean over classes and folds."""
        return self._mean("auc")

    @property
    def brier(self) -> float:
        """Half the squared distance between probabilities and truth: 0 is best, 1 is worst."""
        return self._mean("brier")

    @property
    def calibration_error(self) -> float:
        """See `calibration_error`."""
        return self._mean("calibration_error")

    @property
    def rows(self) -> Integers:
        """Test rows of each class, all runs together."""
        rows: Integers = self.confusion.sum(axis=1)
        return rows

    @property
    def precision(self) -> Floats:
        """Share of the rows predicted as a class that are of it; NaN where none is."""
        return _ratio(self.confusion.diagonal(), self.confusion.sum(axis=0))

    @property
    def recall(self) -> Floats:
        """Share of the rows of a class that are predicted as it; NaN where it has none."""
        return _ratio(self.confusion.diagonal(), self.rows)


class _Run:
    """Scores of one run, all of its folds together."""

    def __init__(self, folds: list[FoldAnswer], n_classes: int) -> None:
        truth = np.concatenate([fold.truth for fold in folds])
        predicted = np.concatenate([fold.predicted for fold in folds])
        proba = np.exp(np.concatenate([fold.log_proba for fold in folds]))
        cells = np.bincount(truth * n_classes + predicted, minlength=n_classes**2)
        self.confusion: Integers = cells.reshape(n_classes, n_classes).astype(np.int64)
        right, rows = self.confusion.diagonal(), self.confusion.sum(axis=1)
        occurs = rows > 0
        self.balanced_accuracy = float((right[occurs] / rows[occurs]).mean())
        f1 = 2 * right[occurs] / (rows + self.confusion.sum(axis=0))[occurs]
        self.macro_f1 = float(f1.mean())
        areas = [_areas(fold.truth, fold.log_proba) for fold in folds]
        self.auc = float(np.nanmean(areas)) if np.isfinite(areas).any() else float("nan")
        hits = np.zeros_like(proba)
        hits[np.arange(len(truth)), truth] = 1
        self.brier = float(((proba - hits) ** 2).sum(axis=1).mean() / 2)
        self.calibration_error = calibration_error(proba.max(axis=1), predicted == truth)


def calibration_error(confidence: Floats, right: npt.NDArray[np.bool_], n_bins: int = 10) -> float:
    """Expected calibration error: how far stated confidence is from the share of right predictions.

    Rows are put into bins of equal width by the probability of their predicted class. The error is the mean
    over bins, weighted by their rows, of the distance between mean probability and accuracy.

    Examples
    --------
    >>> calibration_error(np.array([0.95, 0.95, 0.65]), np.array([True, False, True])).__round__(3)
    0.417
    """
    bins = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    stated = np.bincount(bins, confidence, n_bins)
    true = np.bincount(bins, right, n_bins)
    return float(np.abs(stated - true).sum() / len(confidence))


def _areas(truth: Integers, log_proba: Floats) -> list[float]:
    """Area under the ROC curve of each class: the share of pairs in the right order, ties by half."""
    from scipy.stats import rankdata

    areas = []
    for label in range(log_proba.shape[1]):
        positive = truth == label
        n, rest = int(positive.sum()), int((~positive).sum())
        ranks = float(rankdata(log_proba[:, label])[positive].sum())
        areas.append((ranks - n * (n + 1) / 2) / (n * rest) if n and rest else float("nan"))
    return areas


def _ratio(part: Any, whole: Any) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(len(whole), np.nan), where=np.asarray(whole) > 0)
    return ratio
