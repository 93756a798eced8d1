"""What goes wrong on a cluster costs time or says so in one line; it never changes an answer."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, default_client
from sklearn.exceptions import NotFittedError

from cluster_tables import (
    PATIENCE,
    SETTINGS,
    DiesOnce,
    cuts,
    length_or_die,
    load,
    load_or_die,
    load_or_fail,
    partitioned,
    table,
)
from localbayes import LCWNB
from localbayes.classifiers import METHODS
from localbayes.distributed import Distributed, classify, connect, run_tasks, share
from localbayes.distributed.dask import connection as own
from localbayes.distributed.part_learning import summarise_part
from localbayes.persistence import load_model, save_model

pytestmark = pytest.mark.cluster
PARTS = cuts(203, 7)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def deadly(folder: Path, *times: int) -> dd.DataFrame:
    """Return the table, one partition of which kills its process when loaded for the given times."""
    return dd.from_map(load_or_die, PARTS, range(7), folder=str(folder), deadly=times, meta=load((0, 0)))


@pytest.mark.parametrize("method", ["LCWNB", "AODE"])
@pytest.mark.parametrize("time", [0, 1], ids=["summarising", "indexing"])
def test_worker_killed_in_fit(client: Client, tmp_path: Path, method: str, time: int) -> None:
    """A worker killed while it summarises or indexes a partition costs another load, not the answer."""
    model = Distributed(METHODS[method](), client).fit(deadly(tmp_path, time), target="class")
    X, y = table()
    local = METHODS[method]().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), rtol=0, atol=1e-12)
    assert len(os.listdir(tmp_path)) > 2


@pytest.mark.parametrize("lazy", [False, True], ids=["local queries", "Dask queries"])
def test_worker_killed_in_predict(client: Client, tmp_path: Path, lazy: bool) -> None:
    """A worker killed between the passes of a query takes counts and rows with it; both are made again."""
    model = Distributed(DiesOnce(str(tmp_path / "died"), kappa=3), client, passes=2)
    model.fit(partitioned(7), target="class")
    X, y = table()
    asked = model.predict_proba(dd.from_pandas(X, npartitions=3, sort=False) if lazy else X)
    answer = client.compute(asked).result(PATIENCE) if lazy else asked
    assert (tmp_path / "died").exists()
    np.testing.assert_allclose(answer, LCWNB(kappa=3).fit(X, y).predict_proba(X), rtol=0, atol=1e-12)


def test_partition_that_cannot_be_loaded(client: Client) -> None:
    """The error is the loader's own, and it names the partition."""
    broken = dd.from_map(load_or_fail, PARTS, range(7), meta=load((0, 0)))
    with pytest.raises(FileNotFoundError, match=r"partition 3 of 7.*part-3\.csv"):
        Distributed(LCWNB(kappa=5), client).fit(broken, target="class")


@pytest.mark.parametrize(
    "error", [KeyError("colour"), ValueError(), UnicodeDecodeError("utf-8", b"", 0, 1, "bad")]
)
def test_every_kind_of_error_keeps_its_kind(client: Client, error: Exception) -> None:
    """Whatever a loader raises arrives as what it was, with the partition in its message or notes."""

    def fail(rows: tuple[int, int]) -> pd.DataFrame:
        raise error

    with pytest.raises(type(error)) as caught:
        Distributed(LCWNB(kappa=5), client).fit(
            dd.from_map(fail, PARTS[:1], meta=load((0, 0))), target="class"
        )
    assert "partition 0 of 1" in str(caught.value) + str(getattr(caught.value, "__notes__", ""))


def test_damaged_parquet_file(client: Client, tmp_path: Path) -> None:
    """A Parquet file that is cut short is named."""
    for k, rows in enumerate(PARTS[-3:]):
        load(rows).to_parquet(tmp_path / f"{k}.parquet")
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises((OSError, ValueError), match=r"1\.parquet"):
        Distributed(LCWNB(kappa=5), client).fit(tmp_path, target="class")


@pytest.mark.parametrize("bad", [np.nan, None, 1.5])
def test_bad_class_labels_are_refused(client: Client, bad: Any) -> None:
    """A class that is missing or a measurement is refused as in a local fit, with the partition."""
    y = pd.Series([0.0, 1.0, 0.0, bad], dtype=float)
    lazy = dd.from_pandas(pd.DataFrame({"a": list("xyxy")}), npartitions=2), dd.from_pandas(y, npartitions=2)
    with pytest.raises(ValueError, match=r"partition 1 of 2"):
        Distributed(LCWNB(kappa=5), client).fit(*lazy)


