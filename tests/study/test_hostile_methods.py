"""Whatever a method does, a run ends, its failure is a row, and the others are done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostile_methods import Raising
from localbayes.study import FoldRow, Store, from_estimator, make_plan, run_study
from study_support import COMMAND, PATIENCE, answers

HELPERS = Path(__file__).parents[1] / "helpers"


def errors_of(path: Path, column: str) -> set[str | None]:
    return {value[3] for key, value in answers(path).items() if key[1] == column}


def test_a_process_that_ends_as_if_all_were_well(tmp_path):
    """A method that ends its process with exit code 0 has failed; it is not started for ever."""
    plan = make_plan(["labor"], ["hostile_methods:Vanishing", "NB"], runs=2, folds=3)
    outcome = run_study(plan, tmp_path / "s.db", jobs=2)
    assert (outcome.rows, outcome.failed) == (12, 6)
    error = "the process that worked on it ended with exit code 0"
    assert errors_of(tmp_path / "s.db", "Vanishing") == {error}
    assert errors_of(tmp_path / "s.db", "NB") == {None}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_thread_that_is_left_behind(tmp_path, jobs):
    """A method that leaves a thread which never ends does not keep the run from returning."""
    words = ["run", "--sets", "labor", "--methods", "hostile_methods:Lingering,NB", "--runs", "2"]
    words += ["--folds", "3", "--jobs", jobs, "--store", str(tmp_path / "s.db")]
    path = os.pathsep.join([str(HELPERS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "12 fold results" in done.stdout
    assert errors_of(tmp_path / "s.db", "Lingering") == {None}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("surrogate", "ValueError: odd \\udc80 text"),
        ("unreadable", "Unreadable: an error whose message cannot be read"),
        ("GeneratorExit", "GeneratorExit: GeneratorExit"),
        ("SystemExit", "SystemExit: SystemExit"),
        ("KeyboardInterrupt", "KeyboardInterrupt: KeyboardInterrupt"),
    ],
)
def test_whatever_is_raised_is_a_row(tmp_path, what, error, jobs):
    """Any error of a method is a failed fold; with one process a KeyboardInterrupt is the user's Ctrl-C."""
    plan = make_plan(["labor"], [from_estimator("mine", Raising(what)), "NB"], runs=2, folds=3)
    if (what, jobs) == ("KeyboardInterrupt", 1):
        with pytest.raises(KeyboardInterrupt):
            run_study(plan, tmp_path / "s.db", jobs=jobs)
        return
    outcome = run_study(plan, tmp_path / "s.db", jobs=jobs)
    assert (outcome.rows, outcome.failed) == (12, 6)
    assert errors_of(tmp_path / "s.db", "mine") == {error}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no file names of any bytes")
def test_file_names_of_any_bytes(tmp_path):
    """A file name that is no text is a data set like any other, good or not."""
    for name, content in ((b"go\xffod.csv", "a,b\n" + "1,x\n2,y\n" * 9), (b"ba\xfed.csv", "a,b\n1\n")):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(content)
    files = [os.fsdecode(path) for path in sorted(os.listdir(os.fsencode(tmp_path)))]
    plan = make_plan([str(tmp_path / name) for name in files], ["NB"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (6, 3)
    assert {key[0] for key in answers(tmp_path / "s.db")} == {
        "ba\\udcfed",
        "go\\udcffod",
    }


def test_rows_with_odd_text_are_stored(tmp_path):
    """A row is stored whatever its text holds."""
    with Store(tmp_path / "s.db") as store:
        store.add([FoldRow("a", "b", 1, 0, 0, error="\udcff")])
        assert [row.error for row in store.rows()] == ["\\udcff"]
