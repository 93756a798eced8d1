"""Codes of training rows, kept in the order in which they came."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.match import MatchIndex
from localbayes.counts.protocol import Codes, Floats
from localbayes.encoding.coded import code_dtype, missing_code, unseen_code

__all__ = ["KeptRows", "Rows", "recast", "rows_in_order"]


@dataclass(frozen=True)
class Rows:
    """Some rows: their codes as those of queries, their classes and their weights.

    Attributes
    ----------
    codes : ndarray of shape (n, m)
        Codes; a value outside its domain has that of a value never seen.
    classes : ndarray of shape (n,)
        Class codes, in declared order.
    weights : ndarray of shape (n,), optional
        Weights; None if all weigh one.
    """

    codes: Codes
    classes: npt.NDArray[np.int64]
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, at: Any) -> "Rows":
        """The rows at some positions."""
        weights = None if self.weights is None else self.weights[at]
        return Rows(self.codes[at], self.classes[at], weights)

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        arrays = (self.codes, self.classes, self.weights)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def each_weight(self) -> Floats:
        """Weight of every row."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def own_weight(self) -> Floats | None:
        """How much of each row is left out when it is classified: one row of several, or what there is."""
        return None if self.weights is None else np.minimum(self.weights, 1.0)

    def joined(self, other: "Rows") -> "Rows":
        """These rows, then the others; codes get the wider of both types."""
        dtype = max(self.codes.dtype, other.codes.dtype, key=lambda kind: kind.itemsize)
        codes = [recast(rows.codes, dtype) for rows in (self, other)]
        weighted = self.weights is not None or other.weights is not None
        return Rows(
            np.concatenate(codes),
            np.concatenate([self.classes, other.classes]),
            np.concatenate([self.each_weight, other.each_weight]) if weighted else None,
        )


class KeptRows:
    """Training rows of a classifier that counts values: what is needed to leave one out.

    Codes are of the smallest type that has room for the domains. Adding makes a new object. Parts of similar
    size are joined, so adding rows one by one stays cheap.

    Examples
    --------
    >>> kept = KeptRows().added(Rows(np.array([[0, 1], [1, 2]], np.uint8), np.array([0, 1])))
    >>> kept = kept.added(Rows(np.array([[1, 0]], np.uint8), np.array([1])))
    >>> kept.n_rows, kept.rows().codes.tolist()
    (3, [[0, 1], [1, 2], [1, 0]])
    """

    def __init__(self, parts: tuple[Rows, ...] = ()) -> None:
        self._parts = parts

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(map(len, self._parts))

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        return sum(part.nbytes for part in self._parts)

    def added(self, rows: Rows) -> "KeptRows":
        """The same rows, and others after them; these are copied."""
        classes = rows.classes.astype(np.min_scalar_type(int(rows.classes.max(initial=0))))
        weights = None if rows.weights is None else rows.weights.copy()
        parts = [*self._parts, Rows(rows.codes.copy(), classes, weights)]
        while len(parts) > 1 and 2 * len(parts[-1]) >= len(parts[-2]):
            last = parts.pop()
            parts[-1] = parts[-1].joined(last)
        return KeptRows(tuple(parts))

    def rows(self) -> Rows:
        """All rows."""
        whole = self._parts[0]
        for part in self._parts[1:]:
            whole = whole.joined(part)
        return Rows(whole.codes, whole.classes.astype(np.int64), whole.weights)


def recast(codes: Codes, dtype: Any) -> Codes:
    """Codes in another type, which must have room for them; the two reserved codes become those of the type.

    Examples
    --------
    >>> recast(np.array([[3, 254, 255]], np.uint8), np.uint16).tolist()
    [[3, 65534, 65535]]
    """
    if codes.dtype == dtype:
        return codes
    cast: Codes = codes.astype(dtype)
    cast[codes == unseen_code(codes.dtype)] = unseen_code(dtype)
    cast[codes == missing_code(codes.dtype)] = missing_code(dtype)
    return cast


def rows_in_order(index: MatchIndex, sizes: npt.NDArray[np.uint32]) -> Rows:
    """Rows of an index in the order in which they came, in codes of the smallest type for such domains.

    Parameters
    ----------
    index : MatchIndex
        The indexed rows.
    sizes : array of shape (n_attributes,)
        Number of values of each attribute.

    Examples
    --------
    >>> index = MatchIndex(np.array([2, 2], np.uint32), n_classes=2)
    >>> index.add(np.array([[0, 1], [1, 0], [0, 0]], np.uint8), np.array([1, 0, 1]))
    >>> rows_in_order(index, index.sizes).codes.tolist()
    [[0, 1], [1, 0], [0, 0]]
    """
    n, weighted = index.n_rows, False
    dtype = code_dtype(int(sizes.max(initial=1)))
    codes, classes, weights = np.empty((n, len(sizes)), dtype), np.empty(n, np.int64), np.ones(n)
    for part, part_classes, at, part_weights in index.training_rows():
        codes[at], classes[at] = recast(index.as_queries(part), dtype), part_classes
        if part_weights is not None:
            weights[at], weighted = part_weights, True
    return Rows(codes, classes, weights if weighted else None)
