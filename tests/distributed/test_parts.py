"""Summaries and counts of parts of a table add up to those of the table; what cannot be cut is refused."""

from __future__ import annotations

import functools
import math
import operator
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cluster_tables import load, partitioned, table
from localbayes import LCWNB, LWNB
from localbayes.classifiers.lazy import Weighting
from localbayes.counts import MatchIndex, log_joint_of_sums
from localbayes.distributed import Distributed, classify, run_tasks
from localbayes.distributed.dask.partitions import labelled_parts, query_parts
from localbayes.distributed.dask.remote_rows import WORTH_A_PASS, add_batch, batch_size, choose_passes
from localbayes.distributed.dask.task_graph import Graph
from localbayes.distributed.part_counts import Arrays, PartCounts, add_arrays, matches_of, widened
from localbayes.distributed.part_learning import TableSummary, add_summaries
from localbayes.distributed.part_work import Part
from localbayes.encoding import TableEncoder
from oracle import MISSING, match_counts, match_counts_with_missing, naive_bayes_scores, weighted_sums

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.one_of(FINITE, st.just(math.nan)), min_size=1), st.integers(1, 5), st.data())
def test_number_summaries_add_up(numbers: list[float], n_parts: int, data: st.DataObject) -> None:
    """Bins and the mean of a numeric column do not depend on how its rows are cut and ordered."""
    order = data.draw(st.permutations(numbers))
    ends = sorted(data.draw(st.lists(st.integers(0, len(numbers)), min_size=n_parts, max_size=n_parts)))
    whole = TableEncoder().fit(pd.DataFrame({"a": numbers}, dtype=float)).columns[0]
    column = _column_of_parts(
        [order[a:b] for a, b in zip([0, *ends], [*ends, len(order)], strict=True)], float
    )
    np.testing.assert_array_equal(column.cuts, whole.cuts)
    assert column.fill == whole.fill
    known = [n for n in numbers if n == n]
    assert whole.fill == (float(sum(map(Fraction, known)) / len(known)) if known else 0.0)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=5), st.booleans())
def test_category_summaries_add_up(parts: list[list[str | None]], declared: bool) -> None:
    """Domain and mode of a column of categories do not depend on how its rows are cut."""
    dtype: Any = pd.CategoricalDtype(["c", "b", "a", "z"]) if declared else object
    together = pd.Series(functools.reduce(operator.add, parts), dtype=dtype)
    whole = TableEncoder(missing="category").fit(pd.DataFrame({"a": together})).columns[0]
    column = _column_of_parts(parts, dtype, missing="category")
    assert column == whole


def _column_of_parts(parts: list[Any], dtype: Any, **options: Any) -> Any:
    encoder = TableEncoder(**options).start(["a"])
    summaries = [encoder.summarise(pd.DataFrame({"a": pd.Series(p, dtype=dtype)})) for p in parts]
    return encoder.learn(add_summaries(summaries)).columns[0]


