"""Clocks and ratios: how two things are timed side by side and what is kept of it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ratio", "best_times", "duration", "machine", "versions"]


@dataclass(frozen=True)
class Ratio:
    """One line of the results.

    Attributes
    ----------
    topic : str
        Heading under which it stands.
    what : str
        What is divided by what.
    value : float
        Measured ratio or amount.
    target : float or None
        What it should be, None if nothing was promised.
    at_most : bool
        Whether the target is an upper bound.
    ours, other : str
        The two measurements behind it.
    note : str
        Where the peer does less, or anything else a reader must know.
    """

    topic: str
    what: str
    value: float
    target: float | None
    at_most: bool = True
    ours: str = ""
    other: str = ""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    @property
    def shown(self) -> str:
        """The value to three digits, or to as many as show that it misses its target.

        Examples
        --------
        >>> Ratio("", "", 1.6012, 1.6).shown, Ratio("", "", 1.5972, 1.6).shown
        ('1.601', '1.6')
        """
        digits = 3
        while self.met is False and float(f"{self.value:.{digits}g}") == self.target:
            digits += 1
        return f"{self.value:.{digits}g}"

    def line(self) -> str:
        """Return the line for a terminal."""
        verdict = {None: "", True: "met", False: "NOT MET"}[self.met]
        bound = "" if self.target is None else f"{'≤' if self.at_most else '≥'} {self.target:g}"
        return f"{self.topic}: {self.what}: {self.shown} {bound} {verdict} ({self.ours}; {self.other})"


def best_times(
    works: Mapping[str, Callable[[], object]], repeats: int, at_least: float = 0.05
) -> dict[str, float]:
    """Best time of each piece of work, in seconds, all of them in turn in each repeat.

    A piece that takes less than `at_least` seconds is run several times in a row and the time divided.
    """
    loops, best = {}, {}
    for name, work in works.items():
        work()
        begin = time.perf_counter()
        work()
        loops[name] = max(1, round(at_least / max(time.perf_counter() - begin, 1e-9)))
    for _ in range(repeats):
        for name, work in works.items():
            begin = time.perf_counter()
            for _ in range(loops[name]):
                work()
            seconds = (time.perf_counter() - begin) / loops[name]
            best[name] = min(best.get(name, seconds), seconds)
    return best


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    Examples
    --------
    >>> duration(0.00001234)
    '12.3 µs'
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def machine() -> dict[str, str]:
    """Describe the machine and how busy it is."""
    facts = {"processor": platform.processor() or platform.machine(), "cores": str(os.cpu_count())}
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                facts["processor"] = line.partition(":")[2].strip()
                break
    facts["memory"] = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    facts["load average at the start"] = " ".join(f"{load:.2f}" for load in os.getloadavg())
    facts["system"] = f"{platform.system()} {platform.machine()}"
    return facts


def versions(*packages: str) -> dict[str, str]:
    """Return versions of Python and of packages that are installed."""
    found = {"Python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
