"""What is learned from left-out rows: exponents of features, and how surely rows find their class."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts.protocol import Floats
from localbayes.kernels import compiled

__all__ = ["Neighbourhood", "least_loss_exponents"]

# Rows are padded to a multiple of this.
_SIDE_BY_SIDE = 64


def least_loss_exponents(
    features: npt.NDArray[Any],
    truth: npt.NDArray[np.int64],
    weights: Floats,
    prior: Floats,
    powers: Floats,
    ridge: float,
    start: tuple[Floats, Floats] | None = None,
) -> tuple[Floats, Floats, float, float]:
    """Exponents w >= 0 of features and biases b of classes that have the least penalised log loss.

    The score of class y is ``b_y + sum_p w_p F_yp``. The loss is the sum of the log losses of the rows plus
    ``ridge`` times the squared distances of w from ``t * prior`` and of b from 0, where t is the power of the
    list with which ``t * prior`` alone has the least log loss.

    Parameters
    ----------
    features : array of shape (n, r, p)
        Features of rows and classes, taken in single precision.
    truth, weights : arrays of shape (n,)
        Classes of the rows and their weights.
    prior : array of shape (p,)
        Exponents before any row is seen, up to the power.
    powers : array of shape (k,)
        Powers in increasing order.
    ridge : float
        Strength of the penalty.
    start : tuple of w and b, optional
        Where to begin the search; the result does not depend on it but for rounding.

    Returns
    -------
    w, b : arrays of shape (p,) and (r,)
        Exponents and biases.
    loss, penalty : float
        The penalised loss, and the part of the penalty in it.

    Examples
    --------
    The class that a feature speaks for is right in four of five rows, so log odds of 4 have the exponent one.

    >>> F = np.log([[[4.0], [1.0]]] * 5)
    >>> truth = np.array([0, 0, 1, 0, 0])
    >>> w, b, *losses = least_loss_exponents(F, truth, np.ones(5), np.ones(1), [1.0], ridge=1e-6)
    >>> w.round(4).tolist()
    [1.0]
    """
    _, r, p = features.shape
    w, b = (np.zeros(p), np.zeros(r)) if start is None else start
    found: tuple[Floats, Floats, float, float] = compiled.fit_exponents(
        np.ascontiguousarray(features, dtype=np.float32),
        np.ascontiguousarray(truth, dtype=np.int64),
        *(np.ascontiguousarray(numbers, dtype=np.float64) for numbers in (weights, prior, powers)),
        *(ridge, np.ascontiguousarray(w), np.ascontiguousarray(b), start is not None),
    )
    return found


class Neighbourhood:
    """Rows that look for rows of their own class.

    Query q finds row j with a probability proportional to ``mass_j exp(-sum_i w_i apart_ij)``. The loss is
    the weighted sum over queries of minus the log of the probability of the rows of q's class. Queries are
    rows themselves.

    Parameters
    ----------
    apart : array of shape (v, n)
        How far values of columns are from the value that every row has in that column.
    picks : array of shape (n_queries, m)
        Which of these vectors belongs to the value that a query has in every column.
    mass : array of shape (n,)
        Weights of the rows.
    own, own_mass : arrays of shape (n_queries,)
        The queries' own rows, and what is left of their weights without the query.
    classes : array of shape (n,)
        Classes of the rows.
    weights : array of shape (n_queries,)
        Weights of the queries.

    Examples
    --------
    The first row finds a row of its class and one of another; the column tells them apart.

    >>> near = Neighbourhood(
    ...     *(np.array([[0.0, 0.0, 1.0]]), np.array([[0]]), np.ones(3)),
    ...     *(np.array([0]), np.array([0.0]), np.array([0, 0, 1]), np.ones(1)),
    ... )
    >>> loss, slope = near.loss([2.0])
    >>> bool(np.isclose(loss, np.log(1 + np.exp(-2.0)))), bool(slope[0] < 0)
    (True, True)
    """

    def __init__(
        self,
        apart: npt.NDArray[Any],
        picks: npt.NDArray[Any],
        mass: Floats,
        own: npt.NDArray[np.int64],
        own_mass: Floats,
        classes: npt.NDArray[np.int64],
        weights: Floats,
    ) -> None:
        n, room = len(mass), self.room(len(mass))
        if apart.shape[1] != room:
            apart = np.pad(apart, ((0, 0), (0, room - n)))
        self._given = (
            np.ascontiguousarray(apart, dtype=np.float32),
            np.ascontiguousarray(picks, dtype=np.uint32),
            # Rows that fill the room have no mass.
            np.pad(_log(mass), (0, room - n), constant_values=_log(np.zeros(1))[0]),
            _log(own_mass),
            np.ascontiguousarray(own, dtype=np.int64),
            np.pad(classes, (0, room - n), constant_values=-1).astype(np.int32),
            classes[own].astype(np.int32),
            np.ascontiguousarray(weights, dtype=np.float64),
        )

    @staticmethod
    def room(n: int) -> int:
        """Number of rows that ``apart`` may have room for, so that it is not copied."""
        return -(-n // _SIDE_BY_SIDE) * _SIDE_BY_SIDE

    def loss(self, column_weights: Any, slope: bool = True) -> tuple[float, Floats]:
        """Loss under some weights of the columns, and its slope, if that is wanted."""
        w = np.ascontiguousarray(column_weights, dtype=np.float64)
        found: tuple[float, Floats] = compiled.neighbour_loss(*self._given, w, slope)
        return found


def _log(mass: Floats) -> npt.NDArray[np.float32]:
    return np.log(np.maximum(mass, 1e-300)).astype(np.float32)
