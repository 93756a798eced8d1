"""What every statistic of training rows can do, whatever it counts."""

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from localbayes.fields import Fields

__all__ = ["Codes", "Floats", "Statistic"]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]


class Statistic(Protocol):
    """Counts of training rows that add up.

    ``ValueCounts``, ``KnownCounts``, ``PairCounts`` and ``MatchIndex`` are the statistics of the library. A
    classifier is a formula over one of them. Statistics of parts of a table, joined with ``+``, equal the
    statistic of the table.
    """

    n_classes: int

    @property
    def n_rows(self) -> float:
        """Number of rows, or their total weight where the statistic keeps no rows."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory that the statistic takes."""
        ...

    def add(self, codes: Codes, class_codes: npt.NDArray[Any], weights: Floats | None = None) -> None:
        """Add rows: codes of shape (n, m), class codes and optional weights of shape (n,)."""
        ...

    def check_room(self, n_more: float) -> None:
        """Refuse more rows than the statistic can hold."""
        ...

    def copy(self) -> Self:
        """Return the same statistic, to add rows to; this one stays as it is."""
        ...

    def grown(self, sizes: npt.ArrayLike) -> Self:
        """Return the same statistic with room for new values at the end of the domains."""
        ...

    def __add__(self, other: Self) -> Self:
        """Statistic of the rows of both."""
        ...

    @property
    def class_totals(self) -> npt.NDArray[Any]:
        """Rows of each class, or their weight."""
        ...

    def value_totals(self) -> list[npt.NDArray[Any]]:
        """How many rows have each value of every attribute, or their weight where no rows are kept."""
        ...

    def fields(self) -> dict[str, Any]:
        """Named arrays and numbers for a model file."""
        ...

    def restore(self, fields: Fields) -> None:
        """Take in what :meth:`fields` gave, as read from a file; what does not fit is refused."""
        ...
