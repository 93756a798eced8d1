"""Worker processes that take units from the store, and what happens when one of them dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

from localbayes.study.fold_work import Notify, failed_rows, one_line, work
from localbayes.study.methods import Method
from localbayes.study.plan import Plan, Unit
from localbayes.study.store import Store

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
        """Start the processes and return when all are done."""
        try:
            for _ in range(jobs):
                self._hire()
            while self._workers:
                self._wait()
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

    def _wait(self) -> None:
        """Wait for the next message of a worker, or for the end of one."""
        # A method may have left a process behind that keeps the pipe open: the end of a worker counts too.
        ended = {worker.sentinel: connection for connection, worker in self._workers.items()}
        ready = set(wait([*self._workers, *ended]))
        for connection in list(self._workers):
            if connection in ready:
                self._hear(connection)
            elif self._workers[connection].sentinel in ready and not connection.poll():
                self._gone(connection)

    def _hear(self, connection: Connection) -> None:
        try:
            kind, *content = connection.recv()
        except EOFError:
            self._gone(connection)
            return
        if kind == "fatal":
            raise OSError(content[0])
        if kind == "done":
            _end(self._workers.pop(connection))
            return
        index, rows = content
        self._idle_deaths = 0
        self._note(self._units[index], rows)

    def _gone(self, connection: Connection) -> None:
        """Deal with a worker that ended without saying that it is done, whatever its exit code."""
        worker = self._workers.pop(connection)
        _end(worker)
        held = set(self._store.claims_of(worker.pid))
        units = [unit for unit in self._units if unit.key in held and self._store.claim(*unit.key)]
        cause = f"the process that worked on it ended with exit code {worker.exitcode}"
        if not units:
            # Another process may have seen that it was dead and taken its unit over. Start a new one, but not
            # for ever if one after the other ends while nothing gets done.
            self._idle_deaths += 1
            if self._idle_deaths > _MOST_IDLE_DEATHS:
                raise OSError(
                    f"a worker process ended with exit code {worker.exitcode} before it had done anything"
                )
            self._hire()
            return
        # What ended it, too little memory or a fault in compiled code, would end the next one too. Its unit
        # counts as failed, and a new process goes on with the others.
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
    """Refuse a method that cannot be pickled, such as one with a lambda, before processes are started."""
    for method in methods:
        try:
            ForkingPickler.dumps(method)
        except Exception as error:
            raise ValueError(
                f"the column {method.columns[0]!r} cannot be sent to other processes ({one_line(error)}): "
                "use --jobs 1"
            ) from error


def _end(worker: Any) -> None:
    """Wait for a process to end; kill it if it does not."""
    worker.join(_END_SECONDS)
    if worker.is_alive():
        worker.kill()
    worker.join()


def _worker(plan: Plan, units: Sequence[Unit], path: Path, connection: Connection) -> None:
    """Work as a process, and end it even if a method has left threads that would keep it alive."""
    _end_with_parent()
    _serve(plan, units, path, connection)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)


def _serve(plan: Plan, units: Sequence[Unit], path: Path, connection: Connection) -> None:
    """Work on units; send the parent the rows of every fold, and at last that all is done."""
    # The parent hears of Ctrl-C too, and ends this process. This line is for systems without signal masks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    index = {unit.key: i for i, unit in enumerate(units)}
    try:
        with Store(path) as store:
            work(
                plan,
                units,
                store,
                lambda unit, rows: connection.send(("rows", index[unit.key], rows)),
                interruptible=False,
            )
        connection.send(("done",))
    except BrokenPipeError:
        # The parent is gone, and with it the run.
        os._exit(1)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        connection.send(("fatal", f"{one_line(error)} ({os.path.basename(place.filename)}:{place.lineno})"))


def _end_with_parent() -> None:
    """Make this process end with its parent, also in the middle of a long fold."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Block Ctrl-C in processes that are started inside, even while they import."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover
        yield
        return
    from multiprocessing import resource_tracker

    # It starts together with the first process, and must not inherit the blocked signal.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit processes that are started inside to one thread each for linear algebra."""
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
