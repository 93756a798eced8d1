"""How a cluster of small workers fares with a table that none of them could hold as it came.

A table of 50,000,000 rows and 20 attributes is made partition by partition on the workers, each limited to
2 GB; LCWNB is fitted and asked 1,000 queries. The same queries go to a local fit on a tenth of the rows. Each
is measured once, one after the other, after a first query that is not counted.

    python -m benchmarks.scale                        # the full size
    python -m benchmarks.scale --rows 1000000 --growth
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from localbayes.classifiers import METHODS
from localbayes.distributed import Distributed

VALUES = [f"v{k}" for k in range(8)]
CLASSES = ["no", "yes"]


def make_part(part: int, rows: int, m: int) -> pd.DataFrame:
    """Make one partition: every attribute follows the class and, in groups of four, a hidden cause."""
    random = np.random.default_rng([2024, part])
    y = (random.random(rows) < 0.4).astype(np.int8)
    table: dict[str, Any] = {}
    for i in range(m):
        if i % 4 == 0:
            cause = random.integers(0, 8, rows, dtype=np.int8)
        kind = random.random(rows, dtype=np.float32)
        noise = random.integers(0, 8, rows, dtype=np.int8)
        codes = np.where(kind < 0.15, y * 5, np.where(kind < 0.5, (cause + y * (i % 3)) % 8, noise))
        table[f"a{i}"] = pd.Categorical.from_codes(codes, VALUES)
    table["class"] = pd.Categorical.from_codes(y, CLASSES)
    return pd.DataFrame(table)


def lazy_table(rows: int, columns: int, partition_rows: int) -> dd.DataFrame:
    """Return the table, not yet made, with its class."""
    sizes = [min(partition_rows, rows - begin) for begin in range(0, rows, partition_rows)]
    return dd.from_map(make_part, range(len(sizes)), sizes, m=columns, meta=make_part(0, 1, columns).iloc[:0])


def peak_bytes() -> int:
    """Largest resident memory of this process so far; getrusage would count the parent's before exec, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def bytes_sent(dask_worker: Any) -> int:
    """Bytes that a worker has sent to others so far."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def parts_held(dask_worker: Any) -> int:
    """Count the partitions that a worker holds."""
    return sum("index-rows" in str(key) for key in dask_worker.data)


class Stages:
    """Seconds at which each stage of a fit ended."""

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note the time."""
        self.ends[stage] = time.perf_counter()

    def durations(self, begin: float) -> dict[str, float]:
        """Return the seconds that each stage took."""
        starts = [begin, *self.ends.values()]
        return {stage: end - start for (stage, end), start in zip(self.ends.items(), starts, strict=False)}


def make_model(options: argparse.Namespace, **more: Any) -> Any:
    """Return the classifier, not fitted."""
    if options.method == "LCWNB":
        more["kappa"] = options.kappa if options.kappa in ("mixture", "loo") else float(options.kappa)
    return METHODS[options.method](**more)


