"""An encoder for raw tables: dates and durations in order, and terms beside the columns."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.encoding.coded import Codes, code_dtype, missing_code, unseen_code
from localbayes.encoding.columns import MISSING, NumericColumn, RawColumn
from localbayes.encoding.discretize import cut_points
from localbayes.encoding.discriminant import Discriminant, learn_discriminant
from localbayes.encoding.encoder import TableEncoder
from localbayes.encoding.number_counts import NumberCounts
from localbayes.encoding.roles import Role, TimeKind, as_seconds, time_kind
from localbayes.encoding.summaries import CategorySummary, NumberSummary, Summary, summarise
from localbayes.encoding.tables import column_names
from localbayes.encoding.terms import Odds, learn_terms

__all__ = ["RichEncoder"]

# Rows from which terms are learned, at most.
_TERM_ROWS = 100_000
# Bins of log odds: so many of equal width, and as many of equal numbers of rows.
_ODDS_BINS = 20


class RichEncoder(TableEncoder):
    """Turn a raw table into codes of its columns and of terms made of them.

    Dates, durations, and texts that are either are numbers in order. After the codes of the columns come
    those of the terms, see :mod:`localbayes.encoding.terms`.

    Examples
    --------
    >>> X = np.array([[k] for k in range(26)] * 4)
    >>> encoder = RichEncoder(n_bins=20, missing="category", discretize="merged")
    >>> encoder.fit(X, X[:, 0] % 2).sizes.tolist()[1:]
    [26]
    """

    discriminant: Discriminant | None = None

    def fit(
        self,
        X: Any,
        class_codes: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> "RichEncoder":
        """Learn domains, bins and terms."""
        self.start(column_names(X))
        raws = super()._read(X)
        self.learn([summarise(raw, weights) for raw in raws])
        raws = self._with_times(raws)
        for column, raw in zip(self.columns, raws, strict=True):
            if isinstance(column, NumericColumn):
                column.cuts = cut_points(self.discretize, raw.numbers, class_codes, weights, self.n_bins)
        if class_codes is not None:
            at = self.rows_wanted(len(class_codes))
            some = [raw.take(at) for raw in raws] if len(at) < len(class_codes) else raws
            self._learn_terms(some, class_codes[at], None if weights is None else weights[at])
        return self

    def learn(self, summaries: Sequence[Summary], declared: Sequence[Any] = ()) -> "RichEncoder":
        """Learn domains and bins from the summaries of all rows; columns of times are in order."""
        times: dict[int, TimeKind] = {}
        in_order = list(summaries)
        for i, (summary, given) in enumerate(zip(summaries, self._given, strict=True)):
            if given is None and isinstance(summary, CategorySummary) and not summary.declared:
                kind = time_kind(list(summary.counts))
                if kind is not None:
                    times[i], in_order[i] = kind, _in_order(summary, kind)
        super().learn(in_order, declared)
        self.terms, self.discriminant, self.times = [], None, times
        for i, kind in times.items():
            self.roles[i] = Role(kind)
            self.forced[i] = True
        return self

    def rows_wanted(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Numbers of the training rows that terms are learned from: all, or a seeded sample of many."""
        if n_rows <= _TERM_ROWS:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng(0).choice(n_rows, _TERM_ROWS, replace=False))

    def learn_from_rows(
        self, X: Any, class_codes: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None
    ) -> None:
        """Learn terms from the rows that :meth:`rows_wanted` names."""
        self._learn_terms(self._read(X), class_codes, weights)

    def _learn_terms(
        self,
        raws: Sequence[RawColumn],
        class_codes: npt.NDArray[np.int64],
        weights: npt.NDArray[np.float64] | None,
    ) -> None:
        codes, bins = self._column_codes(raws), super().ordered_sizes.tolist()
        self.terms = learn_terms(raws, codes, super().sizes.tolist(), bins, class_codes, weights)
        sources = [i for i, column in enumerate(self.columns) if isinstance(column, NumericColumn)]
        self.discriminant = learn_discriminant(raws, sources, class_codes, weights)
        if self.discriminant is not None:
            for k, odds in enumerate(self.discriminant.columns(raws)):
                cuts = cut_points("merged", odds.numbers, None, weights, _ODDS_BINS)
                self.terms = [*self.terms, Odds(k, cuts, self.discriminant.sources)]

    @property
    def sizes(self) -> npt.NDArray[np.uint32]:
        """Number of values of every column and term."""
        return np.append(super().sizes, np.array([t.size for t in self.terms], dtype=np.uint32))

    @property
    def ordered_sizes(self) -> npt.NDArray[np.int64]:
        """Number of values of every column and term that are in order; of terms only log odds are."""
        bins = [term.size if isinstance(term, Odds) else 0 for term in self.terms]
        return np.append(super().ordered_sizes, np.array(bins, dtype=np.int64))

    def extended(self, X: Any) -> "RichEncoder":
        """Return an encoder whose undeclared domains also have the values of X; terms stay as they are."""
        other = copy(self)
        other.columns = [copy(column) for column in self.columns]
        for column, raw in zip(other.columns, self._read(X), strict=True):
            column.extend(raw, self.missing)
        return other

    def encode(self, X: Any) -> Codes:
        """Codes of the columns and terms of a table."""
        return self.encode_columns(self.read(X))

    def encode_columns(self, raws: Sequence[RawColumn]) -> Codes:
        """Codes of columns as :meth:`read` gives them, and of the terms."""
        columns = self._column_codes(raws)
        if self.discriminant is not None:
            raws = [*raws, *self.discriminant.columns(raws)]
        codes = np.column_stack([columns, *(term.encode(raws, columns) for term in self.terms)])
        dtype = code_dtype(int(self.sizes.max()))
        absent = missing_code(dtype) if self.missing == "ignore" else unseen_code(dtype)
        return np.select([codes == MISSING, codes < 0], [absent, unseen_code(dtype)], codes).astype(dtype)

    def _column_codes(self, raws: Sequence[RawColumn]) -> npt.NDArray[np.int64]:
        return np.column_stack([c.encode(raw) for c, raw in zip(self.columns, raws, strict=True)])

    def _read(self, X: Any) -> list[RawColumn]:
        return self._with_times(super()._read(X))

    def _with_times(self, raws: list[RawColumn]) -> list[RawColumn]:
        for i, kind in self.times.items():
            raws[i] = as_seconds(raws[i], kind)
        return raws


def _in_order(summary: CategorySummary, kind: TimeKind) -> NumberSummary:
    """Summary of a column of times as numbers."""
    values = RawColumn(summary.name, codes=np.arange(len(summary.counts)), values=list(summary.counts))
    found = as_seconds(values, kind)
    rows = np.array(list(summary.counts.values()), dtype=np.float64)
    if (rows == np.rint(rows)).all():
        numbers, weights = np.repeat(found.numbers, rows.astype(np.int64)), None
    else:
        numbers, weights = found.numbers, rows
    times: Any = summarise(RawColumn(summary.name, numbers=numbers), weights)
    counts = NumberCounts.of_rows(numbers, None, weights, (None,))
    # A time is no id, even if every row has its own.
    in_order: NumberSummary = replace(times, n_missing=summary.n_missing, counts=counts, marks=None)
    return in_order
