"""Read columns from pandas and polars frames, arrays and lists."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array

from localbayes.encoding.columns import RawColumn
from localbayes.encoding.rows import array_of_rows, as_frame, unmasked

__all__ = [
    "check_table",
    "column_names",
    "is_frame",
    "is_missing",
    "read_columns",
    "small_numbers",
    "take_rows",
]

# Types whose missing value does not equal itself.
_MAY_BE_NAN = (float, complex, np.inexact, np.datetime64, np.timedelta64)

# Types that NumPy converts to numbers although they are not.
_NO_NUMBERS = (complex, np.complexfloating, np.datetime64, np.timedelta64)

# Types of dates and times, by name because pandas may not be installed.
_TIMES = {"date", "datetime64", "timedelta64", "Timestamp", "Timedelta"}


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
    """All cells of a small pandas frame whose columns are NumPy numbers; None for any other table.

    One copy of all cells is faster than asking pandas for one column after the other.
    """
    if not _is_pandas(X) or X.size > 1 << 20:
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
    if _is_pandas(X):
        return X.loc[kept]
    return X.filter(kept) if _is_polars(X) else X[kept]


def _pandas_column(name: str, column: Any, categorical: bool | None) -> RawColumn:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) and categorical is not False:
        codes = column.array.codes.astype(np.int64)
        return _categories(name, codes, column.dtype.categories.tolist(), declared=True)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf" and not categorical:
        return _numbers(name, column.to_numpy(dtype=np.float64))
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if categorical is None:
        categorical = not numeric
    if categorical:
        try:
            codes, values = pd.factorize(column)
        except (TypeError, NotImplementedError):
            return _factorize(name, column.to_numpy(dtype=object))
        return _categories(name, codes.astype(np.int64), values.tolist())
    numbers = None
    with suppress(TypeError, ValueError, OverflowError):
        plain = numeric or column.dtype.kind in "mM"
        series = column if plain else pd.to_numeric(pd.Series(_with_nan(column.tolist()), dtype=object))
        if series.dtype.kind not in "cmM":
            numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    if numbers is None:
        raise _not_numeric(name, column.tolist())
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
    if column.dtype.is_temporal():
        raise _not_numeric(name, column.to_list())
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
            others = (bool, *_NO_NUMBERS)
            categorical = not known or any(
                isinstance(v, others) or not isinstance(v, int | float | np.number) for v in known
            )
    if categorical:
        return _factorize(name, column)
    numbers = None
    with suppress(TypeError, ValueError, OverflowError):
        cells = np.asarray(_with_nan(column.tolist())) if column.dtype == object else column
        if cells.dtype.kind in "biufU" or all(map(_is_number, cells)):
            numbers = cells.astype(np.float64)
    if numbers is None:
        raise _not_numeric(name, _cells(column))
    return _numbers(name, numbers)


def _with_nan(cells: list[Any]) -> list[Any]:
    return [np.nan if is_missing(value) else value for value in cells]


def _cells(column: npt.NDArray[Any]) -> list[Any]:
    """Cells as Python objects; a time with nanoseconds, or a missing one, stays a NumPy object."""
    if column.dtype.kind not in "mM":
        return list(column.tolist())
    short = column.astype(f"{column.dtype.kind}8[us]")
    same = short.astype(column.dtype) == column
    # Where the year is beyond Python's, ``tolist`` gives an integer.
    same &= [not isinstance(value, int) for value in short.tolist()]
    return [a if ok else b for a, b, ok in zip(short.tolist(), column, same, strict=True)]


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
    if isinstance(value, _NO_NUMBERS):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _factorize(name: str, column: npt.NDArray[Any]) -> RawColumn:
    if column.dtype.kind in "biufmM":
        absent = column != column  # NaN or NaT
        values, inverse = np.unique(column[~absent], return_inverse=True)
        codes = np.full(len(column), -1, dtype=np.int64)
        codes[~absent] = inverse
        return _categories(name, codes, _cells(values))
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
    return _categories(name, codes, list(position))


def _categories(
    name: str, codes: npt.NDArray[np.int64], values: list[Any], declared: bool = False
) -> RawColumn:
    """A column of categories, in which a time is the same value whatever library it comes from."""
    if not _TIMES.isdisjoint(kind.__name__ for kind in set(map(type, values))):
        times = [_python_time(value) for value in values]
        values = list(dict.fromkeys(times))
        if len(values) < len(times):  # a date and its midnight were two values
            position = {value: k for k, value in enumerate(values)}
            codes = np.array([*map(position.get, times), -1], dtype=np.int64)[codes]
    return RawColumn(name, codes=codes, values=values, declared=declared)


def _python_time(value: Any) -> Any:
    """A date or time as a Python object, or as a NumPy object if it has nanoseconds."""
    kind = type(value).__name__
    if type(value) is date:
        return datetime.combine(value, time())
    in_nanoseconds = getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0)
    if kind in ("Timestamp", "Timedelta") and in_nanoseconds and not getattr(value, "tzinfo", None):
        return value.to_numpy()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _cells(np.array([value]))[0]
    return value


def _object_array(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NaT or pandas' NA.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), np.datetime64("NaT"), "", 0)]
    [True, True, True, False, False]
    """
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, _MAY_BE_NAN) and bool(value != value))
        or (isinstance(value, Decimal) and value.is_nan())
    )
