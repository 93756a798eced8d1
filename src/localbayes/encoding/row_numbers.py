"""Whole numbers that number the rows, such as customer numbers, in place of measuring something."""

import re

import numpy as np
import numpy.typing as npt

__all__ = ["add_marks", "number_rows", "whole_number_marks"]

Marks = npt.NDArray[np.uint64]

# Marks that are kept of a column.
_MARKS = 1024
# Columns of fewer rows are not judged; by their numbers alone, those of more.
_FEWEST_ROWS, _FEWEST_NAMELESS = 30, 50
# Numbers whose values would have repeated so many times by chance, and did not, were given out one by one.
_REPEATS = 20
# Days such as 20240131, seconds and milliseconds since 1970: times, even if every row has its own.
_TIMES = (
    (19_000_101, 21_001_231),
    (946_684_800, 4_102_444_800),
    (946_684_800_000, 4_102_444_800_000),
)
# Names that say so, as a word of its own: id, customer_id, CustomerID, row_number.
_NAMES = re.compile(
    r"(^|[^a-z])(id|ids|key|uuid|index|rownum|row_?(id|nr|no|number))([^a-z]|$)|[a-z](ID|Id)$"
)


def whole_number_marks(
    numbers: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None = None
) -> Marks | None:
    """The smallest marks of the rows of a column, None if some number is not whole.

    A mark is a fixed random number for every value. Those of parts of a table add up, see :func:`add_marks`.
    A row of weight 2 is two rows.

    Examples
    --------
    >>> len(whole_number_marks(np.array([1.0, 2.0, 2.0]))), whole_number_marks(np.array([1.5]))
    (3, None)
    """
    if not (numbers[:_MARKS] == np.rint(numbers[:_MARKS])).all() or (numbers != np.rint(numbers)).any():
        return None
    with np.errstate(over="ignore"):
        mark = (numbers + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(29)
        mark *= np.uint64(0xBF58476D1CE4E5B9)
        mark ^= mark >> np.uint64(32)
    if weights is not None:
        mark = np.repeat(mark, np.where(weights > 1.0, 2, 1))
    return _smallest(mark)


def add_marks(one: Marks | None, other: Marks | None) -> Marks | None:
    """Marks of the rows of both parts of a column."""
    return None if one is None or other is None else _smallest(np.concatenate([one, other]))


def number_rows(name: str, marks: Marks | None, low: float, high: float) -> bool:
    """Whether a column numbers the rows: its whole numbers repeat less than those of a measurement would.

    If n values were drawn from a range of R numbers, k of them would meet about k n / R equal ones, and more
    if some numbers were likelier than others. A name that says so is enough where no value repeats.

    Examples
    --------
    >>> numbers = np.arange(1000.0, 1100.0)
    >>> number_rows("customer", whole_number_marks(numbers), 1000.0, 1099.0)
    True
    >>> number_rows("amount", whole_number_marks(numbers * 37), 37000.0, 40663.0)
    False
    >>> number_rows("order_id", whole_number_marks(numbers * 37), 37000.0, 40663.0)
    True
    """
    if marks is None or len(marks) < _FEWEST_ROWS or (marks[1:] == marks[:-1]).any():
        return False
    if any(begin <= low and high <= end for begin, end in _TIMES):
        return False
    if _NAMES.search(_words(name)):
        return True
    n = len(marks) if len(marks) < _MARKS else _MARKS * 2.0**64 / float(marks[-1])
    return n >= _FEWEST_NAMELESS and len(marks) * n / (high - low + 1) >= _REPEATS


def _words(name: str) -> str:
    """A name in small letters, but for an ending such as in CustomerID."""
    return name if re.search(r"[a-z](ID|Id)$", name) else name.lower()


def _smallest(marks: Marks) -> Marks:
    if len(marks) > _MARKS:
        marks = np.partition(marks, _MARKS - 1)[:_MARKS]
    return np.sort(marks)
