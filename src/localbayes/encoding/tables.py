"""Read columns from frames, arrays, sparse matrices and lists."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from localbayes.encoding.columns import RawColumn
from localbayes.encoding.frames import frame_columns, is_pandas
from localbayes.encoding.raw_columns import (
    factorized,
    hold_numbers,
    is_missing,
    is_number,
    not_numeric,
    numbers_column,
    python_cells,
    with_nan,
)
from localbayes.encoding.rows import array_of_rows, as_frame, dense, unmasked

__all__ = [
    "check_table",
    "column_names",
    "is_frame",
    "is_missing",
    "read_columns",
    "small_numbers",
    "take_rows",
]


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars DataFrame."""
    return is_pandas(X) or nw.dependencies.is_polars_dataframe(X)


def column_names(X: Any) -> list[str]:
    """Column names of a frame, or x0, x1, ... of an array."""
    if is_frame(X):
        return [str(c) for c in (X.columns.tolist() if is_pandas(X) else X.columns)]
    return [f"x{i}" for i in range(np.shape(X)[1])]


def read_columns(X: Any, categorical: Sequence[bool | None]) -> list[RawColumn]:
    """Read every column; ``categorical[i]`` forces a kind, None leaves it to the dtype."""
    numbers = None if any(categorical) else small_numbers(X)
    if numbers is not None:
        return [numbers_column(name, numbers[:, i]) for i, name in enumerate(column_names(X))]
    if is_frame(X):
        return frame_columns(X, column_names(X), categorical)
    return [
        _array_column(f"x{i}", X[:, i], forced)
        for i, forced in zip(range(X.shape[1]), categorical, strict=True)
    ]


def small_numbers(X: Any) -> npt.NDArray[np.float64] | None:
    """All cells of a small pandas frame whose columns are NumPy numbers; None for any other table.

    One copy of all cells is faster than asking pandas for one column after the other.
    """
    if not is_pandas(X) or X.size > 1 << 20:
        return None
    if not all(isinstance(t, np.dtype) and t.kind in "iuf" for t in set(X.dtypes.array)):
        return None
    numbers: npt.NDArray[np.float64] = X.to_numpy(dtype=np.float64)
    return numbers


def check_table(X: Any, estimator: Any) -> Any:
    """A frame as it is, anything else as a frame or a two-dimensional array; empty tables are refused."""
    X = as_frame(X, getattr(estimator, "feature_names_in_", ()))
    if is_frame(X):
        _refuse_twins(column_names(X))
        if 0 in X.shape:
            check_array(np.empty(X.shape), estimator=estimator)
        return X
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, which holds no rows yet; pass X.collect()")
    if hasattr(X, "compute") and hasattr(X, "columns"):
        raise TypeError(
            f"X is a {type(X).__name__} whose rows are not here; pass X.compute() "
            "or use localbayes.distributed"
        )
    if issparse(X):
        X = dense(X)
    if isinstance(X, list | tuple):
        X = array_of_rows(X)
    if isinstance(X, np.ma.MaskedArray):
        X = unmasked(X)
    return check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)


def _refuse_twins(names: list[str]) -> None:
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twin = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"two columns of X are called {twin!r}; columns need different names")


def take_rows(X: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """Rows of a table where ``kept`` is true."""
    if is_pandas(X):
        return X.loc[kept]
    return X.filter(kept) if nw.dependencies.is_polars_dataframe(X) else X[kept]


def _array_column(name: str, column: npt.NDArray[Any], categorical: bool | None) -> RawColumn:
    if categorical is None:
        categorical = column.dtype.kind not in "iuf"
        if column.dtype.kind == "O":
            categorical = not hold_numbers(column.tolist())
    if categorical:
        return factorized(name, column)
    numbers = None
    with suppress(TypeError, ValueError, OverflowError):
        cells = np.asarray(with_nan(column.tolist())) if column.dtype == object else column
        if cells.dtype.kind in "biufU" or all(map(is_number, cells)):
            numbers = cells.astype(np.float64)
    if numbers is None:
        raise not_numeric(name, python_cells(column))
    return numbers_column(name, numbers)
