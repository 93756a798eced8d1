"""For every row explained, the classes that were not predicted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.counts import Codes, Floats
from localbayes.explain.candidates import Candidates
from localbayes.explain.change_search import MOST_CANDIDATES, Search
from localbayes.explain.readable import Readable
from localbayes.explain.training_rows import TrainingRow, nearest_rows
from localbayes.explain.why_not import WhyNot

__all__ = ["others_of_rows"]

# Ways to make a class win, and training rows of the class, that are listed.
_WAYS = 3
_NEAREST = 3


def others_of_rows(
    model: BayesClassifier,
    table: Any,
    codes: Codes,
    readable: Readable,
    proba: Floats,
    best: npt.NDArray[np.intp],
    wanted: Sequence[int],
    fixed: Sequence[int],
    most: int = MOST_CANDIDATES,
) -> tuple[tuple[WhyNot, ...], ...]:
    """Say of every row why it is not another class.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    table : table of shape (n, m)
        Rows that the classifier has checked.
    codes : array of shape (n, m)
        Their codes.
    readable : Readable
        Texts of their values.
    proba : array of shape (n, r)
        Their class probabilities, in the order of ``classes_``.
    best : array of shape (n,)
        Predicted classes, by position in declared order.
    wanted : sequence of int
        Classes that are asked for, by position in declared order.
    fixed : sequence of int
        Attributes that are not changed.
    most : int
        Most changed rows to try at each stage of the search.

    Returns
    -------
    tuple of n tuples of WhyNot
        Wanted classes that are not predicted, most probable first.
    """
    candidates = Candidates(model, table, codes, readable, fixed, most)
    near: Sequence[dict[int, tuple[TrainingRow, ...]]] = [{} for _ in codes]
    if model.keeps_rows:
        near = _nearest(model, codes, readable, wanted)
    labels, column = model.labels_.declared, model.labels_.sorted_position
    answers = []
    for q in range(len(codes)):
        others = sorted((y for y in wanted if y != best[q]), key=lambda y: (-proba[q, column[y]], y))
        found = Search(model, candidates, q, most).run(others, _WAYS) if others else {}
        answers.append(
            tuple(
                WhyNot(labels[y], float(proba[q, column[y]]), *found[y], near[q].get(y, ())) for y in others
            )
        )
    return tuple(answers)


def _nearest(
    model: Any, codes: Codes, readable: Readable, wanted: Sequence[int]
) -> list[dict[int, tuple[TrainingRow, ...]]]:
    found = []
    for q in range(len(codes)):
        totals = model.index_.count(codes[q : q + 1]).distance_counts
        weights = model.neighbour_weights(totals).weights
        total = (totals * weights).sum(axis=(1, 2))
        found += nearest_rows(model, codes[q : q + 1], weights, total, readable, _NEAREST, wanted)
    return found
