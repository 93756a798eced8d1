"""Lines on standard error: errors, and warnings, each of them once."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable
from typing import Any

__all__ = ["one_line", "say", "warnings_once"]


def say(line: str) -> None:
    """Write a line to standard error; a terminal gets it broken between words.

    While a progress bar is shown, it moves down: Rich takes what is written to ``sys.stderr``.
    """
    stream = sys.stderr
    if stream is None:
        return
    if stream.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    print(line, file=stream)


def warnings_once() -> Callable[..., None]:
    """Make a replacement of ``warnings.showwarning`` that says every text once.

    Every fold of a cross-validation warns of the same columns.

    Examples
    --------
    >>> show = warnings_once()
    >>> import contextlib, sys
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     show("strange rows")
    ...     show("strange rows")
    warning: strange rows
    """
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = f"warning: {one_line(str(message))}"
        if line not in said:
            said.add(line)
            say(line)

    return show


def one_line(text: str) -> str:
    r"""Join lines, and escape what a terminal would not print.

    Examples
    --------
    >>> one_line("a\n  b \x1b[31m")
    'a b \\x1b[31m'
    """
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in joined)
