"""Answers for codes: the public protocol that explanations, clusters and model files use."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.class_shares import shifted
from localbayes.classifiers.scores import (
    defined_terms,
    first_best,
    first_best_or_prior,
    log_total,
    or_prior,
)
from localbayes.counts import Codes, Floats
from localbayes.encoding import ClassLabels
from localbayes.parallel import run_in_chunks

__all__ = ["ANSWERS", "CodeAnswers", "Formula"]

# Most numbers of terms that are held at once.
_MOST_TERMS = 1 << 21

# Methods that can be answered from a log joint.
ANSWERS = ("predict", "predict_proba", "predict_log_proba", "predict_log_joint")


class Formula(Protocol):
    """What a classifier gives: a log joint of codes, classes in declared order, and its split."""

    def log_joint(self, codes: Codes) -> Floats:
        """Log of the joint probability of every query with every class, shape (n, r)."""
        ...

    def contenders(self, codes: Codes) -> Floats:
        """Log joint in which a class that cannot win may be minus infinity."""
        ...

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Base (n, r) and terms (n, r, m) of the log joint."""
        ...


class CodeAnswers(Formula):
    """Turns the log joint of a formula into predictions for codes.

    Classes are in declared order; ``labels_`` knows the order of ``classes_``.
    """

    labels_: ClassLabels
    n_features_in_: int
    classes_: npt.NDArray[Any]
    n_jobs: int | None
    _class_count: npt.NDArray[Any]
    _log_shift: Floats | None

    def log_joint_in_chunks(self, codes: Codes) -> Floats:
        """Log joint of the formula for any number of queries."""
        out: Floats = self.in_chunks(self.log_joint, codes, np.empty((len(codes), len(self.labels_))))
        return out

    def best_class(self, codes: Codes) -> npt.NDArray[np.intp]:
        """Position of the predicted class, in declared order."""
        best: npt.NDArray[np.intp] = self.in_chunks(self._best_of_chunk, codes, np.empty(len(codes), np.intp))
        return best

    def log_proba_terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Log probabilities as a base (n, r) and a term for every attribute (n, r, m)."""
        n, m, r = len(codes), codes.shape[1], len(self.labels_)
        base, terms = np.empty((n, r)), np.empty((n, r, self.n_features_in_))
        step = max(1, min(self.most_queries(), _MOST_TERMS // (r * m * (m + self.n_weightings))))
        for begin in range(0, n, step):
            part = slice(begin, begin + step)
            own, terms[part] = defined_terms(*self.terms(codes[part]), self._class_count)
            base[part] = own
            if self._log_shift is not None:
                joint = own + terms[part].sum(axis=2)
                lost = np.isneginf(joint + self._log_shift).all(axis=1, keepdims=True)
                base[part] = np.where(lost, self.moved(joint), own + self._log_shift)
                terms[part][lost[:, 0]] = 0.0
        base -= log_total(base + terms.sum(axis=2))
        return base, terms

    def finished(self, log_joint: Floats) -> Floats:
        """Log joint for predictions: the prior where no class is possible, then priors and class weights."""
        return self.moved(or_prior(log_joint, self._class_count))

    def moved(self, log_joint: Floats) -> Floats:
        """Log joint under the given priors and class weights."""
        shift = self._log_shift
        return log_joint if shift is None else shifted(log_joint, shift, self._class_count)

    def labels_of(self, positions: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Labels of classes that are given by their position in declared order."""
        labels: npt.NDArray[Any] = self.classes_[self.labels_.sorted_position[positions]]
        return labels

    def answer(self, log_joint: Floats, method: str) -> npt.NDArray[Any]:
        """What a method of prediction gives for a log joint that was computed elsewhere.

        Parameters
        ----------
        log_joint : ndarray of shape (n, r)
            Of the formula, classes in declared order.
        method : {"predict", "predict_proba", "predict_log_proba", "predict_log_joint"}
            What is asked for.

        Returns
        -------
        answer : ndarray of shape (n,) or (n, r)
            As from the method, classes in the order of ``classes_``.
        """
        log_joint = self.finished(log_joint)
        if method == "predict":
            return self.labels_of(first_best(log_joint))
        log_joint = self.labels_.arranged(log_joint)
        if method == "predict_log_joint":
            return log_joint
        log_proba = log_joint - log_total(log_joint)
        return np.exp(log_proba) if method == "predict_proba" else log_proba

    # Whether the formula has kappas, as that of LCWNB.
    has_kappas: ClassVar[bool] = False

    @property
    def n_weightings(self) -> int:
        """Number of weightings of the training rows that a prediction averages."""
        return 1

    def bytes_per_query(self) -> int:
        """Scratch memory that the formula needs for one query."""
        raise NotImplementedError

    def bytes_per_prediction(self) -> int:
        """Scratch memory that predicting one query needs, with all weightings."""
        return self.n_weightings * self.bytes_per_query()

    def most_queries(self) -> int:
        """Most queries to work on before an interrupt (Ctrl-C) is handled."""
        raise NotImplementedError

    def in_chunks(
        self, function: Callable[[Any], Any], queries: npt.NDArray[Any], out: Any, sets: int = 0
    ) -> Any:
        """Apply a function to chunks of queries, on ``n_jobs`` threads; results go to ``out``.

        A function that works with several ``sets`` of weights at once needs memory for each; the default is
        the number of weightings of a prediction.
        """
        return run_in_chunks(
            function,
            queries,
            out,
            n_jobs=self.n_jobs,
            bytes_per_query=sets * self.bytes_per_query() if sets else self.bytes_per_prediction(),
            most_queries=self.most_queries(),
        )

    def _best_of_chunk(self, codes: Codes) -> npt.NDArray[np.intp]:
        if self._log_shift is not None:
            return first_best(self.finished(self.log_joint(codes)))
        return first_best_or_prior(self.contenders(codes), self._class_count)
