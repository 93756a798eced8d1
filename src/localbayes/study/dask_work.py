"""Units of a study on a Dask cluster: claimed and stored by this process, computed by the workers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

from localbayes.study.fold_work import Done, Notify, failed_rows, one_line, open_set, run_unit
from localbayes.study.plan import Plan, Unit
from localbayes.study.store import FoldRow, Store

if TYPE_CHECKING:
    from localbayes.study.study_sets import StudySet

__all__ = ["work_on_cluster"]

# Units claimed at a time for every thread of the cluster; others stay free for other runs.
_UNITS_PER_THREAD = 4


def work_on_cluster(plan: Plan, units: Sequence[Unit], store: Store, note: Notify, address: str) -> None:
    """Do the units as `work` does, on the workers of a cluster.

    A data set is read here and sent to every worker once, so that the workers need no files. Rows come
    back unit by unit and go to the store of this process.
    """
    from localbayes.distributed import connect

    with _quiet("distributed"), connect(address) as client:
        try:
            _go_through(client, plan, units, store, note)
        except (OSError, CancelledError) as error:
            raise ConnectionError(
                f"the Dask scheduler at {address!r} is gone ({one_line(error)}); {store.path} keeps what is "
                "done: start a scheduler and run again"
            ) from error


def _go_through(client: Any, plan: Plan, units: Sequence[Unit], store: Store, note: Notify) -> None:
    from localbayes.distributed import share

    wave = _UNITS_PER_THREAD * sum(client.nthreads().values())
    for source, of_set in groupby(units, key=lambda unit: unit.source):
        pending = list(of_set)
        data = open_set(source.load, pending[0].run, plan.n_folds, store)
        if isinstance(data, str):
            _fail(plan, pending, store, note, data)
            continue
        shared = share(client, data)
        for begin in range(0, len(pending), wave):
            _do(client, plan, pending[begin : begin + wave], shared, store, note)


def _do(client: Any, plan: Plan, units: Sequence[Unit], data: Any, store: Store, note: Notify) -> None:
    from localbayes.distributed import run_tasks

    claimed: list[Unit] = []
    try:
        claimed.extend(u for u in units if plan.lacking(u, store) and store.claim(*u.key))
        tasks = [(unit, store.done(unit.source.name, unit.method.columns, unit.run)) for unit in claimed]
        shared = {"data": data, "n_folds": plan.n_folds}
        found = run_tasks(client, _run_unit, tasks, name="study-unit", return_exceptions=True, **shared)
        for k, folds in found:
            unit, done = tasks[k]
            if isinstance(folds, BaseException):
                folds = [failed_rows(unit, plan.n_folds, done, one_line(folds))]
            for rows in folds:
                store.add(rows, unit.key)
                note(unit, rows)
    finally:
        for unit in claimed:
            store.release(*unit.key)


def _run_unit(task: tuple[Unit, Done], data: StudySet, n_folds: int) -> list[list[FoldRow]]:
    unit, done = task
    return list(run_unit(unit, data, n_folds, done, interruptible=False))


def _fail(plan: Plan, units: Sequence[Unit], store: Store, note: Notify, error: str) -> None:
    for unit in units:
        if store.claim(*unit.key):
            done = store.done(unit.source.name, unit.method.columns, unit.run)
            rows = failed_rows(unit, plan.n_folds, done, error)
            store.add(rows, unit.key)
            store.release(*unit.key)
            note(unit, rows)


@contextmanager
def _quiet(library: str) -> Iterator[None]:
    """Keep a library from logging: what it would say of a lost connection is said in one line."""
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == library]
    loud = [logger for name in known if not (logger := logging.getLogger(name)).disabled]
    for logger in loud:
        logger.disabled = True
    try:
        yield
    finally:
        for logger in loud:
            logger.disabled = False
