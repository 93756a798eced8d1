"""The connection to a cluster: its client, progress, and errors that say where they happened."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import dask
import distributed.scheduler
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster, as_completed, default_client
from distributed.comm import resolve_address

from localbayes.distributed.dask.task_graph import Graph

__all__ = [
    "NO_WORKERS",
    "Cluster",
    "Completed",
    "Progress",
    "WorkersDiedError",
    "check_client",
    "connect",
    "find_error",
    "lost",
    "release",
    "result",
    "results",
    "watch",
]

# Called with the name of a stage, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

# How long work waits for a worker on a cluster that has lost them all.
NO_WORKERS_TIMEOUT = "5 minutes"
# Seconds between two looks whether there are workers, where nothing is done meanwhile.
_LOOK_EVERY = 1.0
# The same line from a task and from sending what tasks need.
NO_WORKERS = "all workers of the Dask cluster are gone, and no new one came"
# Who uses processes that were started here, by their client: the last one to close stops them.
_USERS: WeakKeyDictionary[Any, WeakSet["Cluster"]] = WeakKeyDictionary()


class WorkersDiedError(ConnectionError):
    """Workers died that ran a task or held its inputs; the scheduler is still there."""


class Cluster:
    """A client: the one given, the current one, or that of processes started here.

    Parameters
    ----------
    client : distributed.Client, optional
        A connected client.
    """

    def __init__(self, client: Any = None) -> None:
        if client is None:
            try:
                client = default_client()
            except ValueError:
                client = _start_processes()
        check_client(client)
        self._client = client
        if client in _USERS:
            _USERS[client].add(self)

    @property
    def _own(self) -> Any:
        """The processes, if they were started here."""
        return self._client.cluster if self._client in _USERS else None

    @property
    def stays(self) -> bool:
        """Whether this is a cluster of our own that is still there, and that was not closed."""
        return self in _USERS.get(self._client, ()) and self._client.status == "running"

    def get_client(self, advice: str) -> Any:
        """Give the client if it is connected."""
        check_client(self._client, advice)
        return self._client

    @property
    def n_workers(self) -> int:
        """Number of workers now."""
        return max(1, len(self._client.nthreads()))

    def close(self) -> None:
        """Stop processes that were started here, unless others use them; other clusters stay as they are."""
        processes, others = self._own, _USERS.get(self._client, WeakSet())
        others.discard(self)
        if processes is not None and not others:
            self._client.close()
            processes.close()

    @contextmanager
    def started(self, graph: Graph, keys: Sequence[Any]) -> Iterator[list[Any]]:
        """Start tasks for a ``with`` block; an error in the block cancels them."""
        futures = self.start(graph, keys)
        try:
            yield futures
        except BaseException:
            release(futures)
            raise

    def start(self, graph: Graph, keys: Sequence[Any]) -> list[Any]:
        """Start tasks; their results stay on the workers."""
        client = self.get_client("connect again")
        if self._own is not None and len(self._own.workers) < len(self._own.worker_spec):
            # Dask gives up a process that has died and does not answer again within some seconds: on a busy
            # machine too few. This starts those that are missing.
            self._own.scale(len(self._own.worker_spec))
            try:
                client.wait_for_workers(1, timeout=NO_WORKERS_TIMEOUT)
            except TimeoutError as error:
                raise ConnectionError(NO_WORKERS) from error
        with graph.annotated():
            futures: list[Any] = client.get(dict(graph), list(keys), sync=False)
        return futures

    def places(self, futures: Sequence[Any]) -> dict[Any, tuple[str, ...]]:
        """Addresses of the workers that hold results, by key."""
        return dict(self._client.who_has(futures))


def _start_processes() -> Any:
    """Client of processes on this machine, the current one from now on, so that lazy answers find it."""
    settings = {
        # Rows are to be asked where they are, not copied to whichever worker is idle.
        "distributed.scheduler.work-stealing": False,
        # By default work waits for ever.
        "distributed.scheduler.no-workers-timeout": NO_WORKERS_TIMEOUT,
    }
    with dask.config.set(settings):
        processes = LocalCluster(threads_per_worker=1, dashboard_address="127.0.0.1:0")
    client = Client(processes)
    _USERS[client] = WeakSet()
    return client


def check_client(client: Any, advice: str = "pass one that is open") -> None:
    """Refuse anything but a connected client."""
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client, got {type(client).__name__}; pass Client(address) or "
            "Client(cluster)"
        )
    if client.status != "running":
        raise ConnectionError(f"the Dask client is {client.status}; {advice}")


def release(futures: Iterable[Any]) -> None:
    """Release results, even if a traceback still refers to them, and cancel tasks that have not begun."""
    for future in futures:
        with suppress(RuntimeError):  # of a client that was closed meanwhile
            future.release()


def watch(
    futures: Sequence[Any], names: Sequence[str], stage: str = "", progress: Progress | None = None
) -> None:
    """Wait for all futures; raise the first error, with the name of its task."""
    place = {future.key: k for k, future in enumerate(futures)}
    for done, future in enumerate(Completed(futures), start=1):
        _check(future, names[place[future.key]])
        if progress is not None:
            progress(stage, done, len(futures))


def results(futures: Sequence[Any], names: Sequence[str], stage: str, progress: Progress | None) -> list[Any]:
    """Wait for small results and fetch them all."""
    watch(futures, names, stage, progress)
    return _fetched(futures)


def result(future: Any, name: str) -> Any:
    """Wait for a result and fetch it; raise its error with a name."""
    watch([future], [name])
    return _fetched([future])[0]


def _fetched(futures: Sequence[Any]) -> list[Any]:
    """Values of finished futures. Workers that hold them may die meanwhile, so this may wait, too."""
    client = futures[0].client
    patience = _Patience(client)
    gathering = client.gather(list(futures), asynchronous=True)
    waiting = asyncio.run_coroutine_threadsafe(gathering, client.loop.asyncio_loop)
    try:
        while True:
            try:
                return list(waiting.result(_LOOK_EVERY))
            except TimeoutError:
                if waiting.done():
                    raise
                patience.check()
    finally:
        waiting.cancel()


class Completed:
    """Futures in the order in which they are done; raises if all workers stay away.

    Parameters
    ----------
    futures : sequence of Future
        What to wait for.
    """

    def __init__(self, futures: Sequence[Any]) -> None:
        self._client: Any = None
        self._queue: Any = None
        if futures:
            self._client = futures[0].client
            # Without a loop, Dask would look for a client that is the current one.
            self._queue = as_completed(futures, loop=self._client.loop)

    @property
    def pending(self) -> list[Any]:
        """Futures that are not done."""
        return [] if self._queue is None else list(self._queue.futures)

    def __iter__(self) -> Iterator[Any]:
        queue = self._queue
        if queue is None:
            return
        patience = _Patience(self._client)
        while not queue.is_empty():
            if queue.has_ready():
                yield next(queue)
                patience = _Patience(self._client)
                continue
            with queue.thread_condition:
                queue.thread_condition.wait(timeout=0.1)
            patience.check()


class _Patience:
    """Waits for workers for a limited time; Dask waits for ever by default."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._last_look = time.monotonic()
        self._gone_since: float | None = None

    def check(self) -> None:
        """Raise if there has been no worker for longer than the limit."""
        now = time.monotonic()
        if now - self._last_look < _LOOK_EVERY or self._client.status != "running":
            return
        self._last_look = now
        try:
            present = self._client.nthreads()
        except OSError:  # the scheduler is gone, which the futures will say
            return
        if present:
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = now
        elif now - self._gone_since >= parse_timedelta(NO_WORKERS_TIMEOUT):
            raise ConnectionError(NO_WORKERS)


