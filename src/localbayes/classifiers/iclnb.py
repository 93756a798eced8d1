"""Instance cloning local naive Bayes (ICLNB)."""

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.lazy import LazyClassifier, kth_distance
from localbayes.classifiers.shared import SharedParameters, with_shared_parameters
from localbayes.counts import Distance, Floats
from localbayes.parameters import check_count

__all__ = ["ICLNB"]


class ICLNB(LazyClassifier):
    """Instance cloning local naive Bayes: near rows count several times.

    The k nearest training rows, with all that are as far as the k-th, are cloned: a row that shares
    s attribute values with the query counts 1 + s times. A naive Bayes with Laplace's constants is
    fitted to the clones.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours.
    alpha : float, default=1.0
        Laplace's constant.
    distance, categorical_features, n_bins, discretize, missing, class_weight, priors, n_jobs
        As in :class:`LazyClassifier` and :class:`BayesClassifier`.

    References
    ----------
    L. Jiang, H. Zhang and J. Su, "Instance Cloning Local Naive Bayes", Canadian AI 2005.

    Examples
    --------
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "round"]]
    >>> ICLNB(k=1).fit(X, ["apple", "pepper", "pepper", "apple"]).predict([["red", "round"]]).tolist()
    ['apple']
    """

    @with_shared_parameters
    def __init__(
        self,
        k: int = 10,
        *,
        alpha: float = 1.0,
        distance: str | Distance = "hamming",
        **shared: Unpack[SharedParameters],
    ) -> None:
        super().__init__(alpha=alpha, distance=distance, **shared)
        self.k = k

    def weights(self, distance_counts: npt.NDArray[Any]) -> Floats:
        """1 + m - d up to the distance of the k-th nearest row."""
        at_distance = distance_counts.sum(axis=1)
        distance = np.arange(at_distance.shape[1])
        near = distance <= kth_distance(at_distance, self.k)[:, None]
        weights = np.where(near, 1.0 + distance[::-1], 0.0)
        return np.broadcast_to(weights[:, None, :], distance_counts.shape)

    def check_parameters(self) -> None:
        """Refuse an invalid number of neighbours."""
        super().check_parameters()
        check_count("k", self.k)
