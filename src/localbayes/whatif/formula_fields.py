"""The numbers that a formula needs, by classifier: counts, or training rows and a distance."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import CLASSIFIERS, BayesClassifier
from localbayes.counts import Hamming, MatchIndex, ValueCounts, marked
from localbayes.whatif.packing import packed

__all__ = ["formula_fields", "value_totals"]


def formula_fields(model: BayesClassifier) -> dict[str, Any]:
    """Named numbers from which the page computes what the classifier would.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier of this package.

    Returns
    -------
    dict
        ``formula`` names the function of the page, the others are its numbers.

    Examples
    --------
    >>> from localbayes import TAN
    >>> sorted(formula_fields(TAN().fit([["a", "b"], ["c", "b"]], ["yes", "no"])))
    ['alpha', 'classCounts', 'formula', 'pairs', 'parents', 'valueCounts']
    """
    name = type(model).__name__
    if CLASSIFIERS.get(name) is not type(model) or name not in _FIELDS:
        raise ValueError(
            f"the page knows the formulas of {', '.join(_FIELDS)}, got {name}, a class of your own; "
            "use one of these"
        )
    return {"formula": name, **_FIELDS[name](model)}


def value_totals(model: BayesClassifier) -> list[npt.NDArray[Any]]:
    """How many training rows have each value of every attribute."""
    statistic: Any = model.statistic
    if isinstance(statistic, ValueCounts):
        slots = statistic.value_counts.sum(axis=1)
        return [slots[statistic.own_slots(i)][:-1] for i in range(len(statistic.sizes))]
    return list(statistic.value_totals())


# --- counts ---------------------------------------------------------------------------------------------


def _value_counts(counts: Any) -> dict[str, Any]:
    return {name: packed(table) for name, table in _renamed(counts.fields()).items() if name != "pairCounts"}


def _renamed(fields: dict[str, Any]) -> dict[str, Any]:
    """Names as they are written in JavaScript: class_counts becomes classCounts."""
    found = {}
    for name, value in fields.items():
        first, *others = name.split("_")
        found[first + "".join(other.capitalize() for other in others)] = value
    return found


def _nb(model: Any) -> dict[str, Any]:
    return {"alpha": float(model.alpha), **_value_counts(model.statistic)}


def _tan(model: Any) -> dict[str, Any]:
    """Counts of pairs of an attribute and its parent only."""
    counts, parents = model.statistic, model.parents_.tolist()
    pairs = [None if j < 0 else packed(counts.block(i, j)) for i, j in enumerate(parents)]
    return {"alpha": float(model.alpha), "parents": parents, "pairs": pairs, **_value_counts(counts)}


def _pair_counts(model: Any) -> dict[str, Any]:
    counts = model.statistic
    return {"pairCounts": packed(counts.pair_counts), **_value_counts(counts)}


def _aode(model: Any) -> dict[str, Any]:
    return {"minCount": model.min_count, **_pair_counts(model)}


def _weighted_pairs(model: Any) -> dict[str, Any]:
    return {"weights": packed(model.weights_), **_pair_counts(model)}


# --- training rows --------------------------------------------------------------------------------------


def _rows(model: Any) -> dict[str, Any]:
    """Training rows as they are compared with a query, and the distance by which they are."""
    index: MatchIndex = model.statistic
    parts = list(index.training_rows())
    numbers = np.concatenate([part[2] for part in parts])
    order = np.argsort(numbers, kind="stable")
    # Codes from two on; one stands for a value outside its domain, zero for a missing one.
    cells = np.concatenate([marked(part[0], index.sizes, index.may_miss) + 2 for part in parts])[order]
    classes = np.concatenate([part[1] for part in parts])[order]
    weights = [np.ones(len(part[1])) if part[3] is None else part[3] for part in parts]
    each = np.concatenate(weights)[order]
    return {
        "cells": packed(cells),
        "classes": packed(classes),
        "rowWeights": None if (each == 1).all() else packed(each),
        "mayMiss": index.may_miss,
        "nDistances": index.n_distances,
        "distance": _distance(index),
    }


def _distance(index: MatchIndex) -> dict[str, Any] | None:
    """Tables of distances and agreement by attribute; None for Hamming's."""
    distance = index.distance
    if isinstance(distance, Hamming):
        return None
    attributes: list[dict[str, Any]] = []
    for i, size in enumerate(index.sizes.tolist()):
        if not distance.graded(i):
            attributes.append({"far": distance.far(i) if size > 1 else 0})
            continue
        table, (agreement, _) = distance.checked_table(i, size), distance.checked_agreement(i, size)
        attributes.append({"table": packed(table), "agreement": packed(agreement)})
    return {"ignoresUnseen": distance.ignores_unseen, "attributes": attributes}


def _lwnb(model: Any) -> dict[str, Any]:
    return {"alpha": float(model.alpha), "k": model.k, "zeroDistance": model.zero_distance, **_rows(model)}


def _iclnb(model: Any) -> dict[str, Any]:
    return {"alpha": float(model.alpha), "k": model.k, **_rows(model)}


def _lcwnb(model: Any) -> dict[str, Any]:
    return {
        "alpha": float(model.alpha),
        "kappas": model.kappas_.tolist(),
        "kappaWeights": model.kappa_weights_.tolist(),
        "temperature": float(model.temperature_),
        **_rows(model),
    }


def _local_bayes(model: Any) -> dict[str, Any]:
    made = () if model.encoder_ is None else model.encoder_.terms
    return {
        "kappas": model.kappas_.tolist(),
        "kappaWeights": model.kappa_weights_.tolist(),
        "exponents": [exponents.w.tolist() for exponents in model.exponents_],
        "biases": [exponents.b.tolist() for exponents in model.exponents_],
        "units": model.index_.measure.units.tolist(),
        "orderedSizes": model.ordered_sizes_.tolist(),
        "sources": [list(term.sources) for term in made],
        **_rows(model),
    }


_FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "NB": _nb,
    "TAN": _tan,
    "AODE": _aode,
    "WAODE": _weighted_pairs,
    "HNB": _weighted_pairs,
    "LWNB": _lwnb,
    "ICLNB": _iclnb,
    "LCWNB": _lcwnb,
    "LocalBayesClassifier": _local_bayes,
}
