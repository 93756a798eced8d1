"""A cluster gives the answer of one machine, however the rows are cut."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, Future, LocalCluster
from sklearn.base import clone

from cluster_tables import PATIENCE, SETTINGS, load, partitioned, table
from localbayes import LCWNB
from localbayes.classifiers import ICLNB, LWNB, METHODS
from localbayes.distributed import Distributed

pytestmark = pytest.mark.cluster
LAZY = ["LCWNB", "LWNB", "ICLNB"]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set({**SETTINGS, "distributed.scheduler.work-stealing": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def queries() -> pd.DataFrame:
    """Rows that training never saw, with values it never saw."""
    X, _ = table(60, seed=2)
    X["colour"] = X["colour"].where(np.arange(60) % 7 > 0, "violet")
    return X


def assert_same(model: Any, local: Any, X: Any) -> None:
    np.testing.assert_array_equal(model.classes_, local.classes_)
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_as_on_one_machine(client: Client, method: str, n_parts: int) -> None:
    """Partitions, empty ones and ones that lack a class among them, do not change any prediction."""
    data = partitioned(n_parts)
    estimator = METHODS[method]()
    model = Distributed(estimator, client).fit(data.drop(columns="class"), data["class"])
    assert_same(model, clone(estimator).fit(*table()), queries())


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize(
    "estimator",
    [
        *(METHODS[name]() for name in LAZY),
        LCWNB(kappa="switch", missing="category"),
        LCWNB(kappa=2, alpha=0),
        LCWNB(kappa="loo", loo_rows=40, missing="ignore"),
        LCWNB(kappa=5, calibrate=True, loo_rows=50, class_weight="balanced"),
        LWNB(k=1, zero_distance="published"),
        LWNB(k=9, missing="ignore", class_weight="balanced"),
        ICLNB(k=3, priors=[0.1, 0.2, 0.3, 0.4], categorical_features=["shape", "colour", "pieces", "new"]),
    ],
    ids=lambda e: type(e).__name__,
)
def test_one_pass_and_two_give_the_same(client: Client, estimator: Any, passes: int) -> None:
    """Sending back all match counts, or weighting them where the rows are, is a matter of bytes only."""
    model = Distributed(estimator, client, passes=passes).fit(partitioned(7), target="class")
    local = clone(estimator).fit(*table())
    assert_same(model, local, queries())
    if passes == 1:
        np.testing.assert_array_equal(model.predict_log_proba(queries()), local.predict_log_proba(queries()))
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(queries())), local.predict_proba(queries()), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("n_parts", [2, 64])
def test_kappa_is_chosen_by_the_same_rows(
    client: Client, n_parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors, losses and temperature of the rows left out are those of one machine, to the last digit."""
    monkeypatch.setattr("localbayes.distributed.dask.remote_rows.LEFT_OUT_BYTES", 1 << 16)
    estimator = LCWNB(loo_rows=50, random_state=3)
    model = Distributed(estimator, client).fit(partitioned(n_parts), target="class").estimator_
    local = clone(estimator).fit(*table())
    assert model.loo_.keys() == local.loo_.keys()
    for name in local.loo_:
        np.testing.assert_array_equal(model.loo_[name], local.loo_[name])
    np.testing.assert_array_equal(model.kappas_, local.kappas_)
    np.testing.assert_array_equal(model.kappa_weights_, local.kappa_weights_)
    assert model.temperature_ == local.temperature_
    assert model.kappa_ == local.kappa_


@pytest.mark.parametrize("method", ["LCWNB", "TAN"])
def test_lazy_queries_have_lazy_answers(client: Client, method: str, tmp_path: Path) -> None:
    """Predictions of Dask tables are Dask arrays; nothing is loaded before somebody wants them."""
    model = Distributed(METHODS[method](), client).fit(partitioned(7), target="class")
    X = queries()

    def read(rows: tuple[int, int]) -> pd.DataFrame:
        Path(tmp_path, "read").touch()
        return X.iloc[slice(*rows)]

    lazy = dd.from_map(read, [(0, 20), (20, 20), (20, 60)], meta=X.iloc[:0])
    labels, proba = model.predict(lazy), model.predict_proba(lazy)
    assert not Path(tmp_path, "read").exists()
    assert isinstance(labels, da.Array)
    assert (labels.npartitions, proba.shape[1]) == (3, 4)
    np.testing.assert_array_equal(client.compute(labels).result(PATIENCE), model.predict(X))
    np.testing.assert_allclose(
        client.compute(proba).result(PATIENCE), model.predict_proba(X), rtol=0, atol=1e-15
    )
    assert Path(tmp_path, "read").exists()
    assert model.client_ is client
    np.testing.assert_array_equal(labels.compute(scheduler=model.client_), model.predict(X))


