"""From a table to codes, with domains, bins, means and modes learned in fit."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from localbayes._warnings import warn
from localbayes.encoding.coded import Codes, code_dtype, missing_code, unseen_code
from localbayes.encoding.columns import (
    MISSING,
    UNSEEN,
    CategoricalColumn,
    Column,
    LeftOutColumn,
    NumericColumn,
    RawColumn,
    bins_of_table,
    cut_table,
    kind_of,
)
from localbayes.encoding.discretize import DISCRETIZERS, cut_points
from localbayes.encoding.number_counts import NumberCounts
from localbayes.encoding.roles import Role, TimeKind, role_of
from localbayes.encoding.single_row import cells_of_row
from localbayes.encoding.summaries import NumberSummary, Summary, summarise
from localbayes.encoding.tables import column_names, read_columns, small_numbers
from localbayes.encoding.terms import Term
from localbayes.parameters import Missing, check_count, either

__all__ = ["TableEncoder"]


_MOST_BINS = 1_000_000
# Cells of a table that is encoded in one step.
_MOST_CELLS = 1 << 20


class TableEncoder:
    """Turn a table into codes.

    Parameters
    ----------
    categorical_features : {"from_dtype", "all"} or array-like
        Which columns are categories: by dtype (category, string, bool and times are, and objects if they are
        anything but numbers), all, or a mask, indices or names. A dict says of some
        columns, by name, whether they are categories (True) or numbers (False), and that they are to be used
        even if they look like ids; the others are judged by dtype.
    n_bins : int
        Bins of equal width for a numeric column.
    missing : {"impute", "category", "ignore"}
        Mean or mode in place of a missing value, a value of its own, or left missing.
    discretize : str
        How a numeric column is cut into bins: a name in
        :data:`localbayes.encoding.discretize.DISCRETIZERS`.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.0, 5.0, 11.0]})
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.encode(X).tolist(), encoder.sizes.tolist()
    ([[1, 0], [0, 3], [1, 9]], [2, 10])
    >>> encoder
    TableEncoder of 2 columns: 1 nominal, 1 numeric
    """

    # Columns that are made of others, and columns of times by number; only an encoder for raw tables has any.
    terms: Sequence[Term] = ()
    times: Mapping[int, TimeKind] = {}

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
        """Learn domains and bins; only some discretizers need the classes.

        Parameters
        ----------
        X : table
            Rows in any form that the classifiers take.
        class_codes : array of shape (n_rows,), optional
            Class of every row as a number.
        weights : array of shape (n_rows,), optional
            Weight of every row.
        """
        self.start(column_names(X))
        raws = self._read(X)
        self.learn([summarise(raw, weights) for raw in raws])
        if not DISCRETIZERS[self.discretize].needs_range_only:
            for column, raw in zip(self.columns, raws, strict=True):
                if isinstance(column, NumericColumn):
                    column.cuts = cut_points(self.discretize, raw.numbers, class_codes, weights, self.n_bins)
        return self

    def __repr__(self) -> str:
        if not hasattr(self, "columns"):
            return f"{type(self).__name__}, not fitted"
        kinds = [
            "left out"
            if isinstance(c, LeftOutColumn)
            else "numeric"
            if isinstance(c, NumericColumn)
            else "nominal"
            for c in self.columns
        ]
        told = [f"{kinds.count(kind)} {kind}" for kind in ("nominal", "numeric", "left out") if kind in kinds]
        terms = f", and {len(self.terms)} terms made of them" if self.terms else ""
        return f"{type(self).__name__} of {len(kinds)} columns: {', '.join(told)}{terms}"

    def check_options(self) -> None:
        """Refuse options that make no sense, whatever the table."""
        check_count("n_bins", self.n_bins)
        if self.n_bins > _MOST_BINS:
            raise ValueError(f"n_bins must be at most {_MOST_BINS}, got {self.n_bins}")
        if self.missing not in get_args(Missing):
            raise ValueError(f"missing must be {either(get_args(Missing))}, got {self.missing!r}")
        if self.discretize not in DISCRETIZERS:
            raise ValueError(f"discretize must be {either(DISCRETIZERS)}, got {self.discretize!r}")

    def start(self, names: Sequence[str]) -> "TableEncoder":
        """Check the options against the names of the columns; the first step of a fit in parts."""
        self.check_options()
        self.names = list(names)
        self.forced = self._given = _forced_kinds(self.categorical_features, self.names)
        return self

    def summarise(
        self,
        X: Any,
        weights: npt.NDArray[np.float64] | None = None,
        class_codes: npt.NDArray[np.int64] | None = None,
        labels: Sequence[Any] = (),
    ) -> list[Summary]:
        """Summaries of the columns; those of parts of a table add up to those of the table.

        Parameters
        ----------
        X : table of shape (n, m)
            The rows.
        weights : array of shape (n,), optional
            Weights of the rows, all of them positive.
        class_codes : array of shape (n,), optional
            Positions in ``labels`` of the classes, which cuts by classes need.
        labels : sequence
            Classes of these rows.
        """
        raws = self._read(X)
        summaries = [summarise(raw, weights) for raw in raws]
        if DISCRETIZERS[self.discretize].needs_range_only:
            return summaries
        codes = class_codes if DISCRETIZERS[self.discretize].needs_classes else None
        known = (None,) if codes is None else tuple(labels)
        return [
            replace(summary, counts=NumberCounts.of_rows(raw.numbers, codes, weights, known))
            if isinstance(summary, NumberSummary)
            else summary
            for raw, summary in zip(raws, summaries, strict=True)
        ]

    def learn(self, summaries: Sequence[Summary], declared: Sequence[Any] = ()) -> "TableEncoder":
        """Learn domains and bins from the summaries of all rows; ``declared`` gives the classes in order."""
        self.columns: list[Column] = [
            NumericColumn.learn(summary, self.missing, self.n_bins)
            if isinstance(summary, NumberSummary)
            else CategoricalColumn.learn(summary, self.missing)
            for summary in summaries
        ]
        for column, summary in zip(self.columns, summaries, strict=True):
            if isinstance(column, NumericColumn) and isinstance(summary, NumberSummary):
                counts = summary.counts or summary.few
                if counts is not None and (summary.counts or DISCRETIZERS[self.discretize].needs_range_only):
                    column.cuts = counts.cuts(self.discretize, self.n_bins, declared)
        # A column keeps the kind it had in fit, whatever dtype it has later.
        self.forced = [isinstance(column, CategoricalColumn) for column in self.columns]
        named = self.categorical_features if isinstance(self.categorical_features, dict) else ()
        self._leave_out(
            [
                role_of(one, given is True or name in named)
                for one, given, name in zip(summaries, self._given, self.names, strict=True)
            ]
        )
        return self

    def rows_wanted(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Numbers of the training rows that are needed after :meth:`learn`: none."""
        return np.empty(0, dtype=np.int64)

    def learn_from_rows(
        self, X: Any, class_codes: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None
    ) -> None:
        """Learn what summaries do not tell from the rows that :meth:`rows_wanted` names."""

    def _leave_out(self, roles: Sequence[Role]) -> None:
        """Leave out columns that are ids or free text, and say so."""
        useless = [role.kind == "constant" or not role.used for role in roles]
        numbers = [i for i, role in enumerate(roles) if not role.used and not self.forced[i]]
        if all(useless) and numbers:
            # Numbers are in order, so that even row numbers may tell something where nothing else does.
            roles = [replace(role, used=role.used or i in numbers) for i, role in enumerate(roles)]
            verbs, them = (("numbers", "is"), "it") if len(numbers) == 1 else (("number", "are"), "them")
            warn(
                f"{self._named(numbers)} only {verbs[0]} the rows, and {verbs[1]} used for lack of others; "
                f"drop {them} if so"
            )
            useless = [False]
        left_out = [i for i, role in enumerate(roles) if not role.used]
        self.roles = list(roles)
        if not left_out:
            return
        example = {self.names[left_out[0]]: self.forced[left_out[0]]}
        nothing = "; no column is left, so that only shares of classes are learned" if all(useless) else ""
        warn(
            f"left out {self._named(left_out)}: nearly every row has a value or a text of its own{nothing}; "
            f"to keep one, give it the dtype category (--categorical) or say categorical_features={example}"
        )
        for i in left_out:
            self.columns[i] = LeftOutColumn(roles[i].kind)
            self.forced[i] = True  # so that whatever comes later can be read

    def _named(self, columns: Sequence[int]) -> str:
        names = ", ".join(repr(self.names[i]) for i in columns[:5]) + (", ..." if len(columns) > 5 else "")
        return f"columns {names}" if len(columns) > 1 else f"column {names}"

    @property
    def left_out(self) -> list[int]:
        """Positions of the columns that classifiers do not learn from."""
        return [i for i, column in enumerate(self.columns) if isinstance(column, LeftOutColumn)]

    @property
    def sizes(self) -> npt.NDArray[np.uint32]:
        """Number of values of every column."""
        return np.array([column.size for column in self.columns], dtype=np.uint32)

    @property
    def ordered_sizes(self) -> npt.NDArray[np.int64]:
        """Number of values of every column that are bins in order, from the first on; 0 if it is nominal."""
        bins = [len(c.cuts) + 1 if isinstance(c, NumericColumn) else 0 for c in self.columns]
        return np.array(bins, dtype=np.int64)

    def extended(self, X: Any) -> "TableEncoder":
        """Return an encoder whose undeclared domains also have the values of X."""
        other = copy(self)
        other.columns = [copy(column) for column in self.columns]
        for column, raw in zip(other.columns, self._read(X), strict=True):
            column.extend(raw, self.missing)
        return other

    def check_codes(self, codes: Codes) -> None:
        """Refuse codes beyond an undeclared domain: values that come later may get the same codes."""
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
        if codes is None:
            codes = self._encode_row(X)
        return self.encode_columns(self.read(X)) if codes is None else codes

    def read(self, X: Any) -> list[RawColumn]:
        """Columns of a table as they came, of the kinds that they had in fit."""
        return self._read(X)

    def encode_columns(self, raws: Sequence[RawColumn]) -> Codes:
        """Codes of columns as :meth:`read` gives them."""
        dtype = code_dtype(int(self.sizes.max()))
        codes = np.empty((len(raws[0]), len(self.columns)), dtype=dtype)
        mistaken: list[tuple[str, Any, Any]] = []
        for i, (column, raw) in enumerate(zip(self.columns, raws, strict=True)):
            column_codes = column.encode(raw)
            if column_codes.min(initial=0) < 0:
                if isinstance(column, CategoricalColumn) and column.is_mistaken(raw, column_codes):
                    mistaken.append((self.names[i], column.values[0], raw.values[0]))
                column_codes[column_codes == UNSEEN] = unseen_code(dtype)
                # Only missing="ignore" has a code for it; otherwise it counts as a value never seen.
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
        """Codes of a small table of finite numbers, all columns at once; None for any other table."""
        if not all(isinstance(column, NumericColumn) for column in self.columns):
            return None
        numbers = _small_array(X) if isinstance(X, np.ndarray) else small_numbers(X)
        if numbers is None or not np.isfinite(numbers).all():
            return None
        # The cuts are put together once, and again when a column gets others.
        made_of = [column.cuts for column in self.columns if isinstance(column, NumericColumn)]
        known, table = getattr(self, "_cuts", ((), None))
        if len(known) != len(made_of) or any(a is not b for a, b in zip(known, made_of, strict=True)):
            table = cut_table([column for column in self.columns if isinstance(column, NumericColumn)])
            self._cuts = made_of, table
        return None if table is None else bins_of_table(table, numbers)

    def _encode_row(self, X: Any) -> Codes | None:
        """Codes of a frame of one row of texts and numbers that were learned; None for any other table."""
        cells = cells_of_row(X)
        if cells is None:
            return None
        row = []
        for column, cell in zip(self.columns, cells, strict=True):
            code = column.code_of(cell)
            if code is None:
                return None
            row.append(code)
        return np.array([row], dtype=code_dtype(max(column.size for column in self.columns)))

    def _read(self, X: Any) -> list[RawColumn]:
        return read_columns(X, self.forced)


def _small_array(X: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """A small array of numbers as floating point; None for any other."""
    small = X.dtype.kind in "iuf" and X.size <= _MOST_CELLS
    return X.astype(np.float64, copy=False) if small else None


def _forced_kinds(features: Any, names: Sequence[str]) -> list[bool | None]:
    m = len(names)
    if isinstance(features, dict):
        unknown = [name for name in features if name not in names]
        if unknown or not all(isinstance(kind, bool | np.bool_) for kind in features.values()):
            wrong = (
                f"the column {unknown[0]!r}, which the table lacks"
                if unknown
                else "something but True or False"
            )
            raise ValueError(f"categorical_features is a dict with {wrong}; use names of columns and bools")
        return [bool(features[name]) if name in features else None for name in names]
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
