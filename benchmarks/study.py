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
        other=f"learning and predicting {duration(sum(columns.values()))} of processor time",
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
            f"processor time of Weka / ours, {ours}",
            weka[ours] / columns[ours],
            None,
            at_most=False,
            ours=duration(columns[ours]),
            other=f"Weka {duration(weka[ours])}",
            note="Weka's is 100 times that of one split of every set into nine tenths and one tenth",
        )
    both = sum(columns[ours] for ours in weka)
    yield Ratio(
        topic,
        "processor time of Weka / ours, these six columns",
        weka.total() / both,
        None,
        at_most=False,
        ours=duration(both),
        other=f"Weka {duration(weka.total())}",
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
