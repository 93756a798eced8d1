"""From match counts to weights and scores: the paper's equation for gamma, and naive Bayes of sums."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.protocol import Floats
from localbayes.encoding.coded import missing_code
from localbayes.kernels import compiled

__all__ = ["cell_weights", "log_joint_of_sums"]


def log_joint_of_sums(
    lacking: npt.NDArray[np.bool_], S: Floats, T: Floats, sizes: Floats, alpha: float
) -> Floats:
    """Naive Bayes scores of sums that were added up elsewhere, as :meth:`MatchCounts.log_joint` gives them.

    Parameters
    ----------
    lacking : array of shape (n_queries, m)
        True where the value of a query is missing; used only if T has 2 m columns.
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
    codes = np.where(lacking, np.uint32(missing_code(np.uint32)), np.uint32(0))
    scores: Floats = compiled.log_joint_of_sums(
        codes, *(np.ascontiguousarray(a, dtype=np.float64) for a in (S, T, sizes)), alpha
    )
    return scores


def cell_weights(distance_counts: npt.NDArray[Any], kappa: float) -> tuple[Floats, Floats, Floats]:
    """Solve the paper's equation for gamma and give ``gamma[q, y]``, ``rho[q]`` and ``rho * gamma^d``.

    The sum of the weights of a class is kappa to one part in 1e12. Gamma itself is as exact as that allows:
    where kappa exceeds the number of rows at distance zero by less than 1e-9 of it, gamma is tiny and may be
    off by a percent, while the weights it gives still sum to kappa.

    Parameters
    ----------
    distance_counts : array of shape (n_queries, n_classes, n_distances)
        Training rows of every class at every distance.
    kappa : float
        The sum of the weights of a class.

    Examples
    --------
    One class with no row at distance 0, one at 1 and one at 2: gamma + gamma^2 = 1.

    >>> gamma, rho, weights = cell_weights(np.array([[[0, 1, 1]]]), kappa=1)
    >>> gamma.round(3).tolist(), (weights / rho).round(3).tolist()
    ([[0.618]], [[[1.0, 0.618, 0.382]]])
    """
    counts = np.ascontiguousarray(distance_counts, dtype=np.float64)
    gamma, rho, weights = compiled.cell_weights(counts, float(kappa))
    return gamma, rho, weights
