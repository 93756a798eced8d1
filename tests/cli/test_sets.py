"""`predict --set` prints the sets that Python gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import IRIS, ok, refused, rows
from localbayes.classifiers import CLASSIFIERS
from localbayes.datasets import load


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_sets_are_those_of_python(method: str, tmp_path: Path) -> None:
    """A column of True and False for each class, for all rows together and for every class."""
    X, y = load("iris")
    model = CLASSIFIERS[method]().fit(X, y)
    ok("fit", IRIS, "--target", "class", "-o", tmp_path / "m.skops", "--method", method, "--with-rows")
    for options, expected in (
        (["--set", "0.9"], model.predict_set(X, 0.9)),
        (["--set", "0.8", "--by-class", "--proba"], model.predict_set(X, 0.8, by_class=True)),
    ):
        printed = rows(ok("predict", tmp_path / "m.skops", IRIS, *options))
        found = [[row[f"set_{label}"] for label in model.classes_] for row in printed]
        assert np.array_equal(np.array(found) == "True", expected)
        assert [row["prediction"] for row in printed] == model.predict(X).tolist()


def test_wrong_sets_are_told_in_one_line(tmp_path: Path) -> None:
    """A share outside (0, 1), a model without rows, --by-class alone, a cluster."""
    path = tmp_path / "m.skops"
    ok("fit", IRIS, "--target", "class", "-o", path, "--method", "NB")
    for share in ("0", "1", "90", "nan"):
        line = refused("predict", path, IRIS, "--set", share)
        assert "--set must be a number between 0 and 1, such as 0.9, got" in line
    assert "localbayes fit --with-rows" in refused("predict", path, IRIS, "--set", "0.9")
    assert "give --set SHARE, too" in refused("predict", path, IRIS, "--by-class")
    assert "leave --dask out" in refused("predict", path, IRIS, "--set", "0.9", "--dask", "tcp://127.0.0.1:1")
