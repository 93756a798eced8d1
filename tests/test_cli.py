"""The command line: the same answers as from Python, one line for every error."""

from __future__ import annotations

import contextlib
import csv
import datetime
import gzip
import io
import os
import pty
import re
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
import skops.io
from rich.console import Console
from sklearn.metrics import accuracy_score, log_loss
from typer.testing import CliRunner, Result

import localbayes
from localbayes import LCWNB, NB, kernels
from localbayes.classifiers import METHODS
from localbayes.cli import app
from localbayes.cli import study as study_command
from localbayes.cli.errors import describe
from localbayes.cli.evaluate import cross_validate
from localbayes.cli.progress import progress_bar
from localbayes.datasets import embedded_path, load
from localbayes.encoding import Coded
from localbayes.persistence import load_model, save_model
from localbayes.study import FoldRow, Store, paper_table
from localbayes.study.findings import examine
from localbayes.weka import WekaFolds
from study_support import paper_store
from terminal import read_terminal

IRIS = str(embedded_path("iris"))
# Variables with which terminals and CI systems ask for colours.
PLAIN = {"FORCE_COLOR": None, "CLICOLOR_FORCE": None, "GITHUB_ACTIONS": None, "PY_COLORS": None}
# A command that takes so many seconds is stuck.
PATIENCE = 300
SCRIPT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import localbayes.__main__"


def run(*args: object, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner(env=PLAIN | (env or {})).invoke(app, [str(arg) for arg in args], prog_name="localbayes")


def ok(*args: object) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def refused(*args: object, env: dict[str, str | None] | None = None) -> str:
    """Run a command that must fail; return its one line."""
    result = run(*args, env=env)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.endswith("\n")
    line = result.stderr[:-1]
    assert line.startswith("error: ")
    assert "\n" not in line
    assert "Traceback" not in line
    return line


def spawn(
    *args: object, encoding: str = "utf-8", columns: int = 80, **options: Any
) -> subprocess.Popen[bytes]:
    """Start the command as a process of its own, with Ctrl-C as in a terminal."""
    env = {name: value for name, value in os.environ.items() if name not in PLAIN}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, args)],
        env=env | {"PYTHONIOENCODING": encoding, "TERM": "xterm", "COLUMNS": str(columns)},
        **options,
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    """Return a CSV file with text, numbers, codes that look like numbers, and missing values."""
    path = tmp_path / "cars.csv"
    path.write_text(
        "zip,colour,weight,model,class\n"
        "007,red,1.5,3,good\n007,blue,?,5,bad\n12,red,2.5,X,good\n12,,0.5,3,bad\n12,blue,1.0,X,bad\n"
    )
    return path


# --- fit and predict ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_fit_and_predict_give_what_python_gives(method: str, tmp_path: Path) -> None:
    """Probabilities that the command prints read back to the bits that the estimator computes."""
    X, y = load("labor")
    model = METHODS[method]().fit(X, y)
    data = embedded_path("labor")
    message = ok("fit", data, "--target", "class", "-o", tmp_path / "m.skops", "--method", method.lower())
    assert f"{method}(), 57 rows, 16 columns, 2 classes" in message
    printed = rows(ok("predict", tmp_path / "m.skops", data, "--proba"))
    assert [row["prediction"] for row in printed] == model.predict(X).tolist()
    proba = np.array([[float(row[f"proba_{c}"]) for c in model.classes_] for row in printed])
    assert proba.tobytes() == model.predict_proba(X).tobytes()


def test_options_reach_the_classifier(tmp_path: Path) -> None:
    """Every option sets the parameter of its name."""
    path = tmp_path / "m.skops"
    ok("fit", IRIS, "-t", "class", "-o", path, "--kappa", "switch", "--alpha", "0.5", "--n-bins", "4",
       "--missing", "category")  # fmt: skip
    found = load_model(path).get_params()
    assert (found["kappa"], found["alpha"], found["n_bins"], found["missing"]) == (
        "switch",
        0.5,
        4,
        "category",
    )
    ok("fit", IRIS, "-t", "class", "-o", path, "--kappa", "2.5", "-f")
    assert load_model(path).get_params()["kappa"] == 2.5
    ok(
        "fit",
        IRIS,
        "-t",
        "class",
        "-o",
        path,
        "-m",
        "LWNB",
        "--k",
        "7",
        "-p",
        "zero_distance=published",
        "-f",
    )
    found = load_model(path).get_params()
    assert (found["k"], found["zero_distance"]) == (7, "published")


