"""A progress bar for people: on a terminal, and nowhere else."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

__all__ = ["progress_bar"]


@contextlib.contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr while the block runs, if stderr is a terminal.

    Parameters
    ----------
    what : str
        What is being done.
    total : int
        Number of steps.

    Yields
    ------
    callable
        Call it with the number of steps just done.

    Examples
    --------
    >>> with progress_bar("counting", 3) as advance:
    ...     advance(3)
    """
    # Rich's own test for a terminal says yes in a pipe where FORCE_COLOR is set, as CI systems do.
    if not sys.stderr.isatty():
        yield lambda steps: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda steps: progress.advance(task, steps)
