"""Labels that the other rows contradict."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Suspect", "left_out_proba", "rank_rows", "suspects_of"]


@dataclass(frozen=True)
class Suspect:
    """A row whose label the other rows contradict.

    Attributes
    ----------
    row : int
        Its number.
    given, likely : object
        Its label, and the most probable one by the other rows.
    p_given, p_likely : float
        Their probabilities.
    """

    row: int
    given: Any
    p_given: float
    likely: Any
    p_likely: float


def left_out_proba(model: Any, X: Any, y: Any) -> npt.NDArray[np.float64]:
    """Probabilities of all rows, each predicted without itself; classes as in ``model.classes_``."""
    proba: npt.NDArray[np.float64] = model.fit(X, y).predict_proba(None)
    return proba


def rank_rows(proba: npt.NDArray[np.float64], own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Numbers of all rows, those with the least probable label first.

    Examples
    --------
    >>> rank_rows(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([1, 1])).tolist()
    [0, 1]
    """
    return np.argsort(proba[np.arange(len(own)), own], kind="stable")


def suspects_of(
    proba: npt.NDArray[np.float64],
    own: npt.NDArray[np.int64],
    labels: npt.NDArray[Any],
    ranking: npt.NDArray[np.int64],
) -> list[Suspect]:
    """Rows for which another label is more probable than their own, in the order of :func:`rank_rows`."""
    rows, likely = np.arange(len(own)), proba.argmax(axis=1)
    p_given, p_likely = proba[rows, own], proba[rows, likely]
    at = ranking[(p_likely > p_given)[ranking]]
    columns = (at, labels[own[at]], p_given[at], labels[likely[at]], p_likely[at])
    return [Suspect(*fields) for fields in zip(*(column.tolist() for column in columns), strict=True)]
