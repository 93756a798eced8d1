"""The compiled counts on which every classifier stands.

``MatchIndex`` holds training rows for the lazy family. For a batch of queries it gives
``MatchCounts``: ``distance_counts[q, y, d]`` (the paper's V), how many rows of class y lie at Hamming
distance d, and ``match_counts[q, y, d, i]`` (C), how many of those agree with the query on attribute
i. Both add up over parts of the rows. The C++ behind it, and a picture of the layout, is in
``match.hpp``; ``index.cpp`` packs rows, ``count.inl`` counts, ``score.inl`` solves the paper's equation
and turns counts into scores, ``isa_*.cpp`` compile both for one instruction set each, ``module.cpp``
binds them. ``pairs.hpp`` holds the pair counts of the eager family and ``pairs.cpp`` binds those.

Every instruction set gives the same bits. The best one the machine has is used; the environment
variable ``LOCALBAYES_ISA`` (``portable``, ``avx2`` or ``avx512``) forces one.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import localbayes.kernels._kernels as _kernels

__all__ = [
    "MatchCounts",
    "MatchIndex",
    "Segment",
    "cell_weights",
    "isa",
    "isas",
    "log_joint_of_sums",
    "use_isa",
]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]

# In a table of codes the largest number of its dtype is "a value never seen", the one below "missing".
_MISSING = np.uint32(np.iinfo(np.uint32).max - 1)


def isas() -> list[str]:
    """Instruction sets this machine has, best first."""
    return list(_kernels.isas())


def isa() -> str:
    """Name of the instruction set in use."""
    return str(_kernels.isa())


def use_isa(name: str) -> None:
    """Use one instruction set from now on; results are the same, only the speed differs.

    Examples
    --------
    >>> before = isa()
    >>> use_isa("portable")
    >>> isa()
    'portable'
    >>> use_isa(before)
    """
    if name not in isas():
        raise ValueError(f"instruction set must be one of {', '.join(isas())} on this machine, got {name!r}")
    _kernels.use_isa(isas().index(name))


if os.environ.get("LOCALBAYES_ISA"):
    use_isa(os.environ["LOCALBAYES_ISA"])


def log_joint_of_sums(
    lacking: npt.NDArray[np.bool_], S: Floats, T: Floats, sizes: Floats, alpha: float
) -> Floats:
    """Naive Bayes scores of sums that were added up elsewhere, as :meth:`MatchCounts.log_joint` gives them.

    Parameters
    ----------
    lacking : array of shape (n_queries, m)
        Values that a query lacks; they count where T has 2 m columns.
    S, T : arrays of shape (n_queries, n_classes) and (n_queries, n_classes, m or 2 m)
        What :meth:`MatchCounts.weighted_sums` gives.
    sizes : array of shape (m,)
        Number of values of every attribute.
    alpha : float
        Laplace's constant.

    Returns
    -------
    log_joint : array of shape (n_queries, n_classes)
        Scores.

    Examples
    --------
    >>> S, T = np.array([[1.0, 3.0]]), np.array([[[1.0], [0.0]]])
    >>> scores = log_joint_of_sums(np.zeros((1, 1), bool), S, T, np.array([2.0]), alpha=1.0)
    >>> np.exp(scores) * 90  # 2/6 * 2/3 and 4/6 * 1/5
    array([[20., 12.]])
    """
    codes = np.where(lacking, _MISSING, np.uint32(0))
    scores: Floats = _kernels.log_joint_of_sums(
        codes, *(np.ascontiguousarray(a, dtype=np.float64) for a in (S, T, sizes)), alpha
    )
    return scores


def cell_weights(distance_counts: npt.NDArray[Any], kappa: float) -> tuple[Floats, Floats, Floats]:
    """Solve the paper's equation for gamma and give ``gamma[q, y]``, ``rho[q]`` and ``rho * gamma^d``.

    Examples
    --------
    One class with no row at distance 0, one at 1 and one at 2: gamma + gamma^2 = 1.

    >>> gamma, rho, weights = cell_weights(np.array([[[0, 1, 1]]]), kappa=1)
    >>> gamma.round(3).tolist(), (weights / rho).round(3).tolist()
    ([[0.618]], [[[1.0, 0.618, 0.382]]])
    """
    counts = np.ascontiguousarray(distance_counts, dtype=np.float64)
    gamma, rho, weights = _kernels.cell_weights(counts, float(kappa))
    return gamma, rho, weights


@dataclass(frozen=True)
class Segment:
    """Training rows, sorted by class and cut into bit planes (see ``match.hpp``).

    The sort is stable, so ``row_classes``, the class of every row in the order in which the rows came,
    tells which sorted row is which.

    Examples
    --------
    >>> index = MatchIndex(np.array([2], np.uint32), n_classes=2)
    >>> index.append(np.array([[0], [1], [1]], np.uint8), np.array([1, 0, 1]))
    >>> (segment,) = index.segments
    >>> segment.class_codes.tolist(), segment.order.tolist()
    ([0, 1, 1], [1, 0, 2])
    """

    words: npt.NDArray[np.uint64]
    class_start: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.uint32]
    row_classes: npt.NDArray[np.unsignedinteger[Any]]
    first_row: int
    weights: npt.NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.class_start[-1])

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        arrays = (self.words, self.class_start, self.sizes, self.row_classes, self.weights)
        return sum(a.nbytes for a in arrays if a is not None)

    @property
    def class_codes(self) -> npt.NDArray[np.int64]:
        """Class of every row, in sorted order."""
        return np.repeat(np.arange(len(self.class_start) - 1), np.diff(self.class_start))

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Number of every sorted row in the order in which rows were appended."""
        return self.first_row + np.argsort(self.row_classes, kind="stable")


