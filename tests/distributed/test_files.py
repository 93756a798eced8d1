"""Parquet files that are read in parts give the classifier that all their rows in memory give."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cluster_tables import table
from localbayes import LCWNB
from localbayes.classifiers import METHODS, LazyClassifier
from localbayes.distributed import files, fit_files, load_folder

LAZY = ["LCWNB", "LWNB", "ICLNB"]
WEIGHTS = np.random.default_rng(1).integers(0, 3, 203).astype(float)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the table in three Parquet files of small row groups, with weights."""
    X, y = table()
    whole = X.assign(**{"class": y, "weight": WEIGHTS})
    (tmp_path / "data").mkdir()
    for k, rows in enumerate((slice(0, 90), slice(90, 90), slice(90, 203))):
        whole.iloc[rows].to_parquet(tmp_path / "data" / f"{k}.parquet", row_group_size=40)
    return tmp_path


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_what_it_learns_in_memory(
    folder: Path, method: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches and parts of any length change no bit of any prediction; neither does loading."""
    monkeypatch.setattr(files, "_MOST_PART", 30)
    X, y = table()
    weights = WEIGHTS if weighted else None
    estimator = METHODS[method](missing="ignore" if method in LAZY else "category")
    data = folder / "data"
    if not weighted:
        for file in data.iterdir():
            pd.read_parquet(file).drop(columns="weight").to_parquet(file, row_group_size=40)
    options: dict[str, Any] = {"sample_weight": "weight" if weighted else None, "batch_rows": 17}
    model = fit_files(estimator, data, target="class", folder=folder / "model", **options)
    local = clone(estimator).fit(X, y, weights)
    assert not hasattr(estimator, "labels_")
    np.testing.assert_array_equal(model.predict_log_proba(X), local.predict_log_proba(X))
    np.testing.assert_array_equal(
        load_folder(folder / "model").predict_log_proba(X), model.predict_log_proba(X)
    )
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    np.testing.assert_array_equal(model.class_count_, local.class_count_)
    assert sorted(os.listdir(folder)) == ["data", "model"]
    if model.keeps_rows:
        assert len(list((folder / "model").glob("part-*.npy"))) > 4
        assert all(segment.mapped for segment in model.statistic.segments)  # type: ignore[attr-defined]


@pytest.mark.parametrize("discretize", ["quantile", "mdl"])
def test_cuts_of_files(folder: Path, discretize: str) -> None:
    """Quantiles and MDL cuts are those of all numbers."""
    X, y = table()
    model: Any = fit_files(
        METHODS["NB"](discretize=discretize, n_bins=4),
        folder / "data",
        target="class",
        sample_weight="weight",
    )
    local = METHODS["NB"](discretize=discretize, n_bins=4).fit(X, y, WEIGHTS)
    for ours, theirs in zip(model.encoder_.columns, local.encoder_.columns, strict=True):
        np.testing.assert_array_equal(getattr(ours, "cuts", 0), getattr(theirs, "cuts", 0))
    np.testing.assert_array_equal(model.predict_log_proba(X), local.predict_log_proba(X))


def test_paths_of_every_kind(folder: Path) -> None:
    """A file, a folder, a pattern and a list name the same rows; the index of pandas is no column."""
    X, y = table()
    whole = X.assign(**{"class": y}).set_index(pd.Index(np.arange(203) * 2, name="number"))
    whole.to_parquet(folder / "all.parquet")
    expected = METHODS["NB"]().fit(X, y).predict_proba(X)
    stages: list[tuple[str, int, int]] = []
    one = fit_files(
        METHODS["NB"](), folder / "all.parquet", target="class", progress=lambda *stage: stages.append(stage)
    )
    np.testing.assert_array_equal(one.predict_proba(X), expected)
    assert (stages[0][0], stages[-1]) == ("summarise columns", ("count rows", 203, 203))
    parts = [folder / "data" / f"{k}.parquet" for k in range(3)]
    for paths in (folder / "data", str(folder / "data" / "*.parquet"), parts):
        model = fit_files(METHODS["NB"](), paths, target="class", sample_weight="weight")
        local = METHODS["NB"]().fit(X, y, WEIGHTS)
        np.testing.assert_array_equal(model.predict_proba(X), local.predict_proba(X))


def test_counts_need_no_folder(folder: Path) -> None:
    """Without one nothing is written."""
    before = sorted(os.listdir(folder))
    assert fit_files(METHODS["AODE"](), folder / "data", target="class").n_features_in_ == 6
    assert sorted(os.listdir(folder)) == before


class Equals(LazyClassifier):
    """Rows that equal the query, each weighing one."""

    def weights(self, distance_counts: np.ndarray) -> np.ndarray:
        return np.eye(1, distance_counts.shape[2]) * np.ones(distance_counts.shape)


def test_a_class_of_ones_own_learns_from_files_too(folder: Path) -> None:
    """Its rows are in the folder; what loading would not know is not written."""
    X, y = table()
    model = fit_files(
        Equals(), folder / "data", target="class", sample_weight="weight", folder=folder / "model"
    )
    np.testing.assert_array_equal(model.predict_proba(X), Equals().fit(X, y, WEIGHTS).predict_proba(X))
    assert os.listdir(folder / "model") == ["part-00000.npy"]
    with pytest.raises(FileNotFoundError, match="holds no saved model"):
        load_folder(folder / "model")


def test_files_that_change_meanwhile(folder: Path) -> None:
    """Rows that are lost between the two readings are noticed."""

    def change(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("summarise columns", total):
            (folder / "data" / "0.parquet").write_bytes((folder / "data" / "1.parquet").read_bytes())

    with pytest.raises(ValueError, match="had 203 rows when they were first read and 113 the second time"):
        fit_files(LCWNB(kappa=5), folder / "data", target="class", folder=folder / "model", progress=change)
    assert os.listdir(folder) == ["data"]


WRONG: list[tuple[Callable[[Path], Any], type[Exception], str]] = [
    (lambda f: fit_files(LCWNB(), f / "data", target="class"), ValueError, "LCWNB keeps its rows in files"),
    (
        lambda f: fit_files(LogisticRegression(), f / "data", target="class"),
        TypeError,
        "must be a classifier of localbayes",
    ),
    (lambda f: fit_files(METHODS["NB"](), f / "x", target="class"), FileNotFoundError, "no Parquet files at"),
    (
        lambda f: fit_files(METHODS["NB"](), [], target="class"),
        FileNotFoundError,
        "the list of paths is empty",
    ),
    (
        lambda f: fit_files(METHODS["NB"](), f / "data", target="clas"),
        ValueError,
        "target names the column 'clas'",
    ),
    (
        lambda f: fit_files(METHODS["NB"](), f / "data", target="class", sample_weight="w"),
        ValueError,
        "sample_weight names the column 'w'",
    ),
    (
        lambda f: fit_files(METHODS["NB"](), f / "data", target="class", sample_weight="class"),
        ValueError,
        "both name the column",
    ),
    (
        lambda f: fit_files(METHODS["NB"](), f / "data", target="class", batch_rows=0),
        ValueError,
        "at least 1",
    ),
    (
        lambda f: fit_files(LCWNB(kappa=-1), f / "data", target="class", folder=f / "m"),
        ValueError,
        "kappa must",
    ),
    (
        lambda f: fit_files(LCWNB(), f / "data", target="class", folder=f / "data"),
        FileExistsError,
        "data exists",
    ),
    (
        lambda f: fit_files(METHODS["NB"](), f / "data" / "1.parquet", target="class"),
        ValueError,
        "have no rows|has no rows",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
def test_what_cannot_be_learned_from(folder: Path, call: Any, kind: Any, message: str) -> None:
    """It is refused in one line, and nothing is written."""
    before = sorted(os.listdir(folder))
    with pytest.raises(kind, match=message) as caught:
        call(folder)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("damage", ["cut", "text", "column"])
def test_files_that_cannot_be_read(folder: Path, damage: str) -> None:
    """The file is named, also if it is the last one, and no folder is left behind."""
    file = folder / "data" / "2.parquet"
    whole = file.read_bytes()
    if damage == "column":
        pd.read_parquet(file).drop(columns="colour").to_parquet(file)
    else:
        file.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"colour,class\n")
    with pytest.raises(ValueError, match=r"2\.parquet") as caught:
        fit_files(LCWNB(kappa=5), folder / "data", target="class", folder=folder / "model")
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(folder)) == ["data"]


LIMITED = """
import resource
import sys
import numpy as np
from localbayes import LCWNB
from localbayes.distributed import files, fit_files, load_folder
import pandas, pyarrow.parquet, sklearn.utils.validation
files._PART_BYTES = 8 << 20
data, folder, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
# Threads of Arrow and of joblib take room for their stacks once.
pandas.read_parquet(data + "/0.parquet", columns=["a0"])
LCWNB().fit([["a"], ["b"]], ["no", "yes"]).predict([["a"]])
in_use = int(open("/proc/self/status").read().split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (in_use + limit, in_use + limit))
try:
    np.ones(limit + (8 << 20), np.uint8)
    raise SystemExit("the limit does not hold")
except MemoryError:
    pass
model = fit_files(LCWNB(kappa=5, n_jobs=1), data, target="class", folder=folder, batch_rows=8192)
queries = next(files._read(data + "/0.parquet", [f"a{i}" for i in range(60)], 50))
np.save(folder + "/answer.npy", model.predict_log_proba(queries))
size = model.statistic.nbytes
assert size > limit, (size, limit)
again = load_folder(folder).predict_log_proba(queries)
assert (again == model.predict_log_proba(queries)).all()
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_DATA"), reason="needs a limit of memory")
def test_rows_that_exceed_memory(tmp_path: Path) -> None:
    """A process that may not hold the packed rows, and still less the table, answers as one that may."""
    random = np.random.default_rng(0)
    (tmp_path / "data").mkdir()
    parts = []
    for k in range(6):
        numbers = random.integers(0, 10, (150_000, 60), dtype=np.int16)
        part = pd.DataFrame(numbers, columns=[f"a{i}" for i in range(60)])
        part["class"] = random.integers(0, 2, len(part)).astype(str)
        part.to_parquet(tmp_path / "data" / f"{k}.parquet", row_group_size=50_000)
        parts.append(part)
    limit = 56 << 20
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "data"), str(tmp_path / "model"), str(limit)]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    whole = pd.concat(parts, ignore_index=True)
    local = LCWNB(kappa=5).fit(whole.drop(columns="class"), whole["class"])
    queries = parts[0].drop(columns="class")[:50]
    np.testing.assert_array_equal(
        np.load(tmp_path / "model" / "answer.npy"), local.predict_log_proba(queries)
    )
