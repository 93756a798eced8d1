"""What fit learns of one column, and how it turns values into codes."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.discretize import width_cuts
from localbayes.encoding.meaning import known_by_meaning
from localbayes.encoding.summaries import CategorySummary, NumberSummary
from localbayes.parameters import Missing

__all__ = [
    "CategoricalColumn",
    "Column",
    "LeftOutColumn",
    "NumericColumn",
    "RawColumn",
    "bins_of_table",
    "cut_table",
    "kind_of",
    "number_text",
    "sorted_values",
    "value_text",
]

# Whole numbers below this are exact in floating point.
_MOST_EXACT = 2**53

# Codes before the dtype is chosen: a value never seen in fit, and a missing value.
UNSEEN, MISSING = -1, -2


class RawColumn:
    """One column of a table as it came: numbers, or codes into a list of values.

    Parameters
    ----------
    name : str
        Column name.
    numbers : array of float, optional
        A numeric column; NaN where missing.
    codes : array of int, optional
        Positions in ``values``; -1 where missing.
    values : list
        Different values of the column.
    declared : bool
        Whether ``values`` is the declared domain rather than what was found.
    """

    def __init__(
        self,
        name: str,
        *,
        numbers: npt.NDArray[np.float64] | None = None,
        codes: npt.NDArray[np.int64] | None = None,
        values: list[Any] | None = None,
        declared: bool = False,
    ) -> None:
        self.name = name
        self.numeric = numbers is not None
        self.numbers = np.empty(0) if numbers is None else numbers
        self.codes = np.empty(0, np.int64) if codes is None else codes
        self.values = values or []
        self.declared = declared

    def take(self, rows: npt.NDArray[np.int64]) -> "RawColumn":
        """The same column of some rows."""
        if self.numeric:
            return RawColumn(self.name, numbers=self.numbers[rows])
        return RawColumn(self.name, codes=self.codes[rows], values=self.values, declared=self.declared)

    def __len__(self) -> int:
        return len(self.numbers) if self.numeric else len(self.codes)


@dataclass
class CategoricalColumn:
    """A column of categories.

    Codes never change: values that come later, and "missing" as a value of its own, take the next free
    code.
    """

    values: list[Any]
    declared: bool
    fill: int | None = None
    missing_at: int | None = None
    # Codes by value, and what they were made of.
    _known: tuple[Any, ...] = field(default=(), init=False, repr=False, compare=False)

    @classmethod
    def learn(cls, summary: CategorySummary, missing: Missing) -> "CategoricalColumn":
        """Learn the domain, and the value that replaces a missing one."""
        values = list(summary.counts) if summary.declared else sorted_values(list(summary.counts))
        column = cls(values, summary.declared)
        if missing == "impute":
            column.fill = int(np.argmax([summary.counts[v] for v in values])) if values else 0
        if missing == "category" and summary.n_missing:
            column.missing_at = len(values)
        return column

    @property
    def size(self) -> int:
        """Number of values, q_i in the paper."""
        return max(1, len(self.values) + (self.missing_at is not None))

    def extend(self, raw: RawColumn, missing: Missing) -> None:
        """Add values that came later, unless the domain was declared."""
        if not self.declared:
            known = set(self.values)
            present = np.unique(raw.codes[raw.codes >= 0])
            later = sorted_values([raw.values[k] for k in present if raw.values[k] not in known])
            self.values = [*self.values, *later] if later else self.values
        if missing == "category" and self.missing_at is None and (raw.codes < 0).any():
            self.missing_at = len(self.values)

    def encode(self, raw: RawColumn) -> npt.NDArray[np.int64]:
        """Codes of the values; UNSEEN and MISSING are negative."""
        code = self._codes()
        unknown = [v for v in raw.values if v not in code]
        if unknown:
            code |= {v: code[known] for v, known in known_by_meaning(unknown, self.values).items()}
        absent = (
            self.fill if self.fill is not None else MISSING if self.missing_at is None else self.missing_at
        )
        translate = np.array([code.get(v, UNSEEN) for v in raw.values] + [absent], dtype=np.int64)
        return translate[raw.codes]

    def code_of(self, cell: Any) -> int | None:
        """Code of a text that was learned; None for any other cell, which :meth:`encode` knows."""
        if type(cell) is not str:
            return None
        if self._known[:2] != (self.missing_at, id(self.values)):
            # The list is kept, so that no other one can have its id.
            self._known = self.missing_at, id(self.values), self._codes(), self.values
        code: int | None = self._known[2].get(cell)
        return code

    def canonical_order(self) -> npt.NDArray[np.int64]:
        """Codes in the order that a fit on all rows would give them: values sorted, then "missing"."""
        codes = self._codes()
        values = self.values if self.declared else sorted_values(self.values)
        order = [codes[value] for value in values]
        if self.missing_at is not None or not order:
            order.append(self.missing_at or 0)
        return np.array(order, dtype=np.int64)

    def is_mistaken(self, raw: RawColumn, codes: npt.NDArray[np.int64]) -> bool:
        """Whether no value is known because text came where none was learned, or the other way round."""
        if not (self.values and raw.values) or _is_text(self.values[0]) == _is_text(raw.values[0]):
            return False
        pure = all(len(set(map(_is_text, values))) == 1 for values in (self.values, raw.values))
        present = raw.codes >= 0
        return pure and bool(present.any()) and bool((codes[present] == UNSEEN).all())

    def labels(self) -> list[str]:
        """Readable names of the values, by code."""
        names = ["(missing)"] * self.size
        for value, code in self._codes().items():
            names[code] = value_text(value)
        return names

    def _codes(self) -> dict[Any, int]:
        after = len(self.values) if self.missing_at is None else self.missing_at
        return {v: k + (k >= after) for k, v in enumerate(self.values)}


@dataclass
class NumericColumn:
    """A column of numbers, cut into bins that are closed on the right."""

    cuts: npt.NDArray[np.float64]
    fill: float | None = None
    missing_value: bool = False

    @classmethod
    def learn(cls, summary: NumberSummary, missing: Missing, n_bins: int) -> "NumericColumn":
        """Learn bins of equal width, and the number that replaces a missing one."""
        column = cls(width_cuts(summary.low, summary.high, n_bins))
        if missing == "impute":
            column.fill = summary.mean if summary.n_known else 0.0
        column.missing_value = missing == "category" and summary.n_missing > 0
        return column

    @property
    def size(self) -> int:
        """Number of bins, q_i in the paper."""
        return len(self.cuts) + 1 + self.missing_value

    def extend(self, raw: RawColumn, missing: Missing) -> None:
        """Bins stay as they were learned; a missing value may need a code."""
        self.missing_value |= missing == "category" and bool(np.isnan(raw.numbers).any())

    def canonical_order(self) -> npt.NDArray[np.int64]:
        """Codes in the order that a fit on all rows would give them, which is their own."""
        return np.arange(self.size)

    def encode(self, raw: RawColumn) -> npt.NDArray[np.int64]:
        """Codes of the bins; a missing value is filled, a bin of its own, or MISSING."""
        numbers = raw.numbers
        absent = np.isnan(numbers)
        if self.fill is not None and absent.any():
            numbers = np.where(absent, self.fill, numbers)
        codes = _bins(self.cuts, numbers)
        if self.fill is None and absent.any():
            codes[absent] = len(self.cuts) + 1 if self.missing_value else MISSING
        return codes

    def code_of(self, cell: Any) -> int | None:
        """Code of a finite number; None for any other cell, which :meth:`encode` knows."""
        plain = type(cell) is float or type(cell) is int
        return bisect_left(self.cuts, cell) if plain and abs(cell) < _MOST_EXACT else None

    def labels(self) -> list[str]:
        """Readable names of the bins, by code."""
        edges = _edge_texts(self.cuts)
        if not edges:
            names = ["any"]
        else:
            inner = [f"({a}, {b}]" for a, b in pairwise(edges)]
            names = [f"≤ {edges[0]}", *inner, f"> {edges[-1]}"]
        return names + ["(missing)"] * self.missing_value


@dataclass
class LeftOutColumn:
    """A column that classifiers do not learn from: it has one value, which says nothing."""

    reason: str
    size: int = 1

    def extend(self, raw: RawColumn, missing: Missing) -> None:
        """Nothing comes later."""

    def encode(self, raw: RawColumn) -> npt.NDArray[np.int64]:
        """Codes of the only value."""
        return np.zeros(len(raw), dtype=np.int64)

    def code_of(self, cell: Any) -> int | None:
        """The only code, for a text or a number."""
        return 0 if type(cell) in (str, float, int) else None

    def canonical_order(self) -> npt.NDArray[np.int64]:
        """The only code."""
        return np.zeros(1, dtype=np.int64)

    def labels(self) -> list[str]:
        """What to call the only value."""
        return ["left out"]


Column = CategoricalColumn | NumericColumn | LeftOutColumn


def kind_of(value: Any) -> str:
    """What a value is, in words.

    Examples
    --------
    >>> [kind_of(value) for value in ("a", 1.5, True)]
    ['text', 'numbers', 'bool values']
    """
    if _is_text(value):
        return "text"
    is_number = isinstance(value, Number) and not isinstance(value, bool)
    return "numbers" if is_number else f"{type(value).__name__} values"


def value_text(value: Any) -> str:
    """A category as text; midnight is written as its date alone, and whole days without hours.

    Examples
    --------
    >>> value_text("red"), value_text(datetime(2020, 1, 31)), value_text(datetime(2020, 1, 31, 12))
    ('red', '2020-01-31', '2020-01-31 12:00:00')
    >>> value_text(timedelta(days=3)), value_text(timedelta(days=1, seconds=90))
    ('3 days', '1 day 0:01:30')
    """
    if isinstance(value, timedelta):  # pandas' own writes itself in another way
        length = timedelta(value.days, value.seconds, value.microseconds)
        return str(length).removesuffix(", 0:00:00").replace(",", "")
    text = str(value)
    return text.removesuffix(" 00:00:00") if isinstance(value, datetime) else text


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def number_text(number: float) -> str:
    """The shortest text that reads back as the number; a float32 gets the digits of a float32.

    Examples
    --------
    >>> [number_text(x) for x in (0.1, float(np.float32(0.1)), 2.0**31, 1e-30)]
    ['0.1', '0.1', '2147483648', '1e-30']
    """
    with np.errstate(over="ignore"):
        half = np.float32(number)
    shown = half if float(half) == number and number % 1 else np.float64(number) + 0.0
    if number == 0 or 1e-4 <= abs(number) < 1e16:
        return np.format_float_positional(shown, trim="-")
    return np.format_float_scientific(shown, trim="-", exp_digits=1)


def _edge_texts(cuts: npt.NDArray[np.float64]) -> list[str]:
    """Ends of bins in six digits, or more where large whole numbers or close ends need them."""
    largest = float(np.abs(cuts).max(initial=0.0))
    digits = max(6, len(str(int(largest)))) if largest < 1e15 else 6
    texts = [f"{cut:.{digits}g}" for cut in cuts]
    while len(set(texts)) < len(cuts) and digits < 17:
        digits += 1
        texts = [f"{cut:.{digits}g}" for cut in cuts]
    return texts


# For a few cuts, comparing all numbers with each cut is faster than a binary search per number.
_FEW_CUTS = 30
# So few cells are compared with all cuts in one step.
_FEW_CELLS = 1000


def _bins(cuts: npt.NDArray[np.float64], numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Number of cuts below every number."""
    if len(cuts) > _FEW_CUTS:
        return np.searchsorted(cuts, numbers, side="left").astype(np.int64, copy=False)
    below = (cuts[:, None] < numbers).view(np.int8)
    bins: npt.NDArray[np.int64] = below.sum(axis=0, dtype=np.int8).astype(np.int64)
    return bins


