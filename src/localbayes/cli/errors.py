"""What a user sees when something goes wrong: one line on stderr and an exit code, no traceback."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from localbayes.cli.notices import one_line, say, warnings_once
from localbayes.cli.plain import PlainGroup
from localbayes.cli.streams import writing_anything

__all__ = ["OneLineErrors", "describe"]

# Errors that bad input raises. Any other error is a defect, and its type is shown.
_FORESEEN = (ValueError, OSError, ImportError)


class OneLineErrors(PlainGroup):
    """A group of commands whose errors, all of them, end in one line.

    Exit codes: 2 for bad input, 130 for Ctrl-C, 141 when the reader of a pipe has gone. With
    ``LOCALBAYES_DEBUG=1`` the traceback comes before the line.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its code."""
        try:
            with writing_anything(), warnings.catch_warnings():
                warnings.showwarning = warnings_once()
                # A file may declare classes without rows on purpose.
                warnings.filterwarnings("ignore", ".* declared classes have no training row")
                code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _ReaderLeft:
            # Python flushes stdout once more at exit, which would raise the same error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 141
        except (_Interrupted, typer.Abort) as error:
            code = _report(error, "interrupted", 130)
        except Exception as error:
            code = _report(error, f"error: {describe(error)}", 2)
        sys.exit(code if isinstance(code, int) else 0)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the arguments; Ctrl-C may come while typer imports modules for that."""
        try:
            return super().make_context(*args, **extra)
        except KeyboardInterrupt as error:
            raise _Interrupted from error

    def invoke(self, ctx: Any) -> Any:
        """Run the command; versions of typer handle Ctrl-C and closed pipes differently."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt as error:
            raise _Interrupted from error
        except BrokenPipeError as error:
            raise _ReaderLeft from error
        return result


class _Interrupted(Exception):
    """Ctrl-C was pressed."""


class _ReaderLeft(Exception):
    """Standard output is a pipe whose reader has gone."""


def describe(error: BaseException) -> str:
    """Say in one line what went wrong.

    Parameters
    ----------
    error : BaseException
        What was raised.

    Returns
    -------
    str
        The line.

    Examples
    --------
    >>> describe(FileNotFoundError(2, "No such file or directory", "iris.csv"))
    'iris.csv: No such file or directory'
    >>> describe(KeyError("x"))
    "unexpected KeyError: 'x' (LOCALBAYES_DEBUG=1 shows where)"
    """
    # Errors of usage; their class is in click or in typer, depending on the version.
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        hint = f" Try: {context.command_path} --help" if context else ""
        return one_line(error.format_message() + hint)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return one_line(f"{os.fsdecode(error.filename)}: {error.strerror}")
    if isinstance(error, _FORESEEN) and str(error):
        return one_line(str(error))
    if isinstance(error, MemoryError):
        return one_line(f"not enough memory {error}")
    return one_line(f"unexpected {type(error).__name__}: {error} (LOCALBAYES_DEBUG=1 shows where)")


def _report(error: BaseException, line: str, code: int) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return code
    if os.environ.get("LOCALBAYES_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(error)
    say(line)
    return code
