"""Weka's ReplaceMissingValues and unsupervised Discretize, as scikit-learn transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from localbayes.parameters import check_count

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Discretize", "ReplaceMissingValues", "apply_paper_filters"]

FEWEST_DIGITS, ALL_DIGITS = 6, 17


class _TableFilter(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A filter that treats each column separately and returns as many columns.

    A column of dtype category is nominal and its categories are its declared values, seen or not; a column
    of numbers is numeric. A subclass says what to learn from a column and how to change it.
    """

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : DataFrame
            Of pandas or polars. Columns are of dtype category or Enum (nominal) or of numbers (numeric).
        y : ignored
            Weka's filters leave the class alone.
        """
        self._check_parameters()
        table = self._table(X, reset=True)
        columns = [_checked(table.iloc[:, i]) for i in range(table.shape[1])]
        self.dtypes_ = [column.dtype for column in columns]
        self._learn(columns)
        return self

    def transform(self, X: Any) -> Any:
        """Apply what was learnt to a table with the same columns.

        Parameters
        ----------
        X : DataFrame
            The same columns, with the same declared values, as in `fit`.

        Returns
        -------
        DataFrame
            Of pandas, or of polars (nominal columns as Enum) if `set_output` says so.
        """
        import pandas as pd

        check_is_fitted(self)
        table = self._table(X, reset=False)
        columns = [
            self._change(i, self._as_fitted(_checked(table.iloc[:, i]), dtype))
            for i, dtype in enumerate(self.dtypes_)
        ]
        changed = pd.DataFrame(dict(zip(table.columns, columns, strict=True)), index=table.index)
        return _to_polars(changed) if _get_output_config("transform", self)["dense"] == "polars" else changed

    def _table(self, X: Any, reset: bool) -> pd.DataFrame:
        import pandas as pd

        table = X.to_pandas() if hasattr(X, "to_pandas") else X
        if not isinstance(table, pd.DataFrame):
            raise TypeError(
                f"{type(self).__name__} takes a pandas or polars DataFrame, got {type(X).__name__}"
            )
        if not table.columns.is_unique:
            twice = table.columns[table.columns.duplicated()][0]
            raise ValueError(f"columns need different names, got {twice!r} twice")
        validate_data(self, table, reset=reset, skip_check_array=True)
        return table

    @staticmethod
    def _as_fitted(column: pd.Series[Any], dtype: Any) -> pd.Series[Any]:
        nominal, was_nominal = hasattr(column, "cat"), hasattr(dtype, "categories")
        if nominal != was_nominal:
            now, then = ("nominal", "numeric") if nominal else ("numeric", "nominal")
            raise ValueError(f"column {column.name!r} is {now} but was {then} in fit")
        if not nominal:
            return column
        if set(column.cat.categories) != set(dtype.categories):
            raise ValueError(
                f"column {column.name!r} declares other values than in fit: give it the same categories"
            )
        # Not astype: to pandas, dtypes that differ only in the order of categories are equal.
        return column.cat.set_categories(dtype.categories, ordered=dtype.ordered)

    def _check_parameters(self) -> None:
        pass

    def _learn(self, columns: Sequence[pd.Series[Any]]) -> None:
        raise NotImplementedError

    def _change(self, i: int, column: pd.Series[Any]) -> pd.Series[Any]:
        raise NotImplementedError


class ReplaceMissingValues(_TableFilter):
    """Fill missing cells with the mean of a numeric and the most frequent value of a nominal column.

    Of equally frequent values the one declared first is taken; a numeric column that is missing everywhere
    becomes 0. The mean is added up row after row, as Weka does, so it has the same last bit.

    Attributes
    ----------
    fill_values_ : list
        What a missing cell of each column becomes.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, None, 4.0], "colour": pd.Categorical(["red", None, "blue"])})
    >>> ReplaceMissingValues().fit_transform(X)
       size colour
    0   1.0    red
    1   2.5   blue
    2   4.0   blue
    """

    def _learn(self, columns: Sequence[pd.Series[Any]]) -> None:
        self.fill_values_ = [_mode(column) if hasattr(column, "cat") else _mean(column) for column in columns]

    def _change(self, i: int, column: pd.Series[Any]) -> pd.Series[Any]:
        return column.fillna(self.fill_values_[i])


class Discretize(_TableFilter):
    """Cut each numeric column into bins of equal width, closed on the right.

    The result is a category column that declares every bin, empty ones too; a constant column, or one that
    is missing everywhere, becomes a single value. Nominal columns and missing cells stay as they are.
    A value goes to the first bin whose upper end is not below it, where scikit-learn's `KBinsDiscretizer`
    puts a value that equals a cut into the bin above.

    Parameters
    ----------
    bins : int, default=10
        Number of bins.

    Attributes
    ----------
    cut_points_ : list of ndarray or None
        For each column the inner ends of its bins, ``min + (max - min) / bins * k`` for k = 1, ..., bins - 1;
        None for a nominal one. The labels of the bins are rounded, these are not.

    Examples
    --------
    >>> import pandas as pd
    >>> Discretize(bins=3).fit_transform(pd.DataFrame({"size": [0.0, 2.0, 5.0, 6.0]}))
            size
    0  (-inf, 2]
    1  (-inf, 2]
    2   (4, inf)
    3   (4, inf)
    """

    def __init__(self, bins: int = 10) -> None:
        self.bins = bins

    def _check_parameters(self) -> None:
        check_count("bins", self.bins)

    def _learn(self, columns: Sequence[pd.Series[Any]]) -> None:
        self.cut_points_ = [
            None if hasattr(column, "cat") else _cut_points(column, self.bins) for column in columns
        ]

    def _change(self, i: int, column: pd.Series[Any]) -> pd.Series[Any]:
        import pandas as pd

        cuts = self.cut_points_[i]
        if cuts is None:
            return column
        values = column.to_numpy()
        codes = np.searchsorted(cuts, values, side="left").astype(np.int64)
        codes[np.isnan(values)] = -1
        binned = pd.Categorical.from_codes(codes, categories=pd.Index(_bin_labels(cuts)), ordered=True)
        return pd.Series(binned, index=column.index, name=column.name)


def apply_paper_filters(X: pd.DataFrame) -> pd.DataFrame:
    """Fill missing cells, then cut numeric columns into ten bins, all learnt from the table itself.

    This is the preparation of the paper's tables: on the whole data set, before cross-validation.

    Parameters
    ----------
    X : DataFrame
        Columns of dtype category (nominal) or of numbers (numeric).

    Returns
    -------
    DataFrame
        The same columns, all of dtype category, with every declared value.

    Examples
    --------
    >>> import pandas as pd
    >>> apply_paper_filters(pd.DataFrame({"age": [1.0, None, 3.0]}))["age"].tolist()
    ['(-inf, 1.2]', '(1.8, 2]', '(2.8, inf)']
    """
    complete = ReplaceMissingValues().fit_transform(X)
    filtered: pd.DataFrame = Discretize(bins=10).fit_transform(complete)
    return filtered


def _checked(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column, with numbers as float64; columns that are neither nominal nor numeric are refused."""
    if hasattr(column, "cat"):
        return column
    if getattr(column.dtype, "kind", "O") not in "iuf":
        raise TypeError(
            f"column {column.name!r} has dtype {column.dtype}: "
            "convert it to category (nominal) or float (numeric)"
        )
    numbers = column.astype(np.float64)
    if np.isinf(numbers.to_numpy()).any():
        raise ValueError(f"column {column.name!r} has infinite values: mark them as missing or bound them")
    return numbers


