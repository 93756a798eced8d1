"""The commands that take --dask give what they give without it."""

import itertools
import re
import sqlite3

import pandas as pd
import pytest
from typer.testing import CliRunner

from cluster_tables import SETTINGS
from localbayes.cli import app
from localbayes.datasets import embedded_path

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def address():
    import dask
    from distributed import LocalCluster

    # Work on workers that are short of memory waits until they are not.
    plenty = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    with dask.config.set(SETTINGS), LocalCluster(**plenty, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_predictions_of_a_cluster_are_those_of_this_process(address, tmp_path):
    """predict writes the same table with and without --dask."""
    data, model = embedded_path("vote"), tmp_path / "vote.skops"
    run("fit", data, "--target", "Class", "-o", model)
    run("predict", model, data, "--proba", "-o", tmp_path / "here.csv")
    run("predict", model, data, "--proba", "-o", tmp_path / "there.csv", "--dask", address)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "here.csv"), pd.read_csv(tmp_path / "there.csv"))


def test_cross_validation_on_a_cluster_is_that_of_this_process(address):
    """evaluate prints the same numbers with and without --dask."""
    arguments = ("evaluate", embedded_path("iris"), "--target", "class", "--method", "AODE")
    here, there = (run(*arguments, *extra) for extra in ((), ("--dask", address)))
    assert here == there
    assert len(re.findall(r"\d+\.\d+", here)) > 4


def test_a_study_on_a_cluster_fills_the_same_store(address, tmp_path):
    """study run --dask stores what study run stores, goes on where it was, and finds nothing to do then."""

    def content(store):
        with sqlite3.connect(store) as connection:
            columns = "dataset, method, run, fold, correct, tested, log_loss"
            return connection.execute(f"SELECT {columns} FROM folds ORDER BY 1, 2, 3, 4").fetchall()

    common = ("study", "run", "--methods", "NB,LCWNB5", "--folds", "5")
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    run(*common, "--sets", "iris,labor", "--runs", "2", "--store", here, "--jobs", "1")
    run(*common, "--sets", "iris", "--runs", "1", "--store", there, "--dask", address)
    run(*common, "--sets", "iris,labor", "--runs", "2", "--store", there, "--dask", address)
    assert content(there) == content(here)
    assert len(content(here)) == 2 * 2 * 2 * 5
    again = run(*common, "--sets", "iris,labor", "--runs", "2", "--store", there, "--dask", address)
    assert "nothing to do" in again


def test_a_data_set_that_changed_stops_no_study(address, tmp_path):
    """Its folds are stored as failed, here and on a cluster, and the others are done."""
    stores = {"here.db": ("--jobs", "1"), "there.db": ("--dask", address)}
    for (name, how), sign in itertools.product(stores.items(), "+-"):
        (tmp_path / "mine.csv").write_text("a,c\n" + "x,no\ny,yes\n" * 6 + f"{sign},no\n")
        sets, runs = f"{tmp_path / 'mine.csv'},iris", "1" if sign == "+" else "2"
        options = ["--sets", sets, "--methods", "NB", "--folds", "3", "--runs", runs]
        result = CliRunner().invoke(app, ["study", "run", *options, "--store", str(tmp_path / name), *how])
        assert ("cannot use the data set" in result.output) == (sign == "-"), result.output
        with sqlite3.connect(tmp_path / name) as connection:
            (good,) = connection.execute("SELECT count(*) FROM folds WHERE error IS NULL").fetchone()
        assert good == (6 if sign == "+" else 9)


def test_a_fold_that_kills_its_worker_stops_no_study(address, tmp_path):
    """Its folds are stored as failed with the reason; those of the others are there."""
    options = [
        "--sets",
        "iris",
        "--methods",
        "deadly=cluster_tables:Deadly,NB",
        "--folds",
        "2",
        "--runs",
        "1",
    ]
    store = tmp_path / "s.db"
    result = CliRunner().invoke(app, ["study", "run", *options, "--store", str(store), "--dask", address])
    assert result.exit_code == 1, result.output
    assert "2 failed" in result.output
    assert "its worker died each time, even when it ran alone" in result.output
    with sqlite3.connect(store) as connection:
        found = connection.execute("SELECT method, fold, error IS NULL FROM folds ORDER BY 1, 2").fetchall()
    assert found == [("NB", 0, 1), ("NB", 1, 1), ("deadly", 0, 0), ("deadly", 1, 0)]


def test_no_scheduler_is_one_clear_line():
    """An address where nobody answers gives one line and exit code 2."""
    arguments = ["evaluate", str(embedded_path("iris")), "--target", "class", "--dask", "tcp://127.0.0.1:9"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "no Dask scheduler answers" in result.output
