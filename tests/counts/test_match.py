"""The compiled match counts against plain loops over the training rows."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from localbayes import counts as kernels
from localbayes import parallel
from localbayes.classifiers import LCWNB
from localbayes.classifiers.lazy import LazyClassifier
from localbayes.encoding import Coded, code_dtype
from localbayes.encoding.coded import missing_code, unseen_code


def table(seed, n, m, r, sizes, absent_class=False):
    """Codes with a skewed class, so that queries meet many distances; the last class may be absent."""
    rng = np.random.default_rng(seed)
    sizes = np.broadcast_to(np.asarray(sizes, np.uint32), (m,)).copy()
    codes = (rng.beta(0.5, 1.5, (n, m)) * sizes).astype(np.uint32)
    classes = (rng.beta(0.6, 1.0, n) * (r - (absent_class and r > 1))).astype(np.int64)
    return codes, classes, sizes


def queries(seed, codes, sizes, k=3):
    """Training rows, training rows with some values changed, and a value never seen."""
    rng = np.random.default_rng(seed + 1)
    m = len(sizes)
    base = codes[rng.integers(len(codes), size=k)] if len(codes) else np.zeros((k, m), np.uint32)
    changed = np.where(rng.random((k, m)) < 0.5, base, (rng.random((k, m)) * sizes).astype(np.uint32))
    strange = changed.copy()
    strange[:, rng.integers(m)] = sizes.max() + 5
    return np.concatenate([base[:1], changed, strange[:1]])


def narrowed(codes, sizes):
    """Codes in the dtype that the encoder would choose; what is no value becomes the unseen code."""
    dtype = code_dtype(int(sizes.max()))
    return np.where(codes < sizes, codes, unseen_code(dtype)).astype(dtype)


def index_of(codes, classes, sizes, r, parts=1, weights=None, may_miss=False):
    index = kernels.MatchIndex(sizes, r, may_miss)
    for rows in np.array_split(np.arange(len(codes)), parts):
        index.add(codes[rows], classes[rows], None if weights is None else weights[rows])
        index.pack()  # or all parts would become one
    return index


def assert_counts_equal(index, codes, classes, asked, n_classes):
    """Every query's V and C is what the loop over all training rows gives."""
    counts = index.count(narrowed(asked, index.sizes))
    V, C = counts.distance_counts, counts.match_counts
    assert V.dtype == C.dtype == np.int64
    for q, query in enumerate(asked):
        expected_V, expected_C = oracle.match_counts(codes, classes, n_classes, query)
        np.testing.assert_array_equal(V[q], expected_V)
        np.testing.assert_array_equal(C[q], expected_C)


@pytest.fixture
def restored_isa():
    before = kernels.isa()
    yield
    kernels.use_isa(before)


WIDE_SIZES = np.array([2, 70_000, 1, 300, 5], np.uint32)
SHAPES = {
    "no rows": (0, 4, 3, 3),
    "one row, one attribute, one class": (1, 1, 1, 1),
    "one-valued columns": (500, 6, 2, [1, 1, 1, 2, 1, 3]),
    "all columns one-valued": (100, 5, 3, 1),
    "one attribute": (3000, 1, 4, 7),
    "one class": (5000, 30, 1, 4),
    "forty classes": (5000, 16, 40, 16),
    "two hundred attributes": (700, 200, 3, 2),
    "two hundred attributes, forty classes": (5000, 200, 40, 5),
    "a block of rows": (2048, 9, 2, 4),
    "a block of rows and one": (2049, 9, 2, 4),
    "a word of rows less one": (63, 33, 2, 3),
    "97 attributes": (300, 97, 2, 3),
    "largest byte codes": (400, 3, 2, [253, 254, 10]),
    "columns with 70,000 values": (5000, 5, 6, WIDE_SIZES),
}