def _check(future: Any, name: str) -> None:
    error = find_error(future, name)
    if error is not None:
        raise error


def find_error(future: Any, name: str) -> BaseException | None:
    """What went wrong with a task, if anything; raises if there is no worker to run it."""
    if future.status == "finished":
        return None
    if future.status != "error":
        return lost(future, name)
    error: BaseException = future.exception()
    if isinstance(error, getattr(distributed.scheduler, "NoWorkerError", ())):
        raise ConnectionError(f"{name}: {NO_WORKERS}")
    if isinstance(error, distributed.scheduler.KilledWorker):
        return WorkersDiedError(f"{name}: {error.allowed_failures + 1} workers died while they had it to do")
    return _named(error, name)


def lost(future: Any, name: str) -> WorkersDiedError:
    """Error for a result that is lost; raises if the scheduler has gone."""
    if future.client.status != "running":
        raise ConnectionError(f"{name}: the Dask scheduler or its client has gone ({future.status})")
    return WorkersDiedError(f"{name}: the workers died that held its result or what it needs")


def _named(error: BaseException, name: str) -> BaseException:
    """The same error, with a name in its message."""
    before = str(error)
    if name in before:
        return error
    if isinstance(error, OSError) and error.strerror:
        error.strerror = f"{error.strerror} ({name})"
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]} ({name})", *error.args[1:])
    if str(error) == before:
        error.add_note(name)
    return error


@contextmanager
def connect(address: str, timeout: float = 10.0) -> Iterator[Any]:
    """Connect to a scheduler for the length of a ``with`` block.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``tcp://10.0.0.1:8786``.
    timeout : float, default=10
        Seconds to wait for an answer.

    Yields
    ------
    client : distributed.Client
        The connection.

    Examples
    --------
    >>> with connect("tcp://127.0.0.1:9", timeout=0.2) as client:
    ...     pass
    Traceback (most recent call last):
        ...
    ConnectionError: no Dask scheduler answers at 'tcp://127.0.0.1:9'; start one with: dask scheduler
    """
    try:
        # Of an address that it cannot read, Dask leaves half a client behind.
        resolve_address(address)
    except ValueError as error:
        raise ConnectionError(
            f"{address!r} is not the address of a Dask scheduler, such as tcp://10.0.0.1:8786 ({error})"
        ) from error
    except OSError as error:
        raise ConnectionError(f"no machine is known by the name in {address!r} ({error})") from error
    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r}; start one with: dask scheduler"
        ) from error
    try:
        if not client.nthreads():
            raise ConnectionError(
                f"the Dask scheduler at {address!r} has no workers; start some with: dask worker {address}"
            )
        yield client
    finally:
        client.close()
