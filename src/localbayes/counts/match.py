"""Match counts: how many training rows lie at each distance from a query, and on what they agree with it.

``MatchIndex`` holds the training rows of the lazy family. For a batch of queries it gives
``MatchCounts``: ``distance_counts[q, y, d]`` (the paper's V), how many rows of class y lie at distance d,
and ``match_counts[q, y, d, i]`` (C), how many of those agree with the query on attribute i. Both add up over
parts of the rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.distance import HAMMING, Distance, Measure
from localbayes.counts.exponent_counts import ExponentCounts
from localbayes.counts.protocol import Codes, Floats
from localbayes.counts.segments import ClassCodes, Segment, check_segment, merge, pack, rows_of
from localbayes.encoding.coded import any_outside, missing_code, unseen_code
from localbayes.fields import Fields
from localbayes.kernels import compiled

__all__ = ["MatchCounts", "MatchIndex"]


class MatchCounts(ExponentCounts):
    """Counts of a batch of queries, computed when they are first needed; see :meth:`MatchIndex.count`.

    Examples
    --------
    Of two rows of the only class one equals the query and weighs 1, the other agrees once and weighs 0.5.

    >>> index = MatchIndex(np.array([2, 2], np.uint32), n_classes=1)
    >>> index.add(np.array([[0, 1], [1, 1]], np.uint8), np.array([0, 0]))
    >>> counts = index.count(np.array([[0, 1]], np.uint8))
    >>> counts.distance_counts.tolist()
    [[[1, 1, 0]]]
    >>> S, T = counts.weighted_sums(np.array([[[1, 0.5, 0.25]]]))
    >>> S.tolist(), T.tolist()
    ([[1.5]], [[[1.0, 1.5]]])
    """

    def __init__(self, counts: Any) -> None:
        self._counts = counts

    @cached_property
    def distance_counts(self) -> npt.NDArray[Any]:
        """V[q, y, d]."""
        totals: npt.NDArray[Any] = self._counts.distance_counts()
        return totals

    @property
    def match_counts(self) -> npt.NDArray[Any]:
        """C[q, y, d, i]; where values may be missing, columns from m on count the known values."""
        matches: npt.NDArray[Any] = self._counts.match_counts()
        return matches

    def weighted_sums(self, weights: Floats) -> tuple[Floats, Floats]:
        """S[q, y] and T[q, y, i] for weights[q, y, d]."""
        S, T = self._counts.weighted_sums(np.ascontiguousarray(weights))
        return S, T

    def cell_sums(self, kappas: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Sums under the paper's weights, for every kappa from one count of the matches.

        Returns
        -------
        gamma, rho : arrays of shape (k, n_queries, n_classes) and (k, n_queries)
            Base and scale of the weights.
        S, T : arrays of shape (k, n_queries, n_classes) and (k, n_queries, n_classes, m or 2 m)
            Sums of the weights rho gamma^d of rows, and of their agreement with the query.
        """
        gamma, rho, S, T = self._counts.cell_sums(np.ascontiguousarray(kappas, dtype=np.float64))
        return gamma, rho, S, T

    def log_joint(self, weights: Floats, sizes: Floats, alpha: float, margin: float = np.inf) -> Floats:
        """Naive Bayes scores of weighted rows.

        Parameters
        ----------
        weights : array of shape (n_queries, n_classes, m + 1)
            Weights by class and distance.
        sizes : array of shape (m,)
            Number of values of every attribute.
        alpha : float
            Laplace's constant.
        margin : float
            A class whose score stays more than this below the best may get minus infinity, without its
            matches being counted; 0 leaves the classes that can win.

        Returns
        -------
        log_joint : array of shape (n_queries, n_classes)
            Scores.
        """
        scores: Floats = self._counts.log_joint(np.ascontiguousarray(weights), sizes, alpha, margin)
        return scores

    def cell_log_joint(self, kappas: Floats, sizes: Floats, alpha: float, margin: float = np.inf) -> Floats:
        """Scores under the weights of :func:`cell_weights`, for every kappa from one count of the matches.

        Parameters are those of :meth:`log_joint`; the result has a first axis for the kappas.
        """
        scores: Floats = self._counts.cell_log_joint(kappas, sizes, alpha, margin)
        return scores