def on_cluster(rows: int, options: argparse.Namespace, queries: pd.DataFrame) -> tuple[dict[str, Any], Any]:
    """Fit and ask on a fresh cluster; return measurements and probabilities."""
    data = lazy_table(rows, options.columns, options.partition_rows)
    stages = Stages()
    with (
        dask.config.set({"distributed.scheduler.work-stealing": options.stealing}),
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            memory_limit=options.memory_limit,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        started = max(client.run(peak_bytes).values())
        model = Distributed(make_model(options), client, passes=options.passes, progress=stages)
        begin = time.perf_counter()
        model.fit(data, target="class")
        fitted = time.perf_counter()
        fit_cpu = sum(client.run(time.process_time).values())
        model.progress = None
        sent = sum(client.run(bytes_sent).values())
        first = time.perf_counter()
        model.predict_proba(queries[:1])
        asked, cpu = time.perf_counter(), sum(client.run(time.process_time).values())
        proba = model.predict_proba(queries)
        answered, cpu = time.perf_counter(), sum(client.run(time.process_time).values()) - cpu
        measured = {
            "rows": rows,
            "partitions": data.npartitions,
            "partitions of a worker": " and ".join(str(n) for n in client.run(parts_held).values()),
            "workers": options.workers,
            "memory limit": options.memory_limit,
            **{f"seconds to {stage}": seconds for stage, seconds in stages.durations(begin).items()},
            "seconds to fit": fitted - begin,
            "seconds for one query": asked - first,
            f"seconds for {len(queries)} queries": answered - asked,
            "milliseconds per query": 1e3 * (answered - asked) / len(queries),
            "CPU seconds of workers to fit": fit_cpu,
            "CPU milliseconds per query": 1e3 * cpu / len(queries),
            "bytes sent between workers per query": (sum(client.run(bytes_sent).values()) - sent)
            // (len(queries) + 1),
            "MB of a worker before": started / 1e6,
            "MB of a worker at its peak": max(client.run(peak_bytes).values()) / 1e6,
        }
    return measured, proba


def locally(rows: int, options: argparse.Namespace, queries: pd.DataFrame) -> tuple[dict[str, Any], Any]:
    """Fit and ask in this process, on as many threads as the cluster has workers."""
    parts = dask_parts(lazy_table(rows, options.columns, options.partition_rows))
    table = pd.concat(parts, ignore_index=True)
    X, y = table.drop(columns="class"), table["class"]
    del parts, table
    model = make_model(options, n_jobs=options.workers)
    begin = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    model.predict_proba(queries[:1])
    asked, cpu = time.perf_counter(), time.process_time()
    proba = model.predict_proba(queries)
    answered, cpu = time.perf_counter(), time.process_time() - cpu
    return {
        "rows": rows,
        "seconds to fit": fitted - begin,
        "seconds for one query": asked - fitted,
        f"seconds for {len(queries)} queries": answered - asked,
        "milliseconds per query": 1e3 * (answered - asked) / len(queries),
        "CPU milliseconds per query": 1e3 * cpu / len(queries),
    }, proba


def dask_parts(data: dd.DataFrame) -> list[pd.DataFrame]:
    """Make all partitions here."""
    return [part.compute(scheduler="synchronous") for part in data.to_delayed()]


def report(title: str, measured: dict[str, Any]) -> None:
    """Print measurements as a table."""
    print(f"\n{title}\n")
    for name, value in measured.items():
        text = (
            f"{value:,.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
        )
        print(f"  {name:38} {text}", flush=True)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--partition-rows", type=int, default=500_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--method", choices=sorted(METHODS), default="LCWNB")
    parser.add_argument("--kappa", default="5", help="of LCWNB: a number, loo or mixture")
    parser.add_argument("--passes", type=int, choices=[1, 2])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--stealing", action="store_true", help="let idle workers copy rows from busy ones")
    parser.add_argument("--growth", action="store_true", help="also a tenth, a fifth and half of the rows")
    parser.add_argument("--json", help="write measurements to this file")
    options = parser.parse_args()

    queries = make_part(10**6, options.queries, options.columns).drop(columns="class")
    tenth = options.rows // 10
    local, expected = locally(tenth, options, queries)
    report(f"{options.method}, local, a tenth of the rows", local)
    sizes = [tenth, options.rows // 5, options.rows // 2] if options.growth else [tenth]
    runs = []
    for rows in [*sizes, options.rows]:
        measured, proba = on_cluster(rows, options, queries)
        if rows == tenth:
            difference = float(np.abs(proba - expected).max())
            measured["largest difference to local"] = f"{difference:.1e}"
            if difference > 1e-12:
                raise SystemExit(f"the cluster's probabilities differ from the local ones by {difference}")
        runs.append(measured)
        report(f"{options.method} on the cluster", measured)
    ratios = {
        name: runs[-1][name] / (10 * local[name])
        for name in ("milliseconds per query", "CPU milliseconds per query")
    }
    report("A query on the cluster, divided by ten times one on a tenth of the rows here", ratios)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"local": local, "cluster": runs, "ratios": ratios}, file, indent=1)


if __name__ == "__main__":
    main()
