"""Rows that repeat each other, inside one table or between two."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.auditing.column_profile import read_values, value_codes
from localbayes.encoding.columns import RawColumn
from localbayes.encoding.meaning import known_by_meaning
from localbayes.encoding.tables import check_table, column_names, read_columns

__all__ = ["Conflict", "best_accuracy", "conflicts_of", "grouped", "repeated_rows", "row_groups", "same_rows"]


@dataclass(frozen=True)
class Conflict:
    """Rows that are identical but for their labels.

    Attributes
    ----------
    rows : tuple of int
        Their numbers.
    labels : dict
        How many rows have each label, the most frequent one first.
    """

    rows: tuple[int, ...]
    labels: dict[Any, int]


def row_groups(X: Any) -> npt.NDArray[np.int64]:
    """Number of the group of identical rows that each row belongs to; a missing value equals another one.

    Examples
    --------
    >>> row_groups([["a", 1.0], ["b", 1.0], ["a", 1.0]]).tolist()
    [0, 1, 0]
    """
    return grouped([values for _, values in read_values(check_table(X, None))])


def same_rows(X: Any, other: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Groups of identical rows over two tables; columns are found by name where both have names.

    Parameters
    ----------
    X, other : DataFrame or array
        Tables with the same columns.

    Returns
    -------
    groups, groups_of_other : arrays of int
        Rows of the same group are identical.

    Examples
    --------
    >>> same_rows([["a"], ["b"]], [["b"], ["c"]])[1].tolist()
    [1, 2]
    """
    X, other = check_table(X, None), check_table(other, None)
    names, found = column_names(X), {column.name: column for column in _columns(other)}
    lacking = [name for name in names if name not in found]
    if lacking:
        raise ValueError(f"the other table lacks the column {lacking[0]!r}; give it the same columns")
    joined = [_joined(raw, found[raw.name]) for raw in _columns(X)]
    groups = grouped(joined)
    return groups[: len(X)], groups[len(X) :]


def conflicts_of(groups: npt.NDArray[np.int64], y: npt.NDArray[Any]) -> list[Conflict]:
    """Groups whose rows have different labels, those with most rows first."""
    labels, codes = np.unique(y, return_inverse=True)
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    # Rows of groups in which some row has another label than the first one, group by group.
    mixed = np.bincount(group, codes != codes[first][group]) > 0
    rows = np.flatnonzero(mixed[group])
    rows = rows[np.argsort(group[rows], kind="stable")]
    found = []
    for part in np.split(rows, np.flatnonzero(np.diff(group[rows])) + 1) if len(rows) else []:
        counts = np.bincount(codes[part], minlength=len(labels))
        ranked = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        found.append(Conflict(tuple(part.tolist()), {labels[k].item(): int(counts[k]) for k in ranked}))
    return sorted(found, key=lambda conflict: (-len(conflict.rows), conflict.rows))


def best_accuracy(conflicts: list[Conflict], n_rows: int) -> float:
    """Largest accuracy on these rows that any classifier can have: identical rows get one answer."""
    wrong = sum(len(conflict.rows) - max(conflict.labels.values()) for conflict in conflicts)
    return 1 - wrong / n_rows


def repeated_rows(groups: npt.NDArray[np.int64], y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Numbers of rows that repeat an earlier row, label included."""
    _, codes = np.unique(y, return_inverse=True)
    _, first = np.unique(groups * (codes.max(initial=0) + 1) + codes, return_index=True)
    return np.setdiff1d(np.arange(len(groups)), first)


def _columns(X: Any) -> list[RawColumn]:
    return read_columns(X, [None] * len(column_names(X)))


def _joined(raw: RawColumn, other: RawColumn) -> npt.NDArray[np.int64]:
    """Codes of the values of a column in both tables, one after the other."""
    if raw.numeric and other.numeric:
        both = RawColumn(raw.name, numbers=np.concatenate([raw.numbers, other.numbers]))
        return value_codes(both)
    values, others = _values(raw), _values(other)
    position: dict[Any, int] = {value: k for k, value in enumerate(values)}
    unknown = [value for value in others if value not in position]
    same = known_by_meaning(unknown, values)
    moved = [position.setdefault(same.get(value, value), len(position)) for value in others]
    return np.concatenate([value_codes(raw), np.array([*moved, -1], dtype=np.int64)[value_codes(other)]])


def _values(raw: RawColumn) -> list[Any]:
    """Different values, in the order of their codes."""
    if not raw.numeric:
        return raw.values
    numbers = np.unique(raw.numbers[~np.isnan(raw.numbers)]).tolist()
    return [int(number) if number.is_integer() else number for number in numbers]


def grouped(columns: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Number of the group of each row, in the order of their first rows, by the numbers of its values.

    Examples
    --------
    >>> grouped([np.array([1, 0, 1]), np.array([2, 2, 2])]).tolist()
    [0, 1, 0]
    """
    groups = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        groups = np.unique(groups * (codes.max(initial=0) + 2) + codes + 1, return_inverse=True)[1]
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)
