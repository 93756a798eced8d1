"""Run the command line in a test: in this process, as a process, on a terminal."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import subprocess
import sys
from typing import Any

from typer.testing import CliRunner, Result

from localbayes.cli import app
from localbayes.datasets import embedded_path
from terminal import read_terminal

IRIS = str(embedded_path("iris"))

# Variables with which terminals and CI systems ask for colours.
PLAIN = {"FORCE_COLOR": None, "CLICOLOR_FORCE": None, "GITHUB_ACTIONS": None, "PY_COLORS": None}

# A command that takes so many seconds is stuck.
PATIENCE = 300

SCRIPT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import localbayes.__main__"


def run(*args: object, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner(env=PLAIN | (env or {})).invoke(app, [str(arg) for arg in args], prog_name="localbayes")


def ok(*args: object) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def refused(*args: object, env: dict[str, str | None] | None = None) -> str:
    """Run a command that must fail; return its one line."""
    result = run(*args, env=env)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.endswith("\n")
    line = result.stderr[:-1]
    assert line.startswith("error: ")
    assert "\n" not in line
    assert "Traceback" not in line
    return line


def spawn(
    *args: object, encoding: str = "utf-8", columns: int = 80, **options: Any
) -> subprocess.Popen[bytes]:
    """Start the command as a process of its own, with Ctrl-C as in a terminal."""
    env = {name: value for name, value in os.environ.items() if name not in PLAIN}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, args)],
        env=env | {"PYTHONIOENCODING": encoding, "TERM": "xterm", "COLUMNS": str(columns)},
        **options,
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def on_terminal(*args: object, columns: int) -> str:
    """Return what a command shows on a terminal, without colours."""
    ours, theirs = pty.openpty()
    with spawn(*args, columns=columns, stdout=theirs, stderr=-1) as process:
        os.close(theirs)
        shown = read_terminal(ours, PATIENCE)
        process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[\d;]*m", "", shown.decode()).replace("\r", "")