class MatchCounts:
    """Counts of a batch of queries, made when asked for; see :meth:`MatchIndex.count`.

    Examples
    --------
    Of two rows of the only class one equals the query and weighs 1, the other agrees once and weighs 0.5.

    >>> index = MatchIndex(np.array([2, 2], np.uint32), n_classes=1)
    >>> index.append(np.array([[0, 1], [1, 1]], np.uint8), np.array([0, 0]))
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

    Examples
    --------
    Of two rows of class 0 one equals the query; the row of class 1 differs in the second attribute.

    >>> index = MatchIndex(np.array([2, 2], np.uint32), n_classes=2)
    >>> index.append(np.array([[0, 1], [1, 0], [0, 0]], np.uint8), np.array([0, 0, 1]))
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
    ) -> None:
        self._sizes = sizes
        self.n_classes = n_classes
        self.may_miss = may_miss
        # What is packed, what waits and how many rows wait are replaced together: threads that count see all,
        # once. Adding is for one thread, on a copy that nobody counts yet.
        self._rows: tuple[list[Segment], list[Rows], int] = (list(segments), [], 0)

    def copy(self) -> "MatchIndex":
        """Return an index of the same rows, to which others can be added."""
        other = MatchIndex(self._sizes, self.n_classes, self.may_miss)
        packed, waiting, n_waiting = self._rows
        other._rows = (list(packed), list(waiting), n_waiting)
        return other

    @property
    def sizes(self) -> npt.NDArray[np.uint32]:
        """Number of declared values of every attribute."""
        return self._sizes

    @sizes.setter
    def sizes(self, sizes: npt.NDArray[np.uint32]) -> None:
        # The rows that wait mark a missing value by a code that was none under the sizes so far.
        self.pack()
        self._sizes = sizes

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

    def append(
        self, codes: Codes, class_codes: npt.NDArray[Any], weights: npt.NDArray[np.float64] | None = None
    ) -> None:
        """Add rows; those that wait are copied."""
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
        """Pack the rows that wait; a count does so too, but threads that begin at once would all do it."""
        packed, waiting, _ = self._rows
        if not waiting:
            return
        codes = _joined([rows[0] for rows in waiting])
        classes = _joined([rows[1] for rows in waiting])
        weights = [rows[2] for rows in waiting if rows[2] is not None]
        first_row = sum(s.n_rows for s in packed)
        packed = [*packed, self._segment(codes, classes, first_row, _joined(weights) if weights else None)]
        while len(packed) > 1 and 2 * packed[-1].n_rows >= packed[-2].n_rows:
            packed[-2:] = [self._merged(*packed[-2:])]
        self._rows = (packed, [], 0)

    def count(
        self,
        codes: Codes,
        own: npt.NDArray[np.int64] | None = None,
        own_weight: npt.NDArray[np.float64] | None = None,
    ) -> MatchCounts:
        """Count a batch of queries; ``own`` gives the class of a query that is itself a training row.

        Such a query's own row is taken out of the counts again (leave-one-out).
        """
        segments = self.segments or [self._segment(codes[:0], np.empty(0, np.uint8), 0, None)]
        weighted = any(s.weights is not None for s in segments)
        parts = [(s.words, s.class_start, s.sizes, _weights(s) if weighted else None) for s in segments]
        return MatchCounts(
            _kernels.MatchCounts(
                parts, np.ascontiguousarray(codes), self.n_classes, self.may_miss, own, own_weight
            )
        )

    def bytes_per_query(self) -> int:
        """Upper bound of the memory that counting and scoring one query needs."""
        return 8 * self.n_classes * (3 * (len(self.sizes) + 1) + 4)

    def training_rows(
        self, chosen: npt.NDArray[np.int64] | None = None, step: int = 1 << 16
    ) -> Iterator[tuple[Codes, npt.NDArray[np.int64], npt.NDArray[np.int64], Floats | None]]:
        """Yield rows back, all or the chosen numbers, as (codes, class codes, numbers, weights)."""
        for s in self.segments:
            classes, order = s.class_codes, s.order
            at = np.arange(s.n_rows) if chosen is None else np.flatnonzero(np.isin(order, chosen))
            for begin in range(0, len(at), step):
                part = at[begin : begin + step]
                weights = None if s.weights is None else s.weights[part]
                yield self._unpack(s, part), classes[part], order[part], weights

    def _segment(
        self,
        codes: Codes,
        row_classes: npt.NDArray[np.unsignedinteger[Any]],
        first_row: int,
        weights: npt.NDArray[np.float64] | None,
    ) -> Segment:
        order = np.argsort(row_classes, kind="stable")
        start = np.zeros(self.n_classes + 1, dtype=np.int64)
        np.cumsum(np.bincount(row_classes, minlength=self.n_classes), out=start[1:])
        sizes = np.ascontiguousarray(self.sizes, dtype=np.uint32)
        words = _kernels.pack(np.ascontiguousarray(codes), order, sizes, self.may_miss)
        return Segment(
            words, start, sizes, row_classes, first_row, None if weights is None else weights[order]
        )

    def _unpack(self, s: Segment, rows: npt.NDArray[np.int64]) -> Codes:
        codes: Codes = _kernels.unpack(s.words, s.sizes, self.may_miss, rows)
        if self.may_miss:
            codes[codes == s.sizes] = _MISSING
        return codes

    def _merged(self, first: Segment, second: Segment) -> Segment:
        codes = np.empty((first.n_rows + second.n_rows, len(self.sizes)), dtype=np.uint32)
        weights = np.ones(len(codes))
        for s in (first, second):
            rows = s.order - first.first_row
            codes[rows] = self._unpack(s, np.arange(s.n_rows))
            weights[rows] = _weights(s)
        return self._segment(
            codes,
            np.concatenate([first.row_classes, second.row_classes]),
            first.first_row,
            None if first.weights is second.weights is None else weights,
        )


# Codes and classes of rows as they came, and their weights.
Rows = tuple[Codes, npt.NDArray[np.unsignedinteger[Any]], Floats | None]
# Cells that may wait to be packed: a few milliseconds' work for the first query.
_MOST_WAITING = 1 << 20


def _alike(one: Rows, other: Rows) -> bool:
    """Whether rows can be packed together: their codes are of one type, and all have weights or none."""
    return one[0].dtype == other[0].dtype and (one[2] is None) == (other[2] is None)


def _joined(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _weights(segment: Segment) -> Floats:
    return np.ones(segment.n_rows) if segment.weights is None else segment.weights