@pytest.mark.usefixtures("restored_isa")
@pytest.mark.parametrize("absent_class", [False, True], ids=["", "absent class"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_counts_are_those_of_a_loop_over_all_rows(shape, absent_class):
    """Each instruction set counts exactly, whatever the shape of the table."""
    n, m, r, sizes = shape
    codes, classes, sizes = table(7, n, m, r, sizes, absent_class)
    asked = queries(7, codes, sizes, k=1 if n * m > 10**5 else 3)
    for name in kernels.isas():
        kernels.use_isa(name)
        assert kernels.isa() == name
        index = index_of(narrowed(codes, sizes), classes, sizes, r)
        assert_counts_equal(index, codes, classes, asked, r)


@st.composite
def small_tables(draw):
    m, r, n = draw(st.integers(1, 20)), draw(st.integers(1, 6)), draw(st.integers(0, 300))
    size = st.sampled_from([1, 2, 3, 4, 5, 17, 252, 253, 254, 255, 300, 70_000])
    sizes = draw(st.lists(size, min_size=m, max_size=m))
    seed = draw(st.integers(0, 2**31))
    return table(seed, n, m, r, sizes, draw(st.booleans())), r, seed


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=60)
@given(tables=small_tables(), parts=st.integers(1, 6))
def test_rows_may_come_in_parts(tables, parts):
    """Appending rows in parts, which are merged as they grow, counts like appending them at once."""
    (codes, classes, sizes), r, seed = tables
    asked = queries(seed, codes, sizes)
    for name in kernels.isas():
        kernels.use_isa(name)
        index = index_of(narrowed(codes, sizes), classes, sizes, r, parts)
        assert index.n_rows == len(codes)
        assert_counts_equal(index, codes, classes, asked, r)


def test_segments_stay_few_and_domains_may_grow_between_them():
    """A thousand single rows make a handful of segments; a value first met late is counted all the same."""
    codes, classes, sizes = table(3, 1000, 4, 3, [2, 9, 300, 4])
    index = kernels.MatchIndex(np.ones(4, np.uint32), 3)
    for k in range(len(codes)):
        index = index.grown(np.maximum(index.sizes, codes[k] + 1).astype(np.uint32))
        index.add(narrowed(codes[k : k + 1], index.sizes), classes[k : k + 1])
        index.pack()
    assert len(index.segments) <= 1 + np.log2(1000)
    index = index.grown(sizes)
    assert_counts_equal(index, codes, classes, queries(3, codes, sizes), 3)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_wait_for_a_query_as_they_were_when_they_came(weighted):
    """Single rows, some with codes of a wider type, are copied, and packed at the first query."""
    codes, classes, sizes = table(5, 300, 3, 4, [2, 300, 4])
    weights = np.random.default_rng(0).random(300) if weighted else None
    index = kernels.MatchIndex(sizes, 4)
    for k in range(len(codes)):
        dtype = np.uint8 if codes[k].max() < 200 else np.uint16
        row, row_class = codes[k : k + 1].astype(dtype), classes[k : k + 1].copy()
        weight = None if weights is None else weights[k : k + 1].copy()
        index.add(row, row_class, weight)
        row[:], row_class[:] = 0, 0
        if weight is not None:
            weight[:] = 0
        assert index.n_rows == k + 1
    whole = index_of(codes.astype(np.uint16), classes, sizes, 4, weights=weights)
    asked = narrowed(queries(5, codes, sizes), sizes)
    np.testing.assert_array_equal(index.count(asked).match_counts, whole.count(asked).match_counts)
    for rows, labels, numbers, _ in index.training_rows():
        np.testing.assert_array_equal(rows, codes[numbers])
        np.testing.assert_array_equal(labels, classes[numbers])


def test_rows_that_wait_keep_their_missing_values_when_domains_grow():
    """In bytes 254 means missing; it still does when the column has 300 values by the time of a query."""
    index = kernels.MatchIndex(np.array([3, 2], np.uint32), 2, may_miss=True)
    index.add(np.array([[missing_code(np.uint8), 1], [2, 0]], np.uint8), np.array([0, 1]))
    index = index.grown(np.array([300, 2], np.uint32))
    index.add(np.array([[missing_code(np.uint8), 1]], np.uint16), np.array([1]))
    V = index.count(np.array([[7, 1]], np.uint16)).distance_counts
    # Row 0 lacks the first value and agrees on the second, row 1 differs in both, row 2 in the first.
    assert V.tolist() == [[[1, 0, 0], [0, 1, 1]]]


def test_threads_that_count_rows_which_wait_see_each_of_them_once():
    """Whoever packs first, and however often, no row is lost or counted twice."""
    codes, classes, sizes = table(6, 4000, 12, 3, [5] * 12)
    narrow = narrowed(codes, sizes)
    for _ in range(20):
        index = kernels.MatchIndex(sizes, 3)
        for rows in np.array_split(np.arange(len(codes)), 10):
            index.add(narrow[rows], classes[rows])
        start = threading.Barrier(8)

        def count(index=index, start=start):
            start.wait()
            return index.count(narrow[:1]).distance_counts.sum()

        with ThreadPoolExecutor(8) as pool:
            assert {int(f.result()) for f in [pool.submit(count) for _ in range(8)]} == {len(codes)}


def test_rows_can_be_read_back():
    """training_rows gives back every row with its class, its number and its weight."""
    codes, classes, sizes = table(11, 700, 5, 4, [3, 70_000, 1, 300, 2])
    weights = np.random.default_rng(0).random(700)
    index = index_of(narrowed(codes, sizes), classes, sizes, 4, parts=7, weights=weights)
    seen = 0
    for rows, labels, numbers, row_weights in index.training_rows(step=64):
        assert len(rows) <= 64
        np.testing.assert_array_equal(rows, codes[numbers])
        np.testing.assert_array_equal(labels, classes[numbers])
        np.testing.assert_array_equal(row_weights, weights[numbers])
        seen += len(numbers)
    assert seen == 700
    assert sum(s.nbytes for s in index.segments) == index.nbytes > 700 * (8 + 4)


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=25)
@given(tables=small_tables(), parts=st.integers(1, 3))
def test_a_training_row_can_be_left_out(tables, parts):
    """With its own class given, a training row is counted against all rows but itself.

    That also holds where a value of it is called one that no row has, not even itself.
    """
    (codes, classes, sizes), r, seed = tables
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(codes), min(4, len(codes)), replace=False)
    asked, strange = narrowed(codes[chosen], sizes), rng.random(codes[chosen].shape) < 0.2
    asked[strange] = unseen_code(asked.dtype)
    index = index_of(narrowed(codes, sizes), classes, sizes, r, parts)
    for name in kernels.isas():
        kernels.use_isa(name)
        counts = index.count(asked, own=classes[chosen])
        V, C = counts.distance_counts, counts.match_counts
        for q, row in enumerate(chosen):
            others = np.arange(len(codes)) != row
            query = np.where(strange[q], oracle.UNSEEN, codes[row].astype(np.int64))
            expected = oracle.match_counts(codes[others], classes[others], r, query)
            np.testing.assert_array_equal(V[q], expected[0])
            np.testing.assert_array_equal(C[q], expected[1])


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=25)
@given(tables=small_tables(), parts=st.integers(1, 3), left_out=st.booleans())
def test_rows_may_weigh(tables, parts, left_out):
    """A row of weight w counts w times; the first part may have no weights, which is weight one."""
    (codes, classes, sizes), r, seed = tables
    weights = np.random.default_rng(seed).random(len(codes)) * 3
    index = kernels.MatchIndex(sizes, r)
    for k, rows in enumerate(np.array_split(np.arange(len(codes)), parts)):
        unweighted = k == 0 and parts > 1
        if unweighted:
            weights[rows] = 1.0
        index.add(narrowed(codes[rows], sizes), classes[rows], None if unweighted else weights[rows])
    chosen = np.random.default_rng(seed).choice(len(codes), min(3, len(codes)), replace=False)
    for name in kernels.isas():
        kernels.use_isa(name)
        own = (classes[chosen], weights[chosen]) if left_out else (None, None)
        counts = index.count(narrowed(codes[chosen], sizes), *own)
        V, C = counts.distance_counts, counts.match_counts
        for q, row in enumerate(chosen):
            others = np.arange(len(codes)) != (row if left_out else -1)
            expected = oracle.match_counts(codes[others], classes[others], r, codes[row], weights[others])
            np.testing.assert_allclose(V[q], expected[0], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(C[q], expected[1], rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=40)
@given(tables=small_tables(), parts=st.integers(1, 3), weighted=st.booleans(), left_out=st.booleans())
def test_unknown_values_neither_match_nor_mismatch(tables, parts, weighted, left_out):
    """Where values may be missing, distances and matches are over the values known on both sides."""
    (codes, classes, sizes), r, seed = tables
    rng = np.random.default_rng(seed)
    holes = rng.random(codes.shape) < 0.3
    marked = np.where(holes, oracle.MISSING, codes.astype(np.int64))
    dtype = code_dtype(int(sizes.max()))
    coded = np.where(holes, missing_code(dtype), codes).astype(dtype)
    ones = np.ones(len(codes)) if weighted else None
    index = index_of(coded, classes, sizes, r, parts, ones, may_miss=True)
    chosen = rng.choice(len(codes), min(3, len(codes)), replace=False)
    asked, asked_codes = marked[chosen], coded[chosen]
    if not left_out and len(chosen):
        asked[0, 0], asked_codes[0, 0] = oracle.UNSEEN, unseen_code(dtype)
    m = codes.shape[1]
    for name in kernels.isas():
        kernels.use_isa(name)
        counts = index.count(asked_codes, own=classes[chosen] if left_out else None)
        V, C = counts.distance_counts, counts.match_counts
        for q, row in enumerate(chosen):
            others = np.arange(len(codes)) != (row if left_out else -1)
            expected = oracle.match_counts_with_missing(marked[others], classes[others], r, asked[q])
            np.testing.assert_array_equal(V[q], expected[0])
            np.testing.assert_array_equal(C[q, ..., :m], expected[1])
            np.testing.assert_array_equal(C[q, ..., m:], expected[2])


def test_missing_values_can_be_read_back():
    """A missing value of a training row stays missing, not the value with the next code."""
    codes, classes, sizes = table(2, 300, 4, 2, [2, 4, 5, 300])
    coded = np.where(codes == 1, missing_code(np.uint16), codes).astype(np.uint16)
    index = index_of(coded, classes, sizes, 2, parts=3, may_miss=True)
    for rows, _, numbers, weights in index.training_rows():
        assert weights is None
        np.testing.assert_array_equal(rows == missing_code(np.uint32), codes[numbers] == 1)
        np.testing.assert_array_equal(rows[rows < 300], codes[numbers][codes[numbers] != 1])


@pytest.mark.usefixtures("restored_isa")
@pytest.mark.parametrize("kappa", [0.5, 5, 20.0])
@pytest.mark.parametrize("shape", [(3000, 16, 5, 10), (500, 60, 3, 4)])
def test_every_instruction_set_gives_the_same_bits(shape, kappa):
    """Weights and scores, too, do not depend on the width of the machine's vectors."""
    codes, classes, sizes = table(5, *shape)
    asked = narrowed(queries(5, codes, sizes, k=40), sizes)
    results = []
    for name in kernels.isas():
        kernels.use_isa(name)
        counts = index_of(narrowed(codes, sizes), classes, sizes, shape[2], parts=3).count(asked)
        gamma, rho, weights = kernels.cell_weights(counts.distance_counts, kappa)
        S, T = counts.weighted_sums(weights)
        scores = counts.log_joint(weights, sizes.astype(float), 1.0)
        results.append(b"".join(a.tobytes() for a in (gamma, rho, weights, S, T, scores)))
    assert len(set(results)) == 1


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=60)
@given(
    m=st.sampled_from([1, 16, 60, 300, 700, 2000, 20_000]),
    kappa=st.sampled_from([0.3, 1, 5, 20.0, 300]),
    seed=st.integers(0, 2**32),
)
def test_the_weights_of_a_class_sum_to_kappa_however_wide_the_table(m, kappa, seed):
    """Gamma is the root that a bisection finds, for rows close together or far apart, equal or weighted."""
    rng = np.random.default_rng(seed)
    spread, centre = rng.choice([0.002, 0.05, 0.3]), rng.random()
    distance = (m * (centre + spread * rng.standard_normal((8, 400)))).clip(0, m).astype(int)
    weight = rng.random(400) * rng.choice([1, 1e6])
    V = np.stack([np.bincount(d, weight if k % 2 else None, m + 1) for k, d in enumerate(distance)])
    expected = [oracle.solve_gamma(v, kappa) for v in V]
    for name in kernels.isas():
        kernels.use_isa(name)
        gamma, rho, weights = kernels.cell_weights(V[None], kappa)
        np.testing.assert_allclose(gamma[0], expected, rtol=1e-12, atol=1e-300)
        solved = (gamma[0] > 0) & (gamma[0] < 1)
        sums = (V * weights[0]).sum(axis=1) / rho[0]
        np.testing.assert_allclose(sums[solved], kappa, rtol=1e-12 * max(m, 100))


