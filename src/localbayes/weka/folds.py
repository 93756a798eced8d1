"""Repeated stratified cross-validation with the folds of Weka's Experimenter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from localbayes.parameters import check_count
from localbayes.weka.random import JavaRandom

__all__ = ["WekaFolds", "split_run"]


class WekaFolds(BaseCrossValidator):  # type: ignore[misc]
    """The folds that Weka 3.6's Experimenter makes, as a scikit-learn splitter.

    Run 1, 2, ... shuffles the rows with `java.util.Random(run)` and stratifies them by class, so results
    can be compared fold by fold with tables made by Weka. Training and test rows come in Weka's order.

    Parameters
    ----------
    n_splits : int, default=10
        Folds in a run.
    n_repeats : int, default=10
        Runs; the seed of a run is its number, beginning with 1.

    Examples
    --------
    >>> from localbayes.weka import WekaFolds
    >>> y = ["no", "no", "yes", "yes", "yes", "no", "yes"]
    >>> for train, test in WekaFolds(n_splits=3, n_repeats=1).split(y, y):
    ...     print(train, test)
    [2 6 5 0] [3 4 1]
    [5 1 4 3 6] [2 0]
    [3 1 4 0 2] [6 5]
    """

    def __init__(self, n_splits: int = 10, n_repeats: int = 10) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of (train, test) pairs: folds times runs. The arguments are not used."""
        return self.n_splits * self.n_repeats

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the training and test rows of each fold, run after run.

        Parameters
        ----------
        X : array-like or None
            Only its number of rows is used.
        y : array-like of shape (n_samples,)
            Class labels; none may be missing.
        groups : ignored
            It is here for scikit-learn's sake.
        """
        if y is None:
            raise ValueError("WekaFolds stratifies by class: pass the class labels as y, got y=None")
        if X is not None:
            check_consistent_length(X, y)
        codes = _class_codes(y)
        check_count("n_repeats", self.n_repeats)
        _check_folds(self.n_splits, codes.size)
        for run in range(1, self.n_repeats + 1):
            random = JavaRandom(run)
            rows = _stratified(codes, random, self.n_splits)
            for begin, end in _slices(codes.size, self.n_splits):
                rest = np.concatenate([rows[:begin], rows[end:]])
                yield random.shuffled(rest), rows[begin:end]


def split_run(y_codes: ArrayLike, run: int, n_splits: int = 10) -> list[NDArray[np.intp]]:
    """Return the test rows of each fold of one run.

    Parameters
    ----------
    y_codes : array-like of int
        Class of each row, as a number; only equality matters.
    run : int
        Number of the run, which is its seed; Weka begins with 1.
    n_splits : int, default=10
        Folds in the run.

    Examples
    --------
    >>> split_run([0, 0, 1, 1, 1, 0, 1], run=1, n_splits=3)
    [array([3, 4, 1]), array([2, 0]), array([6, 5])]
    """
    codes = np.asarray(y_codes)
    _check_folds(n_splits, codes.size)
    rows = _stratified(codes, JavaRandom(run), n_splits)
    return [rows[begin:end] for begin, end in _slices(codes.size, n_splits)]


def _stratified(codes: NDArray[Any], random: JavaRandom, n_splits: int) -> NDArray[np.intp]:
    """Row numbers: shuffled, grouped by class, then dealt out to the folds."""
    rows = random.shuffled(codes.size)
    classes = codes[rows]
    start = 0
    while start < rows.size:
        target = start + 1
        for found in target + np.flatnonzero(classes[target:] == classes[start]):
            rows[target], rows[found] = rows[found], rows[target]
            classes[target], classes[found] = classes[found], classes[target]
            target += 1
        start = target
    return np.concatenate([rows[first::n_splits] for first in range(n_splits)])


def _slices(n_rows: int, n_splits: int) -> list[tuple[int, int]]:
    """Begin and end of each fold; the first n_rows % n_splits have one row more."""
    small, larger = divmod(n_rows, n_splits)
    ends = np.cumsum([small + (fold < larger) for fold in range(n_splits)]).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _class_codes(y: Any) -> NDArray[np.intp]:
    labels = column_or_1d(y)
    absent = y.isna() if hasattr(y, "isna") else [label is None or label != label for label in labels]
    n_absent = int(np.count_nonzero(absent))
    if n_absent:
        raise ValueError(f"{n_absent} rows have no class label: drop them before splitting into folds")
    if labels.dtype.kind == "f" and type_of_target(labels) == "continuous":
        raise ValueError("WekaFolds stratifies by class, got a continuous y: pass class labels")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()], dtype=np.intp)


def _check_folds(n_splits: int, n_rows: int) -> None:
    check_count("n_splits", n_splits, at_least=2)
    if n_splits > n_rows:
        raise ValueError(f"cannot make {n_splits} folds of {n_rows} rows: lower n_splits")