def _to_polars(table: pd.DataFrame) -> Any:
    """The same cells; an Enum keeps declared values that do not occur, polars' own conversion does not."""
    import polars as pl

    columns = []
    for name, column in table.items():
        words: list[Any] = column.tolist()
        dtype: Any = pl.Float64
        if hasattr(column, "cat"):
            dtype = pl.Enum([str(value) for value in column.cat.categories])
            words = [None if code < 0 else dtype.categories[code] for code in column.cat.codes]
        columns.append(pl.Series(str(name), words, dtype=dtype))
    return pl.DataFrame(columns)


def _mean(column: pd.Series[Any]) -> float:
    values = column.dropna().to_numpy()
    # cumsum adds row after row, as Weka does; sum adds in pairs and rounds differently.
    return float((0.0 + values.cumsum()[-1]) / values.size) if values.size else 0.0


def _mode(column: pd.Series[Any]) -> Any:
    if not len(column.cat.categories):
        raise ValueError(f"column {column.name!r} declares no values, so none can be filled in: drop it")
    codes = column.cat.codes.to_numpy()
    counts = np.bincount(codes[codes >= 0], minlength=len(column.cat.categories))
    return column.cat.categories[int(counts.argmax())]


def _cut_points(column: pd.Series[Any], bins: int) -> NDArray[np.float64]:
    values = column.dropna().to_numpy()
    if not values.size:
        return np.empty(0)
    low, high = values.min(), values.max()
    with np.errstate(over="ignore"):
        width = (high - low) / bins
        cuts: NDArray[np.float64] = low + width * np.arange(1, bins)
    return cuts if width > 0 else np.empty(0)


def _bin_labels(cuts: NDArray[np.float64]) -> list[str]:
    """Labels of the bins: all different, with as few digits as possible."""
    for digits in range(FEWEST_DIGITS, ALL_DIGITS + 1):
        ends = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(ends)) == len(ends):
            break
    labels = [f"({low}, {high}]" for low, high in zip(["-inf", *ends], [*ends, "inf"], strict=True)]
    labels[-1] = labels[-1].replace("]", ")")
    if len(set(ends)) < len(ends):
        # Some cuts are equal as floating-point numbers.
        labels = [f"{label} #{k}" for k, label in enumerate(labels, start=1)]
    return labels
