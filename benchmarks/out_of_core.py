"""One machine with less memory than the table: Parquet files are learned from and asked in parts.

A table of 50,000,000 rows and 20 columns of single-precision numbers (4 GB) is written to Parquet files part
by part. A process that may allocate 1 GiB (RLIMIT_DATA, which counts all memory but mapped files) fits LCWNB
to it and answers queries from the memory-mapped rows. A tenth of the files is also learned from in memory, by
a process without a limit, and the answers are compared. Each is measured once.

    python -m benchmarks.out_of_core                        # the full size
    python -m benchmarks.out_of_core --rows 1000000 --limit 0.8
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from localbayes import LCWNB
from localbayes.distributed import fit_files, load_folder

PART_ROWS = 500_000


def make_part(part: int, rows: int, m: int) -> pd.DataFrame:
    """Make one part: every column follows the class and, in groups of four, a hidden cause."""
    random = np.random.default_rng([2025, part])
    y = (random.random(rows) < 0.4).astype(np.float32)
    table: dict[str, Any] = {}
    for i in range(m):
        if i % 4 == 0:
            cause = random.standard_normal(rows, dtype=np.float32)
        noise = random.standard_normal(rows, dtype=np.float32)
        table[f"a{i}"] = 0.5 * y + 0.7 * cause + noise
    table["class"] = pd.Categorical.from_codes(y.astype(np.int8), ["no", "yes"])
    return pd.DataFrame(table)


def write_table(folder: Path, rows: int, m: int) -> int:
    """Write the Parquet files; return their bytes."""
    for k, begin in enumerate(range(0, rows, PART_ROWS)):
        part = make_part(k, min(PART_ROWS, rows - begin), m)
        part.to_parquet(
            folder / f"{k:04}.parquet", row_group_size=100_000, compression=None, use_dictionary=["class"]
        )
    return sum(file.stat().st_size for file in folder.iterdir())


def status(field: str) -> int:
    """Bytes that the system counts for this process."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{field}:")[1].split()[0]) * 1024


class Peak:
    """Largest memory of this process that is not mapped from a file, looked at twenty times a second."""

    def __init__(self) -> None:
        self.bytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(0.05):
            self.bytes = max(self.bytes, status("RssAnon"))

    def stop(self) -> int:
        """Stop looking."""
        self._done.set()
        self._thread.join()
        return self.bytes


def limited(options: argparse.Namespace) -> dict[str, Any]:
    """Fit and ask in this process, whose memory is limited."""
    limit = int(options.limit * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.ones(limit, np.uint8)
        raise SystemExit("this system does not limit memory by RLIMIT_DATA")
    except MemoryError:
        pass
    folder, peak = Path(options.folder), Peak()
    begin, cpu = time.perf_counter(), time.process_time()
    ends: dict[str, float] = {}
    model: Any = fit_files(
        LCWNB(kappa=options.kappa),
        folder / "table",
        target="class",
        folder=folder / "model",
        progress=lambda stage, *_: ends.update({stage: time.perf_counter()}),
    )
    fitted, fit_cpu = time.perf_counter(), time.process_time() - cpu
    queries = make_part(10**6, options.queries, options.columns).drop(columns="class")
    answers = model.predict_proba(queries)
    answered = time.perf_counter()
    again = load_folder(folder / "model")
    loaded = time.perf_counter()
    if not np.array_equal(again.predict_proba(queries[:50]), answers[:50]):
        raise SystemExit("the loaded model answers differently")
    np.save(folder / "answers.npy", answers)
    return {
        "rows": model.statistic.n_rows,
        "GB of packed rows": model.statistic.nbytes / 1e9,
        "limit of memory, GB": limit / 1e9,
        "peak of memory, GB": peak.stop() / 1e9,
        "seconds to summarise columns": ends["summarise columns"] - begin,
        "seconds to pack rows": ends["count rows"] - ends["summarise columns"],
        "seconds to fit": fitted - begin,
        "CPU seconds to fit": fit_cpu,
        f"seconds for {len(queries)} queries": answered - fitted,
        "milliseconds per query": 1e3 * (answered - fitted) / len(queries),
        "seconds to load and check": loaded - answered,
    }


def compare(options: argparse.Namespace, files: list[Path]) -> float:
    """Largest difference between a fit on some files in memory and one in parts."""
    whole = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    queries = make_part(10**6, 100, options.columns).drop(columns="class")
    here = LCWNB(kappa=options.kappa).fit(whole.drop(columns="class"), whole["class"])
    there = fit_files(LCWNB(kappa=options.kappa), files, target="class", folder=Path(options.folder, "tenth"))
    return float(np.abs(here.predict_log_proba(queries) - there.predict_log_proba(queries)).max())


def report(measured: dict[str, Any]) -> None:
    """Print measurements."""
    for name, value in measured.items():
        print(
            f"  {name:34} {value:,.3f}" if isinstance(value, float) else f"  {name:34} {value:,}", flush=True
        )


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--kappa", type=float, default=5.0)
    parser.add_argument("--limit", type=float, default=1.0, help="GiB that the process may allocate")
    parser.add_argument("--folder", help="where to work; by default a temporary folder")
    parser.add_argument("--limited", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.limited:
        print(json.dumps(limited(options)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        options.folder = folder
        table = Path(folder, "table")
        table.mkdir()
        begin = time.perf_counter()
        size = write_table(table, options.rows, options.columns)
        written = time.perf_counter() - begin
        report({"GB of Parquet files": size / 1e9, "seconds to write them": written})
        command = [sys.executable, "-m", "benchmarks.out_of_core", "--limited", "--folder", folder]
        for name in ("rows", "columns", "queries", "kappa", "limit"):
            command += [f"--{name}", str(getattr(options, name))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        report(json.loads(done.stdout))
        files = sorted(table.iterdir())
        difference = compare(options, files[: max(1, len(files) // 10)])
        report({"largest difference to memory": difference})
        if difference:
            raise SystemExit("answers from files differ from those from memory")


if __name__ == "__main__":
    main()
