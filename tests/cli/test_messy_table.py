"""A table as people have it: ids, dates in several formats, decimal commas, and commands that say so."""

from __future__ import annotations

import os
import pty
import re
from pathlib import Path

import pytest

from command_line import PATIENCE, ok, refused, run, spawn
from localbayes.datasets.registry import PAPER_SETS
from terminal import read_terminal

DAYS = ("2024-01-{d:02}", "2024/1/{d}", "{d}.1.2024")


@pytest.fixture
def customers(tmp_path: Path) -> Path:
    """Sixty customers; who leaves is told by the plan, and by the day on which they came."""
    lines = ["customer;joined;income;plan;churn"]
    for k in range(60):
        day = DAYS[k % 3].format(d=k % 28 + 1)
        lines.append(
            f"C-{k};{day};{1000 + 13 * k},5;{'plus' if k % 4 else 'basic'};{'no' if k % 4 else 'yes'}"
        )
    (tmp_path / "customers.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "customers.csv"


def test_fit_says_what_is_dropped_and_what_is_a_date(customers: Path, tmp_path: Path) -> None:
    """An id is no number of one bin, and dates of three formats are one column of dates."""
    model = tmp_path / "m.skops"
    told = run("fit", customers, "--decimal", ",", "-t", "churn", "-o", model)
    assert "\nnominal  plan (2 values)\n" in told.stdout
    assert re.search(r"\nnumeric  income \(\d+ bins\)\ndates    joined \(\d+ bins\)\n", told.stdout)
    assert "\ndropped  customer (id)\n" in told.stdout
    assert "left out column 'customer'" in told.stderr
    assert "dropped  customer (id)" in ok("info", model)


def test_a_column_of_ids_is_used_if_it_is_named(customers: Path, tmp_path: Path) -> None:
    """What the warning advises works on the command line."""
    said = run("fit", customers, "--decimal", ",", "-t", "churn", "-o", tmp_path / "a.skops").stderr
    assert "(--categorical)" in said
    told = run(
        "fit",
        customers,
        "--decimal",
        ",",
        "-t",
        "churn",
        "-o",
        tmp_path / "b.skops",
        "--categorical",
        "customer",
    )
    assert told.stderr == ""
    assert "nominal  customer (60 values), plan (2)" in told.stdout


def test_numbers_with_another_decimal_point_are_asked_about(customers: Path, tmp_path: Path) -> None:
    """Read as text they would be an id; the line says what to do."""
    said = run("fit", customers, "--sep", ";", "-t", "churn", "-o", tmp_path / "m.skops").stderr
    assert (
        f"warning: {customers}: the column 'income' holds text such as '1000,5'; "
        "if these are numbers, say --decimal ,\n" in said
    )
    quoted = tmp_path / "quoted.csv"
    quoted.write_text('a,class\n"1,5",x\n"2,5",y\n')
    assert "if these are numbers, write them with '.'\n" in run("inspect", quoted, "-t", "class").stderr


def test_a_warning_is_said_once_and_above_the_bar(customers: Path) -> None:
    """Not by every fold; and a terminal breaks it between words."""
    words = ("evaluate", customers, "--decimal", ",", "-t", "churn", "-m", "NB,TAN")
    assert run(*words).stderr.count("left out columns") == 1
    ours, theirs = pty.openpty()
    with spawn(*words, stdout=-1, stderr=theirs) as process:
        os.close(theirs)
        shown = read_terminal(ours, PATIENCE).decode()
        process.communicate(timeout=PATIENCE)
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    lines = re.split(r"[\r\n]+", plain)
    assert sum("left out columns" in line for line in lines) == 1
    assert any(line.startswith("warning: left out columns") for line in lines)
    assert max(map(len, lines)) <= 80


def test_rows_that_only_share_what_is_left_out_do_not_agree_in_it(customers: Path, tmp_path: Path) -> None:
    """Ids are not counted among the columns in which training rows agree."""
    model = tmp_path / "m.skops"
    run("fit", customers, "--decimal", ",", "-t", "churn", "-o", model, "--drop", "joined")
    told = ok("explain", model, customers, "--decimal", ",")
    assert "customer = C-0, left out" in told
    assert " 2 of 2 nothing" in " ".join(told.split())
    assert " of 3 " not in " ".join(told.split())


def test_many_methods_fit_a_terminal() -> None:
    """A row for every method, all figures whole."""
    told = ok("evaluate", "iris", "-m", "all", "--folds", "2")
    names = re.findall(r"^  (\w+) +\d+\.\d\d +0\.\d{4} ", told, re.MULTILINE)
    assert names[:3] == ["LocalBayesClassifier", "LCWNB", "NB"]
    assert len(names) == 9


def test_names_of_sets_that_are_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is no file is not taken for a table without a target."""
    monkeypatch.setenv("LOCALBAYES_CACHE", str(tmp_path))
    assert "letter" in PAPER_SETS
    assert refused("evaluate", "letter").endswith("package: localbayes data download letter")
    assert "no file or embedded set is called 'vot'; did you mean 'vote'?" in refused("evaluate", "vot")
