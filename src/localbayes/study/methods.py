"""The columns of a study: how each is trained and asked, and how a name becomes one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localbayes.study import alternatives
from localbayes.study.own_code import description
from localbayes.study.published import predict_as_published
from localbayes.study.scoring import Prediction
from localbayes.study.table import PAPER_COLUMNS

if TYPE_CHECKING:
    from localbayes.encoding import Coded
    from localbayes.study.data import StudySet

__all__ = ["DEFAULT_COLUMNS", "Fold", "Method", "built_in", "from_estimator", "resolve"]

KAPPAS = {"LCWNB5": 5.0, "LCWNB10": 10.0, "LCWNB20": 20.0}
DEFAULT_COLUMNS = (*PAPER_COLUMNS, "LWNB-proper", "LWNB-declared", "ICLNB-declared")
_GROUPS = {
    "paper": PAPER_COLUMNS,
    "LCWNB": tuple(KAPPAS),
    "beyond": ("LCWNB-loo", "LCWNB-mix"),
    "alternatives": alternatives.COLUMNS,
}
_INPUTS = ("array", "codes", "frame")


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of one run, as a method sees it: training rows with their classes, test rows without."""

    data: StudySet
    run: int
    number: int
    train_rows: NDArray[np.intp]
    test_rows: NDArray[np.intp]

    @cached_property
    def train(self) -> Coded:
        """Codes of the training rows."""
        return self.data.coded[self.train_rows]

    @cached_property
    def test(self) -> Coded:
        """Codes of the test rows."""
        return self.data.coded[self.test_rows]

    @cached_property
    def classes(self) -> Any:
        """Classes of the training rows, as a pandas Categorical that declares all classes."""
        return self.data.y[self.train_rows]

    def table(self, kind: str, rows: NDArray[np.intp]) -> Any:
        """Return rows of the data as scikit-learn's classifiers take them.

        "array" is an array of integers: the position of each value among the declared ones. "codes" is a
        DataFrame of category columns with these integers as categories, so that declared values are known;
        "frame" is one with the original values.
        """
        if kind == "array":
            return self.data.coded.codes[rows].astype(np.int64)
        return (self.data.frame if kind == "frame" else self.data.numbered).iloc[rows]


@dataclass(frozen=True)
class Method:
    """Something that fills one or more columns of the table.

    Columns that share their training, or a pass over the counts, belong to one method.

    Parameters
    ----------
    name : str
        Name under which the work is claimed in the store.
    columns : tuple of str
        Columns that it can fill.
    fit : callable
        Takes a `Fold`, returns a model.
    predict : callable
        Takes the model, the `Fold` and the wanted columns; returns a `Prediction` for each.
    about : tuple of str
        A line on each column, for the report.
    """

    name: str
    columns: tuple[str, ...]
    fit: Callable[[Fold], Any]
    predict: Callable[[Any, Fold, Sequence[str]], dict[str, Prediction]]
    about: tuple[str, ...] = ()

    def only(self, columns: Sequence[str]) -> Method:
        """Return the same method restricted to some of its columns."""
        kept = [i for i, column in enumerate(self.columns) if column in columns]
        about = tuple(self.about[i] for i in kept) if self.about else ()
        return replace(self, columns=tuple(self.columns[i] for i in kept), about=about)


def built_in() -> dict[str, Method]:
    """Return the methods that localbayes brings along, by column.

    Examples
    --------
    >>> built_in()["LCWNB10"].columns
    ('LCWNB5', 'LCWNB10', 'LCWNB20')
    """
    return dict(_built_in())


@cache
def _built_in() -> dict[str, Method]:
    lcwnb = Method(
        "LCWNB",
        tuple(KAPPAS),
        _fit_lcwnb,
        _predict_lcwnb,
        tuple(f"lazy cell-weighted naive Bayes, kappa = {kappa:g}" for kappa in KAPPAS.values()),
    )
    plain = [
        _own("NB", "NB", "naive Bayes"),
        _own("TAN", "TAN", "tree augmented naive Bayes"),
        _own("AODE", "AODE", "averaged one-dependence estimators"),
        _own("WAODE", "WAODE", "weighted average of one-dependence estimators"),
        _own("HNB", "HNB", "hidden naive Bayes"),
        _printed(
            "LWNB", "locally weighted naive Bayes, d_k = 0 as published", k=50, zero_distance="published"
        ),
        _printed("ICLNB", "instance cloning local naive Bayes", k=10),
        _own("LWNB-proper", "LWNB", "locally weighted naive Bayes, d_k = 0 with equal weights", k=50),
        _own("LCWNB-loo", "LCWNB", "LCWNB, kappa by leave-one-out on the training rows", kappa="loo"),
        _own("LCWNB-mix", "LCWNB", "LCWNB, all kappas mixed by leave-one-out", kappa="mixture"),
        *(_alternative(name) for name in alternatives.COLUMNS),
    ]
    return {column: method for method in (lcwnb, *plain) for column in method.columns}


