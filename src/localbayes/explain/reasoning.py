"""From a classifier and a table to an explanation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.classifiers.scores import first_best
from localbayes.counts import Floats
from localbayes.explain.explanation import Explanation
from localbayes.explain.neighbours import neighbourhood
from localbayes.explain.readable import Readable
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
        How many training rows to list, those of the largest weights, for a lazy classifier.
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
    if kappas is not None and not model.has_kappas:
        raise ValueError(
            f"kappas are those of LCWNB, the classifier is {type(model).__name__}; leave them out"
        )
    table = model.check_queries(X)
    codes = model.encode_checked(table)
    readable = Readable(model, table)
    base, terms = model.log_proba_terms(codes)
    order = model.labels_.columns
    predicted = model.labels_.sorted_position[model.best_class(codes)]
    return Explanation(
        method=str(model),
        classes=model.classes_,
        names=readable.names,
        values=readable.values(codes),
        readings=readable.readings(codes),
        proba=model.answer(model.log_joint_in_chunks(codes), "predict_proba"),
        predicted=predicted,
        runner_up=_runner_up(model, base + terms.sum(axis=2), predicted),
        base=base[:, order],
        contributions=terms[:, order],
        start=model.base_meaning,
        neighbourhood=neighbourhood(model, codes, readable, int(top), kappas) if model.keeps_rows else None,
    )


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