def test_columns_are_found_by_name(cars: Path, tmp_path: Path) -> None:
    """Order of columns, additional columns and the presence of the class do not matter to predict."""
    ok("fit", cars, "--target", "class", "-o", tmp_path / "m.skops")
    first = ok("predict", tmp_path / "m.skops", cars, "--proba")
    frame = pd.read_csv(cars, dtype=str)
    shuffled = frame.drop(columns="class").iloc[:, ::-1].assign(more="x")
    shuffled.to_csv(tmp_path / "other.csv", index=False)
    assert ok("predict", tmp_path / "m.skops", tmp_path / "other.csv", "--proba") == first


def test_text_stays_text_where_it_looks_like_numbers(cars: Path, tmp_path: Path) -> None:
    """A file whose part of a text column is all digits is read as the model's text."""
    ok("fit", cars, "--target", "class", "-o", tmp_path / "m.skops", "--categorical", "zip")
    whole = rows(ok("predict", tmp_path / "m.skops", cars, "--proba"))
    lines = cars.read_text().splitlines(keepends=True)
    (tmp_path / "part.csv").write_text("".join(lines[:3]))
    part = rows(ok("predict", tmp_path / "m.skops", tmp_path / "part.csv", "--proba"))
    assert part == whole[:2]
    model = load_model(tmp_path / "m.skops")
    assert [column.values for column in model.encoder_.columns if hasattr(column, "values")] == [
        ["007", "12"],
        ["blue", "red"],
        ["3", "5", "X"],
    ]


def test_all_columns_may_be_categories(cars: Path, tmp_path: Path) -> None:
    """--categorical all leaves no column to be cut into bins, and the class alone."""
    ok("fit", IRIS, "--target", "class", "-o", tmp_path / "m.skops", "--categorical", "all")
    model = load_model(tmp_path / "m.skops")
    X, _ = load("iris")
    assert model.sizes_.tolist() == [X[name].nunique() for name in X]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "arff", "arff.gz"])
def test_all_formats_hold_the_same_table(ending: str, tmp_path: Path) -> None:
    """Predictions do not depend on the format in which a table is stored."""
    ok("fit", IRIS, "--target", "class", "-o", tmp_path / "m.skops")
    X, _ = load("iris")
    path = tmp_path / f"copy.{ending}"
    if ending == "parquet":
        X.to_parquet(path)
    elif ending.startswith("arff"):
        path.write_bytes(
            gzip.compress(Path(IRIS).read_bytes()) if "gz" in ending else Path(IRIS).read_bytes()
        )
    else:
        X.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    expected = ok("predict", tmp_path / "m.skops", IRIS, "--proba")
    assert ok("predict", tmp_path / "m.skops", path, "--proba") == expected


