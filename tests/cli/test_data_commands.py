"""`localbayes data` says in one line what is right and what is wrong."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from localbayes.cli import app
from localbayes.datasets import EMBEDDED, PAPER_SETS, embedded_path
from openml_server import Server, saying
from terminal import read_terminal


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["data", *args])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        monkeypatch.setenv("LOCALBAYES_OPENML", running.url)
        yield running


def test_list_shows_sizes_and_places(tmp_path: Path) -> None:
    """All 36 sets are listed with the paper's n, m, r and where they can be had."""
    (tmp_path / "zoo.arff").write_text("")
    (tmp_path / "iris.arff").write_text("")
    result = run("list", "--cache", str(tmp_path))
    assert result.exit_code == 0
    rows = {words[0]: words[1:] for words in map(str.split, result.output.splitlines()) if words}
    assert set(PAPER_SETS) <= set(rows)
    assert rows["letter"] == ["20000", "17", "26", "OpenML", "6"]
    assert rows["primary-tumor"][:3] == ["339", "18", "21"]
    assert rows["zoo"] == ["101", "18", "7", "animal", "cache"]
    assert rows["iris"] == ["150", "5", "3", "embedded,", "cache"]
    assert all("embedded" in " ".join(rows[name]) for name in EMBEDDED)
    assert "\x1b" not in result.output


def test_verify(tmp_path: Path) -> None:
    """Right files give exit 0, one wrong file exit 1 and its reason, a wrong folder exit 2."""
    (tmp_path / "iris.arff").write_bytes(embedded_path("iris").read_bytes())
    result = run("verify", str(tmp_path))
    assert result.exit_code == 0
    assert "ok       iris\n" in result.output
    assert result.output.count("missing  ") == 35
    (tmp_path / "vote.arff").write_bytes(embedded_path("vote").read_bytes()[:5000])
    result = run("verify", str(tmp_path))
    assert result.exit_code == 1
    assert "differs  vote: " in result.output
    assert len(result.output.splitlines()) == 37
    assert result.output.endswith("\n1 ok, 34 missing, 1 differ\n")
    (tmp_path / "empty").mkdir()
    result = run("verify", str(tmp_path / "empty"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: no ARFF file of the paper's sets in {tmp_path / 'empty'}")
    result = run("verify", str(tmp_path / "absent"))
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1


def test_verify_the_papers_files(paper_data: Path) -> None:
    """Weka's copies of the 36 sets are all right."""
    result = run("verify", str(paper_data))
    assert result.exit_code == 0
    *lines, last = result.output.splitlines()
    assert [line.split() for line in lines] == [["ok", name] for name in PAPER_SETS]
    assert last == "36 ok, 0 missing, 0 differ"


def test_download(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set is downloaded, then found in the cache; nothing but words goes into a pipe, as in CI systems."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("download", "iris", "--cache", str(tmp_path))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "downloaded  iris\n", "")
    result = run("download", "iris", "--cache", str(tmp_path))
    assert (result.exit_code, result.stdout) == (0, "cached      iris\n")
    assert (tmp_path / "iris.arff").read_bytes() == server.content


def test_download_refuses_and_goes_on(server: Server, tmp_path: Path) -> None:
    """A set with other content is refused in one line, the next one is still fetched, and the exit is 2."""
    result = run("download", "vote", "iris", "--cache", str(tmp_path))
    assert result.exit_code == 2
    assert result.stdout == "downloaded  iris\n"
    assert result.stderr.startswith("refused     vote: refused what ")
    assert len(result.stderr.splitlines()) == 1


def test_download_without_names_means_all(server: Server, tmp_path: Path) -> None:
    """All 36 numbers are asked for, of which this server has only iris."""
    result = run("download", "--cache", str(tmp_path))
    assert result.exit_code == 2
    assert result.stdout == "downloaded  iris\n"
    assert len(result.stderr.splitlines()) == 35
    asked = {int(path.rsplit("/", 1)[1]) for path, _ in server.requests if path.startswith("/api/")}
    assert asked == {paper_set.openml_id for paper_set in PAPER_SETS.values()}


@pytest.mark.parametrize("names", [["irs"], ["iris", "nosuch"]])
def test_wrong_names_are_told_before_anything_is_downloaded(
    server: Server, tmp_path: Path, names: list[str]
) -> None:
    """A mistyped name is one line and exit 2, and the server is not bothered."""
    result = run("download", *names, "--cache", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.startswith("error: no data set of the paper is called")
    assert len(result.stderr.splitlines()) == 1
    assert server.requests == []
    # Nothing is near to the second name, so some that exist are listed.
    assert ("did you mean 'iris'?" in result.stderr) == (names == ["irs"])
    assert ("expected one of 'anneal', " in result.stderr) == (names != ["irs"])


def test_download_errors_are_one_line(server: Server, tmp_path: Path) -> None:
    """A server that fails, and a cache that is a file, each give one line and exit 2."""
    server.descriptions = [saying(b"", 404)]
    result = run("download", "iris", "--cache", str(tmp_path))
    assert result.exit_code == 2
    assert "answered 404" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    (tmp_path / "file").write_text("")
    result = run("download", "iris", "--cache", str(tmp_path / "file"))
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_progress_on_a_terminal(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person at a terminal sees a bar with the name of the set; standard output has the words only."""
    monkeypatch.setenv("TERM", "xterm")
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with pytest.raises(SystemExit, match=r"^0$"):
            app(["data", "download", "iris", "--cache", str(tmp_path)])
    shown = read_terminal(reader, patience=60)
    os.close(reader)
    assert b"iris" in shown
    assert b"\x1b[" in shown
    assert capsys.readouterr().out == "downloaded  iris\n"
