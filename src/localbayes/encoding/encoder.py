"""From a table to codes, with domains, bins, means and modes learned in fit."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes._warnings import warn
from localbayes.encoding.coded import Codes, code_dtype, missing_code, unseen_code
from localbayes.encoding.columns import (
    MISSING,
    UNSEEN,
    CategoricalColumn,
    NumericColumn,
    RawColumn,
    bins_of_table,
    kind_of,
)
from localbayes.encoding.discretize import cut_points
from localbayes.encoding.summaries import NumberSummary, Summary, summarise
from localbayes.encoding.tables import column_names, read_columns, small_numbers
from localbayes.parameters import check_count

__all__ = ["TableEncoder"]


_MOST_BINS = 1_000_000


class TableEncoder:
    """Turn a table into codes.

    Parameters
    ----------
    categorical_features : {"from_dtype", "all"} or array-like
        Which columns are categories: by dtype (category, object, string, bool and times are; in an array of
        objects those that hold anything but numbers), all, or a mask, indices or names.
    n_bins : int
        Bins of equal width for a numeric column.
    missing : {"impute", "category", "ignore"}
        Mean or mode in place of a missing value, a value of its own, or left missing.
    discretize : {"width", "quantile", "mdl"}
        How a numeric column is cut into bins, see :mod:`localbayes.encoding.discretize`.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.0, 5.0, 11.0]})
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.encode(X).tolist(), encoder.sizes.tolist()
    ([[1, 0], [0, 3], [1, 9]], [2, 10])
    """

    def __init__(
        self,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        missing: Any = "impute",
        discretize: str = "width",
    ) -> None:
        self.categorical_features = categorical_features
        self.n_bins = n_bins
        self.missing = missing
        self.discretize = discretize

    def fit(
        self,
        X: Any,
        class_codes: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> "TableEncoder":
        """Learn domains and bins; classes are needed by ``discretize="mdl"`` alone."""
        self.start(column_names(X))
        raws = self._read(X)
        self.learn([summarise(raw, weights) for raw in raws])
        if self.discretize != "width":
            for column, raw in zip(self.columns, raws, strict=True):
                if isinstance(column, NumericColumn):
                    column.cuts = cut_points(self.discretize, raw.numbers, class_codes, weights, self.n_bins)
        return self

    def check_options(self) -> None:
        """Refuse options that make no sense, whatever the table."""
        check_count("n_bins", self.n_bins)
        if self.n_bins > _MOST_BINS:
            raise ValueError(f"n_bins must be at most {_MOST_BINS}, got {self.n_bins}")
        if self.missing not in ("impute", "category", "ignore"):
            raise ValueError(f"missing must be 'impute', 'category' or 'ignore', got {self.missing!r}")
        if self.discretize not in ("width", "quantile", "mdl"):
            raise ValueError(f"discretize must be 'width', 'quantile' or 'mdl', got {self.discretize!r}")

    def start(self, names: Sequence[str]) -> "TableEncoder":
        """Check the options, also against the names of the columns; the first step of a fit in parts."""
        self.check_options()
        self.names = list(names)
        self.forced = _forced_kinds(self.categorical_features, self.names)
        return self

    def summarise(self, X: Any) -> list[Summary]:
        """Summaries of the columns; those of parts of a table add up to those of the table."""
        return [summarise(raw) for raw in self._read(X)]

    def learn(self, summaries: Sequence[Summary]) -> "TableEncoder":
        """Learn domains and bins of equal width from the summaries of all rows."""
        self.columns: list[CategoricalColumn | NumericColumn] = [
            NumericColumn.learn(summary, self.missing, self.n_bins)
            if isinstance(summary, NumberSummary)
            else CategoricalColumn.learn(summary, self.missing)
            for summary in summaries
        ]
        # A column keeps the kind it had in fit, whatever dtype it has later.
        self.forced = [isinstance(column, CategoricalColumn) for column in self.columns]
        return self

    @property
    def sizes(self) -> npt.NDArray[np.uint32]:
        """Number of values of every column."""
        return np.array([column.size for column in self.columns], dtype=np.uint32)

    def extended(self, X: Any) -> "TableEncoder":
        """Return an encoder that also knows the values of undeclared domains that came later."""
        other = copy(self)
        other.columns = [copy(column) for column in self.columns]
        for column, raw in zip(other.columns, self._read(X), strict=True):
            column.extend(raw, self.missing)
        return other

    def check_codes(self, codes: Codes) -> None:
        """Refuse training rows whose codes an undeclared domain may give to values that come later."""
        for name, column, given in zip(self.names, self.columns, codes.T, strict=True):
            may_grow = isinstance(column, CategoricalColumn) and not column.declared
            foreign = given[given >= column.size]
            if may_grow and (foreign != missing_code(codes.dtype)).any():
                raise ValueError(
                    f"column {name!r} has the code {foreign.max()}, but {column.size} values so far; "
                    "pass the table itself, whose new values get codes"
                )

    def encode(self, X: Any) -> Codes:
        """Codes of a table with the same columns."""
        codes = self._encode_numbers(X)
        if codes is not None:
            return codes
        raws = self._read(X)
        dtype = code_dtype(int(self.sizes.max()))
        codes = np.empty((len(X), len(self.columns)), dtype=dtype)
        mistaken: list[tuple[str, Any, Any]] = []
        for i, (column, raw) in enumerate(zip(self.columns, raws, strict=True)):
            column_codes = column.encode(raw)
            if column_codes.min(initial=0) < 0:
                if isinstance(column, CategoricalColumn) and column.is_mistaken(raw):
                    mistaken.append((self.names[i], column.values[0], raw.values[0]))
                column_codes[column_codes == UNSEEN] = unseen_code(dtype)
                # Only missing="ignore" keeps a missing value; elsewhere it is one that fit never saw.
                column_codes[column_codes == MISSING] = (
                    missing_code(dtype) if self.missing == "ignore" else unseen_code(dtype)
                )
            codes[:, i] = column_codes
        if mistaken:
            name, learned, came = mistaken[0]
            those = "it" if len(mistaken) == 1 else f"all {len(mistaken)} such columns"
            warn(
                f"column {name!r} was learned as {kind_of(learned)}, got {kind_of(came)} such as "
                f"{came!r:.40}, so no value is known; convert {those}"
            )
        return codes

    def _encode_numbers(self, X: Any) -> Codes | None:
        """Codes of a small frame of finite numbers, all columns at once; None for any other table."""
        columns = [column for column in self.columns if isinstance(column, NumericColumn)]
        numbers = small_numbers(X) if len(columns) == len(self.columns) else None
        return None if numbers is None or not np.isfinite(numbers).all() else bins_of_table(columns, numbers)

    def _read(self, X: Any) -> list[RawColumn]:
        return read_columns(X, self.forced)


def _forced_kinds(features: Any, names: Sequence[str]) -> list[bool | None]:
    m = len(names)
    if isinstance(features, str):
        if features == "from_dtype":
            return [None] * m
        if features == "all":
            return [True] * m
    elif features is None:
        return [False] * m
    else:
        chosen = np.asarray(features)
        cells = np.array(features, dtype=object).ravel().tolist()
        of_names = {isinstance(c, str) for c in cells}
        if len(of_names) == 2 and all(isinstance(c, str | int | np.integer) for c in cells):
            raise ValueError(
                f"categorical_features mixes names and positions of columns, got {features!r}; use one kind"
            )
        if chosen.dtype == bool and chosen.shape == (m,):
            return [bool(c) for c in chosen]
        if chosen.dtype.kind in "iu" and chosen.ndim == 1 and all(-m <= c < m for c in chosen):
            return [i in {int(c) % m for c in chosen} for i in range(m)]
        if chosen.ndim == 1 and all(isinstance(c, str) for c in chosen.tolist()):
            unknown = sorted(set(chosen.tolist()) - set(names))
            if unknown:
                raise ValueError(
                    f"categorical_features names the column {unknown[0]!r}, which the table lacks"
                )
            return [name in set(chosen.tolist()) for name in names]
    raise ValueError(
        "categorical_features must be 'from_dtype', 'all', a mask, indices or names of columns "
        f"for {m} columns, got {features!r}"
    )
