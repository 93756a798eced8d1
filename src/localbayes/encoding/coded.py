"""A table that is already integer codes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Coded", "any_outside", "code_dtype", "missing_code", "unseen_code"]

Codes = npt.NDArray[np.unsignedinteger[Any]]


def code_dtype(largest_size: int) -> type[np.unsignedinteger[Any]]:
    """Smallest unsigned type for codes below ``largest_size`` and the two reserved codes.

    Parameters
    ----------
    largest_size : int
        Number of values of the column that has the most.
    """
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest_size <= np.iinfo(dtype).max - 1:
            return dtype
    raise ValueError(f"a column may have at most 2**32 - 2 values, got {largest_size}")


def unseen_code(dtype: npt.DTypeLike) -> int:
    """Code of a value that was never seen in fit."""
    return int(np.iinfo(np.dtype(dtype)).max)


def missing_code(dtype: npt.DTypeLike) -> int:
    """Code of a missing value, where missing values are left unknown."""
    return int(np.iinfo(np.dtype(dtype)).max) - 1


def any_outside(codes: Codes, sizes: npt.NDArray[np.uint32]) -> bool:
    """Whether any code is outside its column's domain, that is at least the column's size.

    Examples
    --------
    >>> any_outside(np.array([[0, 2], [1, 0]], np.uint8), np.array([2, 3], np.uint32))
    False
    """
    # NumPy takes the maxima of 64 rows side by side as fast as those of one.
    n, m = codes.shape
    tall = n // 64 * 64
    largest = codes[:tall].reshape(-1, 64 * m).max(axis=0, initial=0).reshape(64, m).max(axis=0)
    return bool((largest >= sizes).any() or (codes[tall:] >= sizes).any())


class Coded:
    """A table of integer codes with declared domains, accepted wherever a DataFrame is.

    Encoding a DataFrame costs time. To fit many models on parts of one table, encode it once.

    Parameters
    ----------
    codes : array of shape (n, m)
        Code of every cell, ``0 <= code < sizes[i]``. A larger code is a value never seen in training.
    sizes : array of shape (m,)
        Number of declared values of every column.
    names : sequence of str, optional
        Column names.
    missing : array of bool of shape (n, m), optional
        Cells whose value is missing, whatever their code. They get the second largest code of the dtype.
        Classifiers with ``missing="ignore"`` leave them unknown; all others take them for a value never
        seen, because the encoding was not theirs.
    ordered : array of bool of shape (m,), optional
        Columns whose codes are bins in order; by default none.

    Examples
    --------
    >>> table = Coded([[0, 1], [1, 2], [0, 0]], sizes=[2, 3])
    >>> len(table), table[1:].codes.tolist()
    (3, [[1, 2], [0, 0]])
    >>> Coded([[0, -1]], sizes=[2, 3], missing=[[False, True]]).codes.tolist()
    [[0, 254]]
    """

    def __init__(
        self,
        codes: npt.ArrayLike,
        sizes: npt.ArrayLike,
        names: Sequence[str] | None = None,
        missing: npt.ArrayLike | None = None,
        ordered: npt.ArrayLike | None = None,
    ) -> None:
        self.sizes = _checked_sizes(sizes)
        array = np.asarray(codes)
        if array.ndim != 2 or array.shape[1] != len(self.sizes):
            raise ValueError(
                f"codes must have a column per size: got shape {array.shape} and {len(self.sizes)} sizes"
            )
        largest = int(self.sizes.max(initial=1))
        if array.dtype.kind not in "iu":
            raise ValueError(f"codes must be whole numbers, got dtype {array.dtype}")
        absent = None if missing is None else _checked_mask(missing, array.shape)
        if absent is not None:
            array = np.where(absent, 0, array.astype(np.int64))
        if array.dtype.kind == "i":
            if array.size and array.min() < 0:
                raise ValueError(f"codes must not be negative, got {array.min()}")
            dtype = code_dtype(max(largest, int(array.max(initial=0)) + 1))
            array = array.astype(dtype)
            if absent is not None:
                array[absent] = missing_code(dtype)
        else:
            array = _without_missing(array, self.sizes)
        self.codes: Codes = np.ascontiguousarray(array)
        self.ordered = np.zeros(len(self.sizes), bool) if ordered is None else np.asarray(ordered)
        if self.ordered.dtype != np.bool_ or self.ordered.shape != self.sizes.shape:
            raise ValueError(f"ordered must say True or False of every column, got {ordered!r:.80}")
        self.names = None if names is None else list(names)
        if self.names is not None and len(self.names) != len(self.sizes):
            raise ValueError(
                f"every column needs a name: got {len(self.names)} for {len(self.sizes)} columns"
            )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self.codes), len(self.sizes))

    @property
    def ordered_sizes(self) -> npt.NDArray[np.int64]:
        """Number of values of every column that are in order, from the first on; 0 if it is nominal."""
        return np.where(self.ordered, self.sizes, 0).astype(np.int64)

    def __getitem__(self, rows: Any) -> "Coded":
        part = object.__new__(Coded)
        part.sizes, part.names, part.ordered = self.sizes, self.names, self.ordered
        part.codes = np.ascontiguousarray(np.atleast_2d(self.codes[rows]))
        return part

    def recoded(self, sizes: npt.NDArray[np.uint32], keep_missing: bool) -> Codes:
        """Codes in the dtype that ``sizes`` ask for, with the reserved codes of that dtype.

        Missing values keep their own code if ``keep_missing``; otherwise they count as never seen.
        """
        dtype = code_dtype(int(sizes.max()))
        sizes = np.minimum(sizes, self.sizes)  # a code that is unseen in the table stays unseen
        if not any_outside(self.codes, sizes):
            return self.codes.astype(dtype, copy=False)
        outside = self.codes >= sizes
        code = np.array(unseen_code(dtype), dtype)
        if keep_missing:
            absent = self.codes == missing_code(self.codes.dtype)
            code = np.where(absent, np.array(missing_code(dtype), dtype), code)
        return np.where(outside, code, self.codes).astype(dtype, copy=False)


def _without_missing(codes: Codes, sizes: npt.NDArray[np.uint32]) -> Codes:
    """Codes in which the one reserved for missing values stands for a value never seen, as it was given."""
    reserved = missing_code(codes.dtype)
    if not codes.size or codes.max() < reserved:
        return codes
    return np.where((codes == reserved) & (codes >= sizes), codes.dtype.type(unseen_code(codes.dtype)), codes)


def _checked_mask(missing: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    mask = np.asarray(missing)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise ValueError(
            f"missing must say True or False of every code: got {mask.dtype} of shape {mask.shape}, "
            f"expected bool of shape {shape}"
        )
    return mask


def _checked_sizes(sizes: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    array = np.asarray(sizes)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array < 1).any():
        raise ValueError(f"sizes must be whole numbers >= 1, one per column, got {sizes!r}")
    code_dtype(int(array.max(initial=1)))
    return array.astype(np.uint32)
