"""Progress bars, shown on a terminal only."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["progress_bar", "progress_bars"]


def progress_bars(*columns: ProgressColumn) -> Progress:
    """Make Rich's progress bars on stderr: they vanish when done, and stay silent if stderr is no terminal.

    Parameters
    ----------
    *columns : ProgressColumn
        What a bar shows.

    Returns
    -------
    Progress
        A context manager.
    """
    from rich.console import Console
    from rich.progress import Progress

    # Rich's own test for a terminal says yes in a pipe where FORCE_COLOR is set, as CI systems do; and some
    # versions of it end the line of a bar that was never shown.
    seen = sys.stderr.isatty()
    console = Console(stderr=True) if seen else Console(file=io.StringIO())
    return Progress(*columns, console=console, transient=True, disable=not seen)


@contextlib.contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs.

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
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with progress_bars(*columns) as progress:
        task = progress.add_task(what, total=total)
        yield lambda steps: progress.advance(task, steps)