@pytest.mark.parametrize("may_miss", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_counts_made_in_parts_give_the_score_of_all_rows(may_miss: bool, alpha: float) -> None:
    """Scores from V and C, or from V, S and T, of three parts are those of all rows."""
    random = np.random.default_rng(3)
    n, m, r, sizes = 80, 5, 3, np.array([2, 3, 4, 2, 3], dtype=np.uint32)
    codes = (random.random((n, m)) * sizes).astype(np.uint8)
    queries = (random.random((9, m)) * (sizes + 1)).astype(np.uint8)
    queries[queries >= sizes] = 255
    if may_miss:
        codes[random.random((n, m)) < 0.2], queries[random.random((9, m)) < 0.2] = 254, 254
    y, weights = random.integers(0, r, n), random.random((9, r, m + 1))
    parts = []
    for rows in (slice(0, 30), slice(30, 30), slice(30, 80)):
        index = MatchIndex(sizes, r, may_miss)
        index.add(codes[rows], y[rows])
        parts.append((index, PartCounts(index, queries)))
    counts = add_arrays([p.match_counts() for _, p in parts])
    moved = [(index, pickle.loads(pickle.dumps(p))) for index, p in parts]
    weighting = Weighting(weights, np.cumsum(weights * widened(counts[0]), axis=2)[..., -1])
    sums: list[Arrays] = [
        add_arrays([p.weighted_matches(index, queries, [weighting]) for index, p in some])
        for some in (parts, moved)
    ]
    expected = [
        _scores(codes, y, r, sizes, q, w, alpha, may_miss) for q, w in zip(queries, weights, strict=True)
    ]
    lacking = queries == 254
    for matches in (matches_of(weighting, counts[1]), *(s[0] for s in sums)):
        log_joint = log_joint_of_sums(lacking, weighting.total, matches, sizes.astype(float), alpha)
        np.testing.assert_allclose(log_joint, expected, rtol=0, atol=1e-12)
    whole = MatchIndex(sizes, r, may_miss)
    whole.add(codes, y)
    model = LCWNB(alpha=alpha, missing="ignore" if may_miss else "impute")
    model.sizes_ = sizes
    kappas = np.array([0.5, 4.0])
    in_parts = [
        model.log_joint_of_sums(queries, one, matches_of(one, counts[1]))
        for one in model.weightings(widened(counts[0]), kappas)
    ]
    np.testing.assert_array_equal(in_parts, whole.count(queries).cell_log_joint(kappas, *model.laplace()))


def _scores(codes: Any, y: Any, r: int, sizes: Any, query: Any, w: Any, alpha: float, may_miss: bool) -> Any:
    """Log joint of one query, by a loop over all rows."""
    if not may_miss:
        V, C = match_counts(codes, y, r, query)
        known = np.broadcast_to(V[:, :, None], C.shape)
        present = np.ones(len(query), bool)
    else:
        wide = np.where(codes == 254, MISSING, codes.astype(int))
        wanted = np.where(query == 254, MISSING, query.astype(int))
        V, C, known = match_counts_with_missing(wide, y, r, wanted)
        present = wanted != MISSING
    S, T, K = (np.einsum("yd,yd...->y...", w, counts) for counts in (V, C, known))
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log((alpha + S) / (alpha * r + S.sum()))
        for i in np.flatnonzero(present):
            scores = scores + np.log((alpha + T[:, i]) / (alpha * sizes[i] + K[:, i]))
    return np.where(np.isnan(scores), -np.inf, scores)


def test_size_of_kept_counts_is_known_to_dask() -> None:
    """Counts that wait for weights report their memory, on which Dask decides what to write to disk."""
    index = MatchIndex(np.array([3, 3], np.uint32), 2)
    index.add(np.zeros((50, 2), np.uint8), np.arange(50) % 2)
    few, many = (sys.getsizeof(PartCounts(index, np.zeros((n, 2), np.uint8))) for n in (1, 1000))
    assert many - few >= 999 * 2 * 3


def test_passes_are_chosen_by_bytes() -> None:
    """Narrow tables and few queries go in one pass; many queries over many attributes in two."""
    narrow = LCWNB(kappa=5).fit(np.zeros((4, 3)).astype(str), [0, 1, 0, 1])
    wide = LCWNB(kappa=5).fit(np.zeros((4, 30)).astype(str), [0, 1, 0, 1])
    assert choose_passes(narrow, None) == choose_passes(narrow, 10**9) == 1
    assert choose_passes(wide, 1) == 1
    assert choose_passes(wide, None) == 2
    extra = 4 * 2 * 31 * 31 - 20 * 2 * 31
    assert [choose_passes(wide, WORTH_A_PASS // extra + k) for k in (0, 1)] == [1, 2]
    wide.kappas_ = np.arange(1, 9)
    assert choose_passes(wide, 10**9) == 1
    assert batch_size(narrow, 1) > batch_size(wide, 10**4) >= 1


def test_trees_keep_the_order_of_parts() -> None:
    """A reduction of any number of parts joins neighbours, so that ordered unions come out in order."""
    import dask

    for n in (1, 2, 8, 9, 65):
        graph = Graph()
        keys = [graph.call("number", int, k) for k in range(n)]
        leaves = [graph.call("make-list", _single, key) for key in keys]
        assert dask.get(graph, graph.tree("join-lists", _joined, leaves)) == list(range(n))


def _single(value: int) -> list[int]:
    return [value]


def _joined(lists: list[list[int]]) -> list[int]:
    return [value for part in lists for value in part]


def test_names_of_tasks_say_what_they_do() -> None:
    """The dashboard groups tasks by the words in front of their keys."""
    from dask.utils import key_split

    graph = Graph()
    assert {key_split(graph.call("count-matches", int)) for _ in range(300)} == {"count-matches"}


ARRAY = da.ones((6, 2), chunks=(3, 2))
WRONG = [
    (LogisticRegression(), (ARRAY, ARRAY[:, 0]), {}, TypeError, "classifier of localbayes"),
    (LCWNB(kappa=-1), (ARRAY, ARRAY[:, 0]), {}, ValueError, "kappa must be"),
    (LCWNB(), (np.ones((2, 2)), [0, 1]), {}, TypeError, "got ndarray; fit the classifier itself"),
    (LCWNB(), (ARRAY,), {}, ValueError, "pass y, or the name"),
    (LCWNB(), (ARRAY, [0, 1]), {}, TypeError, "y must be a Dask Series"),
    (LCWNB(), (ARRAY, ARRAY), {}, ValueError, "y must have one dimension"),
    (LCWNB(), (ARRAY[:, 0], ARRAY[:, 0]), {}, ValueError, "X must have two dimensions"),
    (LCWNB(), (ARRAY, ARRAY[:4, 0]), {}, ValueError, "X has 6 rows and y has 4"),
    (LCWNB(), (ARRAY,), {"target": "class"}, TypeError, "a Dask array does not have"),
    (LCWNB(), (partitioned(2), ARRAY[:, 0]), {"target": "class"}, ValueError, "not both"),
    (LCWNB(), (partitioned(2),), {"target": "clas"}, ValueError, "'clas', which the table lacks"),
    (LCWNB(), (partitioned(2), partitioned(3)["class"]), {}, ValueError, "2 partitions and y has 3"),
    (LCWNB(), (partitioned(2)[["class"]],), {"target": "class"}, ValueError, "from besides the class"),
    (LCWNB(), (ARRAY[:, :0], ARRAY[:, 0]), {}, ValueError, "no column to learn from"),
    (LCWNB(), ("nothing/*.parquet",), {"target": "class"}, FileNotFoundError, "no Parquet files"),
]


@pytest.mark.parametrize(("estimator", "arguments", "options", "kind", "message"), WRONG)
def test_what_cannot_be_learned_from(
    estimator: Any, arguments: Any, options: Any, kind: Any, message: str
) -> None:
    """Wrong input is refused before any cluster is started, in a line that says what to do."""
    with pytest.raises(kind, match=message):
        Distributed(estimator).fit(*arguments, **options)


def test_too_many_rows_for_pair_counts() -> None:
    """Pair counts are integers of 32 bits; more rows than that are refused before they are counted."""
    from localbayes.classifiers import TAN
    from localbayes.distributed.domains import set_domains
    from localbayes.encoding.summaries import CategorySummary

    labels = CategorySummary("y", {"a": 2**31, "b": 1}, False, 0)
    with pytest.raises(ValueError, match="at most 2147483647 rows, got 2147483649"):
        set_domains(TAN(), [], TableSummary([], labels, 2**31 + 1, False), lambda numbers: [])


def test_wrong_passes() -> None:
    """Queries travel once or twice."""
    with pytest.raises(ValueError, match="passes must be 1, 2 or None, got 3"):
        Distributed(LCWNB(), passes=3).fit(ARRAY, ARRAY[:, 0])


@pytest.mark.parametrize("client", ["tcp://127.0.0.1:8786", object()], ids=["address", "object"])
def test_wrong_client(client: Any) -> None:
    """What is no client is refused in a line that says how to make one."""
    for use in (
        lambda: Distributed(LCWNB(), client).fit(ARRAY, ARRAY[:, 0]),
        lambda: classify(client, LCWNB(), ARRAY),
        lambda: list(run_tasks(client, abs, [1])),
    ):
        with pytest.raises(
            TypeError, match=r"must be a distributed\.Client, got (str|object); pass Client\("
        ):
            use()


def test_wrong_queries(tmp_path: Path) -> None:
    """Queries that are no table, or lack a column, are refused."""
    with pytest.raises(TypeError, match="got Series"):
        query_parts(partitioned(2)["class"], None)
    load((0, 9)).drop(columns="size").to_parquet(tmp_path / "q.parquet")
    with pytest.raises(ValueError, match="lack the column 'size'"):
        query_parts([tmp_path / "q.parquet"], ["shape", "size"])


@pytest.mark.parametrize("path", ["{}/part*.csv", "{}", ["{}/part0.csv"]], ids=["pattern", "folder", "list"])
def test_files_that_are_not_parquet(tmp_path: Path, path: Any) -> None:
    """They are refused in one line that says what to do with them, before any cluster is started."""
    for k in range(2):
        (tmp_path / f"part{k}.csv").write_text("a,class\nx,yes\ny,no\n")
    files = [p.format(tmp_path) for p in path] if isinstance(path, list) else path.format(tmp_path)
    with pytest.raises(ValueError, match="as Parquet; read other files with Dask") as caught:
        Distributed(LCWNB()).fit(files, target="class")
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mixed_collections() -> None:
    """A DataFrame with an array of labels, or the reverse, is one table as long as both are cut alike."""
    import dask

    X, y = table()
    frame = partitioned(3).drop(columns="class")
    lengths = tuple(map(len, dask.compute(*frame.to_delayed(), scheduler="synchronous")))
    labels = da.from_array(y.astype(str).to_numpy(), chunks=(lengths,))
    numbers = da.from_array(X[["size", "pieces"]].to_numpy(), chunks=(lengths, 1))
    for parts in (
        labelled_parts(frame, labels, None),
        labelled_parts(numbers, dd.from_dask_array(labels), None),
    ):
        pairs = [dask.get(parts.graph, key) for key in parts.keys]
        assert [len(a) for a, _ in pairs] == [len(b) for _, b in pairs] == list(lengths)
        assert np.concatenate([np.asarray(b) for _, b in pairs]).tolist() == y.tolist()


def test_small_files_stay_the_partitions_they_are(tmp_path: Path) -> None:
    """Dask would read several at a time, of few columns more: table and class would not fit any more."""
    import dask

    for k in range(17):
        wide = {f"z{i}": [0] * 20 for i in range(5)}
        for folder, columns in (("X", {name: ["x", "y"] * 10 for name in "abcdefg"}), ("y", {"c": [k] * 20})):
            (tmp_path / folder).mkdir(exist_ok=True)
            pd.DataFrame(columns | wide).to_parquet(tmp_path / folder / f"{k:02}.parquet")
    y = dd.read_parquet(tmp_path / "y")["c"]
    for X in (tmp_path / "X", dd.read_parquet(tmp_path / "X")[["a", "b"]]):
        parts = labelled_parts(X, y, None, ["a", "b"])
        pairs = [dask.get(parts.graph, key) for key in parts.keys]
        assert [(a.shape, b.tolist()) for a, b in pairs] == [((20, 2), [k] * 20) for k in range(17)]


def test_clones_share_the_connection() -> None:
    """A model can be cloned although a connection cannot be copied."""
    connection = object()
    copy = clone(Distributed(LCWNB(kappa=3), connection, passes=2))
    assert copy.client is connection
    assert (copy.estimator.kappa, copy.passes) == (3, 2)


def test_without_dask_the_package_to_install_is_named() -> None:
    """Only what runs on a cluster needs Dask, and it says so; parts and files need none."""
    without = "import sys; sys.modules['dask'] = None; import localbayes; "
    engine_free = "from localbayes.distributed import files, fit_files, load_folder, saved_parts; "
    for name in ("Distributed", "classify", "connect", "run_tasks", "share"):
        code = f"{without}{engine_free}from localbayes.distributed import {name}"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.stderr.splitlines()[-1].startswith(f"ImportError: localbayes.distributed.{name} ")
        assert "install the extra 'dask'" in done.stderr


def test_sums_of_the_oracle_agree_with_its_scores() -> None:
    """The loop used above is the formula that the local classifiers are tested with."""
    random = np.random.default_rng(0)
    codes, y, query = random.integers(0, 2, (20, 3)), random.integers(0, 2, 20), np.array([0, 1, 1])
    S, T = weighted_sums(codes, y, 2, query, lambda row: 1)
    expected = naive_bayes_scores(S, T, [2, 2, 2])
    np.testing.assert_allclose(
        _scores(codes, y, 2, [2, 2, 2], query, np.ones((2, 4)), 1.0, False), expected, atol=1e-12
    )


@pytest.mark.parametrize("model", [LWNB(), LCWNB(5)], ids=["LWNB", "LCWNB"])
def test_sums_of_two_passes_do_not_depend_on_where_the_parts_are(model: Any) -> None:
    """Rounded sums are added in the order of the parts, whichever workers hold them."""
    random = np.random.default_rng(4)
    table = np.array(list("abcde"))[random.integers(0, 5, (90, 6))].astype(object)
    y = random.integers(0, 3, 90)
    model = clone(model).fit(table, y)
    sizes, formula = model.sizes_, model.without_rows()
    held = {}
    for k, rows in enumerate(np.array_split(np.arange(90), 5)):
        index = MatchIndex(sizes, 3)
        index.add(model.encode(table[rows]), y[rows])
        held[f"index-rows-{k}"] = Part(index, ())
    answers = []
    for order in (list(held), list(held)[::-1], random.permutation(list(held)).tolist()):
        graph = Graph(held, {"formula": formula, "codes": model.encode(table[:40])})
        places = [(key, ()) for key in order]
        answer, _ = add_batch(graph, "formula", places, "codes", "predict_proba", passes=2)
        answers.append(dask.get(dict(graph), answer).tobytes())
    assert len(set(answers)) == 1
