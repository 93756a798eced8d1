"""A model fitted on a cluster is a folder that another cluster or one machine opens: same answer."""

from __future__ import annotations

import json
import os
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.exceptions import NotFittedError

from cluster_tables import SETTINGS, DiesOnce, partitioned, table
from localbayes import LCWNB
from localbayes.classifiers import METHODS
from localbayes.distributed import Distributed, load_folder, saved_parts
from localbayes.persistence.archive import pack, unpack

LAZY = ["LCWNB", "LWNB", "ICLNB"]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def saved(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a fitted LCWNB."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    Distributed(LCWNB(loo_rows=40), client).fit(partitioned(7), target="class").save(folder)
    return folder


@pytest.mark.cluster
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_saved_and_opened_elsewhere(client: Client, tmp_path: Path, method: str) -> None:
    """Another cluster, and one machine, predict from the folder what a local fit does."""
    X, y = table()
    local = METHODS[method](missing="ignore" if method in LAZY else "category").fit(X, y)
    fitted = Distributed(METHODS[method](**local.get_params()), client, passes=1)
    fitted.fit(partitioned(7), target="class").save(tmp_path / "model")
    fitted.close()
    here = load_folder(tmp_path / "model")
    assert type(here) is METHODS[method]
    np.testing.assert_array_equal(here.predict_log_proba(X), local.predict_log_proba(X))
    with Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False) as other:
        there = Distributed.load(tmp_path / "model", other, passes=1)
        assert there.client_ is other
        np.testing.assert_array_equal(there.predict_log_proba(X), local.predict_log_proba(X))
        there.save(tmp_path / "again")
    np.testing.assert_array_equal(
        load_folder(tmp_path / "again").predict_log_proba(X), local.predict_log_proba(X)
    )
    kinds = {name.split("-")[0] for name in os.listdir(tmp_path / "model")}
    assert kinds == ({"model.skops", "part"} if method in LAZY else {"model.skops"})
    assert sorted(os.listdir(tmp_path)) == ["again", "model"]


@pytest.mark.cluster
def test_weights_and_all_that_was_chosen_are_saved(client: Client, tmp_path: Path) -> None:
    """Weights of rows, kappas, temperature and row numbers are those of the fit on one machine."""
    X, y = table()
    weights = np.random.default_rng(2).integers(0, 4, 203).astype(float)
    data = partitioned(1).assign(weight=dask.array.from_array(weights, chunks=203))
    model = Distributed(LCWNB(loo_rows=50), client).fit(data, target="class", sample_weight="weight")
    model.save(tmp_path / "model")
    here: Any = load_folder(tmp_path / "model")
    local = LCWNB(loo_rows=50).fit(X, y, weights)
    np.testing.assert_array_equal(here.kappas_, local.kappas_)
    assert here.temperature_ == local.temperature_
    np.testing.assert_array_equal(here.predict_log_proba(X), local.predict_log_proba(X))


def test_the_rows_are_there_and_in_order(saved: Path) -> None:
    """On one machine the model explains, leaves rows out and learns on, as one fitted there."""
    X, y = table()
    here: Any = load_folder(saved)
    local = LCWNB(loo_rows=40).fit(X, y)
    ours, theirs = here.explain(X[:3]), local.explain(X[:3])
    assert repr(ours.neighbourhood.rows) == repr(theirs.neighbourhood.rows)
    np.testing.assert_allclose(
        here.leave_one_out([2.0])["log_loss"], local.leave_one_out([2.0])["log_loss"], rtol=1e-12
    )
    assert all(segment.mapped for segment in here.index_.segments)
    n_parts = len(here.index_.segments)
    more = here.partial_fit(X, y), local.partial_fit(X, y)
    np.testing.assert_array_equal(more[0].predict_log_proba(X), more[1].predict_log_proba(X))
    # Rows in memory are never joined to those in files.
    assert [segment.mapped for segment in here.index_.segments] == [True] * n_parts + [False]


@pytest.mark.cluster
def test_workers_that_do_not_see_the_folder(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their rows are fetched and written where the client is."""
    X, y = table()
    with Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False) as other:
        model = Distributed(LCWNB(kappa=5), other).fit(partitioned(3), target="class")
        plain = saved_parts.write_part

        def blind(*arguments: Any) -> Any:
            here = threading.current_thread() is threading.main_thread()
            return plain(*arguments) if here else None

        monkeypatch.setattr(saved_parts, "write_part", blind)
        model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        load_folder(tmp_path / "model").predict(X), LCWNB(kappa=5).fit(X, y).predict(X)
    )


@pytest.mark.cluster
def test_a_folder_appears_complete_or_not_at_all(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error on the way leaves nothing behind; a folder that exists is never touched."""
    model = Distributed(LCWNB(kappa=5), client)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model")
    model.fit(partitioned(3), target="class")
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError, match="there exists; choose another name, or remove it first"):
        model.save(tmp_path / "there")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*lacking; make it first"):
        model.save(tmp_path / "lacking" / "model")

    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("localbayes.distributed.dask.distributed_model.write_description", fail)
    with pytest.raises(OSError, match="the disk is full"):
        model.save(tmp_path / "model")
    assert os.listdir(tmp_path) == ["there"]
    own = Distributed(DiesOnce(str(tmp_path / "there")), client).fit(partitioned(2), target="class")
    with pytest.raises(ValueError, match="DiesOnce is a class of your own"):
        own.save(tmp_path / "model")


