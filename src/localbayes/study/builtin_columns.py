"""The columns that come along, and how a name on the command line becomes a method."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from localbayes.study import alternatives, raw_rivals
from localbayes.study.benchmark import current
from localbayes.study.methods import Fold, Method, fit_sklearn, from_estimator, own_method, predict_sklearn

__all__ = ["FLAGSHIPS", "RAW_COLUMNS", "built_in", "groups", "resolve"]

# The columns of LocalBayesClassifier() and LCWNB() with default parameters.
FLAGSHIPS = ("LocalBayes", "LCWNB")
_RIVALS = ("RandomForest", "HistGradientBoosting", "LogisticRegression")
RAW_COLUMNS = (*FLAGSHIPS, "NB", *_RIVALS)
_GROUPS = {"beyond": ("LCWNB-loo", "LCWNB-mix"), "alternatives": alternatives.COLUMNS}


def built_in() -> dict[str, Method]:
    """Return the methods that localbayes brings along, by column, as far as their libraries are installed.

    Examples
    --------
    >>> built_in()["NB"].about
    ('naive Bayes',)
    """
    return {column: method for method in (*current().methods(), *_own()) for column in method.columns}


def groups() -> dict[str, tuple[str, ...]]:
    """Return the names that stand for several columns.

    Examples
    --------
    >>> groups()["beyond"]
    ('LCWNB-loo', 'LCWNB-mix')
    """
    optional = tuple(name for name in alternatives.installed() if name in alternatives.OPTIONAL)
    return {**current().groups, **_GROUPS, "rivals": (*_RIVALS, *optional)}


@cache
def _own() -> tuple[Method, ...]:
    return (
        own_method("LocalBayes", "LocalBayesClassifier", "LocalBayesClassifier() by default"),
        own_method("LCWNB", "LCWNB", "LCWNB() by default: all kappas mixed by leave-one-out"),
        own_method("NB", "NB", "naive Bayes"),
        own_method("TAN", "TAN", "tree augmented naive Bayes"),
        own_method("AODE", "AODE", "averaged one-dependence estimators"),
        own_method("WAODE", "WAODE", "weighted average of one-dependence estimators"),
        own_method("HNB", "HNB", "hidden naive Bayes"),
        own_method("LCWNB-loo", "LCWNB", "LCWNB, kappa by leave-one-out on the training rows", kappa="loo"),
        own_method("LCWNB-mix", "LCWNB", "LCWNB, all kappas mixed by leave-one-out", kappa="mixture"),
        *(_alternative(name) for name in alternatives.installed()),
    )


def resolve(specs: Sequence[str | Method]) -> list[Method]:
    """Turn names into methods.

    Parameters
    ----------
    specs : sequence of str or Method
        A built-in column (`NB`), a group of them (`alternatives`), `package.module:object` or
        `name=package.module:object`. The object is a `Method`, a scikit-learn classifier, its class, or a
        function without arguments that makes one.

    Examples
    --------
    >>> [method.columns for method in resolve(["NB", "beyond"])]
    [('NB',), ('LCWNB-loo',), ('LCWNB-mix',)]
    """
    known = built_in()
    wanted: dict[str, list[str]] = {}
    methods: dict[str, Method] = {}
    for spec in specs:
        for method, columns in _named(spec, known):
            _refuse_taken_names(method, known)
            if methods.setdefault(method.name, method) is not method:
                raise ValueError(
                    f"two methods are called {method.name!r}: name one of them with name=module:object"
                )
            wanted.setdefault(method.name, []).extend(columns)
    if not methods:
        raise ValueError("no methods given: name at least one")
    chosen = [method.only(wanted[name]) for name, method in methods.items()]
    if empty := next((method for method in chosen if not method.columns), None):
        raise ValueError(f"the method {empty.name!r} fills no column")
    seen: set[str] = set()
    for column in (column for method in chosen for column in method.columns):
        if column in seen:
            raise ValueError(
                f"two methods fill the column {column!r}: name one of them with name=module:object"
            )
        seen.add(column)
    return chosen


def _named(spec: str | Method, known: dict[str, Method]) -> Iterator[tuple[Method, Sequence[str]]]:
    if isinstance(spec, Method):
        yield spec, spec.columns
    elif ":" in spec:
        method = _imported(spec)
        yield method, method.columns
    else:
        known_groups = groups()
        for column in known_groups.get(spec, (spec,)):
            if column in alternatives.OPTIONAL and column not in known:
                package = alternatives.OPTIONAL[column][1]
                raise ValueError(f"the column {column} needs {package}, which is not installed: install it")
            if column not in known:
                raise ValueError(
                    f"unknown method {column!r}: expected one of {', '.join([*known, *known_groups])}, "
                    "or package.module:object"
                )
            yield known[column], [column]


def _refuse_taken_names(method: Method, known: dict[str, Method]) -> None:
    """Refuse a method of one's own that would fill a column of localbayes."""
    for column in method.columns:
        if column in known and method.fit is not known[column].fit:
            raise ValueError(
                f"{column!r} is a column of localbayes: give yours another name, with name=module:object"
            )


def _imported(spec: str) -> Method:
    name, _, place = spec.rpartition("=")
    module_name, _, path = place.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"cannot import the method {place!r}: {error}") from error
    if callable(found) and not (hasattr(found, "fit") and not isinstance(found, type)):
        found = found()
    if isinstance(found, Method):
        if name:
            raise ValueError(f"{place!r} is a Method, which has its own name; leave out {name + '='!r}")
        return found
    name = name or path.rpartition(".")[2]
    if not (hasattr(found, "fit") and hasattr(found, "predict")):
        raise ValueError(f"{place!r} is {type(found).__name__}, expected a classifier with fit and predict")
    return from_estimator(name, found)


def _alternative(name: str) -> Method:
    kind = alternatives.INPUT.get(name, "array")
    fit = partial(_fit_alternative, name, kind)
    return Method(
        name,
        (name,),
        fit,
        partial(predict_sklearn, name, kind, flat=name == "CatBoost"),
        (alternatives.ABOUT[name],),
    )


def _fit_alternative(name: str, kind: str, fold: Fold) -> Any:
    if fold.data.coded is not None and name not in alternatives.OPTIONAL:
        return fit_sklearn(alternatives.make(name, fold.data.coded.sizes), kind, fold)
    # Made for this fold, so it needs no clone; CatBoost cannot be cloned once it has names of columns.
    X, y = fold.table(kind, fold.train_rows), np.asarray(fold.classes)
    return raw_rivals.make(name, X, y).fit(X, y)
