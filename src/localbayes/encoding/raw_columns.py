"""Columns of cells as numbers or categories, whatever library the cells come from."""

from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.columns import RawColumn

__all__ = [
    "NO_NUMBERS",
    "categories",
    "factorized",
    "hold_numbers",
    "is_missing",
    "is_number",
    "not_numeric",
    "numbers_column",
    "object_array",
    "python_cells",
    "with_nan",
]

# Types whose missing value does not equal itself.
_MAY_BE_NAN = (float, complex, np.inexact, np.datetime64, np.timedelta64)

# Types that NumPy converts to numbers although they are not.
NO_NUMBERS = (complex, np.complexfloating, np.datetime64, np.timedelta64)

_NUMBERS = (int, float, np.number, Decimal)

# Types of dates and times, by name because pandas may not be installed.
_TIMES = {"date", "datetime64", "timedelta64", "Timestamp", "Timedelta"}


def with_nan(cells: list[Any]) -> list[Any]:
    """Cells with NaN in place of whatever else stands for a missing value."""
    return [np.nan if is_missing(value) else value for value in cells]


def python_cells(column: npt.NDArray[Any]) -> list[Any]:
    """Cells as Python objects; a time with nanoseconds, or a missing one, stays a NumPy object."""
    if column.dtype.kind not in "mM":
        return list(column.tolist())
    short = column.astype(f"{column.dtype.kind}8[us]")
    same = short.astype(column.dtype) == column
    # Where the year is beyond Python's, ``tolist`` gives an integer.
    same &= [not isinstance(value, int) for value in short.tolist()]
    return [a if ok else b for a, b, ok in zip(short.tolist(), column, same, strict=True)]


def numbers_column(name: str, numbers: npt.NDArray[np.float64]) -> RawColumn:
    """A column of numbers; infinity is refused."""
    if np.isinf(numbers).any():
        raise ValueError(
            f"column {name!r} contains infinity; replace it by a finite number or by NaN (missing)"
        )
    return RawColumn(name, numbers=numbers)


def not_numeric(name: str, values: list[Any]) -> ValueError:
    """Error for a column that is to be numeric and holds something else."""
    strange = next((value for value in values if not is_missing(value) and not is_number(value)), values[0])
    return ValueError(
        f"column {name!r} is to be numeric but holds {strange!r:.40}; convert it, or list it in "
        "categorical_features before fit"
    )


def is_number(value: Any) -> bool:
    """Whether a cell is a number, or text that says one."""
    if isinstance(value, NO_NUMBERS):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def hold_numbers(cells: Iterable[Any]) -> bool:
    """Whether cells of any type are numbers, but for missing ones; truth values and texts are none.

    Examples
    --------
    >>> [hold_numbers(cells) for cells in ([1, None, Decimal("0.5")], [1, "2"], [True], [None])]
    [True, False, False, False]
    """
    known = False
    for value in cells:
        if not is_missing(value):
            known = isinstance(value, _NUMBERS) and not isinstance(value, (bool, *NO_NUMBERS))
            if not known:
                return False
    return known


def factorized(name: str, column: npt.NDArray[Any]) -> RawColumn:
    """A column of categories from an array of cells."""
    if column.dtype.kind in "biufmM":
        absent = column != column  # NaN or NaT
        values, inverse = np.unique(column[~absent], return_inverse=True)
        codes = np.full(len(column), -1, dtype=np.int64)
        codes[~absent] = inverse
        return categories(name, codes, python_cells(values))
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
    return categories(name, codes, list(position))


def categories(
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
        return python_cells(np.array([value]))[0]
    return value


def object_array(values: list[Any]) -> npt.NDArray[Any]:
    """Cells as an array of objects, whatever they are."""
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
