"""Work on units: load the data, train and ask a method on every fold, write what it was worth."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from localbayes.study.data import SetSource, StudySet
from localbayes.study.methods import Fold, Method
from localbayes.study.plan import Plan, Unit
from localbayes.study.scoring import score
from localbayes.study.store import FoldRow, Store

__all__ = ["Notify", "failed_rows", "one_line", "open_set", "run_unit", "work"]

ERROR_LENGTH = 500

Done = AbstractSet[tuple[str, int]]
Notify = Callable[[Unit, list[FoldRow]], None]


def run_unit(unit: Unit, data: StudySet, n_folds: int, done: Done = frozenset()) -> Iterator[list[FoldRow]]:
    """Work on one unit, without a store: yield the rows of one fold after the other.

    Parameters
    ----------
    unit : Unit
        What to do.
    data : StudySet
        Its data set.
    n_folds : int
        Number of folds.
    done : set of (column, fold)
        What is to be left out.
    """
    for number in range(n_folds):
        columns = [column for column in unit.method.columns if (column, number) not in done]
        if columns:
            yield _run_fold(unit.method, data.fold(unit.run, number, n_folds), columns)


def work(plan: Plan, units: Sequence[Unit], store: Store, note: Notify) -> None:
    """Go through the units and do what no one else does; those held by others are left."""
    cache = _Cache()
    for unit in units:
        name, _, run = unit.key
        if not plan.lacking(unit, store) or not store.claim(*unit.key):
            continue
        try:
            done = store.done(name, unit.method.columns, run)
            for rows in _rows_of(unit, plan.n_folds, done, cache, store):
                store.add(rows, unit.key)
                note(unit, rows)
        finally:
            store.release(*unit.key)


def failed_rows(unit: Unit, n_folds: int, done: Done, error: str) -> list[FoldRow]:
    """Return a row that tells of a failure for every fold that the unit lacks."""
    from localbayes import __version__

    name, _, run = unit.key
    return [
        FoldRow(name, column, run, fold, 0, error=error, version=__version__)
        for column in unit.method.columns
        for fold in range(n_folds)
        if (column, fold) not in done
    ]


def one_line(error: BaseException) -> str:
    """Return type and message of an error on one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= ERROR_LENGTH else text[: ERROR_LENGTH - 1] + "…"


class _Cache:
    """The data sets that a process has loaded: the last few, and why others could not be."""

    def __init__(self, size: int = 2) -> None:
        self._size = size
        self._kept: dict[SetSource, StudySet | Exception] = {}

    def load(self, source: SetSource) -> StudySet:
        if source not in self._kept:
            while len(self._kept) >= self._size:
                del self._kept[next(iter(self._kept))]
            try:
                self._kept[source] = source.load()
            except Exception as error:
                self._kept[source] = error
        found = self._kept[source]
        if isinstance(found, Exception):
            raise found
        return found


def open_set(load: Callable[[], StudySet], run: int, n_folds: int, store: Store) -> StudySet | str:
    """Load a data set and register it, or say why it cannot be used."""
    try:
        data = load()
        data.fold(run, 0, n_folds)
        store.add_set(data.info, data.digest)
    except sqlite3.Error:
        raise
    except Exception as error:
        return f"cannot use the data set: {one_line(error)}"
    return data


def _rows_of(unit: Unit, n_folds: int, done: Done, cache: _Cache, store: Store) -> Iterator[list[FoldRow]]:
    data = open_set(partial(cache.load, unit.source), unit.run, n_folds, store)
    if isinstance(data, str):
        yield failed_rows(unit, n_folds, done, data)
    else:
        yield from run_unit(unit, data, n_folds, done)


def _run_fold(method: Method, fold: Fold, columns: Sequence[str]) -> list[FoldRow]:
    from localbayes import __version__

    name, tested = fold.data.info.name, len(fold.test_rows)
    keys = [(name, column, fold.run, fold.number, tested) for column in columns]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.perf_counter()
            model = method.fit(fold)
            fitted = time.perf_counter()
            answers = method.predict(model, fold, columns)
            ended = time.perf_counter()
        truth = fold.data.truth[fold.test_rows]
        scores = [score(answers[column], fold.data.classes, truth) for column in columns]
    # A method that calls sys.exit has failed like any other.
    except (Exception, SystemExit) as error:
        return [FoldRow(*key, error=one_line(error), version=__version__) for key in keys]
    # Columns that share a pass share its time.
    shares = (fitted - begun) / len(columns), (ended - fitted) / len(columns)
    return [
        FoldRow(*key, *found, *shares, None, __version__) for key, found in zip(keys, scores, strict=True)
    ]
