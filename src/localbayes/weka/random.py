"""java.util.Random: the 48-bit linear congruential generator that Java's documentation specifies."""

from __future__ import annotations

import operator
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["JavaRandom"]

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
MASK = (1 << 48) - 1
LARGEST_INT = (1 << 31) - 1
# Numbers computed at once: enough to pay for the overhead of NumPy, few enough to compute again where Java
# rejects one.
BLOCK = 1 << 10


class JavaRandom:
    """The numbers that `new java.util.Random(seed)` gives, in the same order.

    Parameters
    ----------
    seed : int
        Any integer; as in Java only its low 48 bits matter.

    Examples
    --------
    >>> random = JavaRandom(1)
    >>> [random.next_int(10) for _ in range(5)]
    [5, 8, 7, 3, 4]
    >>> random.shuffled(5).tolist()
    [0, 2, 3, 1, 4]
    """

    def __init__(self, seed: int) -> None:
        self._state = (operator.index(seed) ^ MULTIPLIER) & MASK

    def _next(self, bits: int) -> int:
        self._state = (self._state * MULTIPLIER + INCREMENT) & MASK
        return self._state >> (48 - bits)

    def next_int(self, bound: int | None = None) -> int:
        """Return a uniform integer: any 32-bit one, or one in [0, bound).

        Parameters
        ----------
        bound : int, optional
            Between 1 and 2**31 - 1.
        """
        if bound is None:
            number = self._next(32)
            return number - (1 << 32) if number > LARGEST_INT else number
        return int(self.next_ints([bound])[0])

    def next_double(self) -> float:
        """Return a uniform number in [0, 1) with 53 random bits."""
        high = self._next(26)
        return ((high << 27) + self._next(27)) / (1 << 53)

    def next_ints(self, bounds: ArrayLike) -> NDArray[np.int64]:
        """Return `next_int(bound)` for each of the bounds in turn, computed at once.

        Parameters
        ----------
        bounds : array-like of int
            Each between 1 and 2**31 - 1.
        """
        limit = np.asarray(bounds, dtype=np.int64)
        if limit.size and not (limit.min() >= 1 and limit.max() <= LARGEST_INT):
            raise ValueError(f"a bound must be between 1 and {LARGEST_INT}, got {limit.min()}..{limit.max()}")
        result = np.empty(limit.size, dtype=np.int64)
        done = 0
        while done < limit.size:
            part = limit[done : done + BLOCK]
            states = self._peek(part.size)
            number = (states >> np.uint64(17)).astype(np.int64)
            power_of_two = (part & (part - 1)) == 0
            drawn = np.where(power_of_two, (part * number) >> 31, number % part)
            # Java draws again if the number lies in the last, incomplete block of `bound` numbers.
            again = ~power_of_two & (number - drawn + (part - 1) > LARGEST_INT)
            accepted = int(again.argmax()) if again.any() else part.size
            result[done : done + accepted] = drawn[:accepted]
            done += accepted
            self._state = int(states[min(accepted, part.size - 1)])
        return result

    def _peek(self, count: int) -> NDArray[np.uint64]:
        factors, terms = _jumps()
        mask = np.uint64(MASK)
        peeked: NDArray[np.uint64] = (factors[:count] * np.uint64(self._state) + terms[:count]) & mask
        return peeked

    def shuffled(self, rows: int | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return row numbers in the order that Weka's `Instances.randomize` gives them.

        Parameters
        ----------
        rows : int or ndarray
            How many rows (0, 1, ...), or the row numbers to begin with.
        """
        order: list[int] = rows.tolist() if isinstance(rows, np.ndarray) else list(range(rows))
        last = range(len(order) - 1, 0, -1)
        other = self.next_ints(np.arange(len(order), 1, -1)).tolist()
        for i, j in zip(last, other, strict=True):
            order[i], order[j] = order[j], order[i]
        return np.array(order, dtype=np.intp)


@cache
def _jumps() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Factor and term of k = 1..BLOCK steps of the generator taken at once, modulo 2**64."""
    factors = np.cumprod(np.full(BLOCK, MULTIPLIER, dtype=np.uint64), dtype=np.uint64)
    before = np.concatenate([np.ones(1, dtype=np.uint64), factors[:-1]])
    terms = np.cumsum(before, dtype=np.uint64) * np.uint64(INCREMENT)
    return factors, terms
