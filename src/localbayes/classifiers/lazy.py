"""The lazy family: naive Bayes on training rows weighted by class and distance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import BayesClassifier
from localbayes.classifiers.kappa import LeftOut, LeftOutRequest
from localbayes.classifiers.row_source import RowSource
from localbayes.classifiers.scores import log_ratio
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.classifiers.state import snapshot
from localbayes.counts import (
    HAMMING,
    Codes,
    Distance,
    Floats,
    MatchCounts,
    MatchIndex,
    Measure,
    Ordered,
    Rows,
    log_joint_of_sums,
    rows_in_order,
)
from localbayes.encoding.coded import missing_code
from localbayes.fields import Fields
from localbayes.parallel import BATCH
from localbayes.parameters import check_alpha

__all__ = ["LazyClassifier", "NeighbourWeights", "Weighting", "kth_distance"]

# Number of comparisons of a query's value with a row's value that take about half a second.
_MOST_CELLS = 32 << 30


@dataclass(frozen=True)
class Weighting:
    """Weights of training rows around queries.

    Attributes
    ----------
    weights : ndarray of shape (n, r, n_distances)
        Weight of a row by query, class and distance.
    total : ndarray of shape (n, r)
        S, the sum of the weights of the rows of a class.
    number : int
        Which of the weightings of a formula it is.
    """

    weights: Floats
    total: Floats
    number: int = 0


@dataclass(frozen=True)
class NeighbourWeights:
    """Weights of training rows for people to read, before they are scaled to fit Laplace's constants.

    Attributes
    ----------
    weights : ndarray of shape (n, r, n_distances)
        Weight of a row by query, class and distance.
    gamma : ndarray of shape (n, r), optional
        Base of the weights gamma^distance, where there is one.
    scale : ndarray of shape (n,), optional
        rho, by which weights are multiplied before Laplace's constants are added.
    """

    weights: Floats
    gamma: Floats | None = None
    scale: Floats | None = None


class LazyClassifier(BayesClassifier):
    """Base of classifiers that fit a weighted naive Bayes around every query.

    A training row of class y at distance d from the query gets the weight w(y, d). With
    S_y the sum of weights of class y and T_iy the part of it whose rows agree with the query on
    attribute i, the score of y is::

        (alpha + S_y) / (alpha r + sum S)  *  prod_i (alpha + T_iy) / (alpha q_i + S_y)

    A subclass gives the weights in one hook, :meth:`weights`; see ``docs/own-weighting.md``. A formula that
    needs more overrides :meth:`weightings`, which asks for sums, and :meth:`combine`, which is given the
    scores made of them. It cannot tell whether the sums come from memory or from a cluster. For rows in
    memory it also overrides :meth:`scores`, which does the same in one compiled pass.

    Parameters
    ----------
    alpha : float, default=1.0
        Laplace's constant; 0 gives weighted relative frequencies.
    distance : {"hamming", "ordered"} or Distance, default="hamming"
        How far a row is from a query: the number of attributes in which they differ; the sum of differences
        of bins, up to three each, where a nominal value that differs counts three; or a distance of one's
        own, see :class:`localbayes.counts.Distance`.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`BayesClassifier`.

    Examples
    --------
    Rows at the smallest distance only, each weighing one:

    >>> class Nearest(LazyClassifier):
    ...     def weights(self, distance_counts):
    ...         at_distance = distance_counts.sum(axis=1, keepdims=True)
    ...         nearest = (at_distance > 0).argmax(axis=2)[:, :, None]
    ...         distance = np.arange(distance_counts.shape[2])
    ...         return np.broadcast_to(distance == nearest, distance_counts.shape).astype(float)
    >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
    >>> Nearest().fit(X, y).predict([["a", "b"], ["d", "e"]]).tolist()
    ['no', 'yes']
    """

    keeps_rows: ClassVar[bool] = True
    # Whether :meth:`learn` learns from training rows and sums around them, wherever they are.
    learns_from_source: ClassVar[bool] = False
    index_: MatchIndex

    @with_shared_parameters
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        distance: str | Distance = "hamming",
        **shared: Unpack[SharedParameters],
    ) -> None:
        super().__init__(**shared)
        self.alpha = alpha
        self.distance = distance

    # --- the formula ----------------------------------------------------------------------------

    def weights(self, distance_counts: npt.NDArray[Any]) -> Floats:
        """Weight of a training row by query, class and distance.

        Parameters
        ----------
        distance_counts : ndarray of shape (n_queries, n_classes, m + 1)
            How many training rows of class y lie at distance d from the query (the paper's V).

        Returns
        -------
        weights : ndarray of the same shape
            Weights, scaled so that Laplace's constants fit them.
        """
        raise NotImplementedError

    def checked_weights(self, distance_counts: npt.NDArray[Any]) -> Floats:
        """What :meth:`weights` gives, as floating point; invalid weights are refused.

        The weight of a cell without rows may be anything.
        """
        given = self.weights(distance_counts)
        if (type(self).weights.__module__ or "").startswith("localbayes."):
            return given
        try:
            weights = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.shape != distance_counts.shape:
            an_array = isinstance(given, np.ndarray)
            what = f"{given.dtype} of shape {given.shape}" if an_array else f"{given!r:.60}"
            raise ValueError(
                f"{type(self).__name__}.weights must give numbers in the shape of distance_counts, "
                f"{distance_counts.shape}, got {what}"
            )
        if not (weights >= 0).all() or np.isinf(weights).any():
            weights = np.where(distance_counts > 0, weights, 0.0)
            wrong = weights[~((weights >= 0) & np.isfinite(weights))]
            if len(wrong):
                raise ValueError(
                    f"{type(self).__name__}.weights must be finite and not negative where there are rows, "
                    f"got {wrong[0]}"
                )
        return weights

    def weightings(self, distance_counts: npt.NDArray[Any], kappas: Floats | None = None) -> list[Weighting]:
        """Weightings whose sums the formula asks for, given V of all training rows.

        A formula with kappas is asked for those in use, or for others.
        """
        weights = self.checked_weights(distance_counts)
        # From the nearest to the farthest, as the kernel adds up.
        return [Weighting(weights, np.cumsum(weights * distance_counts, axis=2)[..., -1])]

    def combine(self, log_joints: Sequence[Floats], distance_counts: Any) -> Floats:
        """Log joint from those of all weightings; the only one here."""
        return log_joints[0]

    def combine_terms(
        self, parts: Sequence[tuple[Floats, Floats]], distance_counts: npt.NDArray[Any]
    ) -> tuple[Floats, Floats]:
        """Base and terms from those of all weightings; the only ones here."""
        return parts[0]

    def log_joint_of_sums(self, codes: Codes, weighting: Weighting, matches: Floats) -> Floats:
        """Naive Bayes scores of one weighting.

        Parameters
        ----------
        codes : ndarray of shape (n, m)
            Queries.
        weighting : Weighting
            Of the rows around them.
        matches : ndarray of shape (n, r, m) or (n, r, 2 m)
            T, the part of S whose rows agree with the query on an attribute. Where values may be missing,
            columns from m on hold the part of S whose rows know the attribute.

        Returns
        -------
        log_joint : ndarray of shape (n, r)
            Classes in declared order.
        """
        lacking = codes == missing_code(codes.dtype)
        return log_joint_of_sums(lacking, weighting.total, matches, *self.laplace())

    def neighbour_weights(self, distance_counts: npt.NDArray[Any]) -> NeighbourWeights:
        """Weights of single rows, to show which rows matter and how much."""
        return NeighbourWeights(self.checked_weights(distance_counts))

    def left_out_request(self, n_rows: int) -> LeftOutRequest | None:
        """Training rows whose predictions without themselves :meth:`choose` wants; None if it wants none."""
        return None

    def score_left_out(
        self,
        codes: Codes,
        classes: npt.NDArray[np.int64],
        distance_counts: npt.NDArray[Any],
        matches: Callable[[Weighting], Floats],
        request: LeftOutRequest,
        weights: Floats | None = None,
    ) -> LeftOut:
        """Predictions for left-out rows from sums that were added up elsewhere."""
        raise NotImplementedError

    def choose(self, left_out: LeftOut | None) -> None:
        """Choose parameters of the formula by the predictions for left-out rows."""

    def learn(self, source: RowSource) -> None:
        """Learn from training rows that may be on a cluster; only if :attr:`learns_from_source` says so."""
        raise NotImplementedError

    def known_queries(self, codes: Codes) -> Codes:
        """Codes of queries as the formula takes them."""
        return codes

    def set_value_totals(self, totals: list[Floats]) -> None:
        """Take the weight of the rows that have each value, for formulas that treat rare values apart."""

    def without_rows(self) -> Self:
        """Return the formula and what was learned, without the training rows, to send it around a cluster."""
        copy = snapshot(self)
        if hasattr(copy, "index_"):
            del copy.index_
        return copy

    # --- the fast path: one compiled pass over the rows in memory -------------------------------

    def log_joint(self, codes: Codes) -> Floats:
        """Log joint of all classes."""
        return self.scores(self.index_.count(codes), margin=np.inf)

    def contenders(self, codes: Codes) -> Floats:
        """Log joint of the classes that can win."""
        return self.scores(self.index_.count(codes), margin=0.0)

    def scores(self, counts: MatchCounts, margin: float) -> Floats:
        """Log joint; a class that stays more than the margin below the best may be minus infinity."""
        V = counts.distance_counts
        return self.combine([counts.log_joint(self.checked_weights(V), *self.laplace(), margin)], V)

    def terms(self, codes: Codes) -> tuple[Floats, Floats]:
        """Split the log joint, in NumPy, as the formula is written."""
        return self._split(codes, self.index_.count(codes))

    def _split(self, codes: Codes, counts: MatchCounts) -> tuple[Floats, Floats]:
        V = counts.distance_counts
        parts = [self._terms_of_sums(codes, *counts.weighted_sums(w.weights)) for w in self.weightings(V)]
        return self.combine_terms(parts, V)

    # --- leaving rows out -----------------------------------------------------------------------

    def training_rows(self) -> Rows:
        """All training rows, in the order in which they came."""
        return rows_in_order(self.index_, self.sizes_)

    def others_log_joint(self, rows: Rows) -> Floats:
        """Log joint of training rows without themselves."""
        return self.scores(self._count_others(rows), margin=np.inf)

    def others_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """The same, split."""
        return self._split(rows.codes, self._count_others(rows))

    def _count_others(self, rows: Rows) -> MatchCounts:
        return self.index_.count(rows.codes, rows.classes, rows.own_weight)

    def _terms_of_sums(self, codes: Codes, S: Floats, T: Floats) -> tuple[Floats, Floats]:
        alpha, m = float(self.alpha), len(self.sizes_)
        known = T[..., m:] if self.index_.may_miss else S[..., None]
        base = log_ratio(alpha + S, alpha * S.shape[1] + S.sum(axis=1, keepdims=True))
        terms = log_ratio(alpha + T[..., :m], alpha * self.sizes_ + known)
        if self.index_.may_miss:
            terms[np.broadcast_to((codes == missing_code(codes.dtype))[:, None], terms.shape)] = 0.0
        return base, terms

    def laplace(self) -> tuple[Floats, float]:
        """Number of values of every attribute, and Laplace's constant."""
        return self.sizes_.astype(np.float64), float(self.alpha)

    # --- the rest of the protocol ---------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse an invalid Laplace constant."""
        check_alpha(self.alpha)
        named = isinstance(self.distance, str) and self.distance in ("hamming", "ordered")
        if not named and not isinstance(self.distance, Distance):
            raise ValueError(
                "distance must be 'hamming', 'ordered' or a localbayes.counts.Distance, "
                f"got {self.distance!r:.80}"
            )

    def value_distance(self) -> Distance:
        """The distance between values of the columns that fit saw."""
        if isinstance(self.distance, Distance):
            return self.distance
        return HAMMING if self.distance == "hamming" else Ordered(tuple(self.ordered_sizes_.tolist()))

    @property
    def n_distances(self) -> int:
        """Number of possible distances between a row and a query."""
        return Measure(self.value_distance(), self.sizes_).n_distances

    def empty_statistic(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> MatchIndex:
        """Index without rows."""
        return MatchIndex(sizes, n_classes, may_miss=self.missing == "ignore", distance=self.value_distance())

    @property
    def statistic(self) -> MatchIndex:
        """The index of the training rows."""
        return self.index_

    def adopt(self, statistic: Any) -> None:
        """Take an index as that of the training rows, and choose parameters by leaving rows out."""
        self.index_ = statistic
        request = self.left_out_request(statistic.n_rows)
        self.choose(None if request is None else self.leave_out(request))

    def leave_out(self, request: LeftOutRequest) -> LeftOut:
        """Predictions for training rows without themselves."""
        raise NotImplementedError

    def restore(self, statistic: Any, learned: Fields) -> None:
        """Take an index from a model file; there are no chosen parameters."""
        self.index_ = statistic

    @property
    def base_meaning(self) -> str:
        """What the base of :meth:`terms` stands for, in words."""
        return "weight of the class nearby"

    def in_chunks(self, *args: Any, **options: Any) -> Any:
        """Apply a function to chunks of queries; waiting rows are packed once, before threads count."""
        self.index_.pack()
        return super().in_chunks(*args, **options)

    def bytes_per_query(self) -> int:
        """Scratch memory that the formula needs for one query."""
        return self.index_.bytes_per_query()

    def most_queries(self) -> int:
        """Most queries to work on before an interrupt (Ctrl-C) is handled."""
        cells = max(1, self.index_.n_rows * len(self.sizes_))
        half = BATCH // 2
        return min(super().most_queries(), max(half, _MOST_CELLS // cells // half * half))


def kth_distance(at_distance: npt.NDArray[Any], k: int) -> npt.NDArray[np.intp]:
    """Distance of the k-th nearest row, or of the farthest if there are fewer than k.

    Examples
    --------
    >>> kth_distance(np.array([[1, 0, 3, 2]]), 2).tolist(), kth_distance(np.array([[1, 0, 3, 0]]), 9).tolist()
    ([2], [2])
    """
    nearer = at_distance.cumsum(axis=1)
    # Weights are summed in floating point; with this factor ten times 0.1 reaches one.
    wanted = np.minimum(k, nearer[:, -1:]) * (1 - 1e-12)
    reached: npt.NDArray[np.intp] = (nearer >= wanted).argmax(axis=1)
    return reached
