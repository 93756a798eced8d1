"""Work on units: load the data, train and ask a method on every fold, store its scores."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from localbayes.study.methods import Fold, Method
from localbayes.study.plan import Plan, Unit
from localbayes.study.scoring import score
from localbayes.study.store import FoldRow, Store
from localbayes.study.store_file import storable
from localbayes.study.study_sets import SetSource, StudySet

__all__ = ["Notify", "failed_rows", "one_line", "open_set", "run_unit", "work"]

ERROR_LENGTH = 500

Done = AbstractSet[tuple[str, int]]
Notify = Callable[[Unit, list[FoldRow]], None]


def run_unit(
    unit: Unit, data: StudySet, n_folds: int, done: Done = frozenset(), *, interruptible: bool = True
) -> Iterator[list[FoldRow]]:
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
    interruptible : bool
        Whether a KeyboardInterrupt is the user's, and ends the work. In a process that hears no Ctrl-C it is
        the method's own, and an error like any other.
    """
    for number in range(n_folds):
        columns = [column for column in unit.method.columns if (column, number) not in done]
        if columns:
            yield _run_fold(unit.method, data.fold(unit.run, number, n_folds), columns, interruptible)


def work(
    plan: Plan, units: Sequence[Unit], store: Store, note: Notify, *, interruptible: bool = True
) -> None:
    """Go through the units and do those that no other process holds."""
    cache = _Cache()
    for unit in units:
        name, _, run = unit.key
        if not plan.lacking(unit, store) or not store.claim(*unit.key):
            continue
        try:
            done = store.done(name, unit.method.columns, run)
            for rows in _rows_of(unit, plan.n_folds, done, cache, store, interruptible):
                store.add(rows, unit.key)
                note(unit, rows)
        finally:
            store.release(*unit.key)


def failed_rows(unit: Unit, n_folds: int, done: Done, error: str) -> list[FoldRow]:
    """Return a row with the error for every fold that the unit lacks."""
    from localbayes import __version__

    name, _, run = unit.key
    return [
        FoldRow(name, column, run, fold, 0, error=error, version=__version__)
        for column in unit.method.columns
        for fold in range(n_folds)
        if (column, fold) not in done
    ]


def one_line(error: BaseException) -> str:
    """Return type and message of an error on one line that a store can hold."""
    try:
        message = str(error)
    except Exception:
        message = "an error whose message cannot be read"
    text = storable(" ".join(f"{type(error).__name__}: {message}".split()))
    return text if len(text) <= ERROR_LENGTH else text[: ERROR_LENGTH - 1] + "…"


class _Cache:
    """The data sets that a process loaded last, or the errors of those that could not be loaded."""

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
    """Load a data set and register it; return the reason if it cannot be used."""
    try:
        data = load()
        data.fold(run, 0, n_folds)
        store.add_set(data.info, data.digest)
    except sqlite3.Error:
        raise
    except Exception as error:
        return f"cannot use the data set: {one_line(error)}"
    return data


def _rows_of(
    unit: Unit, n_folds: int, done: Done, cache: _Cache, store: Store, interruptible: bool
) -> Iterator[list[FoldRow]]:
    data = open_set(partial(cache.load, unit.source), unit.run, n_folds, store)
    if isinstance(data, str):
        yield failed_rows(unit, n_folds, done, data)
    else:
        yield from run_unit(unit, data, n_folds, done, interruptible=interruptible)


def _run_fold(method: Method, fold: Fold, columns: Sequence[str], interruptible: bool) -> list[FoldRow]:
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
    # A method that calls sys.exit, or raises what a generator or a task raises when it is closed, has failed
    # like any other.
    except BaseException as error:
        if interruptible and isinstance(error, KeyboardInterrupt):
            raise
        return [FoldRow(*key, error=one_line(error), version=__version__) for key in keys]
    # Columns that share a pass share its time.
    shares = (fitted - begun) / len(columns), (ended - fitted) / len(columns)
    return [
        FoldRow(*key, *found[:5], *shares, None, __version__, found.measures)
        for key, found in zip(keys, scores, strict=True)
    ]
