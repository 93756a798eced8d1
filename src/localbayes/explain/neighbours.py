"""What a lazy classifier sees around a query: weights, the rows that have them, and the effect of kappa."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from localbayes.classifiers import LazyClassifier
from localbayes.classifiers.kappa import check_grid
from localbayes.counts import Codes, Floats
from localbayes.explain.readable import Readable
from localbayes.explain.training_rows import TrainingRow, heaviest_rows

__all__ = ["KappaCurve", "Neighbourhood", "kappa_curve", "neighbourhood"]


@dataclass(frozen=True)
class KappaCurve:
    """How the prediction moves with kappa.

    Attributes
    ----------
    kappas : ndarray of shape (k,)
        Values of kappa, ascending.
    proba : ndarray of shape (k, n, r)
        Class probabilities at each.
    in_use : ndarray of shape (j,)
        The kappa of the classifier, or several whose predictions it averages.
    in_use_weights : ndarray of shape (j,)
        How much each of them counts; they sum to one.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = LCWNB(kappa=1).fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> curve = clf.explain([["red", "long"]], kappas=[0.5, 1, 3]).neighbourhood.curve
    >>> curve.kappas.tolist(), curve.proba.shape, curve.in_use.tolist()
    ([0.5, 1.0, 3.0], (3, 1, 2), [1.0])
    """

    kappas: Floats
    proba: Floats
    in_use: Floats
    in_use_weights: Floats


@dataclass(frozen=True)
class Neighbourhood:
    """Weights around queries, by class in the order of ``classes_``.

    Attributes
    ----------
    weight_sum : ndarray of shape (n, r)
        S, the sum of the weights of the rows of a class.
    effective_size : ndarray of shape (n, r)
        Number of rows of equal weight with as much information: S^2 over the sum of squared weights.
    gamma : ndarray of shape (n, r) or None
        LCWNB: the base of the weights gamma^distance; averaged if predictions are.
    weight_scale : ndarray of shape (n,) or None
        LCWNB: rho, by which weights are multiplied before Laplace's constants are added.
    rows : tuple of n tuples of TrainingRow
        The training rows that weigh most: half of the predicted class and half of the next best one, or of
        others where these have few; heaviest first, then nearest, then first.
    curve : KappaCurve or None
        LCWNB: how the prediction moves with kappa.

    Examples
    --------
    Three peppers, one of which differs in one attribute and two in both: gamma + 2 gamma^2 = 1.

    >>> from localbayes import LCWNB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = LCWNB(kappa=1).fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> around = clf.explain([["red", "round"]]).neighbourhood
    >>> around.gamma.round(3).tolist(), len(around.rows[0])
    ([[0.0, 0.5]], 4)
    """

    weight_sum: Floats
    effective_size: Floats
    gamma: Floats | None
    weight_scale: Floats | None
    rows: tuple[tuple[TrainingRow, ...], ...]
    curve: KappaCurve | None


def neighbourhood(
    model: LazyClassifier,
    codes: Codes,
    readable: Readable,
    top: int,
    kappas: npt.ArrayLike | None,
    leading: npt.NDArray[np.intp],
) -> Neighbourhood:
    """Look around every query.

    Parameters
    ----------
    model : LazyClassifier
        A fitted classifier.
    codes : array of shape (n, m)
        The queries.
    readable : Readable
        Texts of values.
    top : int
        How many training rows to list.
    kappas : array-like or None
        Grid of the curve.
    leading : array of shape (n, 2)
        The predicted class and the next best one, by position in declared order.

    Returns
    -------
    Neighbourhood
        Weights, rows and curve.
    """
    order = model.labels_.columns
    step = max(1, min(model.most_queries(), (64 << 20) // model.index_.bytes_per_query()))
    rows: list[tuple[TrainingRow, ...]] = []
    sums, sizes, gammas, scales = [], [], [], []
    for begin in range(0, max(len(codes), 1), step):
        part = codes[begin : begin + step]
        totals = model.index_.count(part).distance_counts
        near = model.neighbour_weights(totals)
        S = (totals * near.weights).sum(axis=2)
        squares = (totals * near.weights**2).sum(axis=2)
        sums.append(S[:, order])
        sizes.append(np.divide(S**2, squares, out=np.zeros_like(S), where=squares > 0)[:, order])
        if near.gamma is not None and near.scale is not None:
            gammas.append(near.gamma[:, order])
            scales.append(near.scale)
        rows += heaviest_rows(
            model, part, near.weights, S.sum(axis=1), readable, top, leading[begin : begin + step]
        )
    return Neighbourhood(
        np.concatenate(sums),
        np.concatenate(sizes),
        np.concatenate(gammas) if gammas else None,
        np.concatenate(scales) if scales else None,
        tuple(rows),
        kappa_curve(model, codes, kappas) if model.has_kappas else None,
    )


def kappa_curve(model: Any, codes: Codes, kappas: npt.ArrayLike | None = None) -> KappaCurve:
    """Class probabilities over a grid of kappas, by default from 0.5 to all training rows.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]
    >>> model = LCWNB(kappa=2).fit(X, y)
    >>> kappa_curve(model, model.encode([["a", "b"]]), [1, 2]).proba[:, 0, 0].round(2).tolist()
    [0.75, 0.7]
    """
    in_use, in_use_weights = model.kappas_, model.kappa_weights_
    if kappas is None:
        spread = np.geomspace(0.5, max(1.0, float(model.class_count_.sum())), 33)
        kappas = np.unique(np.concatenate([spread, in_use]))
    grid = np.unique(check_grid(kappas))
    log_joint = model.moved(model.temperature_ * model.log_joint_by_kappa(codes, grid))
    return KappaCurve(grid, softmax(log_joint[..., model.labels_.columns], axis=2), in_use, in_use_weights)
