"""What the columns of a table look like, and what to do about them."""

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.columns import Column, NumericColumn, RawColumn
from localbayes.encoding.rich_encoder import RichEncoder
from localbayes.encoding.roles import Role, as_seconds
from localbayes.encoding.tables import check_table, column_names, read_columns

__all__ = ["ColumnProfile", "profile_columns", "profiles_of", "read_values", "value_codes"]

# Whole numbers of so few values may be codes.
_FEW_NUMBERS = 10
# From these shares on a column is mostly missing, nearly constant, or gives the class away.
_MISSING, _CONSTANT, _TELLS = 0.5, 0.99, 0.99
# A nominal column has many values if there are so many, and fewer than so many rows for each.
_MANY_VALUES, _ROWS_EACH = 50, 10
# Dates of which one cannot tell day and month apart, and how many values are looked at.
_SLASHES, _LOOK = re.compile(r"\d\d?/\d\d?/(\d{4}|\d\d)\b"), 100
_WHY_LEFT_OUT = "left out: nearly every row has {}; to keep it, give it the dtype category (--categorical)"


@dataclass(frozen=True)
class ColumnProfile:
    """What one column looks like.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        "nominal", "number", "whole number", "date", "duration", "constant", "id" or "text".
    used : bool
        Whether classifiers learn from it.
    n_distinct : int
        Number of different values.
    missing : float
        Share of the rows without a value.
    commonest : float
        Share of the rows that have the most frequent value, of those with a value.
    tells : float
        Share of the rows whose class is found from this column alone, each row left out; numbers and times
        are cut into bins. NaN without classes.
    advice : str
        What to do about it, or an empty text.
    """

    name: str
    kind: str
    used: bool
    n_distinct: int
    missing: float
    commonest: float
    tells: float
    advice: str


def profile_columns(X: Any, y: Any = None, categorical_features: Any = "from_dtype") -> list[ColumnProfile]:
    """Describe every column of a table.

    Parameters
    ----------
    X : DataFrame or array of shape (n, m)
        The table.
    y : array-like of shape (n,), optional
        Classes.
    categorical_features : {"from_dtype", "all"} or array-like
        Which columns are categories.

    Returns
    -------
    list of ColumnProfile
        In the order of the columns.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"id": [f"c{k}" for k in range(60)], "size": [1.5, 2.5, None] * 20, "unit": "cm"})
    >>> [(column.kind, column.n_distinct, round(column.missing, 2)) for column in profile_columns(X)]
    [('id', 60, 0.0), ('number', 2, 0.33), ('constant', 1, 0.0)]
    """
    X = check_table(X, None)
    return profiles_of(X, read_values(X), y, categorical_features)


def read_values(X: Any) -> list[tuple[RawColumn, npt.NDArray[np.int64]]]:
    """Columns of a table, and the numbers of their values."""
    raws = read_columns(X, [None] * len(column_names(X)))
    return [(raw, value_codes(raw)) for raw in raws]


def profiles_of(
    X: Any,
    columns: list[tuple[RawColumn, npt.NDArray[np.int64]]],
    y: Any = None,
    categorical_features: Any = "from_dtype",
) -> list[ColumnProfile]:
    """Describe the columns of a table that :func:`read_values` read."""
    classes = None if y is None else np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
    encoder = RichEncoder(categorical_features, n_bins=20, missing="category", discretize="merged")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left out is said in the profile
        encoder.fit(X)
    columns = list(columns)
    for i, kind in encoder.times.items():
        seconds = as_seconds(columns[i][0], kind)
        columns[i] = seconds, value_codes(seconds)
    baseline = 1.0 if classes is None else np.bincount(classes).max() / len(classes)
    return [
        _profile(*given, role, column, classes, baseline)
        for given, role, column in zip(columns, encoder.roles, encoder.columns, strict=True)
    ]


