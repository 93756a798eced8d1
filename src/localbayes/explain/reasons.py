"""From a classifier and a table to an explanation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import BayesClassifier, Floats, first_best, log_total
from localbayes.classifiers.eager import OneDependence
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.classifiers.lcwnb import LCWNB
from localbayes.classifiers.terms import defined_terms
from localbayes.encoding.coded import Codes
from localbayes.explain.explanation import Explanation
from localbayes.explain.local import neighbourhood
from localbayes.explain.readable import attribute_names, query_values
from localbayes.parameters import check_count

__all__ = ["explain"]


def explain(
    model: BayesClassifier, X: Any, *, top: int = 10, kappas: npt.ArrayLike | None = None
) -> Explanation:
    """Say why a classifier predicts the rows of a table as it does.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    X : DataFrame, array or Coded of shape (n, m)
        Rows to explain.
    top : int, default=10
        How many of the training rows that weigh most to list, for a lazy classifier.
    kappas : array-like, optional
        Values of kappa at which to show the prediction, for LCWNB.

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
    if kappas is not None and not isinstance(model, LCWNB):
        raise ValueError(
            f"kappas are those of LCWNB, the classifier is {type(model).__name__}; leave them out"
        )
    codes = model._queries(X)
    values, readings = query_values(model, X, codes)
    base, terms = _log_probability(model, codes)
    order = model.labels_.columns
    predicted = model.labels_.sorted_position[model._in_chunks(codes, model._best_class, np.intp)]
    return Explanation(
        method=str(model),
        classes=model.classes_,
        names=attribute_names(model, X),
        values=values,
        readings=readings,
        proba=model.predict_proba(X),
        predicted=predicted,
        runner_up=_runner_up(model, base + terms.sum(axis=2), predicted),
        base=base[:, order],
        contributions=terms[:, order],
        start=_start(model),
        neighbourhood=(
            neighbourhood(model, X, codes, int(top), kappas) if isinstance(model, LazyClassifier) else None
        ),
    )


def _log_probability(model: BayesClassifier, codes: Codes) -> tuple[Floats, Floats]:
    """Log probabilities as base and terms, classes in declared order."""
    n, m, r = len(codes), codes.shape[1], len(model.labels_)
    averaged = len(getattr(model, "kappas_", []))
    # Averages hold the terms of every part at once.
    step = max(1, (1 << 21) // (r * m * (m + averaged)))
    base, terms = np.empty((n, r)), np.empty((n, r, m))
    for begin in range(0, n, step):
        part = slice(begin, begin + step)
        own, added = defined_terms(*model._terms(codes[part]), model._class_count)
        base[part], terms[part] = model._shifted(own), added
    base -= log_total(base + terms.sum(axis=2))
    return base, terms


def _runner_up(
    model: BayesClassifier, log_proba: Floats, predicted: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """The best class besides the predicted one; of equally good ones that declared first."""
    if len(model.labels_) < 2:
        return np.full(len(log_proba), -1, dtype=np.intp)
    others = log_proba.copy()
    # Below minus infinity there is nothing, so impossible rivals are lifted above the predicted class.
    others = np.maximum(others, np.finfo(np.float64).min)
    others[np.arange(len(others)), model.labels_.columns[predicted]] = -np.inf
    return model.labels_.sorted_position[first_best(others)]


def _start(model: BayesClassifier) -> str:
    averaged = isinstance(model, OneDependence) or len(getattr(model, "kappas_", [])) > 1
    start = "weight of the class nearby" if isinstance(model, LazyClassifier) else "frequency of the class"
    return f"{start} and averaging" if averaged else start
