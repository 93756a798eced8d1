"""One table, one meaning: whoever reads it, in whatever format, gets the same probabilities to the bit."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import ok, rows, run
from localbayes.classifiers import METHODS
from localbayes.persistence import load_model, save_model

RNG = np.random.default_rng(21)


def customers(n: int) -> pd.DataFrame:
    """Make a table with all that CSV and Parquet tell differently."""
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 12, n), unit="D")
    hours = pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 4, n) * 12, unit="h")
    frame = pd.DataFrame(
        {
            "zip": RNG.choice(["00701", "10001", "94105"], n),
            "active": RNG.random(n) < 0.5,
            "opted": pd.array(RNG.choice([True, False, None], n), dtype="boolean"),
            "town": RNG.choice(["Bern", "N/A", "None", "Genf", ""], n),
            "day": days,
            "time": hours,
            "took": pd.to_timedelta(RNG.integers(0, 5, n) * 12, unit="h"),
            "plan": RNG.choice(["1", "2", "pro"], n),
            "spent": RNG.standard_normal(n).round(3),
            "visits": pd.array(RNG.choice([0, 1, 2, 3, None], n), dtype="Int64"),
        }
    )
    frame["town"] = frame["town"].where(~frame["town"].isin(["N/A", "None", ""]))
    frame["class"] = np.where(frame["active"] ^ (frame["spent"] > 0.3), "stays", "goes")
    return frame


def csv_text(frame: pd.DataFrame) -> str:
    """Write a file by hand as people's programs do: N/A for what is missing."""
    text: str = frame.to_csv(index=False, na_rep="N/A")
    return text


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Write two tables, one to learn from and one to ask about, each as CSV and as Parquet."""
    paths = {}
    for name, n in (("learn", 300), ("ask", 40)):
        frame = customers(n)
        for ending in ("csv", "parquet"):
            paths[f"{name}.{ending}"] = tmp_path / f"{name}.{ending}"
        paths[f"{name}.csv"].write_text(csv_text(frame))
        frame.to_parquet(paths[f"{name}.parquet"])
    return paths


def in_python(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def by_command(model: Path, path: Path, classes: list[str]) -> np.ndarray:
    table = rows(ok("predict", model, path, "--proba"))
    return np.array([[float(row[f"proba_{label}"]) for label in classes] for row in table])


@pytest.mark.parametrize("method", ["LCWNB", "NB", "AODE"])
@pytest.mark.parametrize("learned", ["csv", "parquet"])
@pytest.mark.parametrize("missing", ["impute", "category"])
def test_a_model_of_the_command_line_means_the_same_everywhere(
    files: dict[str, Path], tmp_path: Path, method: str, learned: str, missing: str
) -> None:
    """Asked by command or in Python, with CSV or Parquet, it gives the same bits."""
    model = tmp_path / "m.skops"
    options = ["-m", method, "--missing", missing]
    ok("fit", files[f"learn.{learned}"], "-t", "class", "-o", model, *options)
    fitted = load_model(model)
    classes = fitted.classes_.tolist()
    expected = by_command(model, files["ask.csv"], classes)
    np.testing.assert_array_equal(by_command(model, files["ask.parquet"], classes), expected)
    for ending in ("csv", "parquet"):
        asked = in_python(files[f"ask.{ending}"])[fitted.feature_names_in_]
        np.testing.assert_array_equal(fitted.predict_proba(asked), expected)
    # Not one value is unseen for being written otherwise: other rows would have other probabilities.
    codes = fitted.encoder_.encode(in_python(files["ask.parquet"])[fitted.feature_names_in_])
    assert (codes < fitted.sizes_).all()


@pytest.mark.parametrize("learned", ["csv", "parquet"])
def test_a_model_of_python_means_the_same_on_the_command_line(
    files: dict[str, Path], tmp_path: Path, learned: str
) -> None:
    """Fitted on what pandas reads (times as text, which model files hold), it answers commands alike."""
    frame = in_python(files[f"learn.{learned}"])
    times = frame.select_dtypes(["datetime", "timedelta"]).columns
    frame[times] = frame[times].astype(str)
    X, y = frame.drop(columns="class"), frame["class"]
    fitted = METHODS["NB"]().fit(X, y)
    save_model(fitted, tmp_path / "m.skops")
    classes = fitted.classes_.tolist()
    for ending in ("csv", "parquet"):
        asked = in_python(files[f"ask.{ending}"])[fitted.feature_names_in_]
        found = by_command(tmp_path / "m.skops", files[f"ask.{ending}"], classes)
        np.testing.assert_array_equal(found, fitted.predict_proba(asked))


def test_both_programs_learn_the_same_from_csv(files: dict[str, Path], tmp_path: Path) -> None:
    """Where no number has leading zeros, the command line learns what pandas and Python learn."""
    text = files["learn.csv"].read_text().replace("00701", "20701")
    files["learn.csv"].write_text(text)
    ok("fit", files["learn.csv"], "-t", "class", "-o", tmp_path / "m.skops", "-m", "AODE")
    frame = pd.read_csv(files["learn.csv"])
    model = METHODS["AODE"]().fit(frame.drop(columns="class"), frame["class"])
    asked = pd.read_csv(files["ask.csv"])[model.feature_names_in_]
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.skops").predict_proba(asked), model.predict_proba(asked)
    )


def test_zip_codes_are_categories(files: dict[str, Path], tmp_path: Path) -> None:
    """Leading zeros make a column text: three values, not ten bins."""
    ok("fit", files["learn.csv"], "-t", "class", "-o", tmp_path / "m.skops")
    encoder = load_model(tmp_path / "m.skops").encoder_
    assert encoder.columns[encoder.names.index("zip")].values == ["00701", "10001", "94105"]


# --- options that say how a file is written ---------------------------------------------------------


def test_reading_options_reach_every_command(tmp_path: Path) -> None:
    """A European CSV in latin-1 says the same as its plain copy, in fit, predict, explain, evaluate, tune."""
    cells = [("Zürich", 1.5, "a"), ("Genf", 2.25, "b"), (None, 3.5, "a"), ("Genf", None, "b")] * 5
    frame = pd.DataFrame(cells, columns=["town", "weight", "class"])
    frame.to_csv(tmp_path / "plain.csv", index=False)
    text = frame.to_csv(index=False, sep=";", decimal=",", na_rep="--")
    (tmp_path / "euro.csv").write_bytes(text.encode("latin-1"))
    how = ["--sep", ";", "--decimal", ",", "--na", "--", "--encoding", "latin-1"]
    for name, options in (("plain", []), ("euro", how)):
        ok("fit", tmp_path / f"{name}.csv", "-t", "class", "-o", tmp_path / name, *options)
    for command in (
        lambda name, how: ok("predict", tmp_path / name, tmp_path / f"{name}.csv", "--proba", *how),
        lambda name, how: ok("explain", tmp_path / name, tmp_path / f"{name}.csv", *how),
        lambda name, how: ok("evaluate", tmp_path / f"{name}.csv", "-t", "class", "--folds", 2, *how),
        lambda name, how: ok("tune", tmp_path / f"{name}.csv", "-t", "class", *how),
    ):
        assert command("euro", how).replace("euro", "plain") == command("plain", [])


def test_columns_may_be_dropped_or_kept(tmp_path: Path) -> None:
    """--drop leaves columns out, --keep all others; a misspelt name is refused."""
    table = tmp_path / "t.csv"
    table.write_text("id,x,y,class\n" + "1,a,u,p\n2,b,v,q\n" * 5)
    common = ["fit", table, "-t", "class", "-f", "-o", tmp_path / "m"]
    for options in (["--drop", "id"], ["--keep", "x", "--keep", "y"]):
        ok(*common, *options)
        assert load_model(tmp_path / "m").feature_names_in_.tolist() == ["x", "y"]
    for options, words in (
        (["--drop", "ix"], "--drop: no feature is called 'ix'; did you mean 'x'?"),
        (["--keep", "class"], "--keep: no feature is called 'class'"),
        (["--drop", "id", "--keep", "x"], "--drop and --keep exclude each other"),
        (["--drop", "id", "--drop", "x", "--drop", "y"], "--drop leaves no column to learn from"),
    ):
        assert words in run(*common, *options).stderr


def test_rows_without_a_label_are_left_out_aloud(tmp_path: Path) -> None:
    """They are counted on standard error; the answer is that of the table without them."""
    lines = "a,p\nb,q\na,\nb,?\n" * 5
    (tmp_path / "t.csv").write_text("x,class\n" + lines)
    (tmp_path / "without.csv").write_text("x,class\n" + "a,p\nb,q\n" * 5)
    told = run("evaluate", tmp_path / "t.csv", "-t", "class", "--skip-unlabelled", "--folds", 2)
    assert told.stderr == "left out 10 of 20 rows, which have no value in 'class'\n"
    expected = ok("evaluate", tmp_path / "without.csv", "-t", "class", "--folds", 2)
    assert told.stdout == expected.replace("without.csv", "t.csv")


def test_an_unnamed_index_is_left_out_aloud(tmp_path: Path) -> None:
    """What `to_csv` writes by default is the table with a line that says so."""
    frame = pd.DataFrame({"x": ["a", "b"] * 5, "class": ["p", "q"] * 5})
    frame.to_csv(tmp_path / "t.csv")
    told = run("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m")
    assert told.exit_code == 0
    assert "t.csv: the first column has no name and is left out" in told.stderr
    assert load_model(tmp_path / "m").feature_names_in_.tolist() == ["x"]


def test_predictions_keep_columns_and_obey_a_threshold(tmp_path: Path) -> None:
    """--keep copies columns as they are; --threshold predicts a class from some probability on."""
    table = tmp_path / "t.csv"
    table.write_text(
        "id,x,class\n" + "".join(f"{k:03},{'ab'[k % 2]},{'pq'[k % 3 == 0]}\n" for k in range(30))
    )
    ok("fit", table, "-t", "class", "--drop", "id", "-o", tmp_path / "m", "-m", "NB")
    text = ok("predict", tmp_path / "m", table, "--keep", "id", "--keep", "class", "--proba")
    found = pd.read_csv(io.StringIO(text), dtype={"id": str})
    assert found.columns.tolist() == ["id", "class", "prediction", "proba_p", "proba_q"]
    assert found["id"].tolist() == [f"{k:03}" for k in range(30)]
    for least in (0.0, 0.3, 0.35, 0.9, 1.0):
        text = ok("predict", tmp_path / "m", table, "--threshold", f"q={least}", "--proba")
        asked = pd.read_csv(io.StringIO(text))
        assert (asked["prediction"] == "q").tolist() == (asked["proba_q"] >= least).tolist()
    for options, words in (
        (["--keep", "ix"], "no column is called 'ix'"),
        (["--threshold", "q"], "--threshold must be CLASS=P with P from 0 to 1, got 'q'"),
        (["--threshold", "q=2"], "--threshold must be CLASS=P"),
        (["--threshold", "z=0.5"], "--threshold: no class is called 'z'"),
    ):
        assert words in run("predict", tmp_path / "m", table, *options).stderr


def test_embedded_sets_have_names_and_can_be_exported(tmp_path: Path) -> None:
    """`evaluate vote` is `evaluate` of the exported file; a file of that name goes first."""
    told = ok("data", "export", "vote", "-o", tmp_path / "vote.csv")
    assert told == f"{tmp_path / 'vote.csv'}: 435 rows, the class is 'Class'\n"
    assert ok("data", "export", "vote") == (tmp_path / "vote.csv").read_text()
    named = ok("evaluate", "vote", "-m", "NB")
    exported = ok("evaluate", tmp_path / "vote.csv", "-t", "Class", "-m", "NB")
    assert named.replace("vote.arff", "vote.csv") == exported
    assert (
        "no embedded data set is called 'votes'; did you mean 'vote'?"
        in run("data", "export", "votes").stderr
    )
