"""Run a plan: do the work that the store lacks, in one or several processes."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from localbayes._warnings import warn
from localbayes.study.builtin_columns import built_in
from localbayes.study.crew import Crew, refuse_what_cannot_be_sent
from localbayes.study.dask_work import work_on_cluster
from localbayes.study.fold_work import one_line, work
from localbayes.study.plan import Plan, Unit
from localbayes.study.store import FoldRow, Store

__all__ = ["Outcome", "Progress", "run_study"]

POLL_SECONDS = 0.5
_MOST_IDLE_ROUNDS = 3


class Outcome(NamedTuple):
    """What a run did: rows added by it, how many of them failed, the first failure, and the time it took.

    `failed_before` counts the folds of the plan that failed in earlier runs and were not tried again;
    `refused` has a line for every complete data set that is no longer the one in the store.
    """

    rows: int
    failed: int
    first_error: str | None
    seconds: float
    failed_before: int = 0
    refused: tuple[str, ...] = ()


class Progress(Protocol):
    """An observer of a run, such as a progress bar."""

    def begin(self, todo: Sequence[tuple[Unit, int]]) -> None:
        """The run begins: `todo` has the incomplete units, each with the number of rows that it lacks."""

    def advance(self, unit: Unit, rows: int) -> None:
        """Rows of a unit were written."""

    def waiting(self, units: int) -> None:
        """Another run holds all units that are left."""


def run_study(
    plan: Plan,
    path: str | Path,
    *,
    jobs: int = 1,
    retry: bool = False,
    progress: Progress | None = None,
    dask: str | None = None,
) -> Outcome:
    """Do the work of a plan that the store lacks.

    Parameters
    ----------
    plan : Plan
        What to do, see `make_plan`.
    path : path
        The store; made if it does not exist.
    jobs : int
        Number of processes; with 1 the work is done in this one.
    retry : bool
        Try failed folds again.
    progress : Progress, optional
        Observes the run.
    dask : str, optional
        Address of the scheduler of a Dask cluster that is to do the work in place of processes here.

    Returns
    -------
    Outcome
        Rows written, failures, seconds.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from localbayes.study import make_plan
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> run_study(make_plan(["iris"], ["NB"], runs=1), store).rows
    10
    """
    if jobs < 1:
        raise ValueError(f"jobs must be >= 1, got {jobs}")
    begun = time.monotonic()
    with Store(path) as store:
        store.fix_folds(plan.n_folds)
        store.fix_input(plan.raw)
        # Another version of localbayes may describe its own columns in other words.
        store.add_methods(plan.columns, reworded=built_in())
        sets, columns = [s.name for s in plan.sources], [name for name, _ in plan.columns]
        if retry:
            store.forget_errors(sets, columns)
        _warn_of_other_versions(store, sets, columns)
        failed_before = store.count_errors(sets, columns, plan.runs)
        tally = _Tally(plan, store, progress)
        refused = _changed_sets(plan, store, tally)
        if tally.left:
            if jobs > 1 and dask is None:
                refuse_what_cannot_be_sent(plan.methods)
            number = store.begin_invocation(_provenance(jobs))
            try:
                _do(plan, store, tally, jobs, dask)
            finally:
                store.end_invocation(number, time.monotonic() - begun, tally.rows)
        seconds = time.monotonic() - begun
        return Outcome(tally.rows, tally.failed, tally.first_error, seconds, failed_before, refused)


def _warn_of_other_versions(store: Store, sets: Sequence[str], columns: Sequence[str]) -> None:
    """Warn of results of built-in columns that another version of localbayes made; they are kept."""
    from localbayes import __version__

    found = store.other_versions(sets, [name for name in columns if name in built_in()], __version__)
    if found:
        warn(
            f"the store {store.path} keeps results of localbayes {', '.join(found)}, this is {__version__}: "
            "use another store to have them all from this one"
        )


def _changed_sets(plan: Plan, store: Store, tally: _Tally) -> tuple[str, ...]:
    """Read the user's files whose results are complete, and name those that differ from the store's.

    All other data sets are looked at when they are worked on.
    """
    lacking, known = {unit.source for unit in tally.left}, {s.name for s in store.sets()}
    refused = []
    for source in plan.sources:
        if source.path is not None and source not in lacking and source.name in known:
            try:
                data = source.load()
                store.add_set(data.info, data.digest)
            except (ValueError, OSError) as error:
                refused.append(one_line(error).partition(": ")[2])
    return tuple(refused)


def _do(plan: Plan, store: Store, tally: _Tally, jobs: int, dask: str | None) -> None:
    idle = 0
    while tally.left:
        lacking = tally.lacking
        free = [unit for unit in tally.left if store.free(*unit.key)]
        if not free:
            # Another run has all that is left. If it dies, its work falls to this one.
            tally.waiting()
            time.sleep(POLL_SECONDS)
        elif dask is not None:
            work_on_cluster(plan, free, store, tally.note, dask)
        elif jobs == 1:
            work(plan, free, store, tally.note)
        else:
            Crew(plan, store, free, tally.note).run(min(jobs, len(free)))
        tally.refresh()
        if free and tally.lacking >= lacking:
            # Another run may take what was free at the same moment, but not again and again.
            idle += 1
            if idle > _MOST_IDLE_ROUNDS:
                raise store.damaged(f"{tally.lacking} results are missing, however often they are written")
        else:
            idle = 0


class _Tally:
    """Counts what is left of a plan and what this run has done."""

    def __init__(self, plan: Plan, store: Store, progress: Progress | None) -> None:
        self._plan, self._store, self._progress = plan, store, progress
        self.rows = self.failed = 0
        self.first_error: str | None = None
        self.left, self.lacking = plan.units(), 0
        todo = self.refresh()
        if progress and todo:
            progress.begin(todo)

    def refresh(self) -> list[tuple[Unit, int]]:
        """Keep the units that are not complete, and count the rows that they lack."""
        todo = [(unit, n) for unit in self.left if (n := self._plan.lacking(unit, self._store))]
        self.left = [unit for unit, _ in todo]
        self.lacking = sum(rows for _, rows in todo)
        return todo

    def note(self, unit: Unit, rows: list[FoldRow]) -> None:
        self.rows += len(rows)
        errors = [f"{row.method} on {row.dataset}: {row.error}" for row in rows if row.error]
        self.failed += len(errors)
        self.first_error = self.first_error or (errors[0] if errors else None)
        if self._progress:
            self._progress.advance(unit, len(rows))

    def waiting(self) -> None:
        if self._progress:
            self._progress.waiting(len(self.left))


def _provenance(jobs: int) -> dict[str, Any]:
    from importlib.metadata import version

    from localbayes import __version__

    packages = ("numpy", "scipy", "scikit-learn", "pandas")
    return {
        "localbayes": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "jobs": jobs,
    }
