"""Rows like a query in which some attributes have another value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.counts import Codes, Floats
from localbayes.encoding import Coded
from localbayes.encoding.choices import Choices, choices_of
from localbayes.explain.readable import Readable
from localbayes.explain.why_not import Change

__all__ = ["AS_IT_IS", "Candidates"]

Picks = npt.NDArray[np.int64]

# In place of the position of a value: the attribute keeps the value that the query has.
AS_IT_IS = -1


class Candidates:
    """Values that attributes can be changed to, and the codes of rows that are changed so.

    A candidate is a row of picks: for every attribute the position of a value among its choices, or
    ``AS_IT_IS``. The values are those that training rows have.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    table : table of shape (n, m)
        Queries that the classifier has checked.
    codes : array of shape (n, m)
        Their codes.
    readable : Readable
        Texts of their values.
    fixed : sequence of int
        Attributes that stay as they are.
    most : int
        Most single changes; of more, the commonest values of every attribute are taken.

    Attributes
    ----------
    choices : list of Choices
        Values of every attribute.
    complete : bool
        Whether all of them are tried.

    Examples
    --------
    >>> from localbayes import NB
    >>> model = NB().fit([["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"])
    >>> X = model.check_queries([["a", "b"]])
    >>> candidates = Candidates(model, X, model.encode_checked(X), Readable(model, X))
    >>> candidates.singles(0).tolist()
    [[0, 1], [1, 1]]
    >>> candidates.codes(0, np.array([[AS_IT_IS, 1]])).tolist()
    [[0, 1]]
    """

    def __init__(
        self,
        model: BayesClassifier,
        table: Any,
        codes: Codes,
        readable: Readable,
        fixed: Sequence[int] = (),
        most: int = 50_000,
    ) -> None:
        self._model, self._codes, self._readable = model, codes, readable
        totals = model.statistic.value_totals()
        # A table of codes is read as codes, even if the classifier was fitted on values.
        self._encoder = None if isinstance(table, Coded) else model.encoder_
        self._raws = None if self._encoder is None else self._encoder.read(table)
        n_columns = model.n_features_in_
        if self._encoder is None:
            seen = [np.flatnonzero(total).tolist() for total in totals[:n_columns]]
            texts = [readable.texts(i, own) for i, own in enumerate(seen)]
            self.choices = [Choices(False, own, own, text) for own, text in zip(seen, texts, strict=True)]
        else:
            self.choices = choices_of(self._encoder, totals)
        self._positions = self._tried(totals, set(fixed), most)
        self.complete = sum(map(len, self._positions)) == sum(
            len(own) for i, own in enumerate(self.choices) if i not in set(fixed)
        )

    def singles(self, q: int) -> Picks:
        """All changes of one attribute of a query, as pairs of an attribute and a position."""
        listed = [(i, k) for i, own in enumerate(self._positions) for k in own]
        pairs: Picks = np.array(listed, np.int64).reshape(-1, 2)
        if not len(pairs):
            return pairs
        # A value that the classifier reads as the present one is no change.
        differs = (self.codes(q, self.applied(pairs)) != self._codes[q]).any(axis=1)
        changed: Picks = pairs[differs]
        return changed

    def applied(self, pairs: Picks, to: Picks | None = None) -> Picks:
        """Picks in which each of the changes is made alone, to a query as it is or to changed ones."""
        n = len(self.choices)
        picks = (
            np.full((len(pairs), n), AS_IT_IS)
            if to is None
            else np.array(np.broadcast_to(to, (len(pairs), n)))
        )
        picks[np.arange(len(pairs)), pairs[:, 0]] = pairs[:, 1]
        return picks

    def codes(self, q: int, picks: Picks) -> Codes:
        """Codes of a query that is changed as each row of picks says."""
        if self._encoder is None or self._raws is None:
            columns = [
                np.append(choices.cells, self._codes[q, i])[picks[:, i]]
                for i, choices in enumerate(self.choices)
            ]
            return np.column_stack(columns).astype(self._codes.dtype)
        raws = [
            choices.column(raw, q, picks[:, i])
            for i, (choices, raw) in enumerate(zip(self.choices, self._raws, strict=True))
        ]
        return self._encoder.encode_columns(raws)

    def like(self, rows: Codes) -> Picks:
        """Picks that take over the values of training rows, as far as they are tried and known."""
        picks = np.full((len(rows), len(self.choices)), AS_IT_IS)
        for i, positions in enumerate(self._positions):
            if positions:
                codes = self._column_codes(i)
                # Of several choices in one bin the first is taken.
                at = {int(codes[k]): k for k in reversed(positions)}
                picks[:, i] = [at.get(code, AS_IT_IS) for code in rows[:, i].tolist()]
        return picks

    def distance(self, q: int, picks: Picks) -> Floats:
        """How large changes are: one for a nominal value, the share of all bins for one of numbers."""
        changed = picks != AS_IT_IS
        m = len(self.choices)
        before, after = self._codes[q, :m].astype(np.int64), self.codes(q, picks)[:, :m].astype(np.int64)
        bins = self._model.ordered_sizes_[:m]
        steps = np.abs(after - before) / np.maximum(bins - 1, 1)
        ordered = (before < bins) & (after < bins)
        total: Floats = np.where(ordered, np.minimum(steps, 1.0), 1.0).sum(axis=1, where=changed)
        return total

    def changes(self, q: int, picks: npt.NDArray[np.int64]) -> tuple[Change, ...]:
        """What one row of picks changes, in words."""
        before = self._readable.values(self._codes)[q]
        return tuple(
            Change(
                self._readable.names[i],
                before[i],
                self.choices[i].labels[picks[i]],
                self.choices[i].values[picks[i]],
            )
            for i in np.flatnonzero(picks != AS_IT_IS).tolist()
        )

    def _tried(self, totals: Sequence[npt.NDArray[Any]], fixed: set[int], most: int) -> list[list[int]]:
        """Positions of the values to try, of every attribute."""
        free = [i for i in range(len(self.choices)) if i not in fixed]
        positions = [list(range(len(own))) if i in free else [] for i, own in enumerate(self.choices)]
        share = max(1, most // max(1, len(free)))
        if sum(map(len, positions)) <= most:
            return positions
        for i, own in enumerate(positions):
            if len(own) > share:
                rows = totals[i][self._column_codes(i)]
                positions[i] = sorted(np.argsort(-rows, kind="stable")[:share].tolist())
        return positions

    def _column_codes(self, i: int) -> npt.NDArray[np.int64]:
        """Codes of the values of one attribute."""
        pairs = np.array([(i, k) for k in range(len(self.choices[i]))], np.int64)
        return self.codes(0, self.applied(pairs))[:, i].astype(np.int64)
