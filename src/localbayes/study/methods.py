"""A method of a study: what it is given, how it is trained and asked, and how a classifier becomes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localbayes.study.own_code import description
from localbayes.study.scoring import Prediction

if TYPE_CHECKING:
    import pandas as pd

    from localbayes.encoding import Coded
    from localbayes.study.study_sets import StudySet

__all__ = [
    "Fold",
    "Method",
    "fit_named",
    "fit_sklearn",
    "from_estimator",
    "own_method",
    "predict_own",
    "predict_sklearn",
]

_INPUTS = ("array", "codes", "frame")


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of one run, as a method sees it: training rows with their classes, test rows without."""

    data: StudySet
    run: int
    number: int
    train_rows: NDArray[np.intp]
    test_rows: NDArray[np.intp]

    @property
    def raw(self) -> bool:
        """Whether methods get the table as it is; otherwise they get what the filters made of it."""
        return self.data.coded is None

    @cached_property
    def train(self) -> Coded | pd.DataFrame:
        """Training rows as classifiers of localbayes take them: codes, or raw rows."""
        return self.data.rows(self.train_rows)

    @cached_property
    def test(self) -> Coded | pd.DataFrame:
        """Test rows in the same form."""
        return self.data.rows(self.test_rows)

    @cached_property
    def classes(self) -> Any:
        """Classes of the training rows, as a pandas Categorical that declares all classes."""
        return self.data.y[self.train_rows]

    def table(self, kind: str, rows: NDArray[np.intp]) -> Any:
        """Return rows of the data as scikit-learn's classifiers take them.

        "array" is an array of integers: the position of each value among the declared ones. "codes" is a
        DataFrame of category columns with these integers as categories, so that declared values are known;
        "frame" is one with the original values. In a study of raw tables all kinds are the raw rows.
        """
        if kind == "array" and self.data.coded is not None:
            return self.data.coded.codes[rows].astype(np.int64)
        return (self.data.frame if kind == "frame" or self.raw else self.data.numbered).iloc[rows]


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


def from_estimator(name: str, estimator: Any) -> Method:
    """Make a column of a scikit-learn classifier, which is cloned for every fold.

    Its attribute `study_input` chooses what it is given, see `Fold.table`: "array" (default), which every
    classifier takes, "codes" or "frame". Classifiers of localbayes get the codes with all declared values
    and classes. In a study of raw tables every classifier gets the raw rows.

    Parameters
    ----------
    name : str
        Heading of the column.
    estimator : classifier
        Any classifier of the scikit-learn API.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from_estimator("majority", DummyClassifier()).columns
    ('majority',)
    """
    from localbayes.classifiers.base import BayesClassifier

    about = description(estimator)
    if isinstance(estimator, BayesClassifier):
        return Method(name, (name,), partial(_fit_own, estimator), partial(predict_own, name), (about,))
    kind = getattr(estimator, "study_input", _INPUTS[0])
    if kind not in _INPUTS:
        raise ValueError(f"{name}: study_input must be one of {', '.join(_INPUTS)}, got {kind!r}")
    if kind != _INPUTS[0]:
        about = f"study_input {kind!r}: {about}"
    fit, predict = partial(fit_sklearn, estimator, kind), partial(predict_sklearn, name, kind)
    return Method(name, (name,), fit, predict, (about,))


def own_method(column: str, class_name: str, about: str, **options: Any) -> Method:
    """Make a column of a classifier of localbayes, given by the name of its class and its parameters."""
    return Method(
        column, (column,), partial(fit_named, class_name, options), partial(predict_own, column), (about,)
    )


def fit_named(class_name: str, options: dict[str, Any], fold: Fold) -> Any:
    """Fit a classifier of localbayes, given by the name of its class."""
    from localbayes.classifiers import CLASSIFIERS

    return CLASSIFIERS[class_name](**options).fit(fold.train, fold.classes)


def _fit_own(estimator: Any, fold: Fold) -> Any:
    from sklearn.base import clone

    return clone(estimator).fit(fold.train, fold.classes)


def predict_own(name: str, model: Any, fold: Fold, columns: Sequence[str]) -> dict[str, Prediction]:
    """Ask a classifier of localbayes, or of a class derived from one of them."""
    from localbayes.classifiers.base import BayesClassifier

    methods = ("predict", "predict_proba", "predict_log_proba", "predict_log_joint")
    changed = [m for m in methods if getattr(type(model), m) is not getattr(BayesClassifier, m)]
    # A class of one's own may predict something else than its best score; otherwise the scores decide.
    labels = np.asarray(model.predict(fold.test)) if changed else None
    own_scores = "predict_proba" in changed
    scores = _log_proba(model, fold.test) if own_scores else model.predict_log_proba(fold.test)
    return {name: Prediction(model.classes_, scores, labels)}


def fit_sklearn(estimator: Any, kind: str, fold: Fold) -> Any:
    """Fit a clone of any scikit-learn classifier."""
    from sklearn.base import clone

    return clone(estimator).fit(fold.table(kind, fold.train_rows), np.asarray(fold.classes))


def predict_sklearn(
    name: str, kind: str, model: Any, fold: Fold, columns: Sequence[str], flat: bool = False
) -> dict[str, Prediction]:
    """Ask any scikit-learn classifier: for labels, and for probabilities if it has them.

    ``flat`` is for one that gives labels as a column, as CatBoost does where there are several classes.
    """
    table = fold.table(kind, fold.test_rows)
    labels = np.asarray(model.predict(table))
    if flat:
        labels = labels.ravel()
    if not hasattr(model, "predict_proba"):
        return {name: Prediction((), labels=labels)}
    return {name: Prediction(model.classes_, _log_proba(model, table), labels)}


def _log_proba(model: Any, table: Any) -> NDArray[np.float64]:
    proba = np.asarray(model.predict_proba(table), dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(proba)