def cut_table(columns: Sequence[NumericColumn]) -> npt.NDArray[np.float64] | None:
    """Cuts of all columns, shape (most cuts, m, 1), filled up with infinity; None if one has many.

    Examples
    --------
    >>> cut_table([NumericColumn(np.array([0.5])), NumericColumn(np.array([1.0, 2.0]))])[..., 0].tolist()
    [[0.5, 1.0], [inf, 2.0]]
    """
    n_cuts = [len(column.cuts) for column in columns]
    if max(n_cuts) > _FEW_CUTS:
        return None
    cuts = np.full((max(n_cuts), len(columns), 1), np.inf)
    for i, column in enumerate(columns):
        cuts[: n_cuts[i], i, 0] = column.cuts
    return cuts


def bins_of_table(cuts: npt.NDArray[np.float64], numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """Codes of a table without missing values, all columns at once, from :func:`cut_table`.

    Examples
    --------
    >>> columns = [NumericColumn(np.array([0.5])), NumericColumn(np.array([1.0, 2.0]))]
    >>> bins_of_table(cut_table(columns), np.array([[0.0, 1.0], [1.0, 9.0]])).tolist()
    [[0, 0], [1, 2]]
    """
    if numbers.size <= _FEW_CELLS:
        few: npt.NDArray[np.uint8] = (cuts < numbers.T).sum(axis=0, dtype=np.uint8).T.copy()
        return few
    bins = np.zeros(numbers.shape[::-1], np.uint8)
    for cut in cuts:
        bins += (cut < numbers.T).view(np.uint8)
    return np.ascontiguousarray(bins.T)


def sorted_values(values: list[Any]) -> list[Any]:
    """Sort values; where they cannot be compared, by type and text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))
