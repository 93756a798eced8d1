"""Prediction sets, and predictions that abstain: how far a prediction can be trusted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.left_out import LeftOutAnswers
from localbayes.classifiers.scores import TIE, first_best, log_total
from localbayes.classifiers.state import as_of_now, snapshot
from localbayes.counts import Floats, Rows, Statistic
from localbayes.parameters import check_share

__all__ = ["PredictionSets", "log_odds", "score_limit"]


class PredictionSets(LeftOutAnswers):
    """Sets of classes that hold the true class of a wanted share of rows, and labels only where sure.

    The score of a row and a class is the log odds of the class. A set holds the classes whose score reaches a
    limit, the one that the true classes of the wanted share of training rows reach, each row scored without
    itself; see ``docs/trust.md`` for what that guarantees.
    """

    get_params: Callable[..., dict[str, Any]]
    # What they were computed from, log odds of the true class of every training row, and the rows.
    _set_scores: tuple[Statistic, str, Floats, Rows] | None = None

    @property
    def statistic(self) -> Statistic:
        """The statistic of the training rows."""
        raise NotImplementedError

    def predict_log_joint(self, X: Any) -> Floats:
        """Log of the joint probability of every class with the row, in the order of ``classes_``."""
        raise NotImplementedError

    def predict_set(self, X: Any, coverage: float = 0.9, by_class: bool = False) -> npt.NDArray[np.bool_]:
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
        scores, rows = now._scores_for_sets(self)
        odds, weights = log_odds(now.predict_log_joint(X)), rows.each_weight
        if not by_class:
            return odds >= score_limit(scores, weights, coverage) - TIE
        limits = np.empty(len(now.labels_))
        for position, declared in enumerate(now.labels_.columns):
            own = rows.classes == declared
            limits[position] = score_limit(scores[own], weights[own], coverage)
        return odds >= limits - TIE

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

    def _scores_for_sets(self, original: "PredictionSets") -> tuple[Floats, Rows]:
        """Log odds of the true class of the training rows; computed once for what was learned."""
        statistic, parameters = self.statistic, repr(sorted(self.get_params().items()))
        known = self._set_scores
        if known is None or known[0] is not statistic or known[1] != parameters:
            odds = log_odds(self.left_out_answer("predict_log_joint"))
            rows = self.training_rows()
            own = odds[np.arange(len(rows)), self.labels_.sorted_position[rows.classes]]
            # Kept in one assignment, with what it belongs to: another thread may learn at the same time.
            known = original._set_scores = (statistic, parameters, own, rows)
        return known[2], known[3]


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
    """Least score that a set accepts: the one at position floor((n + 1) (1 - coverage)) from below.

    Of n + 1 rows that could have come in any order, the last falls below it with a probability of at most
    1 - coverage. If too few rows are known for that, every score is accepted.

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
    >>> score_limit(np.arange(19.0), np.ones(19), 0.9), score_limit(np.arange(8.0), np.ones(8), 0.9)
    (1.0, -inf)
    """
    position = np.floor((weights.sum() + 1) * (1 - coverage) + TIE)
    if position < 1:
        return -np.inf
    order = np.argsort(scores, kind="stable")
    reached = np.searchsorted(np.cumsum(weights[order]), position * (1 - TIE))
    return float(scores[order[min(int(reached), len(order) - 1)]])
