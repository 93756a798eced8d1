"""The command as a process: encodings, terminals, pipes and Ctrl-C."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from command_line import IRIS, PATIENCE, ok, on_terminal, run, spawn
from localbayes.cli.waiting import sign_of_life
from localbayes.datasets import embedded_path
from terminal import read_terminal


def test_a_process_fails_with_one_line_and_code_2() -> None:
    """The installed program behaves as in the tests above: exit code 2, one line, no traceback."""
    with spawn("evaluate", IRIS, "--target", "klass", stdout=-1, stderr=-1) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, b"")
    assert err.decode() == f"error: {IRIS}: no column is called 'klass'; did you mean 'class'?\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_every_encoding_gets_the_result(encoding: str, tmp_path: Path) -> None:
    """What an encoding lacks is written in letters that it has; the figures are the same in all."""
    ok("fit", IRIS, "--target", "class", "-m", "LCWNB", "-o", tmp_path / "m.skops")
    stand_ins = {"±": "+-", "×": "x", "÷": "/", "█": "#", "│": "|", "−": "-", "–": "-", "≤": "<="}
    for words in (
        ["evaluate", IRIS, "-t", "class", "-m", "NB"],
        ["tune", IRIS, "-t", "class"],
        ["explain", tmp_path / "m.skops", IRIS],
    ):
        plain = ok(*words)
        with spawn(*words, stdout=-1, stderr=-1, encoding=encoding) as process:
            out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, b"")

        def bare(text: str) -> list[str]:
            """Words without the lines around cells, which are of other characters."""
            for sign, letters in stand_ins.items():
                text = text.replace(sign, letters)
            return re.sub(r"[|─]|[+-]{3,}|-{3,}", " ", text).replace("+ ", " ").split()

        assert bare(out.decode(encoding)) == bare(plain)


def test_names_stay_apart_in_every_encoding(tmp_path: Path) -> None:
    """Letters that an encoding lacks are written as their numbers, so that two classes are not one."""
    table = tmp_path / "t.csv"
    table.write_text("a,class\n" + "u,日\nv,本\n" * 9, encoding="utf-8")
    ok("fit", table, "--target", "class", "-m", "NB", "-o", tmp_path / "m.skops")
    with spawn("explain", tmp_path / "m.skops", table, stdout=-1, stderr=-1, encoding="ascii") as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    assert b"Predicted \\u65e5" in out
    assert b"ahead of \\u672c" in out


def test_a_pipe_sees_neither_progress_nor_colours() -> None:
    """In a pipe the output is the plain result, also where a CI system asks for colours."""
    with spawn("evaluate", IRIS, "--target", "class", stdout=-1, stderr=-1) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert err == b""
    assert b"\x1b" not in out
    assert "LocalBayesClassifier()" in out.decode()
    assert run("evaluate", IRIS, "--target", "class", env={"FORCE_COLOR": "1"}).stderr == ""


def test_a_terminal_sees_progress() -> None:
    """On a terminal a bar counts the folds, on stderr, while stdout carries the result only."""
    ours, theirs = pty.openpty()
    with spawn("evaluate", IRIS, "--target", "class", stdout=-1, stderr=theirs) as process:
        os.close(theirs)
        shown = read_terminal(ours, PATIENCE)
        out, _ = process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == 0
    assert b"evaluating" in shown
    assert b"10/10" in shown
    assert b"evaluating" not in out


@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_terminal_loses_nothing(columns: int, tmp_path: Path) -> None:
    """Figures stand whole in it, and names have all their letters, in lines that fit."""
    data = embedded_path("breast-cancer")
    ok("fit", data, "--target", "Class", "-o", tmp_path / "m.skops")
    for words in (
        ["tune", data, "-t", "Class"],
        ["data", "list"],
        ["evaluate", IRIS, "-t", "class", "--missing", "ignore"],
        ["explain", tmp_path / "m.skops", data, "--top", 3],
    ):
        piped = ok(*words)
        shown = on_terminal(*words, columns=columns)
        # The first line is for the terminal to break.
        assert max(map(len, shown.splitlines()[1:])) <= columns
        assert "…" not in shown
        figures = re.compile(r"(?<![\w.,-])[+−]?\d+\.\d+(?![\w,-])")
        assert sorted(figures.findall(shown)) == sorted(figures.findall(piped))
        letters = [Counter(c for c in text if c.isalnum()) for text in (shown, piped)]
        assert letters[0] == letters[1]
        if words[0] == "explain":
            assert ("█" in shown) == (columns > 40)


def test_explain_in_a_pipe_cuts_and_wraps_nothing(tmp_path: Path) -> None:
    """However long a name is, it stands on one line, whatever COLUMNS says."""
    name = "n" * 300
    (tmp_path / "t.csv").write_text(f"{name},class\n" + "a,yes\nb,no\n" * 9)
    ok("fit", tmp_path / "t.csv", "--target", "class", "-m", "LCWNB", "-o", tmp_path / "m.skops")
    told = run("explain", tmp_path / "m.skops", tmp_path / "t.csv", env={"COLUMNS": "40"}).stdout
    assert f"{name} = a" in told.splitlines()[0]
    assert re.search(rf"^ +{name} = a +│█+ +× [\d.]+ +\+[\d.]+ +$", told, re.MULTILINE)


@pytest.mark.parametrize("moment", ["import", "arguments"])
def test_ctrl_c_is_heard_before_the_command_runs(moment: str) -> None:
    """While modules are imported and arguments read, an interrupt is one line and code 130 too."""
    early = {
        "import": "import sys; sys.meta_path.insert(0, type('Finder', (), {'find_spec': stop})())",
        "arguments": "import localbayes.cli.plain as plain; plain.PlainGroup.make_context = stop",
    }
    code = f"""
