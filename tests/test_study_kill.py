"""SIGKILL at any moment loses nothing but the folds in flight."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from localbayes.study import Store, read_table, run_study
from localbayes.study.report import table_csv
from study_support import answers, small_plan, start
from test_study_run import COMMAND, until_rows

KILLS = 20
ROWS = 120


def run_until(path: Path, folds: int, calls: int | None, connection) -> None:
    """Run the small study; after so many folds and then so many calls of functions, die by SIGKILL."""
    seen = done = 0

    class Watch:
        def begin(self, todo):
            pass

        def advance(self, unit, rows):
            nonlocal done
            done += 1

        def waiting(self, units):
            pass

    def count(frame, event, argument):
        nonlocal seen
        seen += done >= folds
        if seen == calls:
            os.kill(os.getpid(), signal.SIGKILL)

    plan = small_plan()
    sys.setprofile(count)
    run_study(plan, path, progress=Watch())
    sys.setprofile(None)
    connection.send(seen)


def table(path: Path) -> str:
    with Store(path, create=False) as store:
        return table_csv(read_table(store))


def rows_in(path: Path) -> dict:
    return answers(path) if path.exists() else {}


def test_twenty_kills(tmp_path):
    """A study killed 20 times, between any two calls, ends with the table of one that ran through."""
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    process, connection = start(run_until, whole, 0, None)
    calls = connection.recv()
    process.join()
    assert len(answers(whole)) == ROWS
    moments = random.Random(20)
    before: dict = {}
    progress = []
    for _ in range(KILLS):
        # Most calls load the data before the first fold; between two folds there are some hundred.
        folds = moments.choice([0, 1, 2, 3])
        process, _ = start(run_until, killed, folds, moments.randrange(1, 400 if folds else calls // 4))
        process.join()
        assert process.exitcode == -signal.SIGKILL
        after = rows_in(killed)
        assert before.items() <= after.items(), "what was written stays as it was"
        progress.append(len(after))
        before = after
    assert len(set(progress)) > 8, f"kills came at different stages, {progress}"
    outcome = run_study(small_plan(), killed)
    assert outcome.rows == ROWS - progress[-1], "only what was missing is done"
    assert answers(killed) == answers(whole)
    assert table(killed) == table(whole)


@pytest.mark.parametrize("whom", ["the run alone", "the run and its workers"])
def test_killing_a_run_with_workers(tmp_path, whom):
    """A run of two processes, killed from outside while it works, is resumed to the same answers."""
    path, whole = tmp_path / "s.db", tmp_path / "whole.db"
    words = ["run", "--sets", "credit-g,vote", "--methods", "ICLNB", "--runs", "2", "--jobs", "2"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--store", str(path)], start_new_session=True, stdout=subprocess.DEVNULL
    )
    until_rows(process, path, 1)
    (os.kill if whom == "the run alone" else os.killpg)(process.pid, signal.SIGKILL)
    process.wait()
    begun = answers(path)
    assert len(begun) < 40
    for store in (path, whole):
        subprocess.run([*COMMAND, *words, "--store", str(store)], check=True, stdout=subprocess.DEVNULL)
    assert answers(path) == answers(whole)
    assert begun.items() <= answers(whole).items()
    assert len(answers(whole)) == 40
