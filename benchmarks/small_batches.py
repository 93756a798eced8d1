"""One row and a few rows at a time: what happens before and after the kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier

from benchmarks.measure import Ratio, best_times, duration
from benchmarks.tables import split_set
from localbayes import LCWNB

__all__ = ["small_batches"]


def small_batches(folder: Path, quick: bool) -> Iterator[Ratio]:
    """One row of 20 columns from an array and from frames, and 20 rows of 69 columns beside LightGBM."""
    random, repeats = np.random.default_rng(0), 100 if quick else 1000
    numbers, y = random.integers(0, 8, (5000, 20)).astype(float), random.integers(0, 2, 5000)
    frame = pd.DataFrame(numbers, columns=[f"c{i}" for i in range(20)])
    texts = frame.astype(int).astype(str)
    tables = {
        "an array of numbers": (numbers, 0.1),
        "a DataFrame of numbers": (frame, 0.3),
        "a DataFrame of texts": (texts, 0.3),
        "a DataFrame of categories": (texts.astype("category"), 0.3),
    }
    for name, (X, target) in tables.items():
        model, row = LCWNB(5).fit(X, y), X[:1]
        seconds = median_time(lambda model=model, row=row: model.predict(row), repeats)
        yield Ratio(
            "one row × 20, 5,000 training rows",
            f"LCWNB.predict from {name}, median in ms",
            1e3 * seconds,
            target,
            ours=f"predict {duration(seconds)}",
        )
    split = split_set("audiology", folder)
    ours = LCWNB(5).fit(split.train, split.y_train)
    theirs = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(split.train, split.y_train)
    asked = split.test[:20]
    works = {"ours": lambda: ours.predict(asked), "LightGBM": lambda: theirs.predict(asked)}
    best = best_times(works, 3 if quick else 15)
    yield Ratio(
        f"{len(asked)} rows of audiology from a DataFrame of {asked.shape[1]} columns",
        "LCWNB.predict / LightGBM's predict",
        best["ours"] / best["LightGBM"],
        1,
        ours=f"predict {duration(best['ours'])}",
        other=f"LightGBM {duration(best['LightGBM'])}",
    )


def median_time(work: Callable[[], object], repeats: int) -> float:
    """Median time of a piece of work, in seconds."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))
