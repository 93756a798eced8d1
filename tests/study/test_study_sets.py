"""Data sets of a study: found by name, in folders and files, or refused by name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from localbayes.cli import app
from localbayes.study import (
    make_plan,
    run_study,
)
from localbayes.study.study_sets import SetSource, files_not_used, find_sets
from study_support import COMMAND, answers

OWN = """@relation fruit
@attribute colour {red, green, blue}
@attribute note string
@attribute size numeric
@attribute kind {apple, pear}
@data
red,a,1,apple
green,b,2,apple
green,a,?,pear
red,b,4,pear
green,a,5,pear
red,b,6,apple
"""


def test_own_files(tmp_path, monkeypatch):
    """Any ARFF or CSV file is a data set; text is a category, the class is last or the one named."""
    monkeypatch.chdir(tmp_path)
    Path("fruit.arff").write_text(OWN)
    Path("iris.csv").write_text("a,b,k\n" + "".join(f"{i % 3},x{i % 2},{'yn'[i % 2]}\n" for i in range(12)))
    arff, csv = find_sets(["fruit.arff", "iris.csv"])
    assert (arff.name, csv.name) == ("fruit", "iris.csv"), "a file is never taken for the paper's iris"
    fruit = arff.load()
    assert (fruit.info.n, fruit.info.m, fruit.info.r, fruit.info.published) == (6, 4, 2, False)
    assert fruit.coded.sizes.tolist() == [3, 2, 10]
    (absent,) = find_sets(["iris.csv"], target="z")
    with pytest.raises(ValueError, match="no column is called 'z'; expected one of 'a', 'b', 'k'"):
        absent.load()
    (by_name,) = find_sets(["iris.csv"], target="b")
    assert by_name.load().classes == ["x0", "x1"]
    outcome = run_study(make_plan(["iris.csv"], ["NB"], runs=1, folds=3), "s.db")
    assert (outcome.rows, outcome.failed) == (3, 0)


@pytest.mark.parametrize("ending", ["csv", "arff"])
def test_a_target_of_measured_numbers(tmp_path, ending):
    """Fractions are no classes; whole numbers are, also where they are written 1.0."""
    heads = {"csv": "a,cls\n", "arff": "@relation x\n@attribute a numeric\n@attribute cls numeric\n@data\n"}
    measured, whole = tmp_path / f"measured.{ending}", tmp_path / f"whole.{ending}"
    measured.write_text(heads[ending] + "".join(f"{i},{i + 0.2232}\n" for i in range(12)))
    whole.write_text(heads[ending] + "".join(f"{i},{1 + i % 2}.0\n" for i in range(12)))
    plan = make_plan([str(measured), str(whole)], ["NB"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (6, 3)
    assert outcome.first_error.endswith(
        "measured." + ending + ": the target 'cls' holds numbers such as 0.2232; "
        "expected classes: text or whole numbers"
    )
    assert SetSource("whole", whole).load().classes == [1.0, 2.0]
    lacking = tmp_path / f"lacking.{ending}"
    lacking.write_text(whole.read_text() + "3,?\n")
    with pytest.raises(ValueError, match="1 of 13 rows have no value in the target 'cls'"):
        SetSource("lacking", lacking).load()


def test_endings_in_capitals(tmp_path):
    """FRUIT.ARFF and FRUIT.CSV are read as what they are."""
    (tmp_path / "FRUIT.ARFF").write_text(OWN)
    (tmp_path / "TABLE.CSV").write_text("a,b,k\n1,x,y\n2,y,n\n")
    fruit, table = (source.load() for source in find_sets([str(path) for path in sorted(tmp_path.iterdir())]))
    assert (fruit.info.name, fruit.coded.sizes.tolist()) == ("FRUIT", [3, 2, 10])
    assert (table.info.name, table.classes) == ("TABLE", ["n", "y"])


@pytest.mark.parametrize(
    ("names", "data", "message"),
    [
        (["nothing"], None, "neither one of the paper's sets nor a file"),
        (["table.txt"], None, "ends in '.txt'"),
        (["one/x.csv", "two/x.csv"], None, "two data sets are called 'x'"),
        (None, "absent", "does not exist"),
        (None, ".", "none of the paper's 36 sets"),
    ],
)
def test_data_that_cannot_be_found(tmp_path, monkeypatch, names, data, message):
    """Names that are no data set, files of another kind and empty folders are refused by name."""
    monkeypatch.chdir(tmp_path)
    for name in ("table.txt", "one/x.csv", "two/x.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=message):
        find_sets(names, Path(data) if data else None)


def test_a_list_of_sets_may_be_longer_than_a_file_name(tmp_path):
    """The names of all sets between commas are taken apart, though no file could be called so."""
    arguments = ["run", "--sets", ",".join(["iris", *50 * ["labor"]]), "--methods", "NB", "--runs", "1"]
    done = subprocess.run(
        [*COMMAND, *arguments, "--jobs", "1", "--store", str(tmp_path / "s.db")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(answers(tmp_path / "s.db")) == 20


def test_named_groups_of_sets(tmp_path):
    """`paper` is all 36, `embedded` nine, and a folder offers what it has."""
    assert len(find_sets(["paper"])) == 36
    assert len(find_sets()) == len(find_sets(["embedded", "iris"])) == 9
    (tmp_path / "zoo.arff").write_text("")
    assert [source.name for source in find_sets(None, tmp_path)] == ["zoo"]


@pytest.mark.parametrize(
    ("options", "message"), [({"runs": 0}, "runs must be"), ({"folds": 1}, "folds must be")]
)
def test_plans_that_cannot_be(options, message):
    """A plan needs at least one run and two folds."""
    with pytest.raises(ValueError, match=message):
        make_plan(["iris"], **options)


def test_a_data_set_that_cannot_be_used(tmp_path):
    """A broken or too small file fails in rows of its own, and other data sets go on."""
    (tmp_path / "broken.arff").write_text("@relation x\n@attribute a {1,2}\n@data\n3\n")
    (tmp_path / "tiny.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "unlabelled.csv").write_text("a,b\n1,x\n2,\n3,y\n")
    (tmp_path / "alone.csv").write_text("kind\n" + "x\ny\n" * 9)
    (tmp_path / "cut.csv").write_text("a,b\n" + "1,x\n2,y\n" * 9 + "1")
    names = ("broken.arff", "tiny.csv", "unlabelled.csv", "alone.csv", "cut.csv")
    files = [str(tmp_path / name) for name in names]
    outcome = run_study(make_plan([*files, "labor"], ["NB"], runs=1, folds=3), tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (18, 15)
    assert "line 20: expected 2 values, got 1" in answers(tmp_path / "s.db")["cut", "NB", 1, 1][3]
    errors = {key[0]: value[3] for key, value in answers(tmp_path / "s.db").items()}
    assert errors["labor"] is None
    assert "cannot make 3 folds of 2 rows" in errors["tiny"]
    assert "1 of 3 rows have no value in the target 'b'" in errors["unlabelled"]
    assert "cannot use the data set" in errors["broken"]
    assert "alone.csv has no column beside the target 'kind'; expected features too" in errors["alone"]


def test_folders_of_ones_own_data(tmp_path):
    """Every data file of a folder is a data set, Parquet too; what is left out is named."""
    table = pd.DataFrame({"a": [1.5, 2.5] * 9, "b": list("xy") * 9, "c": ["p", "q"] * 9})
    table.to_parquet(tmp_path / "first.parquet")
    table.to_csv(tmp_path / "second.csv", index=False)
    table.to_csv(tmp_path / "third.tsv", index=False, sep="\t")
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / ".hidden").write_text("nothing")
    assert [source.name for source in find_sets(None, tmp_path)] == ["first", "second", "third"]
    assert files_not_used(tmp_path) == ["notes.txt"]
    plan = make_plan(None, ["NB"], runs=1, folds=3, data_dir=tmp_path)
    assert run_study(plan, tmp_path / "s.db").failed == 0
    found = answers(tmp_path / "s.db")
    rows = [[found[name, "NB", 1, fold] for fold in range(3)] for name in ("first", "second", "third")]
    assert rows[0] == rows[1] == rows[2]
    words = ["--data", str(tmp_path), "--methods", "NB", "--runs", "1", "--folds", "3", "--jobs", "1"]
    result = CliRunner().invoke(app, ["study", "run", *words, "--store", str(tmp_path / "t.db")])
    assert result.exit_code == 0
    assert result.stderr == f"not used of {tmp_path}: notes.txt, s.db; --sets takes files by name\n"


def test_folders_with_sets_of_the_paper(tmp_path):
    """Where a folder has some of the paper's sets, these are used, and other data files are named."""
    for name in ("zoo.arff", "mine.arff", "other.csv"):
        (tmp_path / name).write_text("")
    assert [source.name for source in find_sets(None, tmp_path)] == ["zoo"]
    assert files_not_used(tmp_path) == ["mine.arff", "other.csv"]
