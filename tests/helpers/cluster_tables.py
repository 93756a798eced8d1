"""Tables for the tests of localbayes.distributed, cut into partitions; workers import this module by name."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier

from localbayes import LCWNB
from localbayes.classifiers.lazy import Weighting

# Seconds after which an answer of a cluster is not to be expected any more.
PATIENCE = 300
# Dask closes a process for good that is not back some seconds after its death, and work for which no process
# is left waits for ever. Both would be seen where a machine is slow.
SETTINGS = {
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.scheduler.no-workers-timeout": f"{PATIENCE} s",
}


def table(n: int = 203, seed: int = 1) -> tuple[pd.DataFrame, pd.Series]:
    """Rows of every kind of column, sorted by class, so that most partitions lack a class."""
    random = np.random.default_rng(seed)
    cause = random.integers(0, 3, n)
    y = np.array(["low", "middle", "high"])[np.sort(np.where(random.random(n) < 0.7, cause, 1))]
    shapes = pd.Categorical.from_codes(
        np.where(random.random(n) < 0.1, -1, cause), ["round", "square", "long", "never seen"]
    )
    X = pd.DataFrame(
        {
            "shape": shapes,
            "colour": np.where(random.random(n) < 0.1, None, np.array(["red", "green", "blue"])[cause]),
            "size": np.where(random.random(n) < 0.1, np.nan, cause + random.normal(size=n)),
            "pieces": random.integers(0, 9, n),
            "new": random.random(n) < 0.3,
        }
    )
    return X, pd.Series(pd.Categorical(y, ["low", "middle", "high", "absent"]), name="class")


def cuts(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Begin and end of partitions of uneven length; of more than two some are empty."""
    ends = np.sort(np.random.default_rng(n_parts).integers(0, n + 1, n_parts - 1))
    if n_parts > 2:
        ends[0], ends[-1] = 0, n
        ends[n_parts // 2] = ends[n_parts // 2 - 1]
    edges = [0, *ends.tolist(), n]
    return list(pairwise(edges))


def load(rows: tuple[int, int], n: int = 203) -> pd.DataFrame:
    """Load one partition, with its class."""
    X, y = table(n)
    return X.assign(**{"class": y}).iloc[slice(*rows)]


def load_or_die(rows: tuple[int, int], part: int, folder: str, deadly: Sequence[int]) -> pd.DataFrame:
    """Load one partition; for the numbers in ``deadly`` that load of partition 1 kills its own process."""
    if part == 1:
        times = len(os.listdir(folder))
        Path(folder, str(times)).touch()
        if times in deadly:
            os.kill(os.getpid(), signal.SIGKILL)
    return load(rows)


def load_or_fail(rows: tuple[int, int], part: int) -> pd.DataFrame:
    """Load one partition, except the fourth."""
    if part == 3:
        raise FileNotFoundError(2, "No such file or directory", "part-3.csv")
    return load(rows)


def partitioned(n_parts: int, n: int = 203) -> dd.DataFrame:
    """Return the table with its class as a Dask DataFrame."""
    return dd.from_map(load, cuts(n, n_parts), n=n, meta=load((0, 0)))


def length_or_die(item: str, shared: Sequence[str]) -> int:
    """Length of an item and of what all share; the item "deadly" kills the process."""
    if item == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return len(item) + len(shared)


class DiesOnce(LCWNB):
    """LCWNB whose process is killed when it first chooses weights, between the two passes of a query."""

    def __init__(self, marker: str = "", kappa: float = 5.0) -> None:
        super().__init__(kappa)
        self.marker = marker

    def weightings(self, distance_counts: np.ndarray, kappas: np.ndarray | None = None) -> list[Weighting]:
        if not os.path.exists(self.marker):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().weightings(distance_counts, kappas)


class Deadly(DummyClassifier):
    """Takes the process with it."""

    def fit(self, X: Any, y: Any) -> None:
        os._exit(3)


class DiesOnTheWay(LCWNB):
    """LCWNB that kills the first worker that receives it, or the first that sends it on to another."""

    def __init__(self, marker: str = "", when: str = "received", kappa: float = 5.0) -> None:
        super().__init__(kappa)
        self.marker = marker
        self.when = when
        self.home = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        if self.when == "sent on" and os.getpid() != self.home:
            self._die_once()
        return dict(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.when == "received" and os.getpid() != self.home:
            self._die_once()

    def _die_once(self) -> None:
        if not os.path.exists(self.marker):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
