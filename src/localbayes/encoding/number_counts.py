"""How often each number of a column occurs, by class: what exact quantiles and MDL cuts are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.discretize import cut_points, stable_order

__all__ = ["NumberCounts"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NumberCounts:
    """Weights of rows by number and class; counts of parts of a table add up to those of the table.

    There is one entry for every pair of a number and a class that occurs, in ascending order.

    Attributes
    ----------
    numbers : array of shape (n,)
        The numbers.
    classes : array of shape (n,)
        Positions in ``labels``.
    weights : array of shape (n,)
        Rows of that number and class, or their weight.
    labels : tuple
        Class labels; a single None where classes do not matter.

    Examples
    --------
    >>> low = NumberCounts.of_rows(np.array([1.0, 2.0, 2.0]), np.array([0, 0, 1]), None, ("a", "b"))
    >>> high = NumberCounts.of_rows(np.array([2.0, np.nan, 5.0]), np.array([0, 0, 0]), None, ("b",))
    >>> both = low + high
    >>> both.numbers.tolist(), both.classes.tolist(), both.weights.tolist()
    ([1.0, 2.0, 2.0, 5.0], [0, 0, 1, 1], [1.0, 1.0, 2.0, 1.0])
    >>> both.cuts("quantile", 2, ["a", "b"]).tolist(), both.n_numbers
    ([2.0], 3)
    """

    numbers: Floats
    classes: npt.NDArray[np.int32]
    weights: Floats
    labels: tuple[Any, ...]

    @classmethod
    def of_rows(
        cls,
        numbers: Floats,
        class_codes: npt.NDArray[np.int64] | None,
        weights: Floats | None,
        labels: tuple[Any, ...],
    ) -> "NumberCounts":
        """Counts of rows; NaN is missing and is not counted."""
        known = ~np.isnan(numbers)
        classes = np.zeros(len(numbers), np.int32) if class_codes is None else class_codes.astype(np.int32)
        each = np.ones(len(numbers)) if weights is None else weights
        return _summed(numbers[known], classes[known], each[known], labels)

    def __add__(self, other: "NumberCounts") -> "NumberCounts":
        """Counts of the rows of both."""
        labels = tuple(dict.fromkeys([*self.labels, *other.labels]))
        position = {label: k for k, label in enumerate(labels)}
        moved = np.array([position[label] for label in other.labels], dtype=np.int32)
        return _summed(
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.classes, moved[other.classes]]),
            np.concatenate([self.weights, other.weights]),
            labels,
        )

    @property
    def n_numbers(self) -> int:
        """How many different numbers there are."""
        return int((np.diff(self.numbers) > 0).sum()) + 1 if len(self.numbers) else 0

    def cuts(self, method: str, n_bins: int, declared: Sequence[Any]) -> Floats:
        """Cut points of all rows, see :func:`cut_points`; ``declared`` gives the order of the classes."""
        position = {label: k for k, label in enumerate(declared)}
        codes = np.array([position.get(label, 0) for label in self.labels], dtype=np.int64)
        return cut_points(method, self.numbers, codes[self.classes], self.weights, n_bins)


def _summed(
    numbers: Floats, classes: npt.NDArray[np.int32], weights: Floats, labels: tuple[Any, ...]
) -> NumberCounts:
    """Add up the weights of equal pairs of a number and a class."""
    order = stable_order(classes)
    order = order[stable_order(numbers[order])]
    numbers, classes, weights = numbers[order], classes[order], weights[order]
    if len(numbers):
        new = np.append(True, (numbers[1:] > numbers[:-1]) | (classes[1:] != classes[:-1]))
        starts = np.flatnonzero(new)
        numbers, classes, weights = numbers[starts], classes[starts], np.add.reduceat(weights, starts)
    return NumberCounts(numbers, classes, weights, labels)
