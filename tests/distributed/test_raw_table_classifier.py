"""The classifier for raw tables learns on a cluster, or from files, what it learns from rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from cluster_tables import SETTINGS
from localbayes import LocalBayesClassifier
from localbayes.distributed import Distributed, fit_files, load_folder

# Sums of parts are rounded in another order.
CLOSE = 1e-9


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def raw_table() -> pd.DataFrame:
    """Numbers, names that tell only together, dates as text, missing values, an id."""
    rng = np.random.default_rng(4)
    n = 400
    first, second, code = rng.choice(["a", "b"], n), rng.choice(["c", "d"], n), rng.integers(0, 12, n)
    number = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    tells = (first == "a") ^ (second == "c") ^ (rng.random(n) < 0.1)
    days = pd.Series(pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"))
    return pd.DataFrame(
        {
            "id": [f"id {k}" for k in range(n)],
            "first": first,
            "second": second,
            "code": code,
            "number": number,
            "day": days.where(rng.random(n) < 0.95),
            "weight": rng.integers(0, 3, n) * 0.75,
            "class": np.where(tells, "yes", "no"),
        }
    )


def parts(whole: pd.DataFrame, n: int) -> dd.DataFrame:
    return dd.from_pandas(whole, npartitions=n)


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:left out column")
@pytest.mark.parametrize("missing", ["category", "impute", "ignore"])
@pytest.mark.parametrize("passes", [1, 2])
def test_a_cluster_learns_what_one_machine_learns(client: Client, missing: str, passes: int) -> None:
    """Cuts, dates, terms, column weights, kappas and probabilities are those of a fit in one place."""
    whole = raw_table().drop(columns="weight")
    X, y = whole.drop(columns="class"), whole["class"]
    local = LocalBayesClassifier(missing=missing).fit(X, y)
    model = Distributed(LocalBayesClassifier(missing=missing), client, passes=passes)
    model.fit(parts(whole, 3), target="class")
    assert len(local.encoder_.terms) > 0
    assert [str(term) for term in model.estimator_.encoder_.terms] == [str(t) for t in local.encoder_.terms]
    assert model.estimator_.kappas_.tolist() == local.kappas_.tolist()
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), atol=CLOSE)
    lazily = model.predict_proba(parts(X, 2)).compute()
    np.testing.assert_allclose(lazily, local.predict_proba(X), atol=CLOSE)


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:left out column")
def test_weighted_rows_are_learned_and_saved(client: Client, tmp_path: Path) -> None:
    """Weights count as on one machine; the saved folder answers the same on a cluster and on one machine."""
    whole = raw_table()
    X, y = whole.drop(columns=["class", "weight"]), whole["class"]
    local = LocalBayesClassifier().fit(X, y, sample_weight=whole["weight"])
    model = Distributed(LocalBayesClassifier(), client)
    model.fit(parts(whole, 4), target="class", sample_weight="weight")
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), atol=CLOSE)
    model.save(tmp_path / "model")
    for again in (Distributed.load(tmp_path / "model", client), load_folder(tmp_path / "model")):
        np.testing.assert_allclose(again.predict_proba(X), local.predict_proba(X), atol=CLOSE)


@pytest.mark.filterwarnings("ignore:left out column")
def test_files_larger_than_a_batch_are_learned(tmp_path: Path) -> None:
    """Parquet files read 64 rows at a time give what all rows in memory give."""
    whole = raw_table().drop(columns="weight")
    X, y = whole.drop(columns="class"), whole["class"]
    whole.to_parquet(tmp_path / "rows.parquet")
    model = fit_files(
        LocalBayesClassifier(),
        tmp_path / "rows.parquet",
        target="class",
        folder=tmp_path / "model",
        batch_rows=64,
    )
    local = LocalBayesClassifier().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), atol=CLOSE)
