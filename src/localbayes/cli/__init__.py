"""The command line: parse, call, print.

``commands.py`` puts the program together; ``errors.py`` turns whatever goes wrong into one line;
``tables.py`` holds what commands do with tables and files; ``layout.py`` prints tables; ``options.py`` holds
the options that commands share; every other file holds commands, or mends what lies below. What is slow to
import is imported by the command that needs it.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    try:
        from localbayes.cli.commands import app

        app(prog_name="localbayes")
    except KeyboardInterrupt:  # while modules are imported; a command that runs hears of it itself
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def __getattr__(name: str) -> Any:
    """Put the program together when it is first asked for."""
    if name != "app":
        raise AttributeError(f"module 'localbayes.cli' has no attribute {name!r}")
    from localbayes.cli.commands import app

    return app
