"""Taking training rows out again."""

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from localbayes.classifiers.left_out import LeftOutAnswers, check_rows
from localbayes.classifiers.state import learning
from localbayes.counts import Codes, Rows, Statistic
from localbayes.counts.kept_rows import recast

__all__ = ["Forgetting", "find_rows"]


class Forgetting(LeftOutAnswers):
    """Takes rows out of what was learned, as if they had never been there."""

    sizes_: npt.NDArray[np.uint32]
    keeps_rows: ClassVar[bool]

    @property
    def statistic(self) -> Statistic:
        """The statistic of the training rows."""
        raise NotImplementedError

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""

    def check_queries(self, X: Any) -> Any:
        """The table as it is encoded."""
        raise NotImplementedError

    def encode_checked(self, X: Any) -> Codes:
        """Codes of a table that was checked."""
        raise NotImplementedError

    def empty_statistic(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> Statistic:
        """Statistic without rows."""
        raise NotImplementedError

    def adopt(self, statistic: Any) -> None:
        """Take a statistic as that of the training rows."""
        raise NotImplementedError

    def forget(self, X: Any = None, y: Any = None, *, rows: npt.ArrayLike | None = None) -> Self:
        """Take training rows out; the result is the same as from one fit on the rows that stay.

        Domains, bins, means, modes and classes stay as they are. What fit chooses (kappas, exponents, a tree)
        is chosen anew, as in partial_fit. The rows that stay are numbered from 0 again, in the same order. If
        any row is not there, none is taken out.

        Parameters
        ----------
        X : DataFrame, array or Coded of shape (n, m), optional
            Rows to take out, each as often as it stands here. Rows are equal if their codes are: numbers in
            the same bins, say. Of equal rows the oldest go. A row goes with all its weight.
        y : array-like of shape (n,), optional
            Their classes.
        rows : array-like of int, optional
            Numbers of the rows to take out, in place of X and y. Rows are numbered from 0, in the order in
            which they came to fit and partial_fit; those of weight zero are not counted.

        Returns
        -------
        self : object
            The classifier.

        Examples
        --------
        >>> from localbayes import NB
        >>> model = NB().fit([["a"], ["a"], ["b"], ["b"]], ["no", "yes", "yes", "yes"])
        >>> model.forget([["a"], ["b"]], ["yes", "yes"]).class_count_.tolist()
        [1, 1]
        >>> model.forget(rows=[0]).class_count_.tolist()
        [0, 1]
        >>> model.forget([["a"]], ["no"])
        Traceback (most recent call last):
        ValueError: row 0 of X, of class 'no', is not among the training rows; nothing was forgotten
        """
        with learning(self) as learner:
            learner._forget(X, y, rows)
        return self

    def _forget(self, X: Any, y: Any, numbers: Any) -> None:
        check_is_fitted(self, "labels_")
        self.check_parameters()
        by_value = X is not None or y is not None
        if by_value == (numbers is not None) or (by_value and (X is None or y is None)):
            raise ValueError(
                "forget needs either X and y, or rows; call forget(X, y) or forget(rows=numbers)"
            )
        known = self.training_rows()
        gone = self._numbers_of(X, y, known) if by_value else check_rows(numbers, len(known))
        kept = np.ones(len(known), dtype=bool)
        kept[gone] = False
        if np.count_nonzero(~kept) < len(gone):
            raise ValueError("rows must name each row once, got a number twice")
        if not kept.any():
            raise ValueError(
                f"forget must leave a training row, got all {len(known)}; fit on new rows instead"
            )
        rest = _plain(known[kept])
        statistic = self._without(known, known[~kept], rest)
        self.set_class_count(np.bincount(rest.classes, rest.weights, len(self.labels_)))
        self.keep_rows(rest, first=True)
        self.adopt(statistic)

    def _numbers_of(self, X: Any, y: Any, known: Rows) -> npt.NDArray[np.int64]:
        X = self.check_queries(X)
        check_consistent_length(X, y)
        codes, classes = recast(self.encode_checked(X), known.codes.dtype), self.labels_.encode(y)
        numbers = find_rows(known, Rows(codes, classes))
        if (numbers < 0).any():
            row = int((numbers < 0).argmax())
            raise ValueError(
                f"row {row} of X, of class {self.labels_.declared[classes[row]]!r}, is not among the "
                "training rows; nothing was forgotten"
            )
        return numbers

    def _without(self, known: Rows, gone: Rows, rest: Rows) -> Statistic:
        """The statistic of the rows that stay: whole counts subtract, anything else is counted anew."""
        part = self.empty_statistic(self.sizes_, len(self.labels_))
        if known.weights is None and not self.keeps_rows:
            part.add(gone.codes, gone.classes)
            counts: Any = self.statistic
            left: Statistic = counts - part
            return left
        part.add(rest.codes, rest.classes, rest.weights)
        return part


def _plain(rows: Rows) -> Rows:
    """The same rows, without weights if all weigh one."""
    weighted = rows.weights is not None and (rows.weights != 1).any()
    return rows if weighted else Rows(rows.codes, rows.classes)


def find_rows(known: Rows, wanted: Rows) -> npt.NDArray[np.int64]:
    """Position of each wanted row among the known ones, -1 if it is not there.

    Equal rows get different positions, the first ones.

    Examples
    --------
    >>> known = Rows(np.array([[1], [0], [1]], np.uint8), np.array([0, 0, 0]))
    >>> find_rows(known, Rows(np.array([[1], [1], [1]], np.uint8), np.array([0, 0, 0]))).tolist()
    [0, 2, -1]
    """
    m = known.codes.shape[1]
    factors = np.random.default_rng(0).integers(1, 2**63, m + 1, dtype=np.uint64) | np.uint64(1)
    # Rows that may be equal: the others need no sorting.
    near = np.flatnonzero(np.isin(_hashes(known, factors), _hashes(wanted, factors)))
    both = [np.column_stack([part.codes.astype(np.int64), part.classes]) for part in (known[near], wanted)]
    kinds = np.unique(np.concatenate(both), axis=0, return_inverse=True)[1].reshape(-1)
    have, want = (_numbered(part, len(kinds)) for part in (kinds[: len(near)], kinds[len(near) :]))
    _, at, of = np.intersect1d(have, want, assume_unique=True, return_indices=True)
    place: npt.NDArray[np.int64] = np.full(len(wanted), -1)
    place[of] = near[at]
    return place


def _hashes(rows: Rows, factors: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    total: npt.NDArray[np.uint64] = rows.classes.astype(np.uint64) * factors[-1]
    for column, factor in zip(rows.codes.T, factors[:-1], strict=True):
        total += column.astype(np.uint64) * factor
    return total


def _numbered(kinds: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """A number for every element: its kind, and how many of that kind came before it."""
    order = np.argsort(kinds, kind="stable")
    first = np.searchsorted(kinds[order], kinds[order])
    before = np.empty(len(kinds), np.int64)
    before[order] = np.arange(len(kinds)) - first
    return kinds * most + before
