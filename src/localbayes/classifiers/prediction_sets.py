"""Prediction sets, and predictions that abstain: how far a prediction can be trusted."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from localbayes.classifiers.left_out import LeftOutAnswers
from localbayes.classifiers.scores import TIE, first_best, log_total
from localbayes.classifiers.state import as_of_now, snapshot
from localbayes.counts import Floats, Statistic
from localbayes.encoding import ClassLabels
from localbayes.parameters import check_share

__all__ = ["PredictionSets", "TrueScores", "log_odds", "score_limit", "true_scores", "within"]


class TrueScores(NamedTuple):
    """Scores of the true classes of rows, from which limits follow."""

    scores: Floats
    classes: npt.NDArray[np.int64]
    weights: Floats

    def limits(self, coverage: float, by_class: bool, labels: ClassLabels) -> Floats:
        """Least score of every class that is in a set, in the order of ``classes_``."""
        if not by_class:
            return np.full(len(labels), score_limit(self.scores, self.weights, coverage))
        rows_of = [self.classes == declared for declared in labels.columns]
        return np.array([score_limit(self.scores[own], self.weights[own], coverage) for own in rows_of])


class PredictionSets(LeftOutAnswers):
    """Sets of classes that hold the true class of a wanted share of rows, and labels only where sure.

    The score of a row and a class is the log odds of the class. A set holds the classes whose score reaches a
    limit, the one that the true classes of the wanted share of training rows reach, each row scored without
    itself; see ``docs/trust.md`` for what that guarantees.
    """

    get_params: Callable[..., dict[str, Any]]
    # What they were computed from, and the log odds of the true class of every training row.
    _set_scores: tuple[Statistic, str, TrueScores] | None = None

    @property
    def statistic(self) -> Statistic:
        """The statistic of the training rows."""
        raise NotImplementedError

    def predict_log_joint(self, X: Any) -> Floats:
        """Log of the joint probability of every class with the row, in the order of ``classes_``."""
        raise NotImplementedError

    def predict_set(
        self,
        X: Any,
        coverage: float = 0.9,
        by_class: bool = False,
        *,
        calibration: tuple[Any, Any] | None = None,
    ) -> npt.NDArray[np.bool_]:
        """Classes that a row may have, so that the true one is among them for a wanted share of rows.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify; None for the training rows, each without itself.
        coverage : float, default=0.9
            Share of rows whose set is to hold the true class, between 0 and 1.
        by_class : bool, default=False
            Whether this is to hold for the rows of every class, not only for all rows together (Mondrian
            sets). Sets are larger then, and a class of few rows is in nearly all of them.
        calibration : tuple (X, y), optional
            Rows that were set aside, and their classes. They say how large sets have to be, in place of the
            training rows. A classifier that keeps no rows needs them.

        Returns
        -------
        sets : ndarray of bool, of shape (n, r)
            Whether a class is in the set of a row, in the order of ``classes_``. A set may be empty: the row
            is then stranger than the training rows that may be missed.

        Examples
        --------
        >>> from localbayes import NB
        >>> X = [["red"]] * 10 + [["green"]] * 10 + [["brown"]] * 4
        >>> y = ["apple"] * 10 + ["pear"] * 10 + ["apple", "pear"] * 2
        >>> NB().fit(X, y).predict_set([["red"], ["brown"]], coverage=0.9).tolist()
        [[True, False], [True, True]]
        """
        check_share("coverage", coverage)
        check_is_fitted(self, "labels_")
        now = snapshot(self)
        if calibration is None:
            known = now._scores_for_sets(self)
        else:
            known = true_scores(now.predict_log_joint, now.labels_, calibration)
        return within(now.predict_log_joint(X), known.limits(coverage, by_class, now.labels_))

    @as_of_now
    def decide(self, X: Any, confidence: float = 0.9) -> npt.NDArray[np.object_]:
        """Most probable class of every row, where it is probable enough; None elsewhere.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m)
            Rows to classify; None for the training rows, each without itself.
        confidence : float, default=0.9
            Least probability of the class for a row to get it, between 0 and 1.

        Returns
        -------
        y : ndarray of object, of shape (n,)
            Class labels as :meth:`predict` gives them, or None.

        Examples
        --------
        >>> from localbayes import NB
        >>> model = NB().fit([["a"], ["a"], ["a"], ["b"]], ["no", "no", "no", "yes"])
        >>> model.decide([["a"], ["b"]], confidence=0.8).tolist()
        ['no', None]
        """
        check_share("confidence", confidence)
        check_is_fitted(self, "labels_")
        log_joint = self.predict_log_joint(X)[:, self.labels_.sorted_position]
        best = first_best(log_joint)
        sure = log_joint[np.arange(len(best)), best] - log_total(log_joint)[:, 0] >= np.log(confidence) - TIE
        decided = np.full(len(best), None, dtype=object)
        decided[sure] = self.labels_of(best[sure])
        return decided

    def _scores_for_sets(self, original: "PredictionSets") -> TrueScores:
        """Log odds of the true class of the training rows, each without itself; computed once."""
        statistic, parameters = self.statistic, repr(sorted(self.get_params().items()))
        known = self._set_scores
        if known is None or known[0] is not statistic or known[1] != parameters:
            rows = self.training_rows()
            log_joint = self.left_out_answer("predict_log_joint")
            scores = _of_classes(log_joint, self.labels_, rows.classes, rows.each_weight)
            # Kept in one assignment, with what it belongs to: another thread may learn at the same time.
            known = original._set_scores = (statistic, parameters, scores)
        return known[2]


def true_scores(
    predict_log_joint: Callable[[Any], Floats], labels: ClassLabels, calibration: tuple[Any, Any]
) -> TrueScores:
    """Log odds of the true class of rows that were set aside."""
    try:
        X, y = calibration
    except (TypeError, ValueError):
        raise ValueError(
            f"calibration must be a table and its classes, (X, y), got {type(calibration).__name__}"
        ) from None
    log_joint = predict_log_joint(X)
    check_consistent_length(log_joint, y)
    classes = labels.encode(y)
    return _of_classes(log_joint, labels, classes, np.ones(len(classes)))


def _of_classes(
    log_joint: Floats, labels: ClassLabels, classes: npt.NDArray[np.int64], weights: Floats
) -> TrueScores:
    own = log_odds(log_joint)[np.arange(len(classes)), labels.sorted_position[classes]]
    return TrueScores(own, classes, weights)


def within(log_joint: Floats, limits: Floats) -> npt.NDArray[np.bool_]:
    """Classes whose log odds reach their limits."""
    return log_odds(log_joint) >= limits - TIE


def log_odds(log_joint: Floats) -> Floats:
    """Log of p / (1 - p) of every class; exact also where p rounds to one.

    Examples
    --------
    >>> log_odds(np.log([[0.75, 0.25]])).round(4).tolist(), log_odds(np.array([[0.0, -50.0]])).tolist()
    ([[1.0986, -1.0986]], [[50.0, -50.0]])
    """
    best = log_joint.argmax(axis=1)[:, None]
    log_proba = log_joint - log_total(log_joint)
    others = log_joint.copy()
    np.put_along_axis(others, best, -np.inf, axis=1)
    with np.errstate(divide="ignore"):
        odds = log_proba - np.log1p(-np.exp(log_proba))
    np.put_along_axis(odds, best, np.take_along_axis(log_joint, best, axis=1) - log_total(others), axis=1)
    return odds


def score_limit(scores: Floats, weights: Floats, coverage: float) -> float:
    """Least score that a set accepts: the one at position (n + 1) (1 - coverage) from below.

    Between two scores it is on the line through both, which is Weibull's quantile. Of n + 1 rows that could
    have come in any order, the last falls below it with a probability within 1 / (n + 1) of 1 - coverage. If
    the position is before the first score, too few rows are known, and every score is accepted.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores of true classes.
    weights : ndarray of shape (n,)
        A row of weight 2 counts as two rows.
    coverage : float
        Share of rows to be accepted.

    Examples
    --------
    >>> scores = np.arange(1.0, 20.0)
    >>> score_limit(scores, np.ones(19), 0.9), round(score_limit(scores, np.ones(19), 0.88), 9)
    (2.0, 2.4)
    >>> score_limit(np.arange(8.0), np.ones(8), 0.9)
    -inf
    """
    position = (weights.sum() + 1) * (1 - coverage)
    before = np.floor(position + TIE)
    if before < 1:
        return -np.inf
    order = np.argsort(scores, kind="stable")
    at = np.searchsorted(np.cumsum(weights[order]), np.array([before, before + 1]) * (1 - TIE))
    low, high = scores[order[np.minimum(at, len(order) - 1)]]
    if not np.isfinite([low, high]).all():
        return float(low)
    return float(low + max(position - before, 0.0) * (high - low))
