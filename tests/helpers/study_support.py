"""Small studies for the tests: stores made of the paper's figures, and a quick real one."""

from __future__ import annotations

import html.parser
import multiprocessing
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from localbayes.study import FoldRow, Store, make_plan, paper_table
from localbayes.study.plan import Plan

# No process of these tests takes long; one that does not answer for so many seconds is stuck.
PATIENCE = 300
SETS = ["iris", "labor", "glass"]
METHODS = ["kappas", "NB"]
COMMAND = [sys.executable, "-c", "from localbayes.cli import main; main()", "study"]
# A shell starts background jobs with SIGINT ignored, and that is inherited.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
INTERRUPTIBLE = [COMMAND[0], "-c", LISTEN + COMMAND[2], COMMAND[3]]


def start(target: Any, *arguments: Any) -> tuple[Any, Any]:
    """Start a process with its end of a pipe as last argument; return it and the other end."""
    # Processes start quickly from a clean server that has the imports ready.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["localbayes.study", "localbayes.classifiers", "localbayes.datasets", "pandas"]
    )
    here, there = context.Pipe()
    process = context.Process(target=target, args=(*arguments, there), daemon=True)
    process.start()
    there.close()
    return process, here


def hear(connection: Any) -> Any:
    """Return the next message of a process; silence is an error."""
    assert connection.poll(PATIENCE), f"the process said nothing for {PATIENCE} s"
    return connection.recv()


def end(process: Any) -> int:
    """Wait for the end of a process and return its exit code; one that does not end is an error."""
    process.join(PATIENCE)
    code = process.exitcode
    if code is None:
        process.kill()
    assert code is not None, f"the process did not end within {PATIENCE} s"
    return code


def friedman_by_ranks(table: Any) -> tuple[float, float]:
    """Friedman's statistic with its correction for ties, and its p-value, by the textbook's formula."""
    n, k = np.shape(table)
    ranks = np.array([stats.rankdata(-np.asarray(row)) for row in table])
    sums = ranks.sum(axis=0)
    ties = sum(float((t**3 - t).sum()) for row in ranks for t in [np.unique(row, return_counts=True)[1]])
    statistic = 12 / (n * k * (k + 1)) * (sums**2).sum() - 3 * n * (k + 1)
    statistic /= 1 - ties / (n * k * (k**2 - 1))
    return statistic, float(stats.chi2.sf(statistic, k - 1))


def small_plan(runs: int = 2, folds: int = 5) -> Plan:
    """Three embedded sets, four columns of two methods: 120 rows by default."""
    return make_plan(SETS, METHODS, runs=runs, folds=folds)


def answers(path: Path) -> dict[tuple[str, str, int, int], tuple[int | None, int, float | None, str | None]]:
    """Everything in a store that may not depend on how it came about: no seconds."""
    with Store(path, create=False) as store:
        return {
            (row.dataset, row.method, row.run, row.fold): (row.correct, row.tested, row.log_loss, row.error)
            for row in store.rows()
        }


def paper_store(path: Path, names: list[str] | None = None, rename: dict[str, str] | None = None) -> Path:
    """Make a store whose means are the paper's printed ones, fold by fold."""
    table = paper_table()
    changed = rename or {}
    with Store(path) as store:
        store.fix_folds(10)
        store.add_methods([(changed.get(c, c), f"about {c}") for c in table.columns])
        for s in table.sets:
            if names is not None and s.name not in names:
                continue
            label = changed.get(s.name, s.name)
            store.add_set(type(s)(label, s.n, s.m, s.r, s.published), digest=s.name)
            rows = [
                FoldRow(
                    label,
                    changed.get(c, c),
                    1,
                    fold,
                    10_000,
                    *(3 * [round(100 * table.cells[s.name, c].mean)]),
                    0.5,
                    "[" + "[1,0.5,1]," * 9 + "[1,0.9,1]]",
                    0.01,
                    0.02,
                    None,
                    "1.0",
                )
                for c in table.columns
                for fold in range(2)
            ]
            store.add(rows)
        store.end_invocation(store.begin_invocation({"localbayes": "1.0", "python": "3"}), 12.0, 20)
    return path


def until_rows(process: subprocess.Popen, path: Path, rows: int) -> None:
    """Watch the store until it has so many rows; an early end of the process is an error."""
    latest = time.monotonic() + PATIENCE
    while time.monotonic() < latest:
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            if path.exists() and _count(path) >= rows:
                return
        else:
            raise AssertionError(f"ended early: {process.stderr.read() if process.stderr else ''}")
    process.kill()
    raise AssertionError(f"{path} has less than {rows} rows after {PATIENCE} s")


def _count(path: Path) -> int:
    database = sqlite3.connect(path)
    try:
        return database.execute("SELECT count(*) FROM folds").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()


class Page(html.parser.HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)
