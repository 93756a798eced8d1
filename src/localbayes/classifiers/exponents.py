"""Exponents of a naive Bayes: how much each attribute counts, learned from rows that are left out.

The score of class y is ``b_y + sum_p w_p F_yp`` with features F, the logs of the factors of a naive Bayes.
Under conditional independence w = 1 and b = 0 are best; otherwise exponents correct attributes that repeat
each other, and biases what the classes' weights say wrongly.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.scores import log_total
from localbayes.counts import Floats, least_loss_exponents

__all__ = ["Exponents", "fit_exponents"]

# Powers among which the common one is looked for.
_POWERS = np.exp(np.linspace(np.log(0.02), np.log(3.0), 41))


@dataclass(frozen=True)
class Exponents:
    """Exponents w of the features, biases b of the classes, and the losses that they reach.

    ``loss`` is the penalised one, ``log_loss`` the mean log loss of the rows.
    """

    w: Floats
    b: Floats
    loss: float = 0.0
    log_loss: float = 0.0

    def scores(self, features: Floats) -> Floats:
        """Log joint of features of shape (n, r, p)."""
        scores: Floats = features @ self.w + self.b
        return scores

    def log_proba(self, features: Floats) -> Floats:
        """Log probabilities of features of shape (n, r, p)."""
        scores = self.scores(features)
        return scores - log_total(scores)


def fit_exponents(
    features: Floats,
    truth: npt.NDArray[np.int64],
    weights: Floats,
    ridge: float,
    prior: Floats | None = None,
    start: Exponents | None = None,
) -> Exponents:
    """Exponents of least penalised log loss.

    The loss is the sum of the log losses of the rows plus ``ridge`` times the squared distances of w from
    ``t * prior`` and of b from 0, where t is the best common power. It is convex, and w >= 0.

    Parameters
    ----------
    features : ndarray of shape (n, r, p)
        Features of rows and classes, taken in single precision.
    truth : ndarray of shape (n,)
        Classes of the rows.
    weights : ndarray of shape (n,)
        Weights of the rows.
    ridge : float
        Strength of the penalty.
    prior : ndarray of shape (p,), optional
        Exponents before any row is seen, up to the common power; ones by default.
    start : Exponents, optional
        Where to begin the search, such as those of nearly the same features.

    Examples
    --------
    A column that is right in four of five rows has the exponent one, and two copies of it have half each:

    >>> says = np.repeat([0, 1], 100)
    >>> truth = np.where(np.arange(200) % 5 == 0, 1 - says, says)
    >>> one = np.log(np.where(says[:, None, None] == [[0], [1]], 0.8, 0.2))
    >>> fit_exponents(one, truth, np.ones(200), ridge=1e-6).w.round(2).tolist()
    [1.0]
    >>> fit_exponents(np.repeat(one, 2, axis=2), truth, np.ones(200), ridge=1e-6).w.round(2).tolist()
    [0.5, 0.5]
    """
    prior = np.ones(features.shape[2]) if prior is None else prior
    w, b, loss, penalty = least_loss_exponents(
        *(features, truth, weights, prior, _POWERS, ridge), None if start is None else (start.w, start.b)
    )
    return Exponents(w, b, loss, (loss - penalty) / float(weights.sum()))
