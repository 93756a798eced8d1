"""The command line: parse, call, print.

``commands.py`` puts the program together, ``errors.py`` turns every error into one line, ``options.py`` holds
the options that commands share, ``inputs.py`` turns them into tables, ``layout.py`` prints tables. The other
files hold commands, or what one command prints. Modules that are slow to import are imported by the command
that needs them.
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
    except KeyboardInterrupt:  # while modules are imported; a running command handles it itself
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def __getattr__(name: str) -> Any:
    """Import the program when it is first needed."""
    if name != "app":
        raise AttributeError(f"module 'localbayes.cli' has no attribute {name!r}")
    from localbayes.cli.commands import app

    return app
