"""Locally weighted naive Bayes (LWNB)."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import Floats
from localbayes.classifiers.lazy import LazyClassifier, kth_distance
from localbayes.encoding.coded import Codes
from localbayes.parameters import Discretize, Missing, check_count

__all__ = ["LWNB"]


class LWNB(LazyClassifier):
    """Locally weighted naive Bayes: linear weights on the k nearest rows.

    With d_k the Hamming distance of the k-th nearest training row, a row at distance d < d_k weighs
    1 - d / d_k and every other row nothing; weights are scaled to sum to the number of rows that
    have one, and a naive Bayes with Laplace's constants is fitted to them.

    Parameters
    ----------
    k : int, default=50
        Number of neighbours.
    zero_distance : {"equal", "published"}, default="equal"
        What to do when the k nearest rows are equally far, so that 1 - d / d_k is of no use.
        ``"equal"`` gives the rows at that distance equal weights. ``"published"`` gives none where
        d_k > 0, and where d_k = 0 declares the class declared last: the effect of 0 / 0 in the
        published results, kept so that they can be reproduced.
    alpha : float, default=1.0
        Laplace's constant.
    categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`~localbayes.LCWNB`.

    References
    ----------
    E. Frank, M. Hall and B. Pfahringer, "Locally Weighted Naive Bayes", UAI 2003.

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "round"]]
    >>> LWNB(k=3).fit(X, ["apple", "pepper", "pepper", "apple"]).predict([["red", "round"]]).tolist()
    ['apple']
    """

    def __init__(
        self,
        k: int = 50,
        *,
        zero_distance: Literal["equal", "published"] = "equal",
        alpha: float = 1.0,
        categorical_features: Any = "from_dtype",
        n_bins: int = 10,
        discretize: Discretize = "width",
        missing: Missing = "impute",
        class_weight: Any = None,
        priors: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.zero_distance = zero_distance
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.n_bins = n_bins
        self.discretize = discretize
        self.missing = missing
        self.class_weight = class_weight
        self.priors = priors
        self.n_jobs = n_jobs

    def weights(self, distance_counts: npt.NDArray[Any]) -> Floats:
        """1 - d / d_k, scaled to sum to the number of rows that weigh something."""
        at_distance = distance_counts.sum(axis=1)
        d_k = kth_distance(at_distance, self.k)[:, None]
        distance = np.arange(at_distance.shape[1])
        weights = np.where(distance < d_k, 1 - distance / np.maximum(d_k, 1), 0.0)
        total = (at_distance * weights).sum(axis=1, keepdims=True)
        if self.zero_distance == "equal":
            weights = np.where((total == 0) & (distance == d_k), 1.0, weights)
            total = (at_distance * weights).sum(axis=1, keepdims=True)
        weighing = (at_distance * (weights > 0)).sum(axis=1, keepdims=True)
        scaled = weights * np.divide(weighing, total, out=np.zeros(total.shape), where=total > 0)
        return np.broadcast_to(scaled[:, None, :], distance_counts.shape)

    def _scores(self, codes: Codes, margin: float) -> Floats:
        counts = self.index_.count(codes)
        distance_counts = counts.distance_counts
        log_joint = counts.log_joint(self.checked_weights(distance_counts), *self._laplace(), margin)
        if self.zero_distance == "published":
            undefined = kth_distance(distance_counts.sum(axis=1), self.k) == 0
            log_joint[undefined, :-1] = np.log(np.finfo(np.float64).eps)
            log_joint[undefined, -1] = 0.0
        return log_joint

    def _terms(self, codes: Codes) -> tuple[Floats, Floats]:
        base, terms = super()._terms(codes)
        if self.zero_distance == "published":
            undefined = kth_distance(self.index_.count(codes).distance_counts.sum(axis=1), self.k) == 0
            base[undefined], terms[undefined] = self._log_joint(codes[undefined]), 0.0
        return base, terms

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("k", self.k)
        if self.zero_distance not in ("equal", "published"):
            raise ValueError(f"zero_distance must be 'equal' or 'published', got {self.zero_distance!r}")
