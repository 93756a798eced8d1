"""The commands `study run`, `show` and `report`."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localbayes.cli import app
from localbayes.cli import study as cli
from localbayes.study import (
    FoldRow,
    Store,
    make_plan,
    run_study,
)
from localbayes.study.findings import examine
from study_support import COMMAND, INTERRUPTIBLE, PATIENCE, answers, paper_store, until_rows
from terminal import read_terminal


def invoke(*words: str):
    return CliRunner().invoke(app, ["study", *words])


def test_command_line(tmp_path, monkeypatch):
    """run, run again, show and report work together, and say what they did."""
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "--sets", "iris,labor", "--methods", "kappas,NB", "--runs", "1", "--jobs", "1"]
    first = invoke(*arguments)
    assert first.exit_code == 0
    assert first.stdout.startswith("study.db: 80 fold results in ")
    assert "nothing to do" in invoke(*arguments).stdout
    shown = invoke("show").stdout
    assert "iris" in shown
    assert "LCWNB20" in shown
    assert "mean rank" in shown
    done = invoke("report", "--out", "page")
    assert done.exit_code == 0
    assert "page/index.html" in done.stdout
    assert {path.name for path in Path("page").iterdir()} == {
        "table.csv",
        "table.tex",
        "tests.json",
        "figure1.svg",
        "figure2.svg",
        "critical-difference.svg",
        "index.html",
    }


def test_command_line_reports_failures(tmp_path):
    """Failures end with exit code 1 and the first of them."""
    (tmp_path / "tiny.csv").write_text("a,b\n1,x\n2,y\n")
    words = ["--sets", str(tmp_path / "tiny.csv"), "--methods", "NB", "--store", str(tmp_path / "s.db")]
    result = invoke("run", *words, "--jobs", "1")
    assert result.exit_code == 1
    assert "100 failed, the first: NB on tiny: cannot use the data set" in result.stderr
    again = invoke("run", *words, "--jobs", "1")
    assert again.exit_code == 1
    assert "are complete" not in again.stdout
    assert again.stderr == "100 folds failed earlier; --retry tries them again\n"


def test_a_complete_set_that_has_changed(tmp_path):
    """Also where nothing is left to do, a file with other content is refused under its name."""
    path = tmp_path / "mine.csv"
    words = ["run", "--sets", f"{path},labor", "--methods", "NB", "--runs", "1", "--folds", "3"]
    words += ["--jobs", "1", "--store", str(tmp_path / "s.db")]
    path.write_text("a,k\n" + "1,x\n2,y\n" * 9)
    assert invoke(*words).exit_code == 0
    before = answers(tmp_path / "s.db")
    assert "all 2 data sets are complete" in invoke(*words).stdout
    path.write_text("a,k\n" + "1,y\n2,x\n" * 9)
    changed = invoke(*words)
    assert changed.exit_code == 1
    assert "are complete" not in changed.stdout
    assert changed.stderr.startswith("data set 'mine' differs from the one in the store")
    assert answers(tmp_path / "s.db") == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--methods", "XYZ"], "unknown method 'XYZ'"),
        (["run", "--sets", "nothing"], "neither one of the paper's sets nor a file"),
        (["run", "--runs", "0"], "runs must be >= 1, got 0"),
        (["report", "--store", "none.db"], "there is no store none.db"),
        (["show", "--store", "empty.db"], "has no results yet"),
        (["show", "--store", "bad.db"], "not a usable study store"),
        (["show", "--store", "good.db", "--reference", "nope"], "the reference can be LCWNB5, LCWNB10, "),
        (["report", "--store", "good.db", "--reference", "nope"], "has no results of the column 'nope'"),
    ],
)
def test_command_line_errors_are_one_line(tmp_path, monkeypatch, words, message):
    """Bad input ends with exit code 2 and one line."""
    monkeypatch.chdir(tmp_path)
    Store("empty.db").close()
    Path("bad.db").write_text("no store" * 200)
    paper_store(Path("good.db"), ["iris"])
    result = invoke(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_store_that_cannot_be_written(tmp_path):
    """What SQLite says about a store that cannot be written comes as one line."""
    path = tmp_path / "s.db"
    with Store(path) as store, store.transaction():
        store._db.execute(
            "CREATE TRIGGER t BEFORE INSERT ON folds BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    words = ["--sets", "labor", "--methods", "NB", "--jobs", "1", "--store", str(path)]
    result = invoke("run", *words)
    assert result.exit_code == 2
    assert "cannot be used: disk is full" in result.stderr


def test_the_table_says_what_it_refers_to(tmp_path):
    """Without LCWNB5 the marks refer to the first column, and a column of one's own has its rank too."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store:
        store.add_methods([("Best", "never wrong")])
        store.add([FoldRow(s.name, "Best", 1, f, 9, 9, 9, 9) for s in store.sets() for f in range(2)])
        with store.transaction():
            store._db.execute("DELETE FROM folds WHERE method = 'LCWNB5'")
    shown = invoke("show", "--store", str(path))
    assert shown.exit_code == 0
    assert shown.stderr.startswith("warning: LCWNB5 has no results")
    assert "marks refer to LCWNB10" in shown.stderr
    (papers,) = (line for line in shown.stdout.splitlines() if "mean rank, paper's" in line)
    (every,) = (line for line in shown.stdout.splitlines() if "mean rank, all" in line)
    assert every.split()[-1] == "1.0000"
    assert len(every.split()) == len(papers.split()) + 1


