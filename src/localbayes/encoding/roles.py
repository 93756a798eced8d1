"""Roles of columns: what a column is for, judged by its values."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

import numpy as np

from localbayes.encoding.columns import RawColumn
from localbayes.encoding.meaning import iso_text, length_of
from localbayes.encoding.row_numbers import number_rows
from localbayes.encoding.summaries import NumberSummary, Summary

__all__ = ["Role", "TimeKind", "as_seconds", "role_of", "time_kind"]

# Columns that are numbers of seconds to the encoder: from 1970 on, or how long something takes.
TimeKind = Literal["date", "duration"]

# Fewer rows do not tell an id from a name.
_FEWEST_ROWS = 30
# A text column is an id if this share of its rows has a value of its own.
_OWN_VALUE = 0.9
# A text column is free text if half of its values are different and they have so many words on average.
_WORDS, _DIFFERENT = 4.0, 0.5
# It is dates if the first values are. Where dates are not in order, they say little if half are different.
_LOOK = 100

_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


@dataclass(frozen=True)
class Role:
    """What a column is for.

    Attributes
    ----------
    kind : str
        "nominal", "number", "date", "duration", "constant", "id" or "text".
    used : bool
        Whether classifiers learn from the column.
    """

    kind: str
    used: bool = True


def role_of(summary: Summary, forced: bool) -> Role:
    """Role of a column; one that was declared or named as to its kind is used in any case.

    Examples
    --------
    >>> from localbayes.encoding.summaries import CategorySummary
    >>> names = CategorySummary("name", {f"customer {k}": 1 for k in range(50)}, False, n_missing=0)
    >>> role_of(names, False), role_of(names, True).used
    (Role(kind='id', used=False), True)
    """
    if isinstance(summary, NumberSummary):
        if summary.n_known == 0 or (summary.low == summary.high and not summary.n_missing):
            return Role("constant")
        if not forced and number_rows(summary.name, summary.marks, summary.low, summary.high):
            return Role("id", used=False)
        return Role("number")
    counts = [count for count in summary.counts.values() if count]
    n, distinct = sum(counts), len(counts)
    if distinct <= 1 and not (distinct and summary.n_missing):
        return Role("constant")
    if forced or summary.declared or n < _FEWEST_ROWS:
        return Role("nominal")
    if distinct > _OWN_VALUE * n:
        return Role("id", used=False)
    if distinct > _DIFFERENT * n:
        if _words(list(summary.counts)) >= _WORDS:
            return Role("text", used=False)
        if all(np.isfinite(_since_1970(value)) for value in list(summary.counts)[:_LOOK]):
            return Role("date", used=False)
    return Role("nominal")


def _words(values: Sequence[Any]) -> float:
    texts = [value for value in values if isinstance(value, str)][:1000]
    return float(np.mean([len(text.split()) for text in texts])) if texts else 0.0


def time_kind(values: Sequence[Any]) -> TimeKind | None:
    """What all values are: dates, or texts such as 2024-01-31 or 31.1.2024; durations; or neither.

    Durations are lengths of time, times of day, and texts such as 1 day or 14:30:00.

    Examples
    --------
    >>> time_kind(["2024-01-31", "31.1.2024"]), time_kind(["1 days 02:00:00", "0:30:00"]), time_kind(["soon"])
    ('date', 'duration', None)
    """
    for kind, seconds in _SECONDS.items():
        if values and all(np.isfinite(seconds(value)) for value in values):
            return kind
    return None


def as_seconds(raw: RawColumn, kind: TimeKind) -> RawColumn:
    """A column of times in seconds; a value that is none of the kind is missing.

    Examples
    --------
    >>> days = RawColumn("day", codes=np.array([0, 1, -1]), values=["1970-01-02", "1970-01-01"])
    >>> as_seconds(days, "date").numbers.tolist()
    [86400.0, 0.0, nan]
    """
    known = [] if raw.numeric else [_SECONDS[kind](value) for value in raw.values]
    codes = np.full(len(raw.numbers), -1) if raw.numeric else raw.codes
    return RawColumn(raw.name, numbers=np.array([*known, np.nan])[codes])


def _since_1970(value: Any) -> float:
    if isinstance(value, str):
        written = iso_text(value.strip())
        if written is None or not _ISO_DATE.fullmatch(written):
            return np.nan
        try:
            value = np.datetime64(written.replace(" ", "T"))
        except ValueError:
            return np.nan
    if isinstance(value, datetime):
        value = np.datetime64(value.replace(tzinfo=None))
    elif isinstance(value, date):
        value = np.datetime64(value)
    if not isinstance(value, np.datetime64) or np.isnat(value):
        return np.nan
    return float(value.astype("datetime64[us]").astype(np.int64)) / 1e6


def _length(value: Any) -> float:
    length = length_of(value)
    if length is not None:
        return length.total_seconds()
    if not isinstance(value, np.timedelta64) or np.isnat(value) or np.datetime_data(value.dtype)[0] in "YM":
        return np.nan
    return float(value / np.timedelta64(1, "ns")) / 1e9


_SECONDS: dict[TimeKind, Callable[[Any], float]] = {"date": _since_1970, "duration": _length}
