"""Reading columns out of pandas and polars frames, arrays and lists."""

import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array

from localbayes.encoding.columns import RawColumn

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
    return _is_pandas(X) or _is_polars(X)


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _is_polars(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def column_names(X: Any) -> list[str]:
    """Column names of a frame, or x0, x1, ... of an array."""
    if is_frame(X):
        return [str(c) for c in (X.columns.tolist() if _is_pandas(X) else X.columns)]
    return [f"x{i}" for i in range(np.shape(X)[1])]


def read_columns(X: Any, categorical: Sequence[bool | None]) -> list[RawColumn]:
    """Read every column; ``categorical[i]`` forces a kind, None leaves it to the dtype."""
    numbers = None if any(categorical) else small_numbers(X)
    if numbers is not None:
        return [_numbers(name, numbers[:, i]) for i, name in enumerate(column_names(X))]
    if is_frame(X):
        read = _pandas_column if _is_pandas(X) else _polars_column
        columns = [column for _, column in X.items()] if _is_pandas(X) else X.get_columns()
        return [
            read(name, column, forced)
            for name, column, forced in zip(column_names(X), columns, categorical, strict=True)
        ]
    return [
        _array_column(f"x{i}", X[:, i], forced)
        for i, forced in zip(range(X.shape[1]), categorical, strict=True)
    ]


def small_numbers(X: Any) -> npt.NDArray[np.float64] | None:
    """All cells of a pandas frame of NumPy's numbers that has so few that a copy is nothing, else None.

    Pandas takes longer to hand out columns one by one than we to cut them into bins.
    """
    if not _is_pandas(X) or X.size > 1 << 20:
        return None
    if not all(isinstance(t, np.dtype) and t.kind in "iuf" for t in set(X.dtypes.array)):
        return None
    numbers: npt.NDArray[np.float64] = X.to_numpy(dtype=np.float64)
    return numbers


def check_table(X: Any, estimator: Any) -> Any:
    """A frame as it is, anything else as a two-dimensional array; empty and sparse tables are refused."""
    if is_frame(X):
        if 0 in X.shape:
            check_array(np.empty(X.shape), estimator=estimator)
        return X
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, which holds no rows yet; pass X.collect()")
    if isinstance(X, list | tuple):
        X = _array_of_rows(X)
    if isinstance(X, np.ma.MaskedArray):
        masked, X = np.ma.getmaskarray(X), X.data.astype(float if X.dtype.kind in "iuf" else object)
        X[masked] = np.nan
    return check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)


def take_rows(X: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """Rows of a table where ``kept`` is true."""
    if _is_pandas(X):
        return X.loc[kept]
    return X.filter(kept) if _is_polars(X) else X[kept]


def _array_of_rows(rows: Sequence[Any]) -> npt.NDArray[Any]:
    """Rows as an array of objects: left to NumPy, [1.0, "a"] would become the strings "1.0" and "a"."""
    lengths = sorted({len(row) for row in rows if isinstance(row, list | tuple)})
    if len(lengths) > 1:
        raise ValueError(f"X has rows of different lengths, from {lengths[0]} to {lengths[-1]}")
    return np.array(rows, dtype=object)


def _pandas_column(name: str, column: Any, categorical: bool | None) -> RawColumn:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) and categorical is not False:
        codes = column.array.codes.astype(np.int64)
        return RawColumn(name, codes=codes, values=column.dtype.categories.tolist(), declared=True)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf" and not categorical:
        return _numbers(name, column.to_numpy(dtype=np.float64))
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if categorical is None:
        categorical = not numeric
    if categorical:
        try:
            codes, values = pd.factorize(column)
        except TypeError:
            return _factorize(name, column.to_numpy(dtype=object))
        return RawColumn(name, codes=codes.astype(np.int64), values=values.tolist())
    if getattr(column.dtype, "kind", "") == "c":
        raise ValueError(f"column {name!r} holds complex numbers; expected real ones or categories")
    try:
        series = column if numeric else pd.to_numeric(column.astype(object))
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise _not_numeric(name, column.tolist()) from None
    return _numbers(name, numbers)


def _polars_column(name: str, column: Any, categorical: bool | None) -> RawColumn:
    import polars as pl

    # Only an Enum declares a domain: all columns of type Categorical share one pool of strings.
    if column.dtype == pl.Enum and categorical is not False:
        codes = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return RawColumn(name, codes=codes, values=column.dtype.categories.to_list(), declared=True)
    if categorical is None:
        categorical = not column.dtype.is_numeric()
    if categorical:
        return _factorize(name, _object_array(column.to_list()))
    try:
        words = column.cast(pl.String) if column.dtype in (pl.Enum, pl.Categorical) else column
        return _numbers(name, words.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    except pl.exceptions.PolarsError:
        raise _not_numeric(name, column.to_list()) from None


def _array_column(name: str, column: npt.NDArray[Any], categorical: bool | None) -> RawColumn:
    if categorical is None:
        categorical = column.dtype.kind not in "iuf"
        if column.dtype.kind == "O":
            known = [v for v in column.tolist() if not is_missing(v)]
            categorical = not known or any(
                isinstance(v, bool) or not isinstance(v, int | float | np.number) for v in known
            )
    if categorical:
        return _factorize(name, column)
    try:
        cells = (
            [np.nan if is_missing(v) else v for v in column.tolist()] if column.dtype == object else column
        )
        numbers = np.asarray(cells).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _not_numeric(name, column.tolist()) from None
    return _numbers(name, numbers)


def _numbers(name: str, numbers: npt.NDArray[np.float64]) -> RawColumn:
    if np.isinf(numbers).any():
        raise ValueError(
            f"column {name!r} contains infinity; replace it by a finite number or by NaN (missing)"
        )
    return RawColumn(name, numbers=numbers)


def _not_numeric(name: str, values: list[Any]) -> ValueError:
    strange = next((value for value in values if not is_missing(value) and not _is_number(value)), values[0])
    return ValueError(
        f"column {name!r} is to be numeric but holds {strange!r:.40}; convert it, or list it in "
        "categorical_features before fit"
    )


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _factorize(name: str, column: npt.NDArray[Any]) -> RawColumn:
    if column.dtype.kind in "biuf":
        absent = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), bool)
        values, inverse = np.unique(column[~absent], return_inverse=True)
        codes = np.full(len(column), -1, dtype=np.int64)
        codes[~absent] = inverse
        return RawColumn(name, codes=codes, values=values.tolist())
    position: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    try:
        for k, value in enumerate(column.tolist()):
            codes[k] = -1 if is_missing(value) else position.setdefault(value, len(position))
    except TypeError:
        raise TypeError(
            f"column {name!r} holds {type(value).__name__} values; categories must be hashable: "
            "a string, a number or a bool"
        ) from None
    return RawColumn(name, codes=codes, values=list(position))


def _object_array(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, pandas' NA or NaT."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating | Decimal) and value != value)
    )
