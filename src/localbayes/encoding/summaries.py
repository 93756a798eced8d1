"""Summaries of columns; those of the parts of a table add up to the summary of the whole."""

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.discretize import MOST_VALUES
from localbayes.encoding.number_counts import NumberCounts
from localbayes.encoding.row_numbers import add_marks, whole_number_marks

if TYPE_CHECKING:
    from localbayes.encoding.columns import RawColumn

__all__ = [
    "MOST_NUMBERS",
    "CategorySummary",
    "NumberSummary",
    "Summary",
    "exact_mean",
    "exact_sum",
    "exact_weighted_sum",
    "summarise",
]

# Different numbers of a column that are kept for cuts by quantiles or classes.
MOST_NUMBERS = 1_000_000

# Exact sums are counted in units of 2**-1074, of which every double is a whole multiple.
_UNITS_IN_ONE = 1 << 1074


@dataclass(frozen=True)
class CategorySummary:
    """How often each category occurs.

    Attributes
    ----------
    name : str
        Column name.
    counts : dict
        Rows of every value: the declared ones in declared order, otherwise those that occur.
    declared : bool
        Whether the domain was declared.
    n_missing : int
        Rows without a value.

    Examples
    --------
    >>> a = CategorySummary("colour", {"red": 2, "blue": 1}, declared=False, n_missing=0)
    >>> (a + CategorySummary("colour", {"green": 1, "red": 1}, declared=False, n_missing=4)).counts
    {'red': 3, 'blue': 1, 'green': 1}
    """

    name: str
    counts: dict[Any, float]
    declared: bool
    n_missing: int

    def __add__(self, other: "Summary") -> "Summary":
        """Summary of the rows of both; domains declared differently are joined, as in a concatenation."""
        if self._says_nothing:
            return replace(other, n_missing=self.n_missing + other.n_missing)
        if isinstance(other, NumberSummary):
            return other + self
        if other._says_nothing:
            return replace(self, n_missing=self.n_missing + other.n_missing)
        counts = dict(self.counts)
        for value, count in other.counts.items():
            counts[value] = counts.get(value, 0) + count
        declared = self.declared and other.declared
        if not declared:
            counts = {value: count for value, count in counts.items() if count}
        return CategorySummary(self.name, counts, declared, self.n_missing + other.n_missing)

    @property
    def _says_nothing(self) -> bool:
        return not self.counts and not self.declared


@dataclass(frozen=True)
class NumberSummary:
    """Range and exact sum of a numeric column.

    Attributes
    ----------
    name : str
        Column name.
    n_known, n_missing : int
        Rows with and without a value. If rows have weights, the exact weight of the known ones in units of
        2**-1074.
    low, high : float
        Smallest and largest number.
    total : int
        Exact sum, see :func:`exact_sum`; if rows have weights, of weighted numbers in units of 2**-2148.
    counts : NumberCounts, optional
        How often each number occurs, where cuts need it.
    few : NumberCounts, optional
        How often each number occurs, if all are whole and different ones are few; else None.
    marks : array, optional
        Marks of whole numbers, which tell whether values repeat; None if some number is not whole.

    Examples
    --------
    >>> a = NumberSummary("size", 2, 0, 1.0, 2.0, exact_sum(np.array([1.0, 2.0])))
    >>> (a + NumberSummary("size", 1, 3, 0.1, 0.1, exact_sum(np.array([0.1])))).mean == 3.1 / 3
    True
    """

    name: str
    n_known: int = 0
    n_missing: int = 0
    low: float = math.inf
    high: float = -math.inf
    total: int = 0
    counts: NumberCounts | None = None
    few: NumberCounts | None = None
    marks: npt.NDArray[np.uint64] | None = field(default=None, compare=False)

    def __add__(self, other: "Summary") -> "Summary":
        """Summary of the rows of both."""
        if isinstance(other, CategorySummary):
            if other._says_nothing:
                return replace(self, n_missing=self.n_missing + other.n_missing)
            if self.n_known == 0:
                return replace(other, n_missing=self.n_missing + other.n_missing)
            raise ValueError(
                f"column {self.name!r} holds numbers in one part of the table and other values in another; "
                "list it in categorical_features or convert it"
            )
        # A part without a number says nothing about them.
        if not (self.n_known and other.n_known):
            some = self if self.n_known else other
            return replace(some, n_missing=self.n_missing + other.n_missing)
        return NumberSummary(
            self.name,
            self.n_known + other.n_known,
            self.n_missing + other.n_missing,
            min(self.low, other.low),
            max(self.high, other.high),
            self.total + other.total,
            self._added_counts(other),
            None if self.few is None or other.few is None else _if_few(self.few + other.few),
            add_marks(self.marks, other.marks),
        )

    def _added_counts(self, other: "NumberSummary") -> NumberCounts | None:
        if self.counts is None or other.counts is None:
            return self.counts or other.counts
        both = self.counts + other.counts
        if both.n_numbers > MOST_NUMBERS:
            raise ValueError(
                f"column {self.name!r} has more than {MOST_NUMBERS:,} different numbers, too many for cuts "
                "by quantiles or classes over parts of a table; round it, or use discretize='width'"
            )
        return both

    @property
    def mean(self) -> float:
        """Mean, rounded once: the same for every order and every partition of the rows."""
        return self.total / (self.n_known * _UNITS_IN_ONE)


