"""Weights of rows, quantiles and MDL cuts are on a cluster what they are on one machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from sklearn.base import clone

from cluster_tables import SETTINGS, cuts, partitioned, table
from localbayes import LCWNB
from localbayes.classifiers import METHODS
from localbayes.distributed import Distributed
from localbayes.distributed.part_learning import add_table_summaries, summarise_part
from localbayes.encoding import ClassLabels, TableEncoder
from localbayes.encoding.summaries import exact_mean

WHOLE = np.random.default_rng(7).integers(0, 4, 203).astype(float)
BROKEN = np.where(WHOLE > 0, np.random.default_rng(8).random(203) * 3 + 0.01, 0.0)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def weighted(weights: Any, n_parts: int) -> dd.DataFrame:
    """Return the table with its class and a column of weights."""
    X, y = table()
    whole = X.assign(**{"class": y, "weight": weights})
    return dd.from_map(lambda rows: whole.iloc[slice(*rows)], cuts(203, n_parts), meta=whole.iloc[:0])


def statistic_of(model: Any) -> dict[str, Any]:
    return model.statistic.fields()


@pytest.mark.cluster
@pytest.mark.parametrize("n_parts", [2, 7])
@pytest.mark.parametrize("method", METHODS)
def test_whole_weights_are_learned_to_the_bit(client: Client, method: str, n_parts: int) -> None:
    """A row of weight 2 is the row twice, one of weight 0 is not there, wherever the table is cut."""
    X, y = table()
    estimator = METHODS[method]()
    model = Distributed(estimator, client, passes=1)
    model.fit(weighted(WHOLE, n_parts), target="class", sample_weight="weight")
    local = clone(estimator).fit(X, y, WHOLE)
    learned = model.estimator_
    np.testing.assert_array_equal(learned.class_count_, local.class_count_)
    assert learned.encoder_.columns[0] == local.encoder_.columns[0]
    assert learned.encoder_.columns[2].fill == local.encoder_.columns[2].fill
    if learned.keeps_rows:
        kappas = getattr(local, "kappas_", None)
        np.testing.assert_array_equal(getattr(learned, "kappas_", None), kappas)
    else:
        for name, counts in statistic_of(local).items():
            np.testing.assert_array_equal(statistic_of(learned)[name], counts)
    np.testing.assert_array_equal(model.predict_log_proba(X), local.predict_log_proba(X))


@pytest.mark.cluster
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_broken_weights(client: Client, method: str, passes: int) -> None:
    """Sums of weights that are no whole numbers differ in rounding alone."""
    X, y = table()
    model = Distributed(METHODS[method](), client, passes=passes)
    model.fit(weighted(BROKEN, 7), target="class", sample_weight="weight")
    local = METHODS[method]().fit(X, y, BROKEN)
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.cluster
def test_weights_in_every_form(client: Client) -> None:
    """They are a column of the table, a Series or an array; a table of ones is one without weights."""
    X, y = table()
    data = weighted(WHOLE, 7)
    lengths = tuple(data.map_partitions(len).compute(scheduler="sync"))
    features, classes, column = data.drop(columns=["class", "weight"]), data["class"], data["weight"]
    array = da.from_array(WHOLE, chunks=(lengths,))
    labels = da.from_array(y.astype(object).to_numpy(), chunks=(lengths,))
    expected = LCWNB(kappa=5).fit(X, y, WHOLE).predict_proba(X)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((data.drop(columns="weight"),), {"target": "class", "sample_weight": column}),
        ((data.drop(columns="weight"),), {"target": "class", "sample_weight": array}),
        ((features, classes), {"sample_weight": column}),
        ((features, classes), {"sample_weight": array}),
        ((data.drop(columns="class"), classes), {"sample_weight": "weight"}),
    ]
    model = Distributed(LCWNB(kappa=5), client)
    for arguments, options in calls:
        proba = model.fit(*arguments, **options).predict_proba(X)
        np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)
    words = LCWNB(kappa=5).fit(X, y.astype(object), WHOLE).predict_proba(X)
    for weights in (array, column):
        proba = model.fit(features, labels, sample_weight=weights).predict_proba(X)
        np.testing.assert_allclose(proba, words, rtol=0, atol=1e-12)
    model.fit(weighted(np.ones(203), 3), target="class", sample_weight="weight")
    assert model.estimator_.class_count_.dtype == np.int64
    np.testing.assert_array_equal(model.predict_proba(X), LCWNB(kappa=5).fit(X, y).predict_proba(X))


WRONG: list[tuple[Any, type[Exception], str]] = [
    ("wait", ValueError, "'wait', which the table lacks"),
    ("class", ValueError, "sample_weight and target both name the column 'class'"),
    (np.ones(203), TypeError, "the name of a column of X, or a Dask Series or a Dask array.*got ndarray"),
    (partitioned(3)["size"], ValueError, "X has 2 partitions and sample_weight has 3"),
]


@pytest.mark.parametrize(("weights", "kind", "message"), WRONG)
def test_what_are_no_weights(weights: Any, kind: Any, message: str) -> None:
    """They are refused before any cluster is started."""
    with pytest.raises(kind, match=message):
        Distributed(LCWNB()).fit(weighted(WHOLE, 2), target="class", sample_weight=weights)


def test_weights_need_a_column_that_is_there() -> None:
    """The columns of a Dask array have no names."""
    X = da.ones((6, 2), chunks=(3, 2))
    with pytest.raises(TypeError, match="which a Dask array does not have"):
        Distributed(LCWNB()).fit(X, X[:, 0], sample_weight="weight")


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("bad", "message"),
    [(np.full(203, -1.0), "must not be negative"), (np.full(203, np.nan), "must be finite")],
)
def test_weights_that_are_none(client: Client, bad: Any, message: str) -> None:
    """As on one machine, with the partition."""
    with pytest.raises(ValueError, match=rf"{message}.*partition \d of 2"):
        Distributed(LCWNB(), client).fit(weighted(bad, 2), target="class", sample_weight="weight")
    with pytest.raises(ValueError, match="no rows, or none with a weight above zero"):
        Distributed(LCWNB(), client).fit(weighted(np.zeros(203), 2), target="class", sample_weight="weight")


@pytest.mark.cluster
@pytest.mark.parametrize("n_parts", [1, 7])
@pytest.mark.parametrize("discretize", ["quantile", "mdl"])
@pytest.mark.parametrize("method", ["LCWNB", "TAN"])
def test_cuts_are_those_of_one_machine(client: Client, method: str, discretize: str, n_parts: int) -> None:
    """Quantiles and MDL cuts of numbers in partitions are those of all numbers, to the bit."""
    X, y = table()
    for weights in (None, WHOLE):
        estimator = METHODS[method](
            discretize=discretize, n_bins=4, missing="category" if method == "TAN" else "ignore"
        )
        model = Distributed(estimator, client, passes=1)
        data = weighted(WHOLE, n_parts)
        if weights is None:
            model.fit(data.drop(columns="weight"), target="class")
        else:
            model.fit(data, target="class", sample_weight="weight")
        local = clone(estimator).fit(X, y, weights)
        for ours, theirs in zip(model.estimator_.encoder_.columns, local.encoder_.columns, strict=True):
            np.testing.assert_array_equal(getattr(ours, "cuts", 0), getattr(theirs, "cuts", 0))
        np.testing.assert_array_equal(model.predict_log_proba(X), local.predict_log_proba(X))


ROWS = st.lists(
    st.tuples(
        st.one_of(st.integers(-3, 3).map(float), st.just(np.nan), st.floats(-1e3, 1e3)),
        st.sampled_from("abc"),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=60,
)


@given(ROWS, st.integers(1, 4), st.sampled_from(["quantile", "mdl"]), st.booleans(), st.data())
def test_number_counts_add_up(
    rows: list[tuple[float, str, int]], n_parts: int, discretize: str, has_weights: bool, data: Any
) -> None:
    """Cuts and the mean do not depend on how rows are cut into parts, nor do whole weights on repetition."""
    numbers, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    weights = weights.astype(float) if has_weights else np.ones(len(rows))
    kept = weights > 0
    if not kept.any():
        return
    encoder = TableEncoder(n_bins=3, discretize=discretize)
    ends = sorted(data.draw(st.lists(st.integers(0, len(rows)), min_size=n_parts, max_size=n_parts)))
    edges = zip([0, *ends], [*ends, len(rows)], strict=True)
    encoder.start(["a"])
    frame = pd.DataFrame({"a": numbers})
    parts = [
        summarise_part(encoder, (frame[a:b], labels[a:b], *([weights[a:b]] if has_weights else [])))
        for a, b in edges
    ]
    total = add_table_summaries(parts)
    column: Any = encoder.learn(total.columns, sorted(total.labels.counts)).columns[0]
    often = weights.astype(int)
    repeated, classes = np.repeat(numbers, often), np.repeat(labels, often)
    codes = ClassLabels.learn(classes).encode(classes)
    whole: Any = TableEncoder(n_bins=3, discretize=discretize)
    expected = whole.fit(pd.DataFrame({"a": repeated}), codes).columns[0]
    np.testing.assert_array_equal(column.cuts, expected.cuts)
    assert column.fill == expected.fill
    assert total.n_rows == kept.sum()


@given(st.lists(st.tuples(st.floats(-1e200, 1e200), st.floats(1e-200, 1e10)), min_size=2), st.data())
def test_weighted_means_do_not_depend_on_parts(pairs: list[tuple[float, float]], data: Any) -> None:
    """A weighted mean of parts is rounded once, as that of all rows is."""
    numbers, weights = (np.array(column) for column in zip(*pairs, strict=True))
    cut = data.draw(st.integers(0, len(pairs)))
    encoder = TableEncoder().start(["a"])
    parts = [
        encoder.summarise(pd.DataFrame({"a": numbers[some]}), weights[some])
        for some in (slice(0, cut), slice(cut, None))
    ]
    total: Any = parts[0][0] + parts[1][0]
    assert total.mean == exact_mean(numbers, weights)