def _profile(
    raw: RawColumn,
    values: npt.NDArray[np.int64],
    role: Role,
    column: Column,
    classes: npt.NDArray[np.int64] | None,
    baseline: float,
) -> ColumnProfile:
    kind, used = role.kind, role.used
    n, known = len(values), values[values >= 0]
    counts = np.bincount(known) if len(known) else np.zeros(1, np.int64)
    distinct, commonest = int(np.count_nonzero(counts)), float(counts.max() / max(len(known), 1))
    if kind == "number" and raw.numeric and (np.rint(raw.numbers) == raw.numbers)[values >= 0].all():
        kind = "whole number"
    missing = 1 - len(known) / n
    if raw.numeric and isinstance(column, NumericColumn):
        values = np.where(values >= 0, np.searchsorted(column.cuts, raw.numbers), -1)
    tells = np.nan if classes is None else _tells(values, classes)
    advice = _advice(kind, used, distinct, missing, commonest, tells, baseline, len(known))
    if kind in ("nominal", "id") and _are_dates(raw):
        advice = "if these are dates, write them as 2024-01-31: one cannot tell day and month apart"
    return ColumnProfile(raw.name, kind, used, distinct, missing, commonest, tells, advice)


def _advice(
    kind: str,
    used: bool,
    distinct: int,
    missing: float,
    commonest: float,
    tells: float,
    baseline: float,
    n_known: int,
) -> str:
    if not used:
        return _WHY_LEFT_OUT.format("a text of its own" if kind == "text" else "a value of its own")
    if kind == "constant":
        return "says nothing, since it has one value; drop it"
    if tells >= _TELLS and tells > baseline + 0.05:
        return f"it finds {tells:.1%} of the classes alone: is it known before the class is?"
    if missing >= _MISSING:
        return f"missing in {missing:.0%} of the rows; is it known when a prediction is made?"
    if commonest >= _CONSTANT:
        return f"one value in {commonest:.1%} of the rows"
    if kind == "nominal" and distinct >= _MANY_VALUES and n_known < _ROWS_EACH * distinct:
        return f"{distinct} values, {n_known / distinct:.1f} rows each; group the rare ones"
    if kind == "whole number" and distinct <= _FEW_NUMBERS:
        return "if its numbers are names, not amounts, give it the dtype category (--categorical)"
    return ""


def _are_dates(raw: RawColumn) -> bool:
    """Whether the first values look like 1/2/2024."""
    first = raw.values[:_LOOK]
    return bool(first) and all(isinstance(value, str) and _SLASHES.match(value) for value in first)


def value_codes(raw: RawColumn) -> npt.NDArray[np.int64]:
    """Numbers of the values of a column; -1 where one is missing."""
    if not raw.numeric:
        return raw.codes
    codes = np.full(len(raw.numbers), -1, dtype=np.int64)
    known = ~np.isnan(raw.numbers)
    codes[known] = np.unique(raw.numbers[known], return_inverse=True)[1]
    return codes


def _tells(values: npt.NDArray[np.int64], classes: npt.NDArray[np.int64]) -> float:
    """Share of the rows whose class is the most frequent one among the other rows of the same value.

    Of classes that are equally frequent the first one wins. A row whose value no other row has is not found.
    """
    r = int(classes.max()) + 1
    pairs, counts = np.unique((values + 1) * r + classes, return_counts=True)
    order = np.lexsort((pairs % r, -counts, pairs // r))
    value, of_class, count = pairs[order] // r, pairs[order] % r, counts[order]
    # Only the most frequent class of a value is found; behind it stands its rival, if there is one.
    first = np.append(True, value[1:] != value[:-1])
    rival = np.where(np.append(first[1:], True), 0, np.append(count[1:], 0))
    comes_first = of_class < np.append(of_class[1:], 0)
    others = count - 1
    found = first & (others > 0) & ((others > rival) | ((others == rival) & comes_first))
    return float(count[found].sum() / len(values))
