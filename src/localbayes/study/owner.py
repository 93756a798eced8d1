"""Who holds a claim, and whether that process still lives."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

__all__ = ["Owner", "this_process"]


@dataclass(frozen=True)
class Owner:
    """A process, named so that no other process with its id is taken for it, even after a restart.

    Examples
    --------
    >>> me = this_process()
    >>> me.alive(), Owner.parse(str(me)) == me
    (True, True)
    """

    host: str
    boot: str
    space: str
    pid: int
    started: str

    @classmethod
    def parse(cls, text: str) -> Owner:
        """Read the text that `str` makes."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def alive(self) -> bool | None:
        """Whether the process runs; None if that is unknown.

        It is unknown for a process on another machine or in another container, and where start times cannot
        be read: a process with that id may be another one.
        """
        here = _here()
        if self.host != here[0]:
            return None
        if self.boot != here[1]:
            return False
        if self.space != here[2]:
            return None
        started = _started(self.pid)
        return None if started == "" else started == self.started


def this_process() -> Owner:
    """Return the calling process."""
    return Owner(*_here(), os.getpid(), _started(os.getpid()) or "")


@cache
def _here() -> tuple[str, str, str]:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = space = ""
    return socket.gethostname(), boot, space


def _started(pid: int) -> str | None:
    """Start time of a process; None if it does not run (a zombie does not), "" if unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _exists(pid)
    except ProcessLookupError:
        return None
    state, *rest = stat.rpartition(")")[2].split()
    return None if state in "ZX" else rest[18]


def _exists(pid: int) -> str | None:
    if sys.platform == "win32":
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return ""
