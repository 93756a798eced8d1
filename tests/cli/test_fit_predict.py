"""`fit` and `predict` give what Python gives, whatever the format of the table."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import IRIS, ok, refused, rows
from localbayes import LCWNB, NB
from localbayes.classifiers import METHODS
from localbayes.datasets import embedded_path, load
from localbayes.persistence import load_model, save_model


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
    ok("fit", tmp_path / "t.parquet", "--target", "class", "-m", "LCWNB", "-o", tmp_path / "m.skops")
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
