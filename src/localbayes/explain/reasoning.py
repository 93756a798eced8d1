"""From a classifier and a table to an explanation."""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.scores import first_best
from localbayes.counts import Floats
from localbayes.explain.explanation import Explanation, class_position
from localbayes.explain.neighbours import neighbourhood
from localbayes.explain.other_classes import others_of_rows
from localbayes.explain.readable import Readable
from localbayes.parameters import check_count

__all__ = ["explain"]


def explain(
    model: BayesClassifier,
    X: Any,
    *,
    top: int = 10,
    kappas: npt.ArrayLike | None = None,
    why_not: Any = False,
    fixed: Any = (),
) -> Explanation:
    """Say why a classifier predicts the rows of a table as it does.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    X : DataFrame, array or Coded of shape (n, m)
        Rows to explain.
    top : int, default=10
        How many training rows to list, those of the largest weights, for a lazy classifier.
    kappas : array-like, optional
        Values of kappa at which to show the prediction, for LCWNB.
    why_not : bool, label or list of labels, default=False
        Classes for which to look for the smallest change that makes them win: True for all that are not
        predicted. See :class:`WhyNot`.
    fixed : str, int or list of them, default=()
        Attributes that such a change leaves as they are, by name or position.

    Returns
    -------
    Explanation
        Contributions that sum to the log probabilities, and what a lazy classifier sees.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "round"]]
    >>> clf = LCWNB(kappa=1).fit(X, ["apple", "pepper", "pepper", "apple"])
    >>> answer = explain(clf, [["red", "round"]], top=1)
    >>> bool(np.allclose(answer.base + answer.contributions.sum(axis=2), np.log(answer.proba)))
    True
    >>> answer.neighbourhood.rows[0][0].number
    0
    """
    check_count("top", top, at_least=0)
    if kappas is not None and not model.has_kappas:
        raise ValueError(
            f"kappas are those of LCWNB, the classifier is {type(model).__name__}; leave them out"
        )
    table = model.check_queries(X)
    codes = model.encode_checked(table)
    readable = Readable(model, table)
    base, terms = model.log_proba_terms(codes)
    order = model.labels_.columns
    best = model.best_class(codes)
    predicted = model.labels_.sorted_position[best]
    proba = model.answer(model.log_joint_in_chunks(codes), "predict_proba")
    runner_up = _runner_up(model, base + terms.sum(axis=2), predicted)
    # A classifier of one class has no other one.
    leading = np.column_stack([best, np.where(runner_up < 0, -1, model.labels_.columns[runner_up])])
    held = _positions(fixed, readable.names)
    wanted = _wanted(why_not, model.classes_.tolist(), model.labels_.columns)
    return Explanation(
        method=str(model),
        classes=model.classes_,
        names=readable.names,
        values=readable.values(codes),
        readings=readable.readings(codes),
        proba=proba,
        predicted=predicted,
        runner_up=runner_up,
        base=base[:, order],
        contributions=terms[:, order],
        start=model.base_meaning,
        neighbourhood=neighbourhood(model, codes, readable, int(top), kappas, leading)
        if model.keeps_rows
        else None,
        why_not=None
        if wanted is None
        else others_of_rows(model, table, codes, readable, proba, best, wanted, held),
        left_out=() if model.encoder_ is None else tuple(model.encoder_.left_out),
    )


def _wanted(why_not: Any, classes: list[Any], columns: npt.NDArray[np.intp]) -> list[int] | None:
    """Classes that are asked for, by their position in declared order; None if none are."""
    if why_not is None or why_not is False:
        return None
    if why_not is True:
        return [int(y) for y in columns]
    labels = np.asarray(why_not, dtype=object).ravel().tolist() if _is_list(why_not) else [why_not]
    return [int(columns[class_position(label, classes)]) for label in dict.fromkeys(labels)]


def _positions(fixed: Any, names: Sequence[str]) -> list[int]:
    """Attributes by position, from names or positions."""
    positions = []
    for one in fixed if _is_list(fixed) else [fixed]:
        if isinstance(one, str):
            if one not in names:
                close = difflib.get_close_matches(one, names, 1)
                hint = f"; did you mean {close[0]!r}?" if close else f"; there are {_some(names)}"
                raise ValueError(f"fixed: no attribute is called {one!r}{hint}")
            positions.append(names.index(one))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < len(names):
            positions.append(int(one))
        else:
            raise ValueError(
                f"fixed must hold names of attributes or positions from 0 to {len(names) - 1}, got {one!r}"
            )
    return positions


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple | set | np.ndarray) or hasattr(given, "to_list")


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _runner_up(
    model: BayesClassifier, log_proba: Floats, predicted: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """The best class besides the predicted one; of equally good ones that declared first."""
    if len(model.labels_) < 2:
        return np.full(len(log_proba), -1, dtype=np.intp)
    others = log_proba.copy()
    # Impossible rivals get the smallest finite number, so that they rank above the predicted class.
    others = np.maximum(others, np.finfo(np.float64).min)
    others[np.arange(len(others)), model.labels_.columns[predicted]] = -np.inf
    return model.labels_.sorted_position[first_best(others)]