def test_x_and_y_cut_at_different_rows(client: Client) -> None:
    """Labels that do not belong to the rows of their partition are noticed."""
    X = dd.from_map(load, [(0, 10), (10, 20)], meta=load((0, 0))).drop(columns="class")
    y = dd.from_map(load, [(0, 9), (9, 20)], meta=load((0, 0)))["class"]
    with pytest.raises(ValueError, match=r"X has 10 rows here and y has (9|11).*partition [01] of 2"):
        Distributed(LCWNB(kappa=5), client).fit(X, y)


def test_table_without_rows(client: Client) -> None:
    """Nothing can be learned from empty partitions."""
    with pytest.raises(ValueError, match="no rows"):
        Distributed(LCWNB(kappa=5), client).fit(
            dd.from_map(load, [(0, 0), (3, 3)], meta=load((0, 0))), target="class"
        )


@pytest.mark.parametrize("discretize", ["quantile", "mdl"])
def test_more_different_numbers_than_are_kept(
    client: Client, discretize: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact cuts keep every different number; where there are too many, the column is named."""
    monkeypatch.setattr("localbayes.encoding.summaries.MOST_NUMBERS", 50)
    encoder = LCWNB(discretize=discretize).new_encoder().start(["size"])
    y = np.arange(40) % 2
    low, high = (
        summarise_part(encoder, (pd.DataFrame({"size": np.arange(k, k + 40.0)}), y)) for k in (0, 20)
    )
    assert (low + low).columns[0].counts.n_numbers == 40
    with pytest.raises(ValueError, match="'size' has more than 50 different numbers") as caught:
        low + high
    assert "\n" not in str(caught.value)
    words = partitioned(2)[["shape", "class"]]
    assert Distributed(LCWNB(discretize=discretize), client).fit(words, target="class").n_features_in_ == 1


def test_queries_in_partitions_that_are_too_large(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts that no worker could pass on are refused with the size that would do."""
    model = Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class")
    from localbayes.distributed import part_work as work

    monkeypatch.setattr(work, "MAX_PARTIAL_BYTES", 8 * 4 * 6 * 50)
    X, _ = table()
    with pytest.raises(ValueError, match="at most 50 rows"):
        work.encode_queries(model.estimator_, X, 0, None)


def test_closed_client() -> None:
    """A client that was closed is reported as such, before fit and after it."""
    cluster = LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    with cluster:
        client = Client(cluster, set_as_default=False)
        model = Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class")
        client.close()
        with pytest.raises(ConnectionError, match="client is closed; the training rows went with it"):
            model.predict(table()[0])
        with pytest.raises(ConnectionError, match="client is closed; pass one that is open"):
            Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class")
        with pytest.raises(ConnectionError, match="client is closed; pass one that is open"):
            classify(client, LCWNB(kappa=5).fit(*table()), table()[0])


@pytest.mark.parametrize("address", ["myhost", "", "http://127.0.0.1:8786", "tcp://127.0.0.1:x"])
def test_what_is_no_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before there is half a client, which would take its time to go."""
    monkeypatch.setattr(own, "Client", None)
    with pytest.raises(ConnectionError, match="is not the address of a Dask scheduler, such as") as caught:
        connect(address).__enter__()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", ["fit", "predict", "score"])
def test_what_is_not_wanted_any_more_is_not_begun(client: Client, call: str) -> None:
    """An error or an interrupt that leaves a call ends its tasks, also while somebody looks at the error."""

    def tasks() -> set[str]:
        return set(client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks]))

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    X, _ = table()
    data = partitioned(30)
    model = Distributed(LCWNB(), client).fit(partitioned(3), target="class").set_params(progress=interrupt)
    calls = {
        "fit": lambda: model.fit(data, target="class"),
        "predict": lambda: model.predict(X),
        "score": lambda: model.score(data.drop(columns="class"), data["class"]),
    }
    before = tasks()
    with pytest.raises(KeyboardInterrupt) as caught:
        calls[call]()
    _until(lambda: tasks() <= before)
    assert caught.value.__traceback__ is not None
    assert len(model.set_params(progress=None).predict(X)) == len(X)


NEEDS_ROWS: dict[str, Any] = {
    "predict": lambda model, X, y, path: model.predict(X),
    "predict_proba": lambda model, X, y, path: model.predict_proba(X),
    "partial_fit": lambda model, X, y, path: model.partial_fit(X, y),
    "explain": lambda model, X, y, path: model.explain(X[:1]),
    "save_model": lambda model, X, y, path: save_model(model, path),
    "pickle": lambda model, X, y, path: pickle.dumps(model),
    "deepcopy": lambda model, X, y, path: copy.deepcopy(model),
}


@pytest.mark.parametrize("method", ["LCWNB", "LWNB", "ICLNB"])
def test_a_classifier_whose_rows_are_elsewhere(client: Client, tmp_path: Path, method: str) -> None:
    """Alone it refuses what needs its rows, in a line that says where they are; with them it predicts."""
    X, y = table()
    model = Distributed(METHODS[method](), client).fit(partitioned(3), target="class")
    calls = dict(NEEDS_ROWS)
    if method == "LCWNB":
        calls["leave_one_out"] = lambda model, X, y, path: model.leave_one_out([1.0])
    for call in calls.values():
        with pytest.raises(
            ValueError, match="the training rows are on the workers of a Dask cluster"
        ) as caught:
            call(model.estimator_, X, y, tmp_path / "m.skops")
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    local = METHODS[method]().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    np.testing.assert_array_equal(model.estimator_.class_count_, local.class_count_)


def test_a_classifier_that_needs_no_rows_can_be_saved(client: Client, tmp_path: Path) -> None:
    """One of the eager family is complete: its file predicts what a local fit does, without a cluster."""
    X, y = table()
    model = Distributed(METHODS["AODE"](), client).fit(partitioned(3), target="class")
    save_model(model.estimator_, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X), METHODS["AODE"]().fit(X, y).predict_proba(X))


def test_rows_that_were_let_go(client: Client) -> None:
    """After close the client is still there but the rows are not, which is said for queries of both kinds."""
    X, y = table()
    model = Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class")
    model.close()
    lazy = dd.from_pandas(X, npartitions=2, sort=False)
    for ask in (lambda: model.predict(X), lambda: model.predict(lazy)):
        with pytest.raises(NotFittedError, match=r"let go by close\(\): call fit again"):
            ask()
    model.fit(partitioned(2), target="class")
    np.testing.assert_array_equal(model.predict(X), LCWNB(kappa=5).fit(X, y).predict(X))


@pytest.mark.parametrize("method", ["LCWNB", "AODE"])
@pytest.mark.parametrize("time", [0, 1], ids=["summarising", "indexing"])
def test_a_fit_that_fails_leaves_the_one_before(
    client: Client, tmp_path: Path, method: str, time: int
) -> None:
    """Whether a partition cannot be read the first time or the second, the old model goes on to predict."""

    def read(rows: tuple[int, int]) -> pd.DataFrame:
        Path(tmp_path, str(n := len(os.listdir(tmp_path)))).touch()
        if n == time:
            raise OSError("the disk is gone")
        return load(rows)

    X, y = table()
    model = Distributed(METHODS[method](), client).fit(partitioned(3), target="class")
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(dd.from_map(read, [(0, 90)], meta=load((0, 0))), target="class")
    assert len(os.listdir(tmp_path)) == time + 1
    np.testing.assert_array_equal(model.predict(X), METHODS[method]().fit(X, y).predict(X))


def test_a_fit_lets_the_rows_of_the_one_before_go(client: Client) -> None:
    """After a second fit the workers hold its rows only, and none if its classifier needs none."""

    def held() -> set[str]:
        on_workers = client.run(lambda dask_worker: [k for k in dask_worker.data if "index-rows" in k])
        return {key for keys in on_workers.values() for key in keys}

    before = held()
    model = Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class")
    model.fit(partitioned(3), target="class")
    _until(lambda: len(held() - before) == 3)
    model.set_params(estimator=METHODS["NB"]()).fit(partitioned(3), target="class")
    _until(lambda: held() <= before)


def test_own_cluster_is_started_and_stopped(client: Client) -> None:
    """Without a client, processes are started on this machine and end with the last model that uses them."""
    X, y = table()
    expected = LCWNB(kappa=5).fit(X, y).predict(X)
    lazy = dd.from_pandas(X, npartitions=2, sort=False)
    with (
        dask.config.set({"distributed.worker.memory.terminate": False}),
        Distributed(LCWNB(kappa=5)) as model,
    ):
        model.fit(partitioned(2), target="class").fit(partitioned(3), target="class")
        np.testing.assert_array_equal(model.predict(X), expected)
        with Distributed(LCWNB(kappa=5)).fit(partitioned(2), target="class") as other:
            assert other.client_ is model.client_
            model.close()
            model.fit(partitioned(2), target="class")
        np.testing.assert_array_equal(model.predict(lazy).compute(), expected)
        model.client_.restart()
        for queries in (X, lazy):
            with pytest.raises(ConnectionError, match="restarted; the training rows went with it: call fit"):
                model.predict(queries)
        np.testing.assert_array_equal(model.fit(partitioned(2), target="class").predict(X), expected)
    with pytest.raises(ConnectionError, match="closed"):
        model.predict(X)
    with pytest.raises(ValueError, match="No client"):
        default_client()


def test_a_client_that_is_given_wins(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit on it stops the processes that the model had started; one that fails leaves them as they were."""
    monkeypatch.setattr(own, "LocalCluster", functools.partial(LocalCluster, n_workers=1))
    X, y = table()
    with Distributed(METHODS["NB"]()) as model:
        started = model.fit(partitioned(2), target="class").client_
        model.set_params(client=client)
        with pytest.raises(FileNotFoundError):
            model.fit(dd.from_map(load_or_fail, PARTS, range(7), meta=load((0, 0))), target="class")
        assert started.status == "running"
        model.fit(partitioned(3), target="class")
        assert (model.client_ is client, started.status) == (True, "closed")
        np.testing.assert_array_equal(model.predict(X), METHODS["NB"]().fit(X, y).predict(X))
    assert client.status == "running"


def test_workers_that_are_lost_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster of our own that Dask has given up is one clear line, not a wait; the next fit restores it."""
    monkeypatch.setattr(own, "LocalCluster", functools.partial(LocalCluster, n_workers=1))
    monkeypatch.setattr(own, "NO_WORKERS_TIMEOUT", "1 s")
    X, y = table()
    with Distributed(LCWNB(kappa=5)) as model:
        with (
            dask.config.set({"distributed.deploy.lost-worker-timeout": "0 s"}),
            pytest.raises(ConnectionError, match="all workers of the Dask cluster are gone"),
        ):
            model.fit(deadly(tmp_path, 0), target="class")
        monkeypatch.undo()
        model.fit(partitioned(3), target="class")
        np.testing.assert_array_equal(model.predict(X), LCWNB(kappa=5).fit(X, y).predict(X))


def test_current_client_is_used() -> None:
    """Without an argument the current client is the one, and it stays open."""
    with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
        model = Distributed(LCWNB(kappa=5)).fit(partitioned(2), target="class")
        model.close()
        assert client.status == "running"


@pytest.mark.parametrize("method", ["LCWNB", "TAN"])
def test_threads_of_one_process_are_a_cluster_too(method: str) -> None:
    """Workers may be threads of the process that asks; queries of both kinds get the same answer there."""
    X, y = table()
    local = METHODS[method]().fit(X, y)
    expected = local.predict_proba(X)
    lazy = dd.from_map(load, [(0, 90), (90, 90), (90, 203)], meta=load((0, 0))).drop(columns="class")
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
        for passes in (1, 2):
            model = Distributed(METHODS[method](), passes=passes).fit(partitioned(3), target="class")
            np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-12)
            np.testing.assert_allclose(model.predict_proba(lazy).compute(), expected, rtol=0, atol=1e-12)
            assert model.score(X, y) == local.score(X, y)


def test_scheduler_and_workers_started_from_the_command_line(tmp_path: Path) -> None:
    """Scheduler and workers that know nothing of each other's machine but an address give the answer too."""
    file = str(tmp_path / "scheduler.json")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    common = ["--scheduler-file", file, "--no-dashboard"]
    address = ["--host", "127.0.0.1"]
    commands = [
        ["scheduler", *common, *address, "--port", "0"],
        *[["worker", *common, *address, "--no-nanny", "--local-directory", str(tmp_path)]] * 2,
    ]
    X, y = table()
    processes: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *command], env=environment, stderr=subprocess.DEVNULL
            )
            stack.callback(_end, process)
            processes.append(process)
        _await(Path(file), processes[0])
        with Client(scheduler_file=file, set_as_default=False) as waiting:
            waiting.wait_for_workers(2, timeout=PATIENCE)
            address = waiting.scheduler.address
        with connect(address) as client:
            model = Distributed(LCWNB(kappa=5), client).fit(partitioned(7), target="class")
            np.testing.assert_array_equal(model.predict(X), LCWNB(kappa=5).fit(X, y).predict(X))