def stop(self, name, *more, **others):
    if {moment!r} == "arguments" or name == "typer":
        raise KeyboardInterrupt
{early[moment]}
from localbayes.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "methods"], capture_output=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")


def test_ctrl_c_is_one_line_and_code_130(tmp_path: Path) -> None:
    """An interrupt in the middle of the work ends it with one line and the usual exit code."""
    fifo = tmp_path / "slow.csv"
    os.mkfifo(fifo)
    process = spawn("evaluate", fifo, "--target", "class", stdout=-1, stderr=-1)
    # Opening succeeds when the command has opened the other end: it is at work now.
    with process, fifo.open("wb"):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    """As in `predict ... | head`, a closed pipe ends the program silently."""
    ok("fit", IRIS, "--target", "class", "-o", tmp_path / "m.skops")
    reading, writing = os.pipe()
    os.close(reading)
    with spawn("predict", tmp_path / "m.skops", IRIS, stdout=writing, stderr=-1) as process:
        os.close(writing)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (141, b"")


def test_starting_loads_nothing_that_only_some_commands_need() -> None:
    """The command line imports plotting, clusters, model files and reports when they are used."""
    code = "import sys, localbayes.cli.commands; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE).stdout
    assert not {"matplotlib", "dask", "distributed", "skops", "jinja2", "polars"} & set(loaded.split())


def test_standard_input_is_a_table(tmp_path: Path) -> None:
    """`-` reads what another program writes, for learning and for predicting."""
    table = pd.read_csv(io.StringIO(ok("data", "export", "iris"))).to_csv(index=False).encode()
    model = tmp_path / "m.skops"
    for words in (["fit", "-", "-t", "class", "-o", model], ["predict", model, "-", "--proba"]):
        with spawn(*words, stdin=-1, stdout=-1, stderr=-1) as process:
            out, err = process.communicate(table, timeout=PATIENCE)
        assert (process.returncode, err) == (0, b"")
    (tmp_path / "t.csv").write_bytes(table)
    assert out.decode() == ok("predict", model, tmp_path / "t.csv", "--proba")


def test_long_work_shows_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, after a moment, the work is named; it is gone when the work is done."""
    shown = threading.Event()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            if "fitting" in text:
                shown.set()
            return super().write(text)

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("localbayes.cli.waiting._MOMENT", 0.0)
    with sign_of_life("fitting"):
        assert shown.wait(PATIENCE)
    monkeypatch.setattr(sys, "stderr", pipe := io.StringIO())
    with sign_of_life("fitting"):
        pass
    assert pipe.getvalue() == ""
