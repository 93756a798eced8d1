"""For every row explained, the classes that were not predicted."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.counts import Codes, Floats, Rows
from localbayes.explain.candidates import Candidates
from localbayes.explain.change_search import Search
from localbayes.explain.readable import Readable
from localbayes.explain.training_rows import TrainingRow, nearest_rows
from localbayes.explain.why_not import WhyNot

__all__ = ["most_candidates", "others_of_rows"]

# Ways to make a class win, and training rows of the class, that are listed.
_WAYS = 3
_NEAREST = 3
# Training rows whose values a row takes over, where no smaller change was found.
_NEAR = 10
# Changed rows that are tried at each stage of a search: so many, or as many as have about so many cells to
# compare with those of training rows, but not fewer than a few.
_MOST, _MOST_CELLS, _FEWEST = 50_000, 30_000_000_000, 2_000
# How much longer a comparison takes under a distance that is graded.
_GRADED = 10


def most_candidates(model: Any) -> int:
    """Most changed rows to try at each stage, so that a stage takes some seconds at most.

    Examples
    --------
    >>> from localbayes import NB
    >>> most_candidates(NB().fit([["a"], ["b"]], ["no", "yes"]))
    50000
    """
    if not model.keeps_rows:
        return _MOST
    cells = model.index_.n_rows * len(model.sizes_) * (1 if model.index_.measure.kernel is None else _GRADED)
    return int(min(_MOST, max(_FEWEST, _MOST_CELLS // max(1, cells))))


def others_of_rows(
    model: BayesClassifier,
    table: Any,
    codes: Codes,
    readable: Readable,
    proba: Floats,
    best: npt.NDArray[np.intp],
    wanted: Sequence[int],
    fixed: Sequence[int],
    most: int | None = None,
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
    most : int, optional
        Most changed rows to try at each stage of the search; by default as :func:`most_candidates` says.

    Returns
    -------
    tuple of n tuples of WhyNot
        Wanted classes that are not predicted, most probable first.
    """
    most = most_candidates(model) if most is None else most
    candidates = Candidates(model, table, codes, readable, fixed, most)
    near: Sequence[dict[int, tuple[TrainingRow, ...]]] = [{} for _ in codes]
    if model.keeps_rows:
        near = _nearest(model, codes, readable, wanted)
    labels, column = model.labels_.declared, model.labels_.sorted_position
    near_of_class = _NearRows(model)
    answers = []
    for q in range(len(codes)):
        others = sorted((y for y in wanted if y != best[q]), key=lambda y: (-proba[q, column[y]], y))
        search = Search(model, candidates, q, most, partial(near_of_class, codes[q]))
        found = search.run(others, _WAYS) if others else {}
        answers.append(
            tuple(
                WhyNot(labels[y], float(proba[q, column[y]]), *found[y], near[q].get(y, ())) for y in others
            )
        )
    return tuple(answers)


class _NearRows:
    """Training rows of a class that agree with a query on most attributes, if the classifier keeps rows."""

    def __init__(self, model: BayesClassifier) -> None:
        self._model = model

    @cached_property
    def _rows(self) -> Rows:
        return self._model.training_rows()

    def __call__(self, query: Codes, y: int) -> Codes:
        if not self._model.keeps_rows:
            return query[None][:0]
        own = self._rows.codes[self._rows.classes == y]
        order = np.argsort((own != query).sum(axis=1), kind="stable")
        near: Codes = own[order[:_NEAR]]
        return near


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
