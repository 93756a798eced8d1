"""What matters overall: attributes by what they do to predictions of left-out training rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.left_out import check_rows
from localbayes.classifiers.scores import first_best, or_prior
from localbayes.counts import Floats
from localbayes.explain.readable import attribute_names

__all__ = ["Importances", "importances"]

# Training rows that are left out, unless rows are chosen.
MOST_ROWS = 5000
# Most numbers that are held at once.
_MOST_TERMS = 1 << 22
# A probability below this counts as this, so that one impossible row does not decide.
_LEAST = 1e-15
_SHOWN = 10


@dataclass(frozen=True, repr=False)
class Importances:
    """How much every attribute matters to a classifier.

    Attributes
    ----------
    method : str
        The classifier.
    names : tuple of m str
        Names of the attributes.
    strength : ndarray of shape (m,)
        Mean absolute log odds that the attribute adds, between the two most probable classes.
    loss : ndarray of shape (m,)
        By how much the mean log loss rises when the attribute's term is dropped; negative if it falls.
    log_loss : float
        The mean log loss with all attributes.
    n_rows : int
        Number of training rows that were left out, one at a time.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> NB().fit(X, ["no", "no", "yes", "yes"] * 5).importances()
    Importances in NB(), of 20 left-out rows with log loss 0.105
      attribute   log odds   loss if dropped
      x0              2.39            +0.688
      x1              0.10            -0.009
    """

    method: str
    names: tuple[str, ...]
    strength: Floats
    loss: Floats
    log_loss: float
    n_rows: int

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order(self) -> npt.NDArray[np.intp]:
        """Positions of the attributes, strongest first."""
        return np.argsort(-self.strength, kind="stable")

    def __repr__(self) -> str:
        width = max(9, *(len(self.names[i]) for i in self.order[:_SHOWN]))
        lines = [
            f"Importances in {self.method}, of {self.n_rows} left-out rows with log loss {self.log_loss:.3f}",
            f"  {'attribute':{width}}   log odds   loss if dropped",
        ]
        lines += [
            f"  {self.names[i]:{width}}   {self.strength[i]:8.2f}   {self.loss[i]:+15.3f}"
            for i in self.order[:_SHOWN]
        ]
        if len(self) > _SHOWN:
            lines.append(f"  and {len(self) - _SHOWN} more")
        return "\n".join(lines)


def importances(model: BayesClassifier, rows: npt.ArrayLike | None = None) -> Importances:
    """Measure how much every attribute matters, on training rows that are left out.

    The loss is that of the score without the term of the attribute, all else being the same. For NB that is
    the classifier without the attribute. For others it is an approximation: an attribute still has its say in
    distances, in the tree of TAN and in what superparents weigh.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    rows : array-like of int, optional
        Numbers of the training rows to leave out; by default all, or 5,000 drawn with a fixed seed.

    Returns
    -------
    Importances
        Mean absolute log odds and rise of the log loss, by attribute.

    Examples
    --------
    >>> from localbayes import NB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> importances(NB().fit(X, ["no", "no", "yes", "yes"] * 5)).strength.round(2).tolist()
    [2.39, 0.1]
    """
    numbers = _numbers(model, rows)
    if not len(numbers):
        raise ValueError("rows must hold the number of one training row or more, got none")
    known = model.training_rows()[numbers]
    m, weights = model.n_features_in_, known.each_weight
    strength, dropped, whole = np.zeros(m), np.zeros(m), 0.0
    for at, base, terms in _parts(model, numbers):
        truth, w = known.classes[at], weights[at]
        total, without = _joints(base, terms)
        strength += w @ np.abs(_log_odds(total, terms))
        whole += float(w @ _losses(model, total, truth))
        for i in range(m):
            dropped[i] += w @ _losses(model, without(i), truth)
    n = weights.sum()
    return Importances(
        method=str(model),
        names=attribute_names(model),
        strength=strength / n,
        loss=(dropped - whole) / n,
        log_loss=whole / float(n),
        n_rows=len(numbers),
    )


def _numbers(model: BayesClassifier, rows: npt.ArrayLike | None) -> npt.NDArray[Any]:
    n = len(model.training_rows())
    if rows is not None:
        return check_rows(rows, n)
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


def _parts(model: BayesClassifier, numbers: npt.NDArray[np.int64]) -> Iterator[tuple[slice, Floats, Floats]]:
    """Base, with priors and class weights, and terms of left-out rows, some at a time."""
    step = max(1, _MOST_TERMS // (len(model.labels_) * (model.n_features_in_ + 1)))
    for begin in range(0, len(numbers), step):
        at = slice(begin, begin + step)
        base, terms = model.left_out_terms(numbers[at])
        joint = model.left_out_log_joint(numbers[at])
        moved = model.left_out_answer("predict_log_joint", numbers[at])[:, model.labels_.sorted_position]
        both = np.isfinite(joint) & np.isfinite(moved)
        shift = np.subtract(moved, joint, out=np.zeros_like(joint), where=both)
        shift[np.isneginf(moved)] = -np.inf
        yield at, base + shift, terms


def _joints(base: Floats, terms: Floats) -> tuple[Floats, Any]:
    """The log joint, and a function that gives it without the term of an attribute."""
    lost = np.isneginf(terms)
    finite = np.where(lost, 0.0, terms)
    total, n_lost = base + finite.sum(axis=2), lost.sum(axis=2)

    def without(i: int) -> Floats:
        return np.where(n_lost > lost[..., i], -np.inf, total - finite[..., i])

    return np.where(n_lost > 0, -np.inf, total), without


def _log_odds(total: Floats, terms: Floats) -> Floats:
    """What every attribute adds to the log odds of the two most probable classes, as far as it is finite."""
    if total.shape[1] < 2:
        return np.zeros((len(total), terms.shape[2]))
    first = first_best(total)
    others = np.maximum(total, np.finfo(np.float64).min)
    others[np.arange(len(total)), first] = -np.inf
    best = np.column_stack([first, first_best(others)])
    two = np.maximum(np.take_along_axis(terms, best[:, :, None], axis=1), np.log(_LEAST))
    difference: Floats = two[:, 0] - two[:, 1]
    return difference


def _losses(model: BayesClassifier, joint: Floats, truth: npt.NDArray[np.int64]) -> Floats:
    """Log loss of every row."""
    log_proba = log_softmax(or_prior(joint, model.class_count), axis=1)
    losses: Floats = -np.maximum(log_proba[np.arange(len(truth)), truth], np.log(_LEAST))
    return losses
