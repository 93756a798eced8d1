"""SIGKILL at any moment loses nothing but the folds in flight."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from localbayes.study import Store, crew, read_table, run_study
from localbayes.study.report_tables import table_csv
from study_support import COMMAND, PATIENCE, answers, end, hear, small_plan, start, until_rows

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
    calls = hear(connection)
    assert end(process) == 0
    assert len(answers(whole)) == ROWS
    moments = random.Random(20)
    before: dict = {}
    progress = []
    for _ in range(KILLS):
        # Most calls load the data before the first fold; between two folds there are some hundred.
        folds = moments.choice([0, 1, 2, 3])
        process, _ = start(run_until, killed, folds, moments.randrange(1, 400 if folds else calls // 4))
        assert end(process) == -signal.SIGKILL
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
    process.wait(PATIENCE)
    begun = answers(path)
    assert len(begun) < 40
    for store in (path, whole):
        command = [*COMMAND, *words, "--store", str(store)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    assert answers(path) == answers(whole)
    assert begun.items() <= answers(whole).items()
    assert len(answers(whole)) == 40


STUCK = """
import multiprocessing, signal
from localbayes.study import crew

def stuck():
    crew._end_with_parent()
    print("stuck", flush=True)
    signal.pause()

if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=stuck)
    worker.start()
    worker.join()
"""


def test_a_worker_ends_with_its_run(tmp_path):
    """A worker whose run is killed ends too, even if it has nothing to tell for ever."""
    script = tmp_path / "stuck.py"
    script.write_text(STUCK)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"stuck\n"
        process.kill()
        # The worker holds the other end of the pipe as long as it lives.
        process.communicate(timeout=PATIENCE)


def stay(connection) -> None:
    """Stay until killed, whoever asks politely."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection.send("here")
    signal.pause()


def test_a_worker_that_will_not_end_is_killed(monkeypatch):
    """A process that does not end when it should is ended, so that a run never waits for it for ever."""
    monkeypatch.setattr(crew, "_END_SECONDS", 0.1)
    process, connection = start(stay)
    assert hear(connection) == "here"
    process.terminate()
    crew._end(process)
    assert process.exitcode == -signal.SIGKILL


def test_workers_never_hear_of_an_interrupt():
    """Ctrl-C is for the run: its processes start with the signal blocked, and the run itself does not."""
    blocked = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    command = [sys.executable, "-c", blocked]
    with crew._interrupts_held_back():
        inside = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    outside = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    assert (inside.stdout.strip(), outside.stdout.strip()) == (b"True", b"False")
