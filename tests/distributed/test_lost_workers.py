"""Workers that die while something is sent, or that are all gone: an answer or one clear line, no wait."""

from __future__ import annotations

import time
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client, LocalCluster

from cluster_tables import PATIENCE, SETTINGS, DiesOnTheWay, partitioned, table
from localbayes import LCWNB
from localbayes.classifiers import METHODS
from localbayes.distributed import Distributed, classify, run_tasks, share
from localbayes.distributed.dask import connection as own

pytestmark = pytest.mark.cluster
PLENTY = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}


@pytest.mark.parametrize("when", ["received", "sent on"])
def test_a_worker_dies_while_the_model_is_sent(tmp_path: Path, when: str) -> None:
    """One of two workers is killed as it receives the model or passes it on: the model is sent again."""
    X, y = table()
    model = DiesOnTheWay(str(tmp_path / "died"), when).fit(X, y)
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, **PLENTY) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        answer = classify(client, model, X, method="predict_proba", part_rows=40)
    assert (tmp_path / "died").exists()
    np.testing.assert_array_equal(answer, LCWNB(kappa=5).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("call", ["fit", "predict", "lazy predict", "score", "classify", "run_tasks"])
def test_all_workers_of_the_callers_cluster_are_gone(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a client that was given, too, work waits for workers as long as on a cluster of our own."""
    monkeypatch.setattr(own, "NO_WORKERS_TIMEOUT", "1 s")
    X, y = table()
    data = dd.from_pandas(X, npartitions=2, sort=False)
    classes = dd.from_pandas(y.astype(str), npartitions=2, sort=False)
    with (
        LocalCluster(n_workers=1, processes=False, **PLENTY) as cluster,
        Client(cluster, set_as_default=False, timeout="2 s") as client,
    ):
        model = Distributed(LCWNB(kappa=5), client).fit(partitioned(2), target="class")
        eager = Distributed(METHODS["NB"](), client).fit(partitioned(2), target="class")
        local = LCWNB(kappa=5).fit(X, y)
        cluster.scale(0)
        latest = time.monotonic() + PATIENCE
        while client.nthreads():
            assert time.monotonic() < latest
        calls = {
            "fit": lambda: model.fit(partitioned(2), target="class"),
            "predict": lambda: model.predict(X),
            "lazy predict": lambda: model.predict(data).compute(),
            "score": lambda: eager.score(data, classes),
            "classify": lambda: classify(client, local, X),
            "run_tasks": lambda: list(run_tasks(client, abs, [-1])),
        }
        with pytest.raises(
            ConnectionError, match="all workers of the Dask cluster are gone, and no new"
        ) as caught:
            calls[call]()
        assert "\n" not in str(caught.value)


def test_what_is_shared_is_sent_again_though_dask_says_it_is_there() -> None:
    """A value whose only copy went with its worker is noticed, whatever its future says."""
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=1, **PLENTY) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        value = share(client, 3)
        client.restart()
        assert dict(run_tasks(client, pow, [2], exp=value)) == {0: 8}