def from_estimator(name: str, estimator: Any) -> Method:
    """Make a column of a scikit-learn classifier, which is cloned for every fold.

    Its attribute `study_input` chooses what it is given, see `Fold.table`: "array" (default), which every
    classifier takes, "codes" or "frame". Classifiers of localbayes get the codes with all declared values
    and classes.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from_estimator("majority", DummyClassifier()).columns
    ('majority',)
    """
    from localbayes.classifiers.base import BayesClassifier

    about = description(estimator)
    if isinstance(estimator, BayesClassifier):
        return Method(name, (name,), partial(_fit_own, estimator), partial(_predict_own, name), (about,))
    kind = getattr(estimator, "study_input", _INPUTS[0])
    if kind not in _INPUTS:
        raise ValueError(f"{name}: study_input must be one of {', '.join(_INPUTS)}, got {kind!r}")
    if kind != _INPUTS[0]:
        about = f"study_input {kind!r}: {about}"
    fit, predict = partial(_fit_foreign, estimator, kind), partial(_predict_foreign, name, kind)
    return Method(name, (name,), fit, predict, (about,))


def resolve(specs: Sequence[str | Method]) -> list[Method]:
    """Turn names into methods.

    Parameters
    ----------
    specs : sequence of str or Method
        A built-in column (`NB`), a group of them (`paper`, `LCWNB`), `package.module:object` or
        `name=package.module:object`. The object is a `Method`, a scikit-learn classifier, its class, or a
        function without arguments that makes one.

    Examples
    --------
    >>> [method.columns for method in resolve(["LCWNB20", "LCWNB5", "NB"])]
    [('LCWNB5', 'LCWNB20'), ('NB',)]
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
        for column in _GROUPS.get(spec, (spec,)):
            if column not in known:
                raise ValueError(
                    f"unknown method {column!r}: expected one of {', '.join([*known, *_GROUPS])}, "
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


def _own(column: str, class_name: str, about: str, **options: Any) -> Method:
    return Method(
        column, (column,), partial(_fit_named, class_name, options), partial(_predict_own, column), (about,)
    )


def _alternative(name: str) -> Method:
    kind = alternatives.INPUT.get(name, "array")
    fit = partial(_fit_alternative, name, kind)
    return Method(name, (name,), fit, partial(_predict_foreign, name, kind), (alternatives.ABOUT[name],))


def _fit_alternative(name: str, kind: str, fold: Fold) -> Any:
    return _fit_foreign(alternatives.make(name, fold.train.sizes), kind, fold)


def _printed(name: str, about: str, **options: Any) -> Method:
    """A column whose ties are broken to give the printed digits, and one that breaks them as usual."""
    fit, predict = partial(_fit_named, name, options), partial(_predict_printed, name)
    words = (
        f"{about}; ties broken by an arithmetic fitted to the printed table",
        f"{about}; first class wins a tie",
    )
    return Method(name, (name, f"{name}-declared"), fit, predict, words)


def _predict_printed(name: str, model: Any, fold: Fold, columns: Sequence[str]) -> dict[str, Prediction]:
    log_joint = model.predict_log_joint(fold.test)
    plain = Prediction(model.classes_, log_joint)
    return {c: predict_as_published(name, model, fold, log_joint) if c == name else plain for c in columns}


def _fit_named(class_name: str, options: dict[str, Any], fold: Fold) -> Any:
    from localbayes.classifiers import METHODS

    return METHODS[class_name](**options).fit(fold.train, fold.classes)


def _fit_lcwnb(fold: Fold) -> Any:
    return _fit_named("LCWNB", {"kappa": 5.0}, fold)


def _predict_lcwnb(model: Any, fold: Fold, columns: Sequence[str]) -> dict[str, Prediction]:
    log_joints = model.log_joint_many(fold.test, [KAPPAS[column] for column in columns])
    return {c: Prediction(model.classes_, scores) for c, scores in zip(columns, log_joints, strict=True)}


def _fit_own(estimator: Any, fold: Fold) -> Any:
    from sklearn.base import clone

    return clone(estimator).fit(fold.train, fold.classes)


def _predict_own(name: str, model: Any, fold: Fold, columns: Sequence[str]) -> dict[str, Prediction]:
    from localbayes.classifiers.base import BayesClassifier

    methods = ("predict", "predict_proba", "predict_log_proba", "predict_log_joint")
    changed = [m for m in methods if getattr(type(model), m) is not getattr(BayesClassifier, m)]
    # A class of one's own may predict something else than its best score; otherwise the scores decide.
    labels = np.asarray(model.predict(fold.test)) if changed else None
    own_scores = "predict_proba" in changed
    scores = _log_proba(model, fold.test) if own_scores else model.predict_log_proba(fold.test)
    return {name: Prediction(model.classes_, scores, labels)}


def _fit_foreign(estimator: Any, kind: str, fold: Fold) -> Any:
    from sklearn.base import clone

    return clone(estimator).fit(fold.table(kind, fold.train_rows), np.asarray(fold.classes))


def _predict_foreign(
    name: str, kind: str, model: Any, fold: Fold, columns: Sequence[str]
) -> dict[str, Prediction]:
    table = fold.table(kind, fold.test_rows)
    labels = np.asarray(model.predict(table))
    if not hasattr(model, "predict_proba"):
        return {name: Prediction((), labels=labels)}
    return {name: Prediction(model.classes_, _log_proba(model, table), labels)}


def _log_proba(model: Any, table: Any) -> NDArray[np.float64]:
    proba = np.asarray(model.predict_proba(table), dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(proba)
