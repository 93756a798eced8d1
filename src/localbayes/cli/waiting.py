"""A sign of life for work that takes longer than a moment and has no steps to count."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

__all__ = ["sign_of_life"]

_MOMENT = 2.0


@contextlib.contextmanager
def sign_of_life(what: str) -> Iterator[None]:
    """Show on a terminal, after two seconds, that the block is still running.

    Examples
    --------
    >>> with sign_of_life("fitting"):
    ...     pass
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(f"{what} ...")
    timer = threading.Timer(_MOMENT, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