class MatchIndex:
    """Training rows that can be counted against queries.

    Rows that are added wait until a query comes or there are enough of them; then they are packed into
    a segment, and segments of similar size are merged. So adding is cheap, however few rows come at a
    time, and counting sees few segments.

    Parameters
    ----------
    sizes : array of shape (m,)
        Number of declared values of every attribute.
    n_classes : int
        Number of declared classes.
    may_miss : bool
        Whether values may be missing; the code below the largest of the dtype then means so.
    segments : sequence of Segment
        Rows that were packed before.
    distance : Distance
        How far values are from each other, and what counts as agreement.

    Examples
    --------
    Of two rows of class 0 one equals the query; the row of class 1 differs in the second attribute.

    >>> index = MatchIndex(np.array([2, 2], np.uint32), n_classes=2)
    >>> index.add(np.array([[0, 1], [1, 0], [0, 0]], np.uint8), np.array([0, 0, 1]))
    >>> counts = index.count(np.array([[0, 1]], np.uint8))
    >>> counts.distance_counts.tolist()
    [[[1, 0, 1], [0, 1, 0]]]
    >>> counts.match_counts[0, 1, 1].tolist()
    [1, 0]
    """

    def __init__(
        self,
        sizes: npt.NDArray[np.uint32],
        n_classes: int,
        may_miss: bool = False,
        segments: Sequence[Segment] = (),
        distance: Distance = HAMMING,
    ) -> None:
        self.sizes = np.asarray(sizes, dtype=np.uint32)
        self.n_classes = n_classes
        self.may_miss = may_miss
        self.distance = distance
        self.measure = Measure(distance, self.sizes)
        # Codes that a segment has room for: the declared values, and in some columns one for values outside.
        self._room = self.sizes
        # The packed segments, the waiting rows and their number are replaced together, in one assignment, so
        # that threads that count see every row once. Only one thread adds, to a copy that no other has seen.
        self._rows: tuple[list[Segment], list[Rows], int] = (list(segments), [], 0)

    def copy(self) -> "MatchIndex":
        """Return an index of the same rows, to which others can be added."""
        other = MatchIndex(self.sizes, self.n_classes, self.may_miss, distance=self.distance)
        packed, waiting, n_waiting = self._rows
        other._room = self._room
        other._rows = (list(packed), list(waiting), n_waiting)
        return other

    def grown(self, sizes: npt.ArrayLike) -> "MatchIndex":
        """Return an index of the same rows with room for new values at the end of the domains."""
        # Waiting rows mark a missing value by a code that is none under the present sizes.
        self.pack()
        other = self.copy()
        other.sizes = np.asarray(sizes, dtype=np.uint32)
        other.measure = Measure(self.distance, other.sizes)
        other._room = np.maximum(other._room, other.sizes)
        return other

    def with_distance(self, distance: Distance) -> "MatchIndex":
        """Return an index of the same rows under another distance; graded columns must stay so."""
        self.pack()
        other = MatchIndex(self.sizes, self.n_classes, self.may_miss, self._rows[0], distance)
        other._room = self._room
        return other

    def value_totals(self) -> list[Floats]:
        """How many rows have each value of every attribute, or their weight."""
        totals = [np.zeros(size) for size in self.sizes.tolist()]
        for codes, _, _, weights in self.training_rows():
            for total, column in zip(totals, codes.T, strict=True):
                inside = column < len(total)
                total += np.bincount(
                    column[inside], None if weights is None else weights[inside], minlength=len(total)
                )
        return totals

    def __add__(self, other: "MatchIndex") -> "MatchIndex":
        """Index of the rows of both, those of this one first."""
        both = self.copy()
        both._room = np.maximum(self._room, other._room)
        first = both.n_rows
        moved = [replace(s, first_row=s.first_row + first) for s in other.segments]
        both._rows = ([*both.segments, *moved], [], 0)
        return both

    @property
    def segments(self) -> list[Segment]:
        """All rows, packed."""
        self.pack()
        return self._rows[0]

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        packed, _, n_waiting = self._rows
        return sum(s.n_rows for s in packed) + n_waiting

    @property
    def nbytes(self) -> int:
        """Memory that the packed rows take."""
        return sum(s.nbytes for s in self.segments)

    @property
    def n_distances(self) -> int:
        """Number of possible distances between a row and a query."""
        return self.measure.n_distances

    def check_room(self, n_more: float) -> None:
        """Accept any number of rows."""

    def add(self, codes: Codes, class_codes: npt.NDArray[Any], weights: Floats | None = None) -> None:
        """Add rows; those that wait are copied.

        A value outside its declared domain gets a code that no query has.
        """
        codes = self._set_apart(codes)
        classes = np.asarray(class_codes).astype(np.min_scalar_type(max(self.n_classes - 1, 0)))
        enough = (self._rows[2] + len(codes)) * len(self.sizes) >= _MOST_WAITING
        if not enough:
            codes, weights = codes.copy(), None if weights is None else weights.copy()
        rows = (codes, classes, weights)
        if self._rows[1] and not _alike(self._rows[1][0], rows):
            self.pack()
        packed, waiting, n_waiting = self._rows
        waiting.append(rows)
        self._rows = (packed, waiting, n_waiting + len(codes))
        if enough:
            self.pack()

    def pack(self) -> None:
        """Pack the waiting rows. A count does so too; call this once before several threads count."""
        packed, waiting, _ = self._rows
        if not waiting:
            return
        codes = _joined([rows[0] for rows in waiting])
        classes = _joined([rows[1] for rows in waiting])
        weights = [rows[2] for rows in waiting if rows[2] is not None]
        first_row = sum(s.n_rows for s in packed)
        shape = self._room, self.n_classes, self.may_miss, self.measure.by_value
        packed = [*packed, pack(codes, classes, _joined(weights) if weights else None, *shape, first_row)]
        while len(packed) > 1 and 2 * packed[-1].n_rows >= packed[-2].n_rows and not packed[-2].mapped:
            packed[-2:] = [merge(packed[-2], packed[-1], *shape)]
        self._rows = (packed, [], 0)

    def count(
        self,
        codes: Codes,
        own: npt.NDArray[np.int64] | None = None,
        own_weight: Floats | None = None,
    ) -> MatchCounts:
        """Count a batch of queries.

        Parameters
        ----------
        codes : array of shape (n_queries, m)
            The queries.
        own : array of shape (n_queries,), optional
            Classes of queries that are training rows themselves: each one's own row is left out.
        own_weight : array of shape (n_queries,), optional
            How much of the own row to leave out, if rows have weights.
        """
        segments = self.segments or [_nothing(codes, self._room, self.n_classes, self.may_miss, self.measure)]
        weighted = any(s.weighted for s in segments)
        parts = [s.as_kernel_input(weighted) for s in segments]
        queries = np.ascontiguousarray(codes)
        given = parts, queries, self.n_classes, self.may_miss, own, own_weight
        distance = self.measure.kernel, self.distance.ignores_unseen
        return MatchCounts(compiled.MatchCounts(*given, *distance, weighted))

    def bytes_per_query(self) -> int:
        """Upper bound of the memory that counting and scoring one query needs."""
        return 8 * self.n_classes * (3 * self.n_distances + 4)

    def training_rows(
        self, chosen: npt.NDArray[np.int64] | None = None, step: int = 1 << 16
    ) -> Iterator[tuple[Codes, npt.NDArray[np.int64], npt.NDArray[np.int64], Floats | None]]:
        """Yield rows back, all or the chosen numbers, as (codes, class codes, numbers, weights)."""
        return rows_of(self.segments, chosen, step, self.may_miss)

    def as_queries(self, rows: Codes) -> Codes:
        """Training rows as queries: a value outside its declared domain becomes unseen and matches no row."""
        foreign, _ = self._foreign(rows)
        return np.where(foreign, unseen_code(rows.dtype), rows).astype(rows.dtype) if foreign.any() else rows

    def fields(self, plain: bool = False) -> dict[str, Any]:
        """Named arrays from which :meth:`restore` takes the rows; if plain, every row is packed."""
        segments = [(s.plain(self.may_miss) if plain else s).fields() for s in self.segments]
        return {"room": self._room, "segments": segments}

    def restore(self, fields: Fields) -> None:
        """Take in rows as :meth:`fields` gave them; what does not fit is refused."""
        room = fields.array("room", "u", 1).astype(np.uint32)
        if room.shape != self.sizes.shape or (room < self.sizes).any() or (room > self.sizes + 2).any():
            raise ValueError("the training rows have no room for the values of their columns")
        first, segments = 0, []
        for part in fields.each("segments"):
            segment = Segment.restore(part)
            check_segment(segment, self.n_classes, len(self.sizes), self.may_miss)
            if segment.first_row != first or (segment.sizes > room).any():
                raise ValueError("the parts of the training rows do not follow each other")
            first += segment.n_rows
            segments.append(segment)
        self._room, self._rows = room, (segments, [], 0)

    @property
    def class_totals(self) -> npt.NDArray[Any]:
        """Rows of each class, or their weight."""
        total = np.zeros(self.n_classes)
        for s in self.segments:
            total += np.bincount(s.class_codes, s.row_weights if s.weighted else None, self.n_classes)
        return total

    def _set_apart(self, codes: Codes) -> Codes:
        """Give training values outside their declared domain a code that no query has."""
        foreign, lacking = self._foreign(codes)
        if not foreign.any():
            return codes
        if self.measure.by_value is not None and (foreign & (self.measure.by_value > 0)).any():
            i = int((foreign & (self.measure.by_value > 0)).any(axis=0).argmax())
            raise ValueError(
                f"column {i}, from 0, has values in order, and a training row has a code outside its "
                f"{self.sizes[i]} values; declare more values, or mark it missing with missing='ignore'"
            )
        # One above the next free code, which "missing" as a value of its own may take later.
        apart = self.sizes + 1
        self.pack()
        self._room = np.maximum(self._room, np.where(foreign.any(axis=0), apart + 1, self.sizes)).astype(
            np.uint32
        )
        wide = np.where(foreign, apart, codes).astype(np.uint32)
        wide[lacking] = missing_code(np.uint32)
        return wide

    def _foreign(self, codes: Codes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Cells whose value is outside its declared domain, and those whose value is not known."""
        if not any_outside(codes, self.sizes):
            none = np.zeros((1, 1), dtype=bool)
            return none, none
        lacking = (codes == missing_code(codes.dtype)) & self.may_miss
        return (codes >= self.sizes) & ~lacking, lacking


# Codes and classes of rows as they came, and their weights.
Rows = tuple[Codes, ClassCodes, Floats | None]
# Cells that may wait to be packed: a few milliseconds' work for the first query.
_MOST_WAITING = 1 << 20


def _nothing(
    codes: Codes, sizes: npt.NDArray[np.uint32], n_classes: int, may_miss: bool, measure: Measure
) -> Segment:
    return pack(codes[:0], np.empty(0, np.uint8), None, sizes, n_classes, may_miss, measure.by_value)


def _alike(one: Rows, other: Rows) -> bool:
    """Whether rows can be packed together: their codes are of one type, and all have weights or none."""
    return one[0].dtype == other[0].dtype and (one[2] is None) == (other[2] is None)


def _joined(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
