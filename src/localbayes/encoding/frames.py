"""Columns of frames: pandas directly, all other libraries by way of narwhals.

To wrap a column in narwhals and to ask for its type takes about 30 microseconds, which is more than to read a
column of pandas. So a frame of pandas, the most frequent one, is read without narwhals.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from localbayes.encoding.columns import RawColumn
from localbayes.encoding.raw_columns import (
    categories,
    factorized,
    hold_numbers,
    not_numeric,
    numbers_column,
    object_array,
    with_nan,
)

__all__ = ["frame_columns", "is_pandas"]

# Up to so many cells, a frame is read cell by cell: to ask a library for its columns takes longer.
_FEW_CELLS = 2048
# Up to so many rows, Python finds the categories of a column faster than pandas.
_FEW_ROWS = 64
_PLAIN = {int, float, type(None)}


def is_pandas(X: Any) -> bool:
    """Whether X is a pandas DataFrame."""
    return nw.dependencies.is_pandas_dataframe(X)


def frame_columns(X: Any, names: Sequence[str], categorical: Sequence[bool | None]) -> list[RawColumn]:
    """Read every column of a frame; ``categorical[i]`` forces a kind, None leaves it to the dtype."""
    pandas = is_pandas(X)
    if None not in categorical and X.shape[0] * X.shape[1] <= _FEW_CELLS and not _declares(X, pandas):
        return _columns_of_few_cells(X, pandas, names, categorical)
    wanted = zip(names, _columns(X, pandas), categorical, strict=True)
    return [_column(name, column, kind, pandas) for name, column, kind in wanted]


def _columns(X: Any, pandas: bool) -> Iterable[Any]:
    return (
        (column for _, column in X.items()) if pandas else nw.from_native(X, eager_only=True).iter_columns()
    )


def _column(name: str, column: Any, categorical: bool | None, pandas: bool) -> RawColumn:
    return _pandas_column(name, column, categorical) if pandas else _other_column(name, column, categorical)


def _columns_of_few_cells(
    X: Any, pandas: bool, names: Sequence[str], categorical: Sequence[bool | None]
) -> list[RawColumn]:
    """Read columns whose kinds are known from their cells; those that are not plain, by themselves."""
    cells = X.to_numpy(dtype=object).T if pandas else zip(*X.rows(), strict=True)
    found = []
    for i, (name, column, forced) in enumerate(zip(names, cells, categorical, strict=True)):
        values = column.tolist() if pandas else column
        if forced:
            found.append(factorized(name, column if pandas else object_array(column)))
        elif (numbers := _plain_numbers(values)) is not None:
            found.append(numbers_column(name, numbers))
        else:
            single = X.iloc[:, i] if pandas else nw.from_native(X[:, i], series_only=True)
            found.append(_column(name, single, forced, pandas))
    return found


def _plain_numbers(cells: Sequence[Any]) -> npt.NDArray[np.float64] | None:
    if _PLAIN.issuperset(map(type, cells)):
        with suppress(OverflowError):
            return np.array(cells, dtype=np.float64)
    return None


def _declares(X: Any, pandas: bool) -> bool:
    """Whether any column declares a domain."""
    if pandas:
        return any(kind.name == "category" for kind in X.dtypes.array)
    # Only an Enum declares one: all columns of polars' type Categorical share one pool of strings.
    return any(str(kind).startswith("Enum") for kind in X.dtypes)


def _pandas_column(name: str, column: Any, categorical: bool | None) -> RawColumn:
    import pandas as pd

    kind = column.dtype
    if categorical and kind.kind == "O" and kind.name != "category" and len(column) <= _FEW_ROWS:
        return factorized(name, column.to_numpy(dtype=object))
    if isinstance(kind, pd.CategoricalDtype) and categorical is not False:
        codes = column.array.codes.astype(np.int64)
        return categories(name, codes, column.dtype.categories.tolist(), declared=True)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf" and not categorical:
        return numbers_column(name, column.to_numpy(dtype=np.float64))
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if categorical is None:
        categorical = not numeric and not (kind.name == "object" and hold_numbers(column))
    if categorical:
        try:
            codes, values = pd.factorize(column)
        except (TypeError, NotImplementedError):
            return factorized(name, column.to_numpy(dtype=object))
        return categories(name, codes.astype(np.int64), values.tolist())
    numbers = None
    with suppress(TypeError, ValueError, OverflowError):
        plain = numeric or column.dtype.kind in "mM"
        series = column if plain else pd.to_numeric(pd.Series(with_nan(column.tolist()), dtype=object))
        if series.dtype.kind not in "cmM":
            numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    if numbers is None:
        raise not_numeric(name, column.tolist())
    return numbers_column(name, numbers)


def _other_column(name: str, column: Any, categorical: bool | None) -> RawColumn:
    kind = column.dtype
    if kind == nw.Enum and categorical is not False:
        values = list(kind.categories)
        places = list(range(len(values)))
        codes = column.replace_strict(values, places, default=-1, return_dtype=nw.Int64).to_numpy()
        return RawColumn(name, codes=codes, values=values, declared=True)
    if categorical is None:
        categorical = not kind.is_numeric()
    if categorical:
        return factorized(name, object_array(column.to_list()))
    if kind.is_temporal():
        raise not_numeric(name, column.to_list())
    words = column.cast(nw.String) if kind in (nw.Enum, nw.Categorical) else column
    try:
        numbers = words.cast(nw.Float64).to_numpy()
    except Exception:  # each library has errors of its own
        raise not_numeric(name, column.to_list()) from None
    return numbers_column(name, numbers)