def test_a_lazy_answer_knows_its_client(client: Client) -> None:
    """It is computed where the training rows are, also if another client is the current one."""
    X = queries()
    model = Distributed(LCWNB(kappa=5), client).fit(partitioned(3), target="class")
    lazy = dd.from_pandas(X, npartitions=2, sort=False)
    expected = LCWNB(kappa=5).fit(*table()).predict_proba(X)
    with Client(processes=False, n_workers=1, dashboard_address=":0"):
        answer = model.predict_proba(lazy)
        np.testing.assert_allclose(answer.compute(), expected, rtol=0, atol=1e-12)
        kept = answer.persist()
        np.testing.assert_allclose(client.compute(kept).result(PATIENCE), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(lazy).compute(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["LCWNB", "NB"])
def test_columns_have_names_and_no_order(client: Client, method: str) -> None:
    """A partition with its columns in another order, or with more of them, is read by their names."""
    X, y = table()
    local = METHODS[method]().fit(X, y)

    def read(k: int) -> pd.DataFrame:
        part = load([(0, 90), (90, 203)][k])
        return part if k == 0 else part[part.columns[::-1]].assign(more=1)

    def features(k: int) -> pd.DataFrame:
        return read(k).drop(columns="class")

    data = dd.from_map(read, range(2), meta=load((0, 0)))
    lazy, classes = dd.from_map(features, range(2), meta=X.iloc[:0]), data["class"]
    model = Distributed(METHODS[method](), client)
    assert_same(model.fit(data, target="class"), local, X)
    words = y.astype(str)
    labels = da.from_array(words.to_numpy(object), chunks=((90, 113),))
    assert_same(model.fit(lazy, labels), METHODS[method]().fit(X, words), X)
    assert_same(model.fit(lazy, classes), local, X)
    np.testing.assert_array_equal(client.compute(model.predict(lazy)).result(PATIENCE), local.predict(X))
    assert model.score(lazy, classes) == local.score(X, words)


@pytest.mark.parametrize("lost", ["colour", "class"])
def test_a_partition_without_a_column(client: Client, lost: str) -> None:
    """Column and partition are named, also where Dask computes a lazy answer."""

    def read(k: int) -> pd.DataFrame:
        return load([(0, 90), (90, 203)][k]).drop(columns=[lost] if k else [])

    model, data = Distributed(LCWNB(kappa=5), client), dd.from_map(read, range(2), meta=load((0, 0)))
    message = f"the column '{lost}' is missing here .partition 1 of 2"
    with pytest.raises(ValueError, match=message):
        model.fit(data, target="class")
    if lost == "class":
        return
    X = dd.from_map(lambda k: read(k).drop(columns="class"), range(2), meta=table()[0].iloc[:0])
    with pytest.raises(ValueError, match=message):
        model.fit(X, data["class"])
    model.fit(partitioned(2), target="class")
    with pytest.raises(ValueError, match=message):
        client.compute(model.predict(X)).result(PATIENCE)


@pytest.mark.parametrize("method", ["LCWNB", "TAN"])
def test_score_of_dask_collections(client: Client, method: str) -> None:
    """It is the score of the same rows in memory, for classes in a Series or an array, read once or apart."""
    X, y = table()
    labels = y.astype(str)
    model = Distributed(METHODS[method](), client).fit(partitioned(7), target="class")
    expected = METHODS[method]().fit(X, y).score(X, labels)
    assert 0 < expected < 1
    data = partitioned(5)
    queries, lengths = data.drop(columns="class"), tuple(data.map_partitions(len).compute(scheduler="sync"))
    for classes in (data["class"], da.from_array(labels.to_numpy(dtype=object), chunks=(lengths,))):
        assert model.score(queries, classes) == expected
    assert model.score(X, labels) == expected
    with pytest.raises(TypeError, match="y must be a Dask Series or a Dask array"):
        model.score(queries, y)
    with pytest.raises(ValueError, match="without sample_weight"):
        model.score(queries, data["class"], np.ones(203))
    with pytest.raises(ValueError, match="has no rows"):
        model.score(queries.partitions[:1], data["class"].partitions[:1])
    apart = dd.from_map(load, [(0, 90), (90, 203)], meta=load((0, 0)))
    with pytest.raises(ValueError, match=r"cut both at the same rows.*partition"):
        model.score(apart.drop(columns="class"), partitioned(2)["class"])
    numbers = data["class"].map_partitions(lambda part: part.cat.codes.astype(int), meta=("class", int))
    with pytest.raises(ValueError, match="Mix of label input types"):
        METHODS[method]().fit(X, y).score(X, y.cat.codes)
    with pytest.raises(ValueError, match=r"Mix of label input types.*partition"):
        model.score(queries, numbers)
    unknown = data["class"].astype(object).map_partitions(lambda part: part.where(part != "high", None))
    with pytest.raises(ValueError, match=r"y contains NaN, infinity or a missing value.*partition"):
        model.score(queries, unknown)
    model.close()


@pytest.mark.parametrize("method", ["ICLNB", "HNB"])
def test_dask_arrays(client: Client, method: str) -> None:
    """Dask arrays, cut in both directions, are learned from and classified as arrays are."""
    random = np.random.default_rng(5)
    X, y = random.integers(0, 4, (300, 6)), random.integers(0, 2, 300)
    estimator = METHODS[method](categorical_features="all")
    model = Distributed(estimator, client)
    model.fit(da.from_array(X, chunks=(70, 4)), da.from_array(y, chunks=110))
    local = clone(estimator).fit(X, y)
    assert_same(model, local, X)
    lazy = model.predict_proba(da.from_array(X, chunks=(70, 6)))
    assert lazy.chunks == ((70, 70, 70, 70, 20), (2,))
    np.testing.assert_allclose(
        client.compute(lazy).result(PATIENCE), local.predict_proba(X), rtol=0, atol=1e-12
    )


def test_long_tables_of_queries_go_in_batches(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """More queries than are counted at a time are classified as if they had come one by one."""
    monkeypatch.setattr("localbayes.distributed.dask.remote_rows.MAX_BATCH", 16)
    stages: list[tuple[str, int, int]] = []
    model = Distributed(LCWNB(kappa=5), client, passes=2, progress=lambda *stage: stages.append(stage))
    model.fit(partitioned(2), target="class")
    local = LCWNB(kappa=5).fit(*table())
    assert_same(model, local, queries())
    assert stages[:2] == [("summarise columns", 1, 2), ("summarise columns", 2, 2)]
    assert stages[-1] == ("classify queries", 8, 8)
    frame = dd.from_pandas(queries(), npartitions=2, sort=False)
    np.testing.assert_array_equal(
        client.compute(model.predict(frame)).result(PATIENCE), local.predict(queries())
    )
    numbers = queries()[["size", "pieces"]].to_numpy()
    narrow = Distributed(LCWNB(kappa=5), client).fit(
        partitioned(2)[["size", "pieces"]].to_dask_array(), partitioned(2)["class"]
    )
    few = narrow.predict(da.from_array(numbers, chunks=(50, 2)))
    np.testing.assert_array_equal(client.compute(few).result(PATIENCE), narrow.predict(numbers))


def test_categories_that_dask_does_not_know_are_discovered(client: Client) -> None:
    """Partitions may declare different categories; together they declare what their concatenation does."""
    X, y = table()
    parts = [
        X.iloc[rows].assign(shape=lambda part: part["shape"].cat.remove_unused_categories())
        for rows in (slice(0, 50), slice(50, 90), slice(90, 203))
    ]
    lazy = dd.from_map(lambda k: parts[k], range(3), meta=parts[0].iloc[:0])
    lazy["shape"] = lazy["shape"].cat.as_unknown()
    classes = dd.from_map(lambda k: y.loc[parts[k].index].astype(str), range(3), meta=pd.Series(dtype=str))
    model = Distributed(LCWNB(kappa=5), client).fit(lazy, classes)
    local = LCWNB(kappa=5).fit(lazy.compute(scheduler="synchronous"), y.astype(str))
    assert model.estimator_.encoder_.columns[0] == local.encoder_.columns[0]
    assert_same(model, local, queries())


def test_parquet_files(client: Client, tmp_path: Path) -> None:
    """A path of Parquet files and the name of the class column are all it takes."""
    X, y = table()
    for k, rows in enumerate([slice(0, 100), slice(100, 203)]):
        X.assign(**{"class": y}).iloc[rows].to_parquet(tmp_path / f"{k}.parquet")
    local = LCWNB(kappa=5).fit(X, y)
    model = Distributed(LCWNB(kappa=5), client).fit(str(tmp_path / "*.parquet"), target="class")
    assert_same(model, local, queries())
    answers = client.compute(model.predict(tmp_path)).result(PATIENCE)
    np.testing.assert_array_equal(answers, local.predict(X))
    labels = y.astype(str)
    whole = dd.from_map(lambda rows: labels.iloc[slice(*rows)], [(0, 100), (100, 203)], meta=labels.iloc[:0])
    assert model.score(tmp_path, whole) == local.score(X, labels)


def test_training_rows_stay_on_the_workers(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client sees summaries and predictions, which do not grow with the rows; the index stays away."""

    def rows_held() -> list[str]:
        held = client.run(lambda dask_worker: [k for k in dask_worker.data if "index-rows" in k])
        return [key for keys in held.values() for key in keys]

    # What an error of another test still holds is not counted.
    before = rows_held()
    fetched: list[int] = []
    plain = Future.result
    monkeypatch.setattr(
        Future, "result", lambda self, *a: fetched.append(len(pickle.dumps(r := plain(self, *a)))) or r
    )
    model = Distributed(LCWNB(kappa=5), client).fit(partitioned(4, n=20_000), target="class")
    model.predict(queries())
    held = client.run(
        lambda dask_worker: [(k, dask_worker.data[k].index.nbytes) for k in dask_worker.data if "index" in k]
    )
    assert sum(size for parts in held.values() for _, size in parts) > 20_000
    assert sum(fetched) < 10_000
    # Dask forgets where tasks are best done when it fuses those of an array.
    with dask.config.set({"optimization.fuse.active": False}):
        lazy = client.compute(model.predict(dd.from_pandas(queries(), npartitions=3))).result(PATIENCE)
    np.testing.assert_array_equal(lazy, model.predict(queries()))
    assert len([key for key in rows_held() if key not in before]) == 4
    model.close()


def test_nobody_elses_cluster_is_closed(client: Client) -> None:
    """Closing a model leaves the client that it was given open."""
    with Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class"):
        pass
    assert client.status == "running"
    assert load((0, 3)).shape == (3, 6)


@pytest.mark.parametrize("method", METHODS)
def test_prediction_sets_are_those_of_one_machine(client: Client, method: str) -> None:
    """Rows that were set aside calibrate sets on a cluster as in memory, of lazy queries too."""
    data, aside = partitioned(4), table(150, seed=3)
    model = Distributed(METHODS[method](), client).fit(data, target="class")
    local = METHODS[method]().fit(*table())
    X = queries()
    for by_class in (False, True):
        expected = local.predict_set(X, 0.85, by_class, calibration=aside)
        assert 0 < expected.mean() < 1
        assert np.array_equal(model.predict_set(X, 0.85, by_class, calibration=aside), expected)
        lazy = model.predict_set(dd.from_pandas(X, npartitions=3), 0.85, by_class, calibration=aside)
        assert np.array_equal(lazy.compute(scheduler=client), expected)
        if method in LAZY:
            assert np.array_equal(lazy.compute(), expected)


def test_what_a_cluster_cannot_do_says_what_to_do(client: Client) -> None:
    """Without rows to calibrate by, and for methods that need training rows at hand, one line has advice."""
    data = partitioned(2)
    model = Distributed(METHODS["NB"](), client).fit(data, target="class")
    for calibration, message in (
        (None, "set some rows aside before fit and pass calibration="),
        ((data, data["class"]), "calibration must be rows in memory"),
    ):
        with pytest.raises(ValueError, match=message) as refusal:
            model.predict_set(queries(), calibration=calibration)
        assert "\n" not in str(refusal.value)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        model.predict_set(queries(), 1.0, calibration=table())
    for name, advice in (("forget", "fit again without"), ("explain", "load_folder"), ("decide", "proba")):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"a model on a cluster has no {name}: .*{advice}"):
            getattr(model, name)
