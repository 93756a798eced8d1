"""Predictions for training rows without themselves."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from localbayes.classifiers.kappa import others_count
from localbayes.classifiers.on_codes import CodeAnswers
from localbayes.classifiers.state import as_of_now, snapshot
from localbayes.counts import Floats, Rows
from localbayes.parallel import run_in_chunks

__all__ = ["LeftOutAnswers", "check_rows"]


class LeftOutAnswers(CodeAnswers):
    """Classifies training rows by all others: counts of the row itself are subtracted.

    The answer for a row is that of the classifier learned from all other rows, with the same domains, bins
    and classes. What fit chose by all rows stays as it is: kappas and their weights, the temperature,
    exponents and column weights; the tree of TAN; the weights of WAODE and HNB. Of a row that weighs more
    than one, one row is left out. Rows of weight zero are no training rows.
    """

    # --- hooks ----------------------------------------------------------------------------------

    @abstractmethod
    def training_rows(self) -> Rows:
        """All training rows, in the order in which they came."""

    def keep_rows(self, rows: Rows, first: bool) -> None:
        """Keep training rows, if the statistic does not; ``first`` says that there were none before."""

    @abstractmethod
    def others_log_joint(self, rows: Rows) -> Floats:
        """Log joint of training rows without themselves; ``class_count`` is that of the others, by row."""

    @abstractmethod
    def others_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """The same, split into a base (n, r) and terms (n, r, m)."""

    @property
    def left_out_bytes(self) -> int:
        """Scratch memory that the formula needs for one row that is left out."""
        return self.n_weightings * self.bytes_per_query()

    def set_class_count(self, class_count: npt.NDArray[Any]) -> None:
        """Set how many training rows each class has, in declared order."""
        raise NotImplementedError

    # --- answers --------------------------------------------------------------------------------

    @as_of_now
    def left_out_log_joint(self, rows: npt.ArrayLike | None = None) -> Floats:
        """Log joint of training rows without themselves, before priors and class weights.

        Parameters
        ----------
        rows : array-like of int, optional
            Numbers of the rows, in the order in which rows came to fit and partial_fit; by default all.

        Returns
        -------
        log_joint : ndarray of shape (n, r)
            Classes in declared order, as from :meth:`log_joint`.

        Examples
        --------
        Without itself the only row of class "no" leaves one share in four to its class:

        >>> from localbayes import NB
        >>> model = NB().fit([["a"], ["a"], ["a"]], ["no", "yes", "yes"])
        >>> np.exp(model.left_out_log_joint([0])).round(3).tolist()
        [[0.25, 0.75]]
        """
        joint: Floats = self._answers_left_out(self._rows_to_leave_out(rows), "left_out_log_joint")
        return joint

    @as_of_now
    def left_out_terms(self, rows: npt.ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Split the log joint of training rows without themselves.

        Parameters
        ----------
        rows : array-like of int, optional
            Numbers of the rows; by default all.

        Returns
        -------
        base : ndarray of shape (n, r)
            What belongs to no attribute.
        terms : ndarray of shape (n, r, m)
            What every attribute adds; base and terms sum to :meth:`left_out_log_joint`.
        """
        given = self._rows_to_leave_out(rows)
        n, r, m = len(given), len(self.labels_), self.n_features_in_
        parts = np.empty((n, r, 1 + m))

        def split(at: npt.NDArray[np.int64]) -> Floats:
            base, terms = self._as_others(given[at]).others_terms(given[at])
            return np.concatenate([base[..., None], terms], axis=2)

        self._in_left_out_chunks(split, n, parts, self.n_weightings * 8 * r * m * 4)
        return parts[..., 0], parts[..., 1:]

    @as_of_now
    def left_out_answer(self, method: str, rows: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """What a method of prediction gives for training rows without themselves.

        Priors and class weights are those that the other rows give.

        Parameters
        ----------
        method : {"predict", "predict_proba", "predict_log_proba", "predict_log_joint"}
            What is asked for.
        rows : array-like of int, optional
            Numbers of the rows; by default all.

        Returns
        -------
        answer : ndarray of shape (n,) or (n, r)
            As from the method, classes in the order of ``classes_``.
        """
        answer: npt.NDArray[Any] = self._answers_left_out(self._rows_to_leave_out(rows), method)
        return answer

    @property
    def oob_decision_function_(self) -> Floats:
        """Probabilities of all training rows without themselves, as ``predict_proba(None)`` gives them.

        It has the name that tools look for in a random forest. It is computed each time it is asked for.
        """
        return self.left_out_answer("predict_proba")

    def _answers_left_out(self, given: Rows, method: str) -> Any:
        shape = (len(given),) if method == "predict" else (len(given), len(self.labels_))

        def answers(at: npt.NDArray[np.int64]) -> Any:
            rows = given[at]
            others = self._as_others(rows)
            log_joint = others.others_log_joint(rows)
            return log_joint if method == "left_out_log_joint" else others.answer(log_joint, method)

        out = np.empty(shape, self.classes_.dtype if len(shape) == 1 else np.float64)
        return self._in_left_out_chunks(answers, len(given), out)

    def _in_left_out_chunks(
        self, function: Any, n: int, out: npt.NDArray[Any], more_bytes: int = 0
    ) -> npt.NDArray[Any]:
        return run_in_chunks(
            function,
            np.arange(n),
            out,
            n_jobs=self.n_jobs,
            bytes_per_query=self.left_out_bytes + more_bytes,
            most_queries=self.most_queries(),
        )

    def _rows_to_leave_out(self, numbers: Any) -> Rows:
        check_is_fitted(self, "labels_")
        rows = self.training_rows()
        if len(rows) < 2:
            raise ValueError(f"leaving a row out needs two training rows or more, got {len(rows)}")
        return rows if numbers is None else rows[check_rows(numbers, len(rows))]

    def _as_others(self, rows: Rows) -> Self:
        """The classifier as if it had class counts of its own for every row: those of the other rows."""
        copy = snapshot(self)
        copy.set_class_count(others_count(self._class_count, rows.classes, rows.each_weight))
        return copy


def check_rows(rows: Any, n_rows: int) -> npt.NDArray[np.int64]:
    """Numbers of training rows as an array; numbers of rows that are not there are refused.

    Examples
    --------
    >>> check_rows([2, 0], 3).tolist()
    [2, 0]
    >>> check_rows([3], 3)
    Traceback (most recent call last):
    ValueError: rows must be numbers from 0 to 2, got 3; rows are numbered in the order in which they came
    """
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and len(numbers)):
        raise ValueError(f"rows must be a list of whole numbers, got {rows!r:.80}")
    wrong = numbers[(numbers < 0) | (numbers >= n_rows)]
    if len(wrong):
        raise ValueError(
            f"rows must be numbers from 0 to {n_rows - 1}, got {wrong[0]}; rows are numbered in the order in "
            "which they came"
        )
    return numbers.astype(np.int64)
