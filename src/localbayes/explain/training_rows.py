"""Training rows behind a prediction: the heaviest of all, and the nearest of every class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import LazyClassifier
from localbayes.counts import Codes, Floats, marked
from localbayes.counts.distance import MISSING, UNSEEN
from localbayes.explain.readable import Readable

__all__ = ["TrainingRow", "heaviest_rows", "nearest_rows"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TrainingRow:
    """A training row that weighs something.

    Attributes
    ----------
    number : int
        Its place among the rows given to fit, from 0; rows of weight zero are not counted.
    label : object
        Its class.
    distance : int
        How far it is from the query: the number of attributes in which they differ, unless the classifier
        has another distance.
    weight : float
        Its weight.
    share : float
        Its part of the weight of all training rows.
    values : tuple of m str
        Readable values.
    agrees : tuple of m bool
        Where it has the query's value.

    Examples
    --------
    >>> from localbayes import LCWNB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = LCWNB(kappa=1).fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> row = clf.explain([["red", "round"]]).neighbourhood.rows[0][1]
    >>> row.number, row.label, row.distance, row.values, row.agrees
    (1, 'pepper', 1, ('red', 'long'), (True, False))
    """

    number: int
    label: Any
    distance: int
    weight: float
    share: float
    values: tuple[str, ...]
    agrees: tuple[bool, ...]


@dataclass(frozen=True)
class _Found:
    """A training row that was found for a query."""

    weight: float
    distance: int
    number: int
    y: int
    codes: Integers

    @property
    def by_weight(self) -> tuple[float, int, int]:
        return -self.weight, self.distance, self.number

    @property
    def by_distance(self) -> tuple[int, int]:
        return self.distance, self.number


def heaviest_rows(
    model: LazyClassifier,
    codes: Codes,
    weights: Floats,
    total: Floats,
    readable: Readable,
    top: int,
    leading: npt.NDArray[np.intp],
) -> list[tuple[TrainingRow, ...]]:
    """The training rows that weigh most, half of each leading class; heaviest, nearest, first ones first.

    Parameters
    ----------
    model : LazyClassifier
        A fitted classifier.
    codes : array of shape (n, m)
        The queries.
    weights : array of shape (n, r, n_distances)
        Weight of a row by query, class and distance.
    total : array of shape (n,)
        Weight of all rows.
    readable : Readable
        Texts of values.
    top : int
        How many rows.
    leading : array of shape (n, 2)
        The predicted class and the next best one, by position in declared order.
    """

    def best(weight: Floats, distance: Integers, numbers: Integers, classes: Integers) -> Integers:
        order = np.lexsort((numbers, distance, -weight))
        order = order[weight[order] > 0]
        each = [order[classes[order] == y][:top] for y in np.unique(classes)]
        return np.concatenate([np.empty(0, np.int64), *each])

    found = _search(model, codes, weights, best) if top else [[] for _ in codes]
    kept = [_both_sides(rows, pair, top) for rows, pair in zip(found, leading.tolist(), strict=True)]
    return [_readable(model, codes[q], rows, total[q], readable) for q, rows in enumerate(kept)]


def _both_sides(rows: Sequence[_Found], leading: Sequence[int], top: int) -> list[_Found]:
    """The heaviest rows of two classes, half of each; where they are few, the heaviest of the others."""
    ranked = sorted(rows, key=lambda row: row.by_weight)
    # Weights are set for each class, so a class that is improbable could fill the list.
    kept = [row for row in ranked if row.y == leading[0]][: (top + 1) // 2]
    kept += [row for row in ranked if row.y == leading[1]][: top // 2]
    known = {row.number for row in kept}
    kept += [row for row in ranked if row.number not in known][: top - len(kept)]
    return sorted(kept, key=lambda row: row.by_weight)


def nearest_rows(
    model: LazyClassifier,
    codes: Codes,
    weights: Floats,
    total: Floats,
    readable: Readable,
    top: int,
    classes: Sequence[int],
) -> list[dict[int, tuple[TrainingRow, ...]]]:
    """The nearest training rows of some classes, by their position in declared order.

    Parameters are those of :func:`heaviest_rows`.
    """

    def best(weight: Floats, distance: Integers, numbers: Integers, of: Integers) -> Integers:
        order = np.lexsort((numbers, distance))
        each = [order[of[order] == y][:top] for y in classes]
        return np.concatenate([np.empty(0, np.int64), *each])

    answers = []
    for q, rows in enumerate(_search(model, codes, weights, best)):
        rows = sorted(rows, key=lambda row: row.by_distance)
        by_class = {y: [row for row in rows if row.y == y][:top] for y in classes}
        answers.append(
            {y: _readable(model, codes[q], own, total[q], readable) for y, own in by_class.items()}
        )
    return answers


def _search(
    model: LazyClassifier,
    codes: Codes,
    weights: Floats,
    best: Callable[[Floats, Integers, Integers, Integers], Integers],
) -> list[list[_Found]]:
    """Rows that are best among those of their part of the training table, for every query."""
    asked = marked(codes, model.sizes_, model.index_.may_miss)
    found: list[list[_Found]] = [[] for _ in codes]
    for part, classes, numbers, own_weights in model.index_.training_rows():
        rows = marked(part, model.sizes_, model.index_.may_miss)
        for q, query in enumerate(asked):
            distance = model.index_.measure.distances(query, rows)
            weight = weights[q, classes, distance] * (1.0 if own_weights is None else own_weights)
            found[q] += [
                _Found(float(weight[k]), int(distance[k]), int(numbers[k]), int(classes[k]), rows[k])
                for k in best(weight, distance, numbers, classes)
            ]
    return found


def _readable(
    model: LazyClassifier, query: Codes, rows: Sequence[_Found], total: float, readable: Readable
) -> tuple[TrainingRow, ...]:
    asked = marked(query[None], model.sizes_, model.index_.may_miss)[0]
    return tuple(
        TrainingRow(
            row.number,
            model.labels_.declared[row.y],
            row.distance,
            row.weight,
            float(row.weight / total) if total else 0.0,
            readable.row(row.codes, missing=MISSING),
            tuple(((row.codes == asked) & (row.codes != UNSEEN)).tolist()[: model.n_features_in_]),
        )
        for row in rows
    )