def test_weighted_sums_are_sums_over_rows():
    """S and T are the sums of the rows' weights, by class and by class and agreement."""
    codes, classes, sizes = table(9, 800, 7, 3, 4)
    asked = queries(9, codes, sizes)
    by_distance = np.random.default_rng(9).random((len(asked), 3, 8))
    S, T = (
        index_of(narrowed(codes, sizes), classes, sizes, 3)
        .count(narrowed(asked, sizes))
        .weighted_sums(by_distance)
    )
    for q, query in enumerate(asked):
        distance = oracle.hamming(codes, query.tolist())
        expected = oracle.weighted_sums(
            codes, classes, 3, query, lambda j, q=q, d=distance: by_distance[q, classes[j], d[j]]
        )
        np.testing.assert_allclose(S[q], expected[0], rtol=1e-12)
        np.testing.assert_allclose(T[q], expected[1], rtol=1e-12)


MANY_QUERIES = """
import resource
import numpy as np
from localbayes.classifiers import LCWNB
from localbayes.encoding import Coded

rng = np.random.default_rng(0)
table = Coded(rng.integers(0, 4, (4000, 64), dtype=np.uint8), np.full(64, 4))
model = LCWNB({kappa!r}, loo_rows=50, n_jobs=2).fit(table, np.arange(4000) % 40)
model.predict(table[:1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{call}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(
    ("kappa", "call"),
    [
        (5, "model.predict_log_joint(table[:2000])"),
        (5, "model.log_joint_many(table[:600], np.arange(1, 41))"),
        (5, "model.sample_local(table[:30], 0)"),
        ("mixture", "assert len(model.kappas_) > 4; model.predict(table[:1000])"),
    ],
)
def test_many_queries_take_bounded_memory(kappa, call):
    """Counts and weights that would take up to a gigabyte at once stay within 256 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MANY_QUERIES.format(kappa=kappa, call=call)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) * 1024 <= 256 << 20


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=40)
@given(tables=small_tables(), alpha=st.sampled_from([0.0, 1e-20, 1e-3, 1.0, 30.0]))
def test_classes_that_cannot_win_may_be_spared(tables, alpha):
    """Given a margin a class scores what it scores, or minus infinity if another is better by more."""
    (codes, classes, sizes), r, seed = tables
    asked = narrowed(queries(seed, codes, sizes), sizes)
    for name in kernels.isas():
        kernels.use_isa(name)
        counts = index_of(narrowed(codes, sizes), classes, sizes, r).count(asked)
        kappas, given = np.array([0.5, 5.0]), (sizes.astype(float), alpha)
        weights = kernels.cell_weights(counts.distance_counts, 5.0)[2]
        for margin in (0.0, 3.0):
            for every, spared in (
                (counts.log_joint(weights, *given), counts.log_joint(weights, *given, margin)),
                (counts.cell_log_joint(kappas, *given), counts.cell_log_joint(kappas, *given, margin)),
            ):
                left_out = np.isneginf(spared) & ~np.isneginf(every)
                np.testing.assert_array_equal(spared[~left_out], every[~left_out])
                best = np.broadcast_to(every.max(axis=-1, keepdims=True), every.shape)
                assert (every[left_out] < best[left_out] - margin - 1e-8).all()