def test_the_table_has_a_legend(tmp_path):
    """Below it stand what the marks and counts refer to, and the columns that have fewer folds."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store:
        store.add_methods([("Lucky", "one fold")])
        store.add([FoldRow("iris", "Lucky", 1, 0, 100, 100, 100, 100)])
    shown = invoke("show", "--store", str(path), "--reference", "NB").stdout.splitlines()
    assert shown[-3:] == [
        "● significantly worse than NB, ○ significantly better (corrected paired t-test, 5 %)",
        "s.w./m.w./m.b./s.b.: on how many sets NB is significantly worse, marginally worse, "
        "marginally better, significantly better than the column; ● if a sign test calls the column worse",
        "measured in part: Lucky (1 of 2 sets, 1 of 2 folds)",
    ]
    assert any("average, 2 sets" in line for line in shown)


def on_a_terminal(words: list[str], columns: int) -> tuple[int, str]:
    """Run a command on a terminal of so many columns; return exit code and what was seen."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen([*COMMAND, *words], stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    output = read_terminal(master, PATIENCE)
    os.close(master)
    return process.wait(PATIENCE), output.decode()


def test_progress_on_a_terminal(tmp_path):
    """On a terminal there is a bar; the names of data sets in it are not read as markup."""
    (tmp_path / "[red]x.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    words = ["run", "--sets", str(tmp_path / "[red]x.csv"), "--methods", "NB", "--jobs", "1"]
    code, seen = on_a_terminal([*words, "--store", str(tmp_path / "s.db")], 200)
    assert code == 0
    assert "%" in seen
    assert "[red]x" in seen
    assert "100 fold results" in seen


@pytest.mark.parametrize(("columns", "spread"), [(150, True), (60, False)])
def test_the_table_fits_the_terminal(tmp_path, columns, spread):
    """A wide terminal shows deviations and counts, a narrow one leaves them out and cuts nothing off."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store, store.transaction():
        store._db.execute("DELETE FROM folds WHERE method NOT IN ('LCWNB5', 'LCWNB10', 'NB', 'TAN')")
    code, seen = on_a_terminal(["show", "--store", str(path)], columns)
    assert code == 0
    assert ("94.73±0.00" in seen, "s.w." in seen) == (spread, spread)
    assert "94.73" in seen
    assert "…" not in seen


def test_the_bar_is_told_everything(tmp_path, monkeypatch):
    """On a terminal the bar moves with the rows, and says for whom it waits."""
    monkeypatch.setattr(sys, "stderr", Screen())
    plan = make_plan(["labor"], ["NB"], runs=1, folds=3)
    with cli._Bar() as bar:
        run_study(plan, tmp_path / "s.db", progress=bar)
        task = bar._progress.tasks[0]
        assert task.completed == pytest.approx(task.total)
        assert task.description == "labor · NB · run 1"
        bar.waiting(2)
        assert "another run that has the last 2 units" in bar._progress.tasks[0].description


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_interrupted_in_this_process(tmp_path, monkeypatch):
    """Ctrl-C in the middle of the work gives one line and exit code 130."""
    monkeypatch.setattr("localbayes.study.run.work", _interrupt)
    words = ["--sets", "labor", "--methods", "NB", "--jobs", "1", "--store", str(tmp_path / "s.db")]
    result = invoke("run", *words)
    assert result.exit_code == 130
    assert result.stderr.startswith("interrupted; ")


def _interrupt(*_):
    raise KeyboardInterrupt


def test_a_narrow_terminal_in_this_process(tmp_path, monkeypatch):
    """Too many columns for the terminal are shown without deviations."""
    monkeypatch.setenv("COLUMNS", "40")
    path = paper_store(tmp_path / "s.db", ["iris"])
    with Store(path) as store:
        brief = cli._rich_table(examine(store), brief=True)
    assert brief.row_count == 3


def test_silence_in_a_pipe(tmp_path):
    """In a pipe there is no bar, and nothing on stderr."""
    words = ["run", "--sets", "labor", "--methods", "NB", "--jobs", "1", "--store", str(tmp_path / "s.db")]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_ctrl_c(tmp_path):
    """Ctrl-C ends the run and its processes with one line and exit code 130; what was done stays done."""
    path = tmp_path / "s.db"
    words = ["run", "--sets", "credit-g,vote", "--methods", "ICLNB,LWNB", "--jobs", "2", "--store", str(path)]
    process = subprocess.Popen(
        [*INTERRUPTIBLE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until_rows(process, path, 5)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.strip() == f"interrupted; {path} keeps what is done, run again to go on"
    before = len(answers(path))
    assert before >= 5
    with Store(path) as store:
        held = store._db.execute("SELECT owner FROM claims").fetchall()
        assert all(store.free(*key) for key in store._db.execute("SELECT dataset, task, run FROM claims")), (
            held
        )


def test_results_of_another_version_are_told(tmp_path):
    """A store is not made anew for a new version: a run that keeps older results of our columns says so."""
    from localbayes import __version__

    path = tmp_path / "s.db"
    words = ["run", "--sets", "labor", "--methods", "NB,own=hostile_methods:Stubborn", "--runs", "1"]
    words += ["--folds", "2", "--jobs", "1", "--store", str(path)]

    def stderr_with(column: str, version: str) -> list[str]:
        with Store(path) as store, store.transaction():
            store._db.execute("UPDATE folds SET version = ? WHERE method = ?", (version, column))
        return [line for line in invoke(*words).stderr.splitlines() if "warning" in line]

    invoke(*words)
    assert stderr_with("own", "0.0.1") == [], "a classifier of one's own is told apart by its description"
    assert stderr_with("NB", "0.0.1") == [
        f"warning: the store {path} keeps results of localbayes 0.0.1, this is {__version__}: "
        "use another store to have them all from this one"
    ]
    assert stderr_with("NB", __version__) == []
    with Store(path) as store:
        assert store.other_versions(["labor"], ["NB", "own"], __version__) == ["0.0.1"]