def _await(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has written a file; if it ends before, or takes too long, that is an error."""
    latest = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < latest, f"no {file} after {PATIENCE} s"
        try:
            code = process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the process ended with exit code {code} and has not written {file}")


def _until(holds: Callable[[], bool]) -> None:
    """Ask until something holds; workers hear some time later that a result is not wanted any more."""
    latest = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < latest, f"not so after {PATIENCE} s"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(60)


def test_address_without_workers() -> None:
    """A scheduler that has no workers is reported, with the command that starts one."""
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        pytest.raises(ConnectionError, match="dask worker"),
        connect(cluster.scheduler_address),
    ):
        pass


def test_whole_tasks_come_back_as_they_finish(client: Client) -> None:
    """Every item is done once; an error names the task."""
    stages: list[tuple[str, int, int]] = []
    results = run_tasks(client, abs, [-1, -2, -3], name="take-off-sign", progress=lambda *s: stages.append(s))
    assert sorted(results) == [(0, 1), (1, 2), (2, 3)]
    assert stages == [("take-off-sign", 1, 3), ("take-off-sign", 2, 3), ("take-off-sign", 3, 3)]
    with pytest.raises(ValueError, match="read-number 1 of 2"):
        list(run_tasks(client, int, ["1", "x"], name="read-number"))
    assert list(run_tasks(client, int, [])) == []


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_task_that_kills_its_workers(n_workers: int) -> None:
    """It is the one that fails: others lost with the workers, and what all share, are brought back."""
    items, words = ["a", "bb", "deadly", "cccc", "ddddd"], ["x", "y", "z"]
    plenty = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=n_workers, **plenty) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        given = {"name": "measure", "shared": share(client, words)}
        found = dict(run_tasks(client, length_or_die, items, return_exceptions=True, **given))
        error = found.pop(2)
        assert found == {k: len(item) + 3 for k, item in enumerate(items) if k != 2}
        assert isinstance(error, ConnectionError)
        assert str(error) == "measure 2 of 5: its worker died each time, even when it ran alone"
        with pytest.raises(ConnectionError, match="measure 0 of 1: its worker died each time"):
            list(run_tasks(client, length_or_die, ["deadly"], **given))
        assert list(run_tasks(client, length_or_die, ["a"], **given)) == [(0, 4)]


def test_errors_of_tasks_can_be_results(client: Client) -> None:
    """What a function raises is given in place of its result if wanted, and names the task."""
    found = dict(run_tasks(client, int, ["1", "x"], name="read-number", return_exceptions=True))
    assert found[0] == 1
    assert isinstance(found[1], ValueError)
    assert "read-number 1 of 2" in str(found[1])


def test_a_partition_that_kills_every_worker(client: Client, tmp_path: Path) -> None:
    """It is named, and nobody says that the scheduler has gone."""
    with pytest.raises(ConnectionError, match=r"partition 1 of 7.* 4 workers died"):
        Distributed(LCWNB(kappa=5), client).fit(deadly(tmp_path, *range(9)), target="class")


def test_queries_are_spread_over_the_workers(client: Client) -> None:
    """A classifier fitted here answers there as it does here, row by row in order."""
    X, y = table()
    model = LCWNB(kappa=5).fit(X, y)
    answer = classify(client, model, X, method="predict_proba", part_rows=40)
    np.testing.assert_array_equal(answer, model.predict_proba(X))
    np.testing.assert_array_equal(classify(client, model, X), model.predict(X))
    with pytest.raises(ValueError, match="0 sample"):
        classify(client, model, X[:0])
    with pytest.raises(ValueError, match="part_rows must be at least 1, got 0"):
        classify(client, model, X, part_rows=0)