def _rewrite(folder: Path, change: Any) -> None:
    """Change the fields of a description."""
    path = folder / "model.skops"
    fields = unpack(path.read_bytes(), "model")
    change(fields)
    path.write_bytes(pack(fields))


def _files(**changes: Any) -> Any:
    """Change what a description says of the files of rows."""

    def change(fields: Any) -> None:
        files = fields["statistic"]["files"]
        files.update({name: change(files[name]) for name, change in changes.items()})

    return lambda folder: _rewrite(folder, change)


def _last_is(value: int) -> Any:
    return lambda start: np.concatenate([start[:, :-1], np.full((len(start), 1), value)], axis=1)


def _file(folder: Path) -> Path:
    return sorted(folder.glob("part-*"))[0]


DAMAGE: dict[str, Any] = {
    "file lost": lambda folder: _file(folder).unlink(),
    "file cut": lambda folder: os.truncate(_file(folder), 200),
    "file emptied": lambda folder: os.truncate(_file(folder), 0),
    "file of text": lambda folder: _file(folder).write_text("rows"),
    "file of floats": lambda folder: np.save(_file(folder), np.zeros(9)),
    "file of objects": lambda folder: np.save(_file(folder), np.array([{}]), allow_pickle=True),
    "other numbers": _files(number=lambda a: a + 1),
    "same numbers": _files(number=np.zeros_like),
    "negative number": _files(number=np.negative),
    "numbers of another type": _files(number=lambda a: a.astype(float)),
    "no number of words": _files(n_words=lambda a: "1"),
    "negative words": _files(n_words=np.negative),
    "negative rows": _files(class_start=_last_is(-1)),
    "huge": _files(class_start=_last_is(2**62)),
    "no classes": _files(class_start=lambda a: a[:, :0]),
    "unknown type": _files(class_type=lambda _: "uint64"),
    "other type": _files(class_type=lambda _: "uint16"),
    "weights": _files(weighted=lambda _: True),
    "classes": _files(class_start=lambda a: a[:, [0, -1, -1, -1, -1]]),
    "sizes": _files(sizes=lambda a: a + 9),
    "sizes of fewer": _files(sizes=lambda a: a[:1]),
    "layout": _files(layout=lambda _: 3),
    "room": _files(room=lambda a: a[:2]),
    "no files": _files(**{name: lambda a: a[:0] for name in ("number", "n_words", "class_start", "sizes")}),
    "rows lost": _files(**{name: lambda a: a[:-1] for name in ("number", "n_words", "class_start", "sizes")}),
    "class counts": lambda folder: _rewrite(folder, lambda f: f["class_count"].__iadd__(1)),
    "no description of files": lambda folder: _rewrite(folder, lambda f: f["statistic"].clear()),
    "description": lambda folder: (folder / "model.skops").write_bytes(b"model"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused(saved: Path, tmp_path: Path, damage: str) -> None:
    """What a file or the description has lost or changed is one line on one machine."""
    shutil.copytree(saved, tmp_path / "model")
    DAMAGE[damage](tmp_path / "model")
    with pytest.raises(ValueError, match="damaged or no model file") as caught:
        load_folder(tmp_path / "model")
    assert "\n" not in str(caught.value)


@pytest.mark.cluster
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused_on_a_cluster(
    client: Client, saved: Path, tmp_path: Path, damage: str
) -> None:
    """There, too, before anything is predicted."""
    shutil.copytree(saved, tmp_path / "model")
    DAMAGE[damage](tmp_path / "model")
    with pytest.raises(ValueError, match=r".") as caught:
        Distributed.load(tmp_path / "model", client)
    assert "\n" not in str(caught.value)


def test_what_is_no_folder_of_a_model(tmp_path: Path) -> None:
    """It is named; a description of a later format names its writer."""
    for load in (load_folder, Distributed.load):
        with pytest.raises(FileNotFoundError, match=r"holds no saved model: there is no model\.skops in it"):
            load(tmp_path)
    (tmp_path / "model.skops").write_bytes(pack({"classifier": "LCWNB"}))
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        note = json.loads(archive.read("localbayes.json"))
    assert note["format"] == 1
    with pytest.raises(ValueError, match=r"statistic is missing|parameters is missing"):
        load_folder(tmp_path)
