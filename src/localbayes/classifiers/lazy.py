"""The lazy family: naive Bayes on training rows weighted by class and distance."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import BATCH, BayesClassifier, Floats
from localbayes.classifiers.terms import log_ratio
from localbayes.encoding.coded import Codes, any_outside, missing_code, unseen_code
from localbayes.kernels import MatchCounts, MatchIndex
from localbayes.parameters import Discretize, Missing, check_alpha

__all__ = ["LazyClassifier", "kth_distance"]


class LazyClassifier(BayesClassifier):
    """Base of classifiers that fit a weighted naive Bayes around every query.

    A training row of class y at Hamming distance d from the query gets the weight w(y, d). With
    S_y the sum of weights of class y and T_iy the part of it whose rows agree with the query on
    attribute i, the score of y is::

        (alpha + S_y) / (alpha r + sum S)  *  prod_i (alpha + T_iy) / (alpha q_i + S_y)

    A subclass gives the weights in one hook, :meth:`weights`; see ``docs/own-weighting.md``.

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

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: Discretize = "width",
        missing: Missing = "impute",
        class_weight: Any = None,
        priors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.n_bins = n_bins
        self.discretize = discretize
        self.missing = missing
        self.class_weight = class_weight
        self.priors = priors
        self.n_jobs = n_jobs

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
        """What :meth:`weights` gives, as floating point; what is no weight is refused.

        Where there are no rows, a weight may be anything.
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

    def _check_parameters(self) -> None:
        check_alpha(self.alpha)

    def _start(self, sizes: npt.NDArray[np.uint32], n_classes: int) -> None:
        self.index_ = MatchIndex(sizes, n_classes, may_miss=self.missing == "ignore")

    def _learn(self, codes: Codes, class_codes: npt.NDArray[np.int64], weights: Floats | None = None) -> None:
        self.index_ = self.index_.copy()  # the one before stays as it is until all is learned
        self.index_.append(self._set_apart(codes), class_codes, weights)

    def _set_apart(self, codes: Codes) -> Codes:
        """Give training values outside their declared domain a code that no query has."""
        foreign, lacking = self._foreign(codes)
        if not foreign.any():
            return codes
        # One above the next free code, which "missing" as a value of its own may take later.
        apart = self.sizes_ + 1
        room = np.where(foreign.any(axis=0), apart + 1, self.sizes_)
        self.index_.sizes = np.maximum(self.index_.sizes, room).astype(np.uint32)
        wide = np.where(foreign, apart, codes).astype(np.uint32)
        wide[lacking] = missing_code(np.uint32)
        return wide

    def _as_queries(self, rows: Codes) -> Codes:
        """Training rows as queries: a value outside its declared domain is one that no row has."""
        foreign, _ = self._foreign(rows)
        return np.where(foreign, unseen_code(rows.dtype), rows).astype(rows.dtype) if foreign.any() else rows

    def _foreign(self, codes: Codes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Cells whose value is outside its declared domain, and those whose value is not known."""
        if not any_outside(codes, self.sizes_):
            none = np.zeros((1, 1), dtype=bool)
            return none, none
        lacking = (codes == missing_code(codes.dtype)) & self.index_.may_miss
        return (codes >= self.sizes_) & ~lacking, lacking

    def _grow(self, sizes: npt.NDArray[np.uint32]) -> None:
        self.index_ = self.index_.copy()
        self.index_.sizes = np.maximum(self.index_.sizes, sizes)

    def _log_joint(self, codes: Codes) -> Floats:
        return self._scores(codes, margin=np.inf)

    def _contenders(self, codes: Codes) -> Floats:
        return self._scores(codes, margin=0.0)

    def _scores(self, codes: Codes, margin: float) -> Floats:
        """Log joint; classes that stay more than the margin below the best may be left out."""
        counts = self.index_.count(codes)
        return counts.log_joint(self.checked_weights(counts.distance_counts), *self._laplace(), margin)

    def _laplace(self) -> tuple[Floats, float]:
        return self.sizes_.astype(np.float64), float(self.alpha)

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        counts = self.index_.count(codes)
        return self._score_terms(codes, counts, self.checked_weights(counts.distance_counts))

    def _score_terms(self, codes: Codes, counts: MatchCounts, weights: Floats) -> tuple[Floats, Floats]:
        """Base and terms of what ``_scores`` sums."""
        alpha, m = float(self.alpha), len(self.sizes_)
        S, T = counts.weighted_sums(weights)
        # Where values may be missing, T goes on with the weight of the rows that know the attribute.
        known = T[..., m:] if self.index_.may_miss else S[..., None]
        base = log_ratio(alpha + S, alpha * S.shape[1] + S.sum(axis=1, keepdims=True))
        terms = log_ratio(alpha + T[..., :m], alpha * self.sizes_ + known)
        if self.index_.may_miss:
            terms[np.broadcast_to((codes == missing_code(codes.dtype))[:, None], terms.shape)] = 0.0
        return base, terms

    def _in_chunks(self, *args: Any, **options: Any) -> Any:
        self.index_.pack()  # once, before threads count
        return super()._in_chunks(*args, **options)

    def _bytes_per_query(self) -> int:
        return self.index_.bytes_per_query()

    def _most_queries(self) -> int:
        cells = max(1, self.index_.n_rows * len(self.sizes_))
        half = BATCH // 2
        return min(super()._most_queries(), max(half, _MOST_CELLS // cells // half * half))


# Cells that queries are compared with in about half a second.
_MOST_CELLS = 32 << 30


def kth_distance(at_distance: npt.NDArray[Any], k: int) -> npt.NDArray[np.intp]:
    """Distance of the k-th nearest row, or of the farthest if there are fewer than k.

    Examples
    --------
    >>> kth_distance(np.array([[1, 0, 3, 2]]), 2).tolist(), kth_distance(np.array([[1, 0, 3, 0]]), 9).tolist()
    ([2], [2])
    """
    nearer = at_distance.cumsum(axis=1)
    # Weights are summed in floating point: ten times 0.1 is one.
    wanted = np.minimum(k, nearer[:, -1:]) * (1 - 1e-12)
    reached: npt.NDArray[np.intp] = (nearer >= wanted).argmax(axis=1)
    return reached
