"""`study show` cuts nothing off, and `study run` says what failed."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from command_line import ok, on_terminal, refused, run
from localbayes.cli import study as study_command
from localbayes.study import FoldRow, Store, paper_table
from localbayes.study.findings import examine
from study_support import paper_store


def wide_store(path: Path, more: list[str]) -> Path:
    """Make a store with the paper's ten columns and others on three data sets, one of a long name."""
    paper_store(path, ["iris", "vote", "zoo"], {"zoo": "z" * 30})
    with Store(path) as store:
        store.add_methods([(column, "") for column in more])
        for i, column in enumerate(more):
            right = 6000 + i
            rows = [
                (s.name, column, 1, f, 10_000, right, right, right) for s in store.sets() for f in range(2)
            ]
            store.add([FoldRow(*row) for row in rows])
    return path


def assert_nothing_is_cut(seen: str, more: list[str], width: int) -> None:
    """Every heading, name and figure is there, in lines of at most so many characters."""
    assert "…" not in seen
    assert max(len(line) for line in seen.splitlines()) <= width
    paper = paper_table().only(["iris", "vote", "zoo"], paper_table().columns)
    expected = [f"{cell.mean:.2f}" for cell in paper.cells.values()]
    expected += 3 * [f"{60 + i / 100:.2f}" for i in range(len(more))]
    for figure, count in Counter(expected).items():
        assert len(re.findall(rf"\b{re.escape(figure)}\b", seen)) >= count
    for column in paper.columns:
        assert re.search(rf"\b{column}\b", seen)
    # A name that is longer than the terminal goes over several lines.
    for column in more:
        assert seen.count(column[0]) == len(column)
    blocks = seen.count("data set")
    assert seen.count("z") == 30 * blocks
    assert seen.count("average") == blocks


@pytest.mark.parametrize("width", [45, 80, 120, 400])
def test_show_cuts_nothing_off(tmp_path: Path, width: int) -> None:
    """The table comes in as many blocks as it needs, each with the names of the data sets."""
    more = [100 * "#", 12 * "@"]
    with Store(wide_store(tmp_path / "s.db", more)) as store:
        blocks = study_command._blocks(examine(store), width)
    page = io.StringIO()
    for block in blocks:
        Console(file=page, width=width).print(block)
    assert_nothing_is_cut(page.getvalue(), more, width)
    assert ("±" in page.getvalue()) == (len(blocks) == 1) == (width == 400)


def test_show_on_a_terminal(tmp_path: Path) -> None:
    """On a terminal of 80 columns all eleven columns can be read."""
    more = [90 * "#"]
    path = wide_store(tmp_path / "s.db", more)
    assert_nothing_is_cut(on_terminal("study", "show", "--store", path, columns=80), more, 80)


def test_show_in_a_pipe(tmp_path: Path) -> None:
    """In a pipe the table is one, however long the names are, with deviations."""
    more = [300 * "#", 90 * "@", 80 * "$"]
    text = ok("study", "show", "--store", wide_store(tmp_path / "s.db", more))
    (head,) = (line for line in text.splitlines() if "data set" in line)
    assert head.split() == ["data", "set", *paper_table().columns, *more]
    assert text.count("±") == 3 * 13


def test_a_study_says_what_failed(tmp_path: Path) -> None:
    """Folds that failed are counted apart, and a set without results is named below the table."""
    rows = "a,b,yes\nc,b,no\n" * 20
    (tmp_path / "good.csv").write_text("x,y,class\n" + rows)
    (tmp_path / "ragged.csv").write_text("x,y,class\n" + rows + "a,b\n")
    store = tmp_path / "s.db"
    common = ["--methods", "NB", "--runs", 1, "--jobs", 1, "--store", store]
    both = run("study", "run", "--sets", f"{tmp_path}/good.csv,{tmp_path}/ragged.csv", *common)
    assert both.exit_code == 1
    assert both.stdout.startswith(f"{store}: 10 fold results and 10 failures in ")
    shown = ok("study", "show", "--store", store)
    assert shown.endswith("\nnot shown: ragged (10 failed folds)\n")
    # One name is right for the file that can be read; the other one tells what is wrong with it as before.
    words = [
        "study",
        "run",
        "--sets",
        f"{tmp_path}/good.csv,{tmp_path}/ragged.csv",
        *common[:-1],
        tmp_path / "t.db",
    ]
    assert "10 fold results and 10 failures" in run(*words, "--target", "class").stdout


def test_a_study_refuses_a_target_that_is_not_there(tmp_path: Path) -> None:
    """A mistyped --target is one line, and no store is made."""
    (tmp_path / "good.csv").write_text("x,y,class\n" + "a,b,yes\nc,b,no\n" * 20)
    common = ["--methods", "NB", "--store", tmp_path / "s.db"]
    line = refused("study", "run", "--sets", tmp_path / "good.csv", "--target", "klass", *common)
    assert line.endswith("good.csv: no column is called 'klass'; did you mean 'class'?")
    assert not (tmp_path / "s.db").exists()


def test_a_report_goes_into_a_folder(tmp_path: Path) -> None:
    """A file in its place is named before the store is opened."""
    (tmp_path / "votes.csv").write_text("")
    line = refused("study", "report", "--store", tmp_path / "absent.db", "--out", tmp_path / "votes.csv")
    assert line == f"error: {tmp_path / 'votes.csv'} is a file; expected a folder"
