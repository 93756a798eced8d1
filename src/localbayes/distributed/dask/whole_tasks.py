"""Whole tasks on a cluster, such as folds or tables of queries, and what they share."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from dask.utils import parse_timedelta
from distributed import Future

from localbayes.distributed.dask import connection
from localbayes.distributed.dask.connection import (
    NO_WORKERS,
    Completed,
    Progress,
    WorkersDiedError,
    check_client,
    find_error,
    lost,
    release,
)

__all__ = ["Shared", "run_tasks", "share"]

# How often something is sent to workers that die meanwhile.
_MOST_SENDS = 4


def run_tasks(
    client: Any,
    function: Callable[..., Any],
    items: Iterable[Any],
    *,
    name: str = "run-task",
    progress: Progress | None = None,
    return_exceptions: bool = False,
    **shared: Any,
) -> Iterator[tuple[int, Any]]:
    """Run whole tasks on a cluster and give results as they come.

    A task that was lost with its workers is run once more, alone: only then is it known whether it was
    the one that killed them. What was shared is sent again if it was lost as well.

    Parameters
    ----------
    client : distributed.Client
        A connected client.
    function : callable
        What to do with an item, on a worker.
    items : iterable
        The items.
    name : str
        Name of the tasks on the dashboard, and of the stage in ``progress``.
    progress : callable, optional
        Called with the stage, the number of tasks done and their number.
    return_exceptions : bool, default=False
        Whether the error of a task, which a worker that dies of it is too, is given in place of its
        result; else it is raised. That the scheduler or all workers are gone is always raised.
    **shared
        Further arguments of the function; what :func:`share` gave is taken from the workers.

    Yields
    ------
    position, result
        Position of the item and what the function returned for it, or the error.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     dict(sorted(run_tasks(client, pow, [2, 3], exp=2)))
    {0: 4, 1: 9}
    """
    check_client(client)
    items, done = list(items), 0
    batches: deque[tuple[Sequence[int], bool]] = deque([(range(len(items)), False)])
    while batches:
        positions, alone = batches.popleft()
        for position, future in _submitted(client, function, items, positions, name, shared):
            task = f"{name} {position} of {len(items)}"
            outcome, error = _outcome(future, task)
            if isinstance(error, WorkersDiedError):
                if not alone:
                    batches.append(([position], True))
                    continue
                error = WorkersDiedError(f"{task}: its worker died each time, even when it ran alone")
            if error is not None and not return_exceptions:
                raise error
            yield position, outcome if error is None else error
            done += 1
            if progress is not None:
                progress(name, done, len(items))


def _submitted(
    client: Any,
    function: Callable[..., Any],
    items: list[Any],
    positions: Sequence[int],
    name: str,
    shared: dict[str, Any],
) -> Iterator[tuple[int, Future]]:
    """Start tasks for some of the items and give those that are done, whichever way."""
    arguments = {key: value.future() if isinstance(value, Shared) else value for key, value in shared.items()}
    chosen = [items[k] for k in positions]
    futures: list[Future] = client.map(function, chosen, key=name, pure=False, **arguments)
    place = {future.key: k for future, k in zip(futures, positions, strict=True)}
    queue = Completed(futures)
    # The queue alone holds what is not done yet, so that a result read is a result freed.
    del futures
    try:
        for future in queue:
            yield place[future.key], future
    finally:
        release(queue.pending)


def _outcome(future: Any, name: str) -> tuple[Any, BaseException | None]:
    """Result of a task that is done, or what went wrong with it."""
    error = find_error(future, name)
    if error is None:
        try:
            return future.result(), None
        except CancelledError:  # lost on its way here
            error = lost(future, name)
    return None, error


class Shared:
    """Something that every worker has. It is sent again if all workers that had it died; see `share`."""

    def __init__(self, client: Any, value: Any) -> None:
        check_client(client)
        self._client = client
        self._value = value
        self._future = self._send()

    def future(self) -> Any:
        """Give what stands for it in a task."""
        if not self._is_held(self._future):
            self._future = self._send()
        return self._future

    def _is_held(self, future: Any) -> bool:
        """Whether a worker has it. A future whose worker died while it was sent still says "finished"."""
        return future.status == "finished" and bool(self._client.who_has([future]).get(future.key))

    def _send(self) -> Any:
        limit = parse_timedelta(connection.NO_WORKERS_TIMEOUT)
        for _ in range(_MOST_SENDS):
            try:
                # In a list, since of a list or dict every part would be sent on its own.
                (future,) = self._client.scatter([self._value], broadcast=True, hash=False, timeout=limit)
            except TimeoutError as error:
                raise ConnectionError(NO_WORKERS) from error
            except OSError:  # the worker that was to have it died
                check_client(self._client, "connect again")
                continue
            if self._is_held(future):
                return future
        raise WorkersDiedError(
            f"workers died {_MOST_SENDS} times while a {type(self._value).__name__} was sent to them; "
            "look into their logs, and see that it fits in their memory"
        )


def share(client: Any, value: Any) -> Any:
    """Send something large, such as a fitted classifier, to every worker once.

    It goes past the scheduler. As long as one of the workers lives there is a copy; after that it is sent
    again, so what was sent is kept here as well.

    Parameters
    ----------
    client : distributed.Client
        A connected client.
    value : object
        What to send.

    Returns
    -------
    shared : Shared
        What to pass to :func:`run_tasks` in its place.
    """
    return Shared(client, value)
