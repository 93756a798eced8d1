"""Locally weighted naive Bayes (LWNB)."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.lazy import LazyClassifier, kth_distance
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.counts import Distance, Floats
from localbayes.parameters import check_count

__all__ = ["LWNB"]


class LWNB(LazyClassifier):
    """Locally weighted naive Bayes: linear weights on the k nearest rows.

    With d_k the distance of the k-th nearest training row, a row at distance d < d_k weighs
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
    distance, categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LazyClassifier` and :class:`BayesClassifier`.

    References
    ----------
    E. Frank, M. Hall and B. Pfahringer, "Locally Weighted Naive Bayes", UAI 2003.

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "round"]]
    >>> LWNB(k=3).fit(X, ["apple", "pepper", "pepper", "apple"]).predict([["red", "round"]]).tolist()
    ['apple']
    """

    @with_shared_parameters
    def __init__(
        self,
        k: int = 50,
        *,
        zero_distance: Literal["equal", "published"] = "equal",
        alpha: float = 1.0,
        distance: str | Distance = "hamming",
        **shared: Unpack[SharedParameters],
    ) -> None:
        super().__init__(alpha=alpha, distance=distance, **shared)
        self.k = k
        self.zero_distance = zero_distance

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

    def combine(self, log_joints: Sequence[Floats], distance_counts: npt.NDArray[Any]) -> Floats:
        """The only log joint, or the class declared last where the published formula is 0 / 0."""
        log_joint = log_joints[0]
        if self.zero_distance == "equal":
            return log_joint
        undefined = self._undefined(distance_counts)
        log_joint[undefined, :-1] = np.log(np.finfo(np.float64).eps)
        log_joint[undefined, -1] = 0.0
        return log_joint

    def combine_terms(
        self, parts: Sequence[tuple[Floats, Floats]], distance_counts: npt.NDArray[Any]
    ) -> tuple[Floats, Floats]:
        """The same for base and terms."""
        base, terms = parts[0]
        if self.zero_distance == "published":
            terms[self._undefined(distance_counts)] = 0.0
        return self.combine([base], distance_counts), terms

    def _undefined(self, distance_counts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Queries for which the published formula is 0 / 0."""
        undefined: npt.NDArray[np.bool_] = kth_distance(distance_counts.sum(axis=1), self.k) == 0
        return undefined

    def check_parameters(self) -> None:
        """Refuse an invalid number of neighbours."""
        super().check_parameters()
        check_count("k", self.k)
        if self.zero_distance not in ("equal", "published"):
            raise ValueError(f"zero_distance must be 'equal' or 'published', got {self.zero_distance!r}")
