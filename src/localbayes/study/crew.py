"""Worker processes that take units from the store, and what happens when one of them dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

from localbayes.study.methods import Method
from localbayes.study.plan import Plan, Unit
from localbayes.study.store import Store
from localbayes.study.work import Notify, failed_rows, one_line, work

__all__ = ["Crew", "refuse_what_cannot_be_sent"]

_MOST_IDLE_DEATHS = 3
# For a process that has closed its pipe, or was asked to end.
_END_SECONDS = 10.0
_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


class Crew:
    """Worker processes that take units from the store, watched through a pipe each."""

    def __init__(self, plan: Plan, store: Store, units: Sequence[Unit], note: Notify) -> None:
        self._plan, self._store, self._units, self._note = plan, store, units, note
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[Connection, Any] = {}
        self._idle_deaths = 0

    def run(self, jobs: int) -> None:
        """Start the processes and return when none has anything left to do."""
        try:
            for _ in range(jobs):
                self._hire()
            while self._workers:
                for connection in wait(list(self._workers)):
                    self._hear(connection)  # type: ignore[arg-type]
        finally:
            self._dismiss()

    def _hire(self) -> None:
        here, there = self._context.Pipe(duplex=False)
        content = (self._plan, self._units, self._store.path, there)
        worker = self._context.Process(target=_worker, args=content, daemon=True)
        with _one_thread_each(), _interrupts_held_back():
            worker.start()
        there.close()
        self._workers[here] = worker

    def _hear(self, connection: Connection) -> None:
        try:
            kind, *content = connection.recv()
        except EOFError:
            self._gone(connection)
            return
        if kind == "fatal":
            raise OSError(content[0])
        index, rows = content
        self._idle_deaths = 0
        self._note(self._units[index], rows)

    def _gone(self, connection: Connection) -> None:
        worker = self._workers.pop(connection)
        _end(worker)
        if worker.exitcode == 0:
            return
        held = set(self._store.claims_of(worker.pid))
        units = [unit for unit in self._units if unit.key in held and self._store.claim(*unit.key)]
        cause = f"the process that worked on it ended with exit code {worker.exitcode}"
        if not units:
            # Another process may have taken its unit over already, seeing that it was dead. Processes that
            # end one after the other while nothing gets done would end for ever.
            self._idle_deaths += 1
            if self._idle_deaths > _MOST_IDLE_DEATHS:
                raise OSError(
                    f"a worker process ended with exit code {worker.exitcode} before it had done anything"
                )
            self._hire()
            return
        # Whatever ended it, too little memory or a fault in compiled code, would end the next one too: the
        # unit is written off as failed, and a new process goes on with the others.
        for unit in units:
            done = self._store.done(unit.source.name, unit.method.columns, unit.run)
            rows = failed_rows(unit, self._plan.n_folds, done, cause)
            self._store.add(rows)
            self._store.release(*unit.key)
            self._note(unit, rows)
        self._hire()

    def _dismiss(self) -> None:
        for worker in self._workers.values():
            worker.terminate()
        for worker in self._workers.values():
            _end(worker)


def refuse_what_cannot_be_sent(methods: Sequence[Method]) -> None:
    """Refuse a method that cannot be pickled, as one with a lambda inside, before processes are started."""
    for method in methods:
        try:
            ForkingPickler.dumps(method)
        except Exception as error:
            raise ValueError(
                f"the column {method.columns[0]!r} cannot be sent to other processes ({one_line(error)}): "
                "use --jobs 1"
            ) from error


def _end(worker: Any) -> None:
    """Wait for the end of a process that is about to end; one that does not is killed."""
    worker.join(_END_SECONDS)
    if worker.is_alive():
        worker.kill()
    worker.join()


def _worker(plan: Plan, units: Sequence[Unit], path: Path, connection: Connection) -> None:
    # The parent hears of Ctrl-C too, and ends this process. Here it is for systems without signal masks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    index = {unit.key: i for i, unit in enumerate(units)}
    try:
        with Store(path) as store:
            work(plan, units, store, lambda unit, rows: connection.send(("rows", index[unit.key], rows)))
    except BrokenPipeError:
        # The parent is gone, and with it the run.
        os._exit(1)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        connection.send(("fatal", f"{one_line(error)} ({os.path.basename(place.filename)}:{place.lineno})"))


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, also in the middle of a long fold."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let processes started here never hear of Ctrl-C, not even while they import."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover
        yield
        return
    from multiprocessing import resource_tracker

    # It is started together with the first process, and then lets interrupts through.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes started here use one thread for linear algebra: the cores are taken by the processes."""
    before = {name: os.environ.get(name) for name in _THREAD_LIMITS}
    os.environ.update(dict.fromkeys(_THREAD_LIMITS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
