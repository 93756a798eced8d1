"""Learning from parts of a table: plain functions from one part to summaries and counts that add up."""

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.class_shares import row_weights
from localbayes.counts import Codes, Floats, Statistic
from localbayes.encoding import ClassLabels, TableEncoder
from localbayes.encoding.labels import take_labels
from localbayes.encoding.summaries import CategorySummary, Summary
from localbayes.encoding.tables import take_rows

__all__ = [
    "LabelledRows",
    "TableSummary",
    "add_statistics",
    "add_summaries",
    "add_table_summaries",
    "check_lengths",
    "count_part",
    "encode_part",
    "joined_rows",
    "rows_counted",
    "rows_summarised",
    "rows_that_count",
    "some_rows",
    "summarise_part",
]

# A table, its classes and, if rows have weights, those.
LabelledRows = tuple[Any, ...]


@dataclass(frozen=True)
class TableSummary:
    """What some rows say of the columns and the classes.

    Attributes
    ----------
    columns : list of Summary
        Of every column.
    labels : CategorySummary
        Of the class; its counts are weights if rows have them.
    n_rows : int
        Number of rows; one of weight zero is none.
    weighted : bool
        Whether some row has another weight than one.
    """

    columns: list[Summary]
    labels: CategorySummary
    n_rows: int
    weighted: bool

    def __add__(self, other: "TableSummary") -> "TableSummary":
        """Summary of the rows of both."""
        labels: Any = self.labels + other.labels
        return TableSummary(
            add_summaries([self.columns, other.columns]),
            labels,
            self.n_rows + other.n_rows,
            self.weighted or other.weighted,
        )


def summarise_part(encoder: TableEncoder, part: LabelledRows) -> TableSummary:
    """Summary of the rows of one part."""
    X, y, weights = _rows_that_count(part)
    declared = type(getattr(y, "dtype", None)).__name__ == "CategoricalDtype"
    if not len(y) and not declared:
        columns = encoder.summarise(X, weights, np.empty(0, np.int64))
        return TableSummary(columns, CategorySummary("y", {}, False, 0), 0, False)
    labels = ClassLabels.learn(y)
    codes = labels.encode(y)
    counts = np.bincount(codes, weights, len(labels)).tolist()
    found = CategorySummary("y", dict(zip(labels.declared, counts, strict=True)), declared, 0)
    columns = encoder.summarise(X, weights, codes, labels.declared)
    return TableSummary(columns, found, len(y), weights is not None and bool((weights != 1).any()))


def add_summaries(parts: Sequence[list[Summary]]) -> list[Summary]:
    """Summaries of the columns of all rows."""
    return [functools.reduce(operator.add, column) for column in zip(*parts, strict=True)]


def add_table_summaries(parts: Sequence[TableSummary]) -> TableSummary:
    """Summary of all rows."""
    return functools.reduce(operator.add, parts)


def rows_summarised(summary: TableSummary) -> int:
    """Number of rows of a part."""
    return summary.n_rows


def rows_that_count(part: LabelledRows) -> int:
    """Number of rows of a part, those of weight zero left out."""
    return len(_rows_that_count(part)[1])


def some_rows(part: LabelledRows, places: npt.NDArray[np.int64]) -> tuple[Any, Any, Floats]:
    """Table, classes and weights of some rows of a part, by their place among those that count."""
    X, y, weights = _rows_that_count(part)
    chosen = np.zeros(len(y), dtype=bool)
    chosen[places] = True
    each = np.ones(len(y)) if weights is None else weights
    return take_rows(X, chosen), take_labels(y, chosen), each[chosen]


def joined_rows(parts: Sequence[tuple[Any, Any, Floats]], labels: ClassLabels) -> tuple[Any, ...]:
    """Table, class codes and weights of rows that several parts gave."""
    tables, classes, weights = zip(*[part for part in parts if len(part[2])], strict=True)
    if hasattr(tables[0], "iloc"):
        import pandas as pd

        table = pd.concat(tables, ignore_index=True)
    else:
        table = np.concatenate(tables)
    return table, np.concatenate([labels.encode(y) for y in classes]), np.concatenate(weights)


def encode_part(
    estimator: BayesClassifier, part: LabelledRows, weighted: bool
) -> tuple[Codes, npt.NDArray[np.int64], Floats | None]:
    """Codes, class codes and weights of the rows of one part.

    Parameters
    ----------
    estimator : classifier
        With domains.
    part : tuple
        Table, classes and perhaps weights.
    weighted : bool
        Whether some row of the whole table has another weight than one; else weights are None.
    """
    X, y, weights = _rows_that_count(part)
    return estimator.encode_checked(X), estimator.labels_.encode(y), weights if weighted else None


def count_part(estimator: BayesClassifier, part: LabelledRows, weighted: bool) -> Any:
    """Statistic of the rows of one part."""
    statistic = estimator.empty_statistic(estimator.sizes_, len(estimator.labels_))
    statistic.add(*encode_part(estimator, part, weighted))
    return statistic


def rows_counted(counts: Statistic) -> int:
    """Number of rows of a part; small enough to come back as a sign that the part is done."""
    return int(counts.n_rows)


def add_statistics(parts: Sequence[Any]) -> Any:
    """Counts of all rows."""
    return functools.reduce(operator.add, parts)


def check_lengths(X: Any, y: Any) -> None:
    """Refuse a table and classes of different lengths."""
    if len(X) != len(y):
        raise ValueError(
            f"X has {len(X)} rows here and y has {len(y)}; cut both at the same rows, or pass one table and "
            "the name of its class column as target"
        )


def _rows_that_count(part: LabelledRows) -> tuple[Any, Any, Floats | None]:
    """Table, classes and weights without the rows of weight zero."""
    X, y, *given = part
    check_lengths(X, y)
    if not given:
        return X, y, None
    weights = _weights(given[0], len(X))
    if weights.all():
        return X, y, weights
    kept = weights > 0
    return take_rows(X, kept), take_labels(y, kept), weights[kept]


def _weights(given: Any, n: int) -> Floats:
    """Weight of every row of a part; unlike those of a table, all of them may be zero."""
    weights = np.asarray(given)
    if len(weights) != n:
        raise ValueError(
            f"X has {n} rows here and sample_weight has {len(weights)}; cut both at the same rows, or pass "
            "the name of a column of X"
        )
    if not n or (weights.dtype.kind in "biuf" and not weights.any()):
        return np.zeros(n)
    checked = row_weights(weights, n)
    return np.ones(n) if checked is None else checked
