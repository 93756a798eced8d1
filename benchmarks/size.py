"""Memory of a model and of predicting, and the time to learn a million rows."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import Ratio, duration
from benchmarks.tables import make_codes
from localbayes import LCWNB
from localbayes.encoding import Coded

__all__ = ["fitting", "memory"]


def memory(quick: bool) -> Iterator[Ratio]:
    """Bytes per training cell, and memory above the model and the result while predicting."""
    n = 100_000 if quick else 1_000_000
    for m, q, target in ((20, 16, 3.0), (1, 16, 3.0), (20, 200, 6.0), (2, 70_000, 6.0), (1, 70_000, 6.0)):
        codes, classes = make_codes(n, m, q, seed=3)
        model = LCWNB(5).fit(Coded(codes, np.full(m, q)), classes)
        model.index_.pack()  # as it is once it has been asked
        everything = len(pickle.dumps(model))
        yield Ratio(
            "memory of a fitted model",
            f"bytes per training cell, {n:,} × {m}, {q:,} values",
            everything / (n * m),
            target,
            ours=f"model {everything / 1e6:.1f} MB",
            other=f"its rows {model.index_.nbytes / (n * m):.2f} bytes a cell",
        )
    peak = predict_in_subprocess(n)
    yield Ratio(
        "memory of predicting",
        f"MB above model, queries and result, {n:,} queries × 20 from a DataFrame",
        peak["peak"] / 1e6,
        300,
        ours=f"peak {peak['peak'] / 1e6:.0f} MB",
        other=f"queries {peak['queries'] / 1e6:.0f} MB, result {peak['result'] / 1e6:.0f} MB",
    )


def predict_in_subprocess(n_queries: int) -> dict[str, int]:
    """Measure in a process of its own, whose peak is nobody else's."""
    code = f"from benchmarks.size import print_peak; print_peak({n_queries})"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    measured: dict[str, int] = json.loads(done.stdout)
    return measured


def print_peak(n_queries: int) -> None:
    """Predict many queries and print by how much memory rose at its peak, without the result."""
    model = LCWNB(5).fit(frame(1000, 4), make_codes(1000, 20, 8, seed=4)[1])
    queries = frame(n_queries, 5)
    model.predict(queries[:1000])
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # begin a new peak
    result = model.predict(queries)
    peak = resident("VmHWM") - before - result.nbytes
    used = int(queries.memory_usage(deep=True).sum())
    print(json.dumps({"peak": peak, "queries": used, "result": result.nbytes}))


def resident(field: str) -> int:
    """Memory of this process in bytes: now (VmRSS) or at its peak (VmHWM)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no line {field}")


def frame(n: int, seed: int) -> pd.DataFrame:
    """Return a table of 20 categorical columns."""
    values = pd.CategoricalDtype([f"v{k}" for k in range(8)])
    codes, _ = make_codes(n, 20, 8, seed)
    return pd.DataFrame({f"a{i}": pd.Categorical.from_codes(codes[:, i], dtype=values) for i in range(20)})


def fitting(quick: bool) -> Iterator[Ratio]:
    """Seconds to learn a million rows, and to add a thousand."""
    n = 100_000 if quick else 1_000_000
    table = frame(n, 6)
    codes, classes = make_codes(n, 20, 8, seed=6)
    topic = f"learning, {n:,} × 20, one thread"
    from_frame, from_codes = [], []
    for _ in range(2):
        begin = time.perf_counter()
        model = LCWNB(5).fit(table, classes)
        from_frame.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        LCWNB(5).fit(Coded(codes, np.full(20, 8)), classes)
        from_codes.append(time.perf_counter() - begin)
    yield Ratio(
        topic,
        "seconds of fit from a DataFrame of categories",
        min(from_frame),
        3.0,
        ours=f"from a DataFrame {duration(min(from_frame))}",
        other=f"from codes {duration(min(from_codes))}",
    )
    times = []
    for k in range(60):  # rows wait until there are a million cells of them: 53 batches
        more, more_classes = frame(1000, 100 + k), make_codes(1000, 20, 8, 100 + k)[1]
        begin = time.perf_counter()
        model.partial_fit(more, more_classes)
        times.append(time.perf_counter() - begin)
    yield Ratio(
        topic,
        "milliseconds of partial_fit of 1,000 rows, slowest of 60 in a row",
        1e3 * max(times),
        50,
        ours=f"slowest {duration(max(times))}",
        other=f"fastest {duration(min(times))}",
    )
