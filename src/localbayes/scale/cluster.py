"""The cluster: somebody's client or processes of our own, progress, and errors that say where they were."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import dask
import distributed.scheduler
from distributed import Client, LocalCluster, as_completed, default_client

from localbayes.scale.graph import Graph

__all__ = [
    "NO_WORKERS",
    "Cluster",
    "Progress",
    "WorkersDiedError",
    "completed",
    "connect",
    "find_error",
    "lost",
    "result",
    "results",
    "watch",
]

# Called with the name of a stage, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

# How long work waits for a worker on a cluster of our own that has lost them all.
NO_WORKERS_TIMEOUT = "5 minutes"
# The same line from a task and from sending what tasks need.
NO_WORKERS = "all workers of the Dask cluster are gone, and no new one came"


class WorkersDiedError(ConnectionError):
    """Workers died that ran a task or held what it needs; the scheduler is there."""


class Cluster:
    """A client: the one given, the current one, or that of processes started here.

    Parameters
    ----------
    client : distributed.Client, optional
        A connected client.
    """

    def __init__(self, client: Any = None) -> None:
        self._own: Any = None
        if client is None:
            try:
                client = default_client()
            except ValueError:
                settings = {
                    # Rows are to be asked where they are, not copied to whichever worker is idle.
                    "distributed.scheduler.work-stealing": False,
                    # By default work waits for ever.
                    "distributed.scheduler.no-workers-timeout": NO_WORKERS_TIMEOUT,
                }
                with dask.config.set(settings):
                    self._own = LocalCluster(threads_per_worker=1, dashboard_address="127.0.0.1:0")
                client = Client(self._own, set_as_default=False)
        self._client = client
        self.get_client("pass one that is open")

    @property
    def stays(self) -> bool:
        """Whether this is a cluster of our own that is still there."""
        return self._own is not None and self._client.status == "running"

    def get_client(self, advice: str) -> Any:
        """Give the client if it is connected."""
        if self._client.status != "running":
            raise ConnectionError(f"the Dask client is {self._client.status}; {advice}")
        return self._client

    @property
    def n_workers(self) -> int:
        """Number of workers now."""
        return max(1, len(self._client.nthreads()))

    def close(self) -> None:
        """Stop the processes that were started here; somebody else's cluster stays as it is."""
        if self._own is not None:
            self._client.close()
            self._own.close()

    def start(self, graph: Graph, keys: Sequence[Any]) -> list[Any]:
        """Have tasks computed; results stay on the workers."""
        client = self.get_client("connect again")
        if self._own is not None and len(self._own.workers) < len(self._own.worker_spec):
            # Dask gives up a process that has died and does not answer again within some seconds: on a busy
            # machine too few. This starts those that are missing.
            self._own.scale(len(self._own.worker_spec))
            client.wait_for_workers(1, timeout=NO_WORKERS_TIMEOUT)
        with graph.annotated():
            futures: list[Any] = client.get(dict(graph), list(keys), sync=False)
        return futures

    def places(self, futures: Sequence[Any]) -> dict[Any, tuple[str, ...]]:
        """Addresses of the workers that hold results, by key."""
        return dict(self._client.who_has(futures))


def watch(
    futures: Sequence[Any], names: Sequence[str], stage: str = "", progress: Progress | None = None
) -> None:
    """Wait until all are done; raise the first error with the name of what it happened to."""
    place = {future.key: k for k, future in enumerate(futures)}
    for done, future in enumerate(completed(futures), start=1):
        _check(future, names[place[future.key]])
        if progress is not None:
            progress(stage, done, len(futures))


def results(futures: Sequence[Any], names: Sequence[str], stage: str, progress: Progress | None) -> list[Any]:
    """Wait for small results and fetch them all."""
    watch(futures, names, stage, progress)
    return list(futures[0].client.gather(futures))


def completed(futures: Sequence[Any]) -> Any:
    """Futures in the order in which they are done."""
    # Without a loop, Dask would look for a client that is the current one.
    return as_completed(futures, loop=futures[0].client.loop) if futures else ()


def result(future: Any, name: str) -> Any:
    """Wait for a result and fetch it; raise its error with a name."""
    watch([future], [name])
    return future.result()


def _check(future: Any, name: str) -> None:
    error = find_error(future, name)
    if error is not None:
        raise error


def find_error(future: Any, name: str) -> BaseException | None:
    """What went wrong with a task, if anything; that nobody is there to run it is raised."""
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
    """Error for a result that is not there any more; that the scheduler has gone is raised."""
    if future.client.status != "running":
        raise ConnectionError(f"{name}: the Dask scheduler or its client has gone ({future.status})")
    return WorkersDiedError(f"{name}: the workers died that held its result or what it needs")


def _named(error: BaseException, name: str) -> BaseException:
    """The same error, with a name in its message."""
    before = str(error)
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
