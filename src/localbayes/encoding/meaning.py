"""When values of different types mean the same: 7 and "7", True and "TRUE", a time and its text.

The same table read from CSV and from Parquet, or by pandas and by the command line, may have text in one case
and numbers, bools, dates or durations in the other. A value that a column does not know as it stands is
therefore looked up once more by its meaning.
"""

import re
from collections.abc import Hashable, Iterable
from datetime import date, datetime, time, timedelta
from numbers import Number
from typing import Any

import numpy as np

__all__ = ["iso_text", "known_by_meaning", "length_of"]

_DIGITS = frozenset("+-.0123456789")
# 2024-01-31, 2024/1/31 and 31.1.2024. Of 1/2/2024 one cannot tell which is the month.
_DATE = re.compile(
    r"(?:(?P<iso>\d{4}-\d\d-\d\d)|(?P<y>\d{4})/(?P<m>\d\d?)/(?P<d>\d\d?)"
    r"|(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4}))"
    r"(?P<time>[ T]\d\d:\d\d.*)?"
)
# Days and hours:minutes:seconds, or one of them, as Python and pandas write them.
_LENGTH = re.compile(
    r"(?=.)(?:(-?\d{1,6}) days?(?:,? \+?(?=\d)|$))?(?:(\d{1,6}):([0-5]\d):([0-5]\d(?:\.\d+)?))?"
)
# Meanings of which several texts have the same one.
_TIMES = ("time", "length")


def known_by_meaning(unknown: Iterable[Any], known: Iterable[Any]) -> dict[Any, Any]:
    """Find, for values that are not known as they stand, the known value of the same meaning.

    Numbers and bools match text that says the same, but text matches text only if both are the same time.
    Where several known values have one meaning (``"7"`` and ``"07"`` for the number 7), none is taken.

    Parameters
    ----------
    unknown, known : iterable
        Values of a column.

    Returns
    -------
    dict
        Known value of each value that has one.

    Examples
    --------
    >>> known_by_meaning([7, True], ["007", "true", "x"])
    {7: '007', True: 'true'}
    >>> known_by_meaning(["07", "2020-01-31 00:00:00"], ["7", "2020-01-31"])
    {'2020-01-31 00:00:00': '2020-01-31'}
    >>> known_by_meaning([timedelta(days=1)], ["1 days 00:00:00"])
    {datetime.timedelta(days=1): '1 days 00:00:00'}
    """
    asked = {value: meaning for value in unknown if (meaning := _meaning(value)) is not None}
    wanted = set(asked.values())
    if not wanted:
        return {}
    # Where text was asked for, other text can only be the same time: most known values need no look.
    text = all(isinstance(value, str) for value in asked)
    times = any(kind in _TIMES for kind, _ in wanted)
    found: dict[Hashable, list[Any]] = {meaning: [] for meaning in wanted}
    for value in known:
        if text and isinstance(value, str) and not (times and value[:1] in _DIGITS and len(value) >= 5):
            continue
        meaning = _meaning(value)
        if meaning in found:
            found[meaning].append(value)
    return {
        value: found[meaning][0]
        for value, meaning in asked.items()
        if len(found[meaning]) == 1
        and (meaning[0] in _TIMES or isinstance(value, str) != isinstance(found[meaning][0], str))
    }


def _meaning(value: Any) -> tuple[str, Hashable] | None:
    """What a value says: a bool, a number or a time; most text says none of these."""
    if isinstance(value, str):
        return _meaning_of_text(value)
    if isinstance(value, bool | np.bool_):
        return "bool", bool(value)
    if isinstance(value, datetime):
        return "time", value
    if isinstance(value, date):
        return "time", datetime.combine(value, time())
    length = length_of(value)
    if length is not None:
        return "length", length
    return ("number", value) if isinstance(value, Number) else None


def _meaning_of_text(text: str) -> tuple[str, Hashable] | None:
    if text[:1] in _DIGITS:
        length = length_of(text)
        if length is not None:
            return "length", length
        for kind, read in (("time", _time), ("number", int), ("number", float)):
            try:
                return kind, read(text)
            except ValueError:
                continue
    elif text.lower() in ("true", "false"):
        return "bool", text.lower() == "true"
    return None


def _time(text: str) -> datetime:
    """Read a date or time; other forms, such as 20200131, are numbers."""
    written = iso_text(text)
    if written is None:
        raise ValueError
    return datetime.fromisoformat(written)


def length_of(value: Any) -> timedelta | None:
    """A length of time, or a time of day as its distance from midnight, also as text; None for anything else.

    Examples
    --------
    >>> [str(length_of(value)) for value in ("1 days 00:00:30", "0:01:30.5", time(14, 30), "7:30", 7)]
    ['1 day, 0:00:30', '0:01:30.500000', '14:30:00', 'None', 'None']
    """
    if isinstance(value, str):
        found = _LENGTH.fullmatch(value.strip())
        if found is None:
            return None
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return timedelta(days, seconds, hours=hours, minutes=minutes)
    if isinstance(value, time):
        return datetime.combine(date.min, value.replace(tzinfo=None)) - datetime.min
    return value if isinstance(value, timedelta) else None


def iso_text(text: str) -> str | None:
    """A date, with a time or without, in ISO format with dashes; None if the text is none.

    Examples
    --------
    >>> [iso_text(text) for text in ("2024-01-31", "2024/1/31", "31.1.2024 12:00", "1/2/2024")]
    ['2024-01-31', '2024-01-31', '2024-01-31 12:00', None]
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    year, month, day = part["y"] or part["year"], part["m"] or part["month"], part["d"] or part["day"]
    date = part["iso"] or f"{year}-{month:0>2}-{day:0>2}"
    return date + (part["time"] or "")