def test_outputs_as_csv_and_parquet_agree(tmp_path: Path) -> None:
    """A CSV file, a Parquet file and standard output carry the same numbers."""
    ok("fit", IRIS, "--target", "class", "-o", tmp_path / "m.skops")
    printed = ok("predict", tmp_path / "m.skops", IRIS, "--proba")
    told = ok("predict", tmp_path / "m.skops", IRIS, "--proba", "-o", tmp_path / "out.csv", "--jobs", 2)
    assert told == f"{tmp_path / 'out.csv'}: 150 predictions\n"
    assert (tmp_path / "out.csv").read_text() == printed
    ok("predict", tmp_path / "m.skops", IRIS, "--proba", "-o", tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert frame.to_csv(index=False) == printed


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_categories_that_are_not_text_are_found_in_files(tmp_path: Path, ending: str) -> None:
    """Truth values and whole numbers stay what the model knows them as, whatever stands beside them."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"smoker": rng.random(80) < 0.5, "ward": rng.integers(1, 5, 80)})
    y = np.where(frame["smoker"] ^ (frame["ward"] > 2), "ill", "well")
    model = METHODS["AODE"](categorical_features="all").fit(frame, y)
    save_model(model, tmp_path / "m.skops")
    asked = frame.astype({"ward": str})
    asked.loc[len(asked)] = [True, "other"]
    getattr(asked, f"to_{ending}")(tmp_path / f"t.{ending}", index=False)
    found = rows(ok("predict", tmp_path / "m.skops", tmp_path / f"t.{ending}"))
    assert [row["prediction"] for row in found[:-1]] == model.predict(frame).tolist() == y.tolist()


def test_large_whole_numbers_stay_the_categories_they_are(tmp_path: Path) -> None:
    """Also beside a missing one, and in a column called self."""
    ids = [9007199254740993, 9007199254740995] * 10
    save_model(
        NB(categorical_features="all").fit(pd.DataFrame({"self": ids}), ["p", "q"] * 10), tmp_path / "m.skops"
    )
    (tmp_path / "t.csv").write_text("self,other\n9007199254740995,1\n?,2\n9007199254740993,3\n")
    found = rows(ok("predict", tmp_path / "m.skops", tmp_path / "t.csv"))
    assert [row["prediction"] for row in found][::2] == ["q", "p"]


def test_types_of_parquet_that_csv_lacks(tmp_path: Path) -> None:
    """Dates and times in Parquet become text, so that a model file can keep them; bools stay bools."""
    days = [datetime.date(2020, 1, 1), None, datetime.date(2020, 2, 1), datetime.date(2020, 1, 1)]
    frame = pd.DataFrame(
        {
            "day": days,
            "flag": [True, False, True, True],
            "time": pd.to_datetime(["2020-01-01 12:00"] * 4),
            "declared": pd.Categorical(["a", "b", "a", "b"], categories=["b", "c", "a"]),
            "whole": pd.array([1, None, 2, 2], dtype="Int64"),
            "class": ["x", "y", "x", "y"],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    ok("fit", tmp_path / "t.parquet", "--target", "class", "-o", tmp_path / "m.skops")
    model = load_model(tmp_path / "m.skops")
    domains = {
        name: getattr(column, "values", "bins")
        for name, column in zip(model.encoder_.names, model.encoder_.columns, strict=True)
    }
    assert domains["day"] == ["2020-01-01", "2020-02-01"]
    assert domains["flag"] == [False, True]
    assert domains["time"] == ["2020-01-01 12:00:00"]
    assert domains["declared"] == ["b", "c", "a"]
    assert domains["whole"] == "bins"
    assert len(rows(ok("predict", tmp_path / "m.skops", tmp_path / "t.parquet"))) == 4


def test_a_model_made_from_an_array_takes_columns_by_position(tmp_path: Path) -> None:
    """Without names in the model, the columns of the table are taken as they stand."""
    X, y = load("iris")
    model = LCWNB().fit(X.to_numpy(), y)
    save_model(model, tmp_path / "m.skops")
    X.to_csv(tmp_path / "x.csv", index=False)
    printed = rows(ok("predict", tmp_path / "m.skops", tmp_path / "x.csv"))
    assert [row["prediction"] for row in printed] == model.predict(X.to_numpy()).tolist()
    assert "features" in refused("predict", tmp_path / "m.skops", IRIS)


# --- evaluate, methods, info ----------------------------------------------------------------------


def figures(text: str) -> list[float]:
    """Mean and sd of accuracy and log loss, out of the printed table."""
    return [float(number) for pair in re.findall(r"([\d.]+) ± ([\d.]+)", text) for number in pair]


def test_evaluate_agrees_with_scikit_learn() -> None:
    """Accuracy and log loss are those of scikit-learn's tools on the same folds."""
    X, y = load("glass")
    text = ok("evaluate", embedded_path("glass"), "--target", "Type", "--kappa", "10", "--folds", 5)
    assert "glass.arff: 214 rows, 9 columns, 7 classes; 5-fold cross-validation, 1 run" in text
    accuracy, losses, labels = [], [], sorted(y.cat.categories)
    for train, test in WekaFolds(5, 1).split(X, y):
        model = LCWNB(10).fit(X.iloc[train], y.iloc[train])
        accuracy.append(100 * accuracy_score(y.iloc[test], model.predict(X.iloc[test])))
        losses.append(log_loss(y.iloc[test], model.predict_proba(X.iloc[test]), labels=labels))
    expected = [statistic(values) for values in (accuracy, losses) for statistic in (mean, stdev)]
    assert figures(text)[:2] == pytest.approx(expected[:2], abs=0.0051)
    assert figures(text)[2:] == pytest.approx(expected[2:], abs=0.000051)


def test_evaluate_says_that_a_loss_is_infinite(tmp_path: Path) -> None:
    """Without smoothing the only row of a class with some value is impossible: inf, and no warning."""
    (tmp_path / "t.csv").write_text("x,class\n" + "a,yes\n" * 20 + "a,no\n" + "b,no\n" * 20)
    shown = ok("evaluate", tmp_path / "t.csv", "-t", "class", "-m", "NB", "--alpha", "0")
    assert re.search(r"\binf\b", shown)
    assert "nan" not in shown


@pytest.mark.parametrize("columns", ["200", "80", "50", "20"])
def test_evaluate_shows_its_figures_whole(columns: str) -> None:
    """A long description is continued on the next line, whatever the width; the figures stay as they are."""
    words = ["-m", "NB", "--missing", "ignore", "--n-bins", "5", "-p", "discretize=mdl"]
    result = run("evaluate", IRIS, "-t", "class", *words, env={"COLUMNS": columns})
    assert result.exit_code == 0
    model = NB(missing="ignore", n_bins=5, discretize="mdl")
    accuracy, losses = cross_validate(model, *load("iris"), folds=10, runs=1)
    expected = [
        statistic(values.tolist()) for values in (100 * accuracy, losses) for statistic in (mean, stdev)
    ]
    assert figures(result.stdout)[:2] == pytest.approx(expected[:2], abs=0.0051)
    assert figures(result.stdout)[2:] == pytest.approx(expected[2:], abs=0.000051)
    assert "…" not in result.stdout
    # The first line of the description has the figures behind it.
    letters = "".join(re.sub(r"[\d.]+ ± [\d.]+", "", result.stdout).split())
    assert "NB(discretize='mdl',missing='ignore',n_bins=5)" in letters


def test_long_numbers_are_classes(tmp_path: Path) -> None:
    """A target of numbers beyond 64 bits is read as text."""
    (tmp_path / "t.csv").write_text("x,class\n" + "a,123456789012345678901\nb,223456789012345678901\n" * 3)
    assert "2 classes" in ok("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m.skops")


def test_a_stream_of_another_kind_takes_the_result() -> None:
    """What stands in for standard output need not know about encodings."""
    with contextlib.redirect_stdout(io.StringIO()) as page, pytest.raises(SystemExit, match=r"^0$"):
        app(["evaluate", IRIS, "-t", "class", "-m", "NB"])
    assert "±" in page.getvalue()


def test_a_closed_standard_output_is_no_error() -> None:
    """Who closes the output wants none."""
    code = "import sys; sys.stdout = None; from localbayes.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "methods"], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_evaluate_gives_the_printed_figure(paper_data: Path) -> None:
    """Where nothing is to be filled or cut, as in kr-vs-kp, the paper's cell for LCWNB5 comes out."""
    text = ok("evaluate", paper_data / "kr-vs-kp.arff", "--target", "class", "--runs", 10, "--kappa", 5)
    assert figures(text)[:2] == [97.72, 0.81]


def test_a_class_that_a_training_fold_lacks_has_a_probability(tmp_path: Path) -> None:
    """With a class of one row, log loss stays finite: the whole file declares the classes."""
    path = tmp_path / "t.csv"
    path.write_text("x,class\n" + "a,1\nb,2\n" * 5 + "a,3\n")
    assert np.isfinite(figures(ok("evaluate", path, "--target", "class", "--folds", 11))).all()


def test_ties_go_to_the_class_declared_first() -> None:
    """Identical rows in two classes are a tie; the declared order, not the sorted one, decides."""
    X = pd.DataFrame({"x": ["a"] * 40})
    y = pd.Series(pd.Categorical(["p", "q"] * 20, categories=["q", "p"]))
    accuracy, _ = cross_validate(LCWNB(5), X, y, folds=10, runs=1)
    assert accuracy.mean() == 0.5
    hits = [
        (LCWNB(5).fit(X.iloc[a], y.iloc[a]).predict(X.iloc[b]) == y.iloc[b]).mean()
        for a, b in WekaFolds(10, 1).split(X, y)
    ]
    assert accuracy.tolist() == hits


def test_methods_are_listed_a_line_each() -> None:
    """There is a line for every registered method, with what its documentation begins with."""
    lines = ok("methods").splitlines()
    assert [line.split()[0] for line in lines] == list(METHODS)
    assert all(len(line) > 20 for line in lines)


def test_info_tells_versions_and_instruction_sets() -> None:
    """Versions are those of the imported packages, instruction sets those of the kernel."""
    told = dict(re.split(r"  +", line, maxsplit=1) for line in ok("info").splitlines())
    assert told["localbayes"] == localbayes.__version__
    assert told["numpy"] == np.__version__
    assert told["pandas"] == pd.__version__
    assert told["instruction set"] == f"{kernels.isa()} (available: {', '.join(kernels.isas())})"
    assert ok("--version") == f"localbayes {localbayes.__version__}\n"


def test_info_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not there is listed with what it would be good for."""
    import importlib.metadata

    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "dask":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert re.search(r"^dask +not installed \(clusters\)$", ok("info"), re.MULTILINE)


def test_help_is_there_for_every_command() -> None:
    """Every command explains itself, and so does the program without arguments."""
    whole = run("--help").output
    for command in ("fit", "predict", "evaluate", "methods", "info", "data"):
        assert command in whole
        assert "Usage" in run(command, "-h").output
        # Flags take no value, and arguments stand in the usage as they are.
        assert not re.search(r"<bool>|\{|\[\[", run(command, "-h").output)
    shown = run("predict", "--help", env={"COLUMNS": "100"}).output
    assert "predict [OPTIONS] MODEL DATA" in shown
    assert re.search(r"--force +-f +Replace", shown)
    assert re.search(r"--help +-h +Show", shown)
    assert re.search(
        r"download \[OPTIONS\] \[names\]\.\.\. ", run("data", "download", "-h").output, re.IGNORECASE
    )
    assert "discretize=quantile" in run("fit", "--help").output
    assert "replaced" in run("study", "report", "--help").output
    bare = run()
    assert bare.exit_code == 2
    assert "Usage" in bare.output


def test_progress_is_drawn_where_there_is_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar names the work and counts its steps."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("counting sheep", 7) as advance:
        advance(7)
    assert "counting sheep" in terminal.getvalue()
    assert "7/7" in terminal.getvalue()


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "klass"], "iris.arff: no column is called 'klass'; did you mean 'class'?"),
        (["--target", "petallength"], "the target 'petallength' holds numbers such as 1.4; expected classes"),
        (["--target", "class", "--method", "LCNB"], "no method is called 'LCNB'; did you mean 'LCWNB'"),
        (["--target", "class", "--kappa", "-1"], "kappa must be a number > 0, got -1"),
        (["--target", "class", "--kappa", "NaN"], "kappa must be a number > 0, got nan"),
        (
            ["--target", "class", "--kappa", "five"],
            "kappa must be a number > 0, 'mixture', 'loo' or 'switch', got 'five'",
        ),
        (["--target", "class", "--alpha", "much"], "--alpha"),
        (["--target", "class", "--k", "3"], "LCWNB has no parameter 'k'; it has alpha, "),
        (["--target", "class", "-p", "k:3"], "--param must be NAME=VALUE, got 'k:3'"),
        (["--target", "class", "--missing", "drop"], "missing must be "),
        (["--target", "class", "--n-bins", "0"], "n_bins must be a whole number >= 1, got 0"),
        (["--target", "class", "--categorical", "petal"], "--categorical: no feature is called 'petal'"),
        ([], "Missing option '--target'"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_bad_options_get_one_line(command: str, options: list[str], words: str, tmp_path: Path) -> None:
    """Whatever is wrong with an option, one line says what came and what was expected."""
    output = ["-o", tmp_path / "m.skops"] if command == "fit" else []
    assert words in refused(command, IRIS, *options, *output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["fitt"], "No such command 'fitt'"),
        (["fit"], "Try: localbayes fit --help"),
        (["--colour"], "No such option: --colour"),
        (["evaluate", IRIS, "-t", "class", "--folds", "1"], "--folds"),
        (["evaluate", IRIS, "-t", "class", "--folds", "151"], "150 rows, too few for --folds 151"),
        (["evaluate", IRIS, "-t", "class", "--jobs", "0"], "n_jobs"),
        (["predict", "absent.skops", IRIS], "absent.skops: No such file or directory"),
        (["predict", IRIS, IRIS], "is damaged or no model file"),
        (["data", "verify", "/absent"], "/absent"),
    ],
)
def test_bad_usage_gets_one_line(args: list[str], words: str) -> None:
    """Errors of usage are told like any other, in sub-commands too."""
    assert words in refused(*args)


ARFF = "@relation t\n@attribute x {a,b}\n@attribute class {yes,no}\n@data\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.arff", b"", "t.arff, line 1: the file ends and there was no @data"),
        ("t.arff", ARFF.encode(), "t.arff has no rows; expected at least one"),
        ("t.arff", (ARFF + "a,yes\nb\n").encode(), "t.arff, line 6: expected 2 values, got 1"),
        ("t.arff", (ARFF + "a,yes\nc,no\n").encode(), "t.arff, line 6: attribute 'x' declares no value 'c'"),
        ("t.arff", (ARFF + "a,y").encode(), "is it truncated?"),
        ("t.arff", b"@relation t\n@attribute class {a,b}\n@data\na\n", "no column beside the target"),
        ("t.arff", (ARFF + "a,?\nb,no\n").encode(), "1 of 2 rows have no value in the target 'class'"),
        ("t.csv", b"", "t.csv: the file is empty; expected a line with column names"),
        ("t.csv", b"x,class\n", "t.csv has no rows; expected at least one"),
        ("t.csv", b"x,class\na,yes\nb\n", "t.csv: line 3: expected 2 values, got 1"),
        ("t.csv", b"x,class\na,yes,b\n", "t.csv: line 2: expected 2 values, got 3"),
        ("t.csv", b"x\na,b\n", "t.csv: line 2: expected 1 value, got 2"),
        ("t.csv", b"x,x,class\na,b,yes\n", "two columns are called 'x'"),
        ("t.csv", b"x,y,class,\na,b,yes,\n", "t.csv: column 4 has no name; name it or remove it"),
        ("t.csv", b",x,class\n0,a,yes\n", "t.csv: column 1 has no name; name it or remove it"),
        ("t.csv", b"x;class\na;yes\n", "t.csv: the first line has ';' between its words; expected commas"),
        ("t.csv", b"class\nyes\n\nno\n\n", "t.csv: line 3 is empty: write ? there if its value is missing"),
        ("t.csv", b"x,class\n\xff\xfea,yes\n", "expected text in UTF-8, got the byte 0xff"),
        ("t.csv", b"x,class\na," + b"y" * 200_000 + b"\n", "field larger than field limit"),
        (
            "t.csv",
            b'x,class\na,yes\n"b,no\nc,yes\nd,no\n',
            "t.csv: line 3: expected 2 values, got 1 in the row that goes on to line 5; is a quote opened on "
            "line 3 and not closed?",
        ),
        ("t.csv", b'x,class\na,yes\nb,"no\nc,yes\n', "t.csv: line 3: a quote is opened there and not closed"),
        ("t.csv", b'x,class\n"a,yes\n' + b"b,no\n" * 50_000, "is a quote opened on line 2 and not closed?"),
        ("t.csv", b"x,class\ninf,yes\n1,no\n", "column 'x' contains infinity"),
        ("t.csv.gz", gzip.compress(b"x,class\na,yes\n", mtime=0)[:-9], "damaged or truncated"),
        ("t.csv.gz", b"x,class\na,yes\n", "damaged or truncated compressed file"),
        ("t.parquet", b"PAR1 or not", "t.parquet"),
        ("t.parquet", b"", "t.parquet"),
        ("t.xlsx", b"", "t.xlsx: expected a name that ends in .csv, .tsv, .arff"),
        ("t.parquet.gz", b"", "expected a name that ends in"),
        ("t", b"", "expected a name that ends in"),
    ],
)
def test_bad_tables_get_one_line(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    """A table that cannot be used is named, with the line where there is one."""
    (tmp_path / name).write_bytes(content)
    line = refused("fit", tmp_path / name, "--target", "class", "-o", tmp_path / "m.skops")
    assert words in line
    assert str(tmp_path / name) in line or "infinity" in line
    assert os.listdir(tmp_path) == [name]


def test_odd_and_damaged_parquet_files(tmp_path: Path) -> None:
    """Parquet files can hold lists in cells, no columns, a name twice, or damage inside: each is told."""
    pd.DataFrame({"x": [[1], [2]], "class": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    line = refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    assert "a cell holds a ndarray; expected single values" in line
    pd.DataFrame(index=range(3)).to_parquet(tmp_path / "t.parquet")
    assert "has no columns" in refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    twice = pyarrow.table([["a"], ["b"], ["c"]], names=["x", "x", "class"])
    pyarrow.parquet.write_table(twice, tmp_path / "t.parquet")
    assert "t.parquet" in refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    pd.DataFrame({"x": ["a", "b"] * 50, "class": ["a", "b"] * 50}).to_parquet(tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[:4] + b"\0" * 60 + content[64:])
    assert "t.parquet: " in refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    assert (
        refused("evaluate", "absent.parquet", "-t", "x") == "error: absent.parquet: No such file or directory"
    )


def test_no_pandas_is_told_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas, one line says what to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "install the extra 'pandas'" in refused("evaluate", IRIS, "--target", "class")


def test_what_is_missing_in_csv(tmp_path: Path) -> None:
    """Seven spellings are missing, every other word is a category; the line of fit counts both kinds."""
    missing, words = (
        ["", "?", "NA", "NaN", "nan", "null", "NULL"],
        ["None", "n/a", "-", "N/A", "none", "<NA>"],
    )
    lines = [f"{cell},1,{'?'},{'ab'[k % 2]}" for k, cell in enumerate(missing + words)]
    (tmp_path / "t.csv").write_text("\n".join(["x,number,nothing,class", *lines, ""]))
    told = ok("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m.skops")
    cells = len(missing) + len(lines)
    end = f"13 rows, 3 columns, 2 classes, {cells} missing cells (nothing is known in the column 'nothing')\n"
    assert told.endswith(end)
    column = load_model(tmp_path / "m.skops").encoder_.columns[0]
    assert sorted(column.values) == sorted(words)
    shown = run("fit", "--help", env={"COLUMNS": "200"}).output
    assert all(spelling in shown for spelling in ["empty cells", *missing])


def test_one_is_singular(tmp_path: Path) -> None:
    """A table of one row, one column and one class is called that."""
    (tmp_path / "t.csv").write_text("x,class\na,yes\n")
    told = ok("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m.skops", "-m", "NB")
    assert told.endswith("1 row, 1 column, 1 class\n")
    told = ok("predict", tmp_path / "m.skops", tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    assert told.endswith(": 1 prediction\n")
    assert "has 1 row, too few" in refused("evaluate", tmp_path / "t.csv", "-t", "class")


def test_no_command_writes_over_what_it_reads(tmp_path: Path) -> None:
    """Not with --force, nor under another name of the file; it is refused before the file is read."""
    model, data = tmp_path / "m.html", tmp_path / "t.csv"
    ok("fit", IRIS, "-t", "class", "-o", model)
    data.write_text("no table")
    (tmp_path / "link.svg").symlink_to(data)
    (tmp_path / "link.html").hardlink_to(data)
    before = model.read_bytes()
    for words in (
        ["fit", data, "-t", "class", "-o", data],
        ["fit", data, "-t", "class", "-o", tmp_path / "link.svg"],
        ["predict", model, data, "-o", data],
        ["explain", model, data, "--html", tmp_path / "link.html"],
        ["explain", model, data, "--html", model],
        ["tune", data, "-t", "class", "--plot", tmp_path / "link.svg"],
    ):
        assert refused(*words, "--force") == (
            f"error: {words[-1]} is what this command reads; choose another name for the output"
        )
    assert (data.read_text(), model.read_bytes()) == ("no table", before)


def test_a_page_has_the_ending_of_one(tmp_path: Path) -> None:
    """--html why.txt is refused before anything is read."""
    line = refused("explain", "absent.skops", IRIS, "--html", tmp_path / "why.txt")
    assert line == f"error: --html must end in .html or .htm, got {tmp_path / 'why.txt'}"


def test_wrong_columns_are_named(cars: Path, tmp_path: Path) -> None:
    """A column that the model needs and the table lacks is named, with a likely misspelling."""
    model = tmp_path / "m.skops"
    ok("fit", cars, "--target", "class", "-o", model)
    (tmp_path / "one.csv").write_text("zip,color,weight,model\n1,red,2,3\n")
    for command in ("predict", "explain"):
        assert refused(command, model, tmp_path / "one.csv") == (
            f"error: {tmp_path / 'one.csv'} lacks the column 'colour', with which {model} was fitted; "
            "did you mean 'color'?"
        )
    (tmp_path / "two.csv").write_text("colour,model\nred,3\n")
    assert "2 of the model's 4 columns are missing" in refused("predict", model, tmp_path / "two.csv")
    (tmp_path / "text.csv").write_text("zip,colour,weight,model\n1,red,heavy,3\n")
    assert "column 'weight'" in refused("predict", model, tmp_path / "text.csv")


def test_models_that_the_command_line_cannot_use(tmp_path: Path) -> None:
    """A model of codes, and one with a foreign type, are refused by name."""
    save_model(LCWNB().fit(Coded([[0], [1]], [2]), ["a", "b"]), tmp_path / "codes.skops")
    assert "was fitted on codes" in refused("predict", tmp_path / "codes.skops", IRIS)
    model = LCWNB().fit([["a"], ["b"]], ["x", "y"])
    model.extra_ = Path()
    skops.io.dump(model, tmp_path / "foreign.skops")
    line = refused("predict", tmp_path / "foreign.skops", IRIS)
    assert "foreign.skops is refused" in line
    assert "pathlib" in line
    with zipfile.ZipFile(tmp_path / "empty.skops", "w"):
        pass
    assert "damaged or no model file" in refused("predict", tmp_path / "empty.skops", IRIS)


def test_outputs_are_safe(tmp_path: Path) -> None:
    """Outputs are refused before any work if they exist or cannot be; nothing half-written stays."""
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    model.write_text("precious")
    assert "m.skops exists; choose another name" in refused("fit", "absent.arff", "-t", "class", "-o", model)
    assert model.read_text() == "precious"
    ok("fit", IRIS, "-t", "class", "-o", model, "--force")
    out.write_text("precious")
    assert "out.csv exists" in refused("predict", model, IRIS, "-o", out)
    assert "ends in .csv or .parquet" in refused("predict", model, IRIS, "-o", tmp_path / "out.txt")
    assert "cannot write /proc/out.csv" in refused("predict", model, IRIS, "-o", "/proc/out.csv")
    assert "there is no folder" in refused("fit", IRIS, "-t", "class", "-o", tmp_path / "no" / "m.skops")
    assert out.read_text() == "precious"
    ok("predict", model, IRIS, "-o", out, "--force")
    assert len(rows(out.read_text())) == 150
    assert sorted(os.listdir(tmp_path)) == ["m.skops", "out.csv"]


def test_debugging_shows_where(tmp_path: Path) -> None:
    """With LOCALBAYES_DEBUG=1 the traceback comes before the line; the exit code stays."""
    result = run("evaluate", "absent.csv", "--target", "x", env={"LOCALBAYES_DEBUG": "1"})
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1] == "error: absent.csv: No such file or directory"


def test_what_was_not_foreseen_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect of the program gives one line, which says that it is one; a warning is one line as well."""

    def fails(*_: object) -> None:
        raise KeyError("an\nold key")

    monkeypatch.setattr("localbayes.cli.evaluate.read_table", fails)
    assert "unexpected KeyError: 'an\\nold key'" in refused("evaluate", IRIS, "--target", "class")
    assert describe(MemoryError("for 3 GB")) == "not enough memory for 3 GB"
    assert describe(ValueError("\x1b[31mred")) == "\\x1b[31mred"

    def warns(*_: object) -> None:
        import warnings

        warnings.warn("careful\nthere", UserWarning, stacklevel=1)
        raise ValueError("stop")

    monkeypatch.setattr("localbayes.cli.evaluate.read_table", warns)
    assert run("evaluate", IRIS, "--target", "class").stderr == "warning: careful there\nerror: stop\n"


def test_an_interrupt_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt anywhere in a command is one line and code 130."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("localbayes.cli.evaluate.read_table", interrupted)
    result = run("evaluate", IRIS, "--target", "class")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


# --- as a process ---------------------------------------------------------------------------------


def test_a_process_fails_with_one_line_and_code_2() -> None:
    """The installed program behaves as in the tests above: exit code 2, one line, no traceback."""
    with spawn("evaluate", IRIS, "--target", "klass", stdout=-1, stderr=-1) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, b"")
    assert err.decode() == f"error: {IRIS}: no column is called 'klass'; did you mean 'class'?\n"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_every_encoding_gets_the_result(encoding: str, tmp_path: Path) -> None:
    """What an encoding lacks is written in letters that it has; the figures are the same in all."""
    ok("fit", IRIS, "--target", "class", "-o", tmp_path / "m.skops")
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
    assert "LCWNB()" in out.decode()
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


def on_terminal(*args: object, columns: int) -> str:
    """Return what a command shows on a terminal, without colours."""
    ours, theirs = pty.openpty()
    with spawn(*args, columns=columns, stdout=theirs, stderr=-1) as process:
        os.close(theirs)
        shown = read_terminal(ours, PATIENCE)
        process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[\d;]*m", "", shown.decode()).replace("\r", "")


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
    ok("fit", tmp_path / "t.csv", "--target", "class", "-o", tmp_path / "m.skops")
    told = run("explain", tmp_path / "m.skops", tmp_path / "t.csv", env={"COLUMNS": "40"}).stdout
    assert f"{name} = a" in told.splitlines()[0]
    assert re.search(rf"^ +{name} = a +│█+ +× [\d.]+ +\+[\d.]+ +$", told, re.MULTILINE)


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