def test_an_unknown_instruction_set_is_refused():
    """The message says which instruction sets this machine has."""
    with pytest.raises(ValueError, match=r"must be one of .*portable on this machine, got 'mmx'"):
        kernels.use_isa("mmx")


@pytest.mark.parametrize("name", kernels.isas())
def test_the_environment_chooses_the_instruction_set(name):
    """LOCALBAYES_ISA forces one for a whole process."""
    done = subprocess.run(
        [sys.executable, "-c", "import localbayes.kernels as k; print(k.isa())"],
        env=os.environ | {"LOCALBAYES_ISA": name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == name


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_do_not_change_a_bit(n_jobs):
    """Any number of threads gives the bytes that one gives."""
    codes, classes, sizes = table(4, 600, 12, 4, 5)
    train, asked = Coded(codes, sizes), Coded(codes[:333], sizes)
    one = LCWNB(n_jobs=1).fit(train, classes)
    many = LCWNB(n_jobs=n_jobs).fit(train, classes)
    assert one.predict_log_joint(asked).tobytes() == many.predict_log_joint(asked).tobytes()
    assert one.predict_proba(asked).tobytes() == many.predict_proba(asked).tobytes()


@given(n=st.integers(0, 5000), threads=st.integers(1, 70), most=st.integers(1, 2000))
def test_chunks_are_all_queries_once(n, threads, most):
    """Chunks follow each other from the first query to the last; no thread gets more than its share."""
    chunks = parallel.shares(n, threads, most)
    assert [q for begin, end in chunks for q in range(begin, end)] == list(range(n))
    assert all(0 < end - begin <= min(most, -(-n // threads)) for begin, end in chunks)


class Clumsy(LCWNB):
    """Cannot score a value that it never saw."""

    def contenders(self, codes):
        if (codes == unseen_code(codes.dtype)).any():
            raise ArithmeticError
        return super().contenders(codes)


@pytest.mark.parametrize("row", [0, 999])
def test_an_error_in_a_thread_is_seen(row):
    """An error in the first or the last chunk reaches the caller, and the next prediction works."""
    codes, classes, sizes = table(5, 1000, 6, 3, 3)
    model = Clumsy(5, n_jobs=4).fit(Coded(codes, sizes), classes)
    expected = model.predict(Coded(codes, sizes))
    wrong = codes.copy()
    wrong[row] = 3
    with pytest.raises(ArithmeticError):
        model.predict(Coded(wrong, sizes))
    np.testing.assert_array_equal(model.predict(Coded(codes, sizes)), expected)


def test_predictions_at_once_share_their_threads():
    """Several callers at a time, more than there are threads for, get what one alone gets."""
    codes, classes, sizes = table(6, 1000, 6, 3, 3)
    train = Coded(codes, sizes)
    model = LCWNB(5, n_jobs=2).fit(train, classes)
    expected = LCWNB(5, n_jobs=1).fit(train, classes).predict(train).tolist()
    with ThreadPoolExecutor(4) as callers:
        for labels in callers.map(lambda _: model.predict(train).tolist(), range(16)):
            assert labels == expected


FORK = """
import os
import numpy as np
from localbayes.classifiers import LCWNB
from localbayes.encoding import Coded

table = Coded(np.random.default_rng(0).integers(0, 4, (500, 6), dtype=np.uint8), np.full(6, 4))
model = LCWNB(5, n_jobs=3).fit(table, np.arange(500) % 4)
expected = model.predict(table).tolist()
child = os.fork()
if child == 0:
    os._exit(0 if model.predict(table).tolist() == expected else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_has_threads_of_its_own():
    """The threads that wait for the next prediction are not there in a copy of the process."""
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "0"


LATE = """
import threading
import numpy as np
from localbayes.classifiers import LCWNB
from localbayes.encoding import Coded

table = Coded(np.random.default_rng(0).integers(0, 4, (500, 6), dtype=np.uint8), np.full(6, 4))
model = LCWNB(5, n_jobs=2).fit(table, np.arange(500) % 4)

def predict_late():
    threading.main_thread().join()
    print(len(model.predict(table)))

threading.Thread(target=predict_late).start()
"""


def test_a_thread_that_outlives_the_main_thread_predicts():
    """A program that is about to end starts no more threads; the one that asks does the work."""
    done = subprocess.run(
        [sys.executable, "-c", LATE], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("500", "")


def test_a_thread_that_cannot_be_started_takes_no_queries(monkeypatch):
    """What was meant for it is done by the caller, even if a busy thread comes to it later."""
    free, taken, returned = threading.Event(), threading.Event(), threading.Event()

    class Slow(LazyClassifier):
        def weights(self, distance_counts):
            if threading.current_thread().name.startswith("localbayes"):
                taken.set()
                returned.wait(60)
            elif self.n_jobs == 2:
                free.set()
                assert taken.wait(60)
            return np.ones(distance_counts.shape)

    def refuse(thread):
        raise RuntimeError(f"can't start {thread.name}")

    codes, classes, sizes = table(6, 500, 6, 3, 3)
    train = Coded(codes, sizes)
    expected = Slow(n_jobs=1).fit(train, classes).predict_log_joint(train)
    model = Slow(n_jobs=2).fit(train, classes)
    with ThreadPoolExecutor(2, thread_name_prefix="localbayes") as helpers:
        helpers.submit(free.wait, 60)
        monkeypatch.setattr(parallel, "_pool", lambda n: helpers)
        monkeypatch.setattr(threading.Thread, "start", refuse)
        got = model.predict_log_joint(train)
        assert taken.is_set()
        np.testing.assert_array_equal(got, expected)
        returned.set()


def test_the_processors_of_a_cluster_are_not_taken_for_threads():
    """With n_jobs=None joblib's setting counts, up to a thread per processor; a number is taken as it is."""
    with joblib.parallel_config("threading", n_jobs=500):
        assert parallel._n_threads(None) == joblib.cpu_count()
    assert parallel._n_threads(None) == 1
    assert (parallel._n_threads(3), parallel._n_threads(-1)) == (3, joblib.cpu_count())
    assert parallel._n_threads(-500) == 1


def test_long_work_has_breaks_for_an_interrupt():
    """Against many rows few queries are taken at a time, but no fewer than the kernel works on at once."""
    codes, classes, sizes = table(6, 200, 6, 3, 3)
    model = LCWNB(5).fit(Coded(codes, sizes), classes)
    few = model.most_queries()
    model.index_ = SimpleNamespace(n_rows=10_000_000)
    assert (few, model.most_queries()) == (1024, 512)
    model.index_ = SimpleNamespace(n_rows=1 << 40)
    assert model.most_queries() == 64