Summary = CategorySummary | NumberSummary


def summarise(raw: "RawColumn", weights: npt.NDArray[np.float64] | None = None) -> Summary:
    """Summary of a column, with a weight per row if given."""
    if raw.numeric:
        present = ~np.isnan(raw.numbers)
        known = raw.numbers[present]
        n_missing = len(raw.numbers) - len(known)
        if not len(known):
            return NumberSummary(raw.name, 0, n_missing)
        low, high = float(known.min()), float(known.max())
        weight = None if weights is None else weights[present]
        n = len(known) if weight is None else exact_sum(weight)
        total = exact_sum(known) if weight is None else exact_weighted_sum(known, weight)
        marks, few = whole_number_marks(known, weight), _few_numbers(known, weight)
        return NumberSummary(raw.name, n, n_missing, low, high, total, few=few, marks=marks)
    seen = raw.codes >= 0
    found = np.bincount(raw.codes[seen], None if weights is None else weights[seen], len(raw.values)).tolist()
    counts = {value: n for value, n in zip(raw.values, found, strict=True) if n or raw.declared}
    return CategorySummary(raw.name, counts, raw.declared, int((~seen).sum()))


# Rows that tell whether a look at all of them is worth it.
_LOOK = 1000


def _few_numbers(
    numbers: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None
) -> NumberCounts | None:
    for part in (numbers[:_LOOK], numbers):
        different = np.unique(part)
        if len(different) > MOST_VALUES or (different != np.rint(different)).any():
            return None
    return NumberCounts.of_rows(numbers, None, weights, (None,))


def _if_few(counts: NumberCounts) -> NumberCounts | None:
    return counts if counts.n_numbers <= MOST_VALUES else None


# So few numbers that their sum leaves 53 - 17 binary digits to each.
_STEP = 1 << 16


def exact_sum(numbers: npt.NDArray[np.float64]) -> int:
    """Sum of finite numbers without any rounding, in units of 2**-1074.

    The leading digits of all numbers, cut off at the same place, add up in double without error. The
    remainders are treated likewise until none is left.

    Examples
    --------
    >>> exact_sum(np.array([1e300, 1.0, -1e300])) == 2**1074
    True
    """
    total = 0
    for begin in range(0, len(numbers), _STEP):
        rest = numbers[begin : begin + _STEP]
        while largest := float(max(rest.max(), -rest.min())):
            if largest > 1e290:
                total += sum(map(_units, rest.tolist()))
                break
            cut = math.ldexp(1.0, math.frexp(largest)[1] + 17)
            leading = (rest + cut) - cut
            total += _units(float(leading.sum()))
            rest = rest - leading
    return total


# Halves of doubles in this range multiply without error.
_SAFE = 1e-130, 1e130


def exact_mean(numbers: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    """Weighted mean, rounded once: a weight of 3 gives exactly what the row three times gives.

    Examples
    --------
    >>> exact_mean(np.array([0.1, 0.7]), np.array([3.0, 1.0])) == NumberSummary(
    ...     "x", 4, 0, 0.1, 0.7, exact_sum(np.array([0.1, 0.1, 0.1, 0.7]))
    ... ).mean
    True
    """
    return exact_weighted_sum(numbers, weights) / (exact_sum(weights) * _UNITS_IN_ONE)


def exact_weighted_sum(numbers: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> int:
    """Sum of finite numbers times their positive weights without any rounding, in units of 2**-2148.

    Examples
    --------
    >>> exact_weighted_sum(np.array([1e-300, 1.0]), np.array([1e-300, 0.5])) > 2**2147
    True
    """
    sizes = np.abs(np.concatenate([numbers[numbers != 0], weights]))
    if sizes.min(initial=1.0) < _SAFE[0] or sizes.max(initial=1.0) > _SAFE[1]:
        return sum(_units(x) * _units(w) for x, w in zip(numbers.tolist(), weights.tolist(), strict=True))
    products = [x * w for x in _halves(numbers) for w in _halves(weights)]
    return exact_sum(np.concatenate(products)) * _UNITS_IN_ONE


def _halves(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Split each number into two of at most 27 binary digits that add up to it."""
    moved = numbers * (2.0**27 + 1)
    high = moved - (moved - numbers)
    return high, numbers - high


def _units(number: float) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator << (1075 - denominator.bit_length())
