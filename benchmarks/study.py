"""The whole study of 36 sets: how long it takes, and how long Weka would for the columns that it has."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Ratio, duration
from benchmarks.peers import Weka
from benchmarks.rivals import PAIRS
from benchmarks.tables import split_set
from localbayes.datasets.registry import PAPER_SETS
from localbayes.study import Store

__all__ = ["study"]

RUNS = FOLDS = 10
JOBS = 2


def study(folder: Path, quick: bool) -> Iterator[Ratio]:
    """Run it from the command line, as a user would; then Weka on one split of every set."""
    sets = ["iris", "labor", "vote"] if quick else list(PAPER_SETS)
    seconds, columns = _ours(folder, sets)
    topic = f"the study: {len(sets)} sets × 100 folds × {len(columns)} columns"
    yield Ratio(
        topic,
        f"minutes of `localbayes study run --jobs {JOBS}`",
        seconds / 60,
        5,
        ours=duration(seconds),
        other=f"learning and predicting {duration(sum(columns.values()))}, added up over the processes",
    )
    if Weka.missing():
        return
    weka: Counter[str] = Counter()
    for name in sets:
        split = split_set(name, folder)
        asked = len(split.test_codes)
        with Weka(split) as program:
            for ours, theirs, _ in PAIRS:
                training, query = program.time(theirs, 1)
                weka[ours] += RUNS * FOLDS * (training + asked * query)
    for ours in weka:
        yield Ratio(
            topic,
            f"time of Weka / ours, {ours}",
            weka[ours] / columns[ours],
            None,
            at_most=False,
            ours=duration(columns[ours]),
            other=f"Weka {duration(weka[ours])}",
        )
    both = sum(columns[ours] for ours in weka)
    yield Ratio(
        topic,
        "time of Weka / ours, these six columns",
        weka.total() / both,
        None,
        at_most=False,
        ours=duration(both),
        other=f"Weka {duration(weka.total())}",
        note="as for each of them, ours is what all folds took by the clock while "
        f"{JOBS} processes worked; Weka, alone and warmed up, was timed once on one split of every set into "
        f"nine tenths and one tenth, and that is taken {RUNS * FOLDS} times",
    )


def _ours(folder: Path, sets: list[str]) -> tuple[float, Counter[str]]:
    """Seconds of the run, and of learning and predicting by column."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as place:
        path = Path(place) / "study.db"
        words = ["study", "run", "--data", folder, "--sets", ",".join(sets), "--jobs", JOBS, "--store", path]
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "from localbayes.cli import main; main()", *map(str, words)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - begin
        columns: Counter[str] = Counter()
        with Store(path, create=False) as store:
            for row in store.rows():
                columns[row.method] += (row.fit_seconds or 0) + (row.predict_seconds or 0)
    return seconds, columns
