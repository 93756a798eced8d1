"""Rows as cells with a frequency: equal rows are packed once, and answers are those of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from localbayes import counts as kernels
from localbayes.classifiers import LCWNB
from localbayes.counts import frequencies
from localbayes.encoding import Coded
from localbayes.encoding.coded import missing_code
from localbayes.fields import Fields
from localbayes.kernels import compiled

SIZES = np.array([2, 3, 2, 300], np.uint32)
R = 3


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    """Tables of a test are small: put rows together, and make runs, from few rows on."""
    monkeypatch.setattr(frequencies, "_LEAST_ROWS", 4)
    monkeypatch.setattr(frequencies, "_LEAST_RUN", 20)
    monkeypatch.setattr(frequencies, "_SHORT_RUN", 3)


@pytest.fixture
def restored_isa():
    before = kernels.isa()
    yield
    kernels.use_isa(before)


def table(seed, n, kind, sizes=SIZES):
    """Rows of few distinct values, their classes, and weights of one kind."""
    rng = np.random.default_rng(seed)
    codes = (rng.beta(0.5, 2.0, (n, len(sizes))) * np.minimum(sizes, 4)).astype(np.uint16)
    classes = rng.integers(0, R, n)
    weights = {
        "none": None,
        "whole": rng.integers(1, 5, n).astype(float),
        "few": rng.choice([0.3, 0.7, 2.5], n),
        "any": rng.random(n) + 0.1,
        "some": np.where(rng.random(n) < 0.6, 2.0, rng.random(n) + 0.1),
    }[kind]
    return codes, classes, weights


def index_of(codes, classes, weights, parts=1, may_miss=False):
    index = kernels.MatchIndex(SIZES, R, may_miss)
    for rows in np.array_split(np.arange(len(codes)), parts):
        index.add(codes[rows], classes[rows], None if weights is None else weights[rows])
        index.pack()
    return index


KINDS = ["none", "whole", "few", "any", "some"]


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 900),
    kind=st.sampled_from(KINDS),
    parts=st.integers(1, 3),
    left_out=st.booleans(),
)
def test_counts_are_those_of_all_rows(seed, n, kind, parts, left_out):
    """V and C of cells are the sums over rows; integers to the integer."""
    codes, classes, weights = table(seed, n, kind)
    index = index_of(codes, classes, weights, parts)
    chosen = np.random.default_rng(seed).choice(n, min(3, n), replace=False)
    within = {"rtol": 0, "atol": 0} if kind in ("none", "whole") else {"rtol": 1e-12, "atol": 1e-11}
    for name in kernels.isas():
        kernels.use_isa(name)
        own = (classes[chosen], None if weights is None else weights[chosen]) if left_out else (None, None)
        found = index.count(codes[chosen], *own)
        V, C = found.distance_counts, found.match_counts
        assert V.dtype == (np.int64 if kind == "none" else np.float64)
        for q, row in enumerate(chosen):
            others = np.arange(n) != (row if left_out else -1)
            given_weights = None if weights is None else weights[others]
            expected = oracle.match_counts(codes[others], classes[others], R, codes[row], given_weights)
            for got, wanted in zip((V[q], C[q]), expected, strict=True):
                np.testing.assert_allclose(got, wanted, **within)


@pytest.mark.usefixtures("restored_isa")
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(KINDS),
    n=st.sampled_from([700, 5000]),
    n_kappas=st.sampled_from([1, 3, 6]),
    left_out=st.booleans(),
    may_miss=st.booleans(),
)
def test_sums_for_weights_of_distances_are_sums_over_rows(seed, kind, n, n_kappas, left_out, may_miss):
    """S and T under the paper's weights equal those of C, on every instruction set to the same bits."""
    codes, classes, weights = table(seed, n, kind)
    if may_miss:
        codes[np.random.default_rng(seed).random(codes.shape) < 0.1] = missing_code(codes.dtype)
    index = index_of(codes, classes, weights, 2, may_miss)
    asked, kappas = np.arange(0, n, n // 8), np.linspace(1, 40, n_kappas)
    own = (classes[asked], None if weights is None else weights[asked]) if left_out else (None, None)
    bits = set()
    for name in kernels.isas():
        kernels.use_isa(name)
        found = index.count(codes[asked], *own)
        V, C = found.distance_counts, found.match_counts
        gamma, rho, S, T = found.cell_sums(kappas)
        w = rho[..., None, None] * gamma[..., None] ** np.arange(V.shape[-1])
        np.testing.assert_allclose(S, (w * V).sum(axis=-1), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(T, np.einsum("kqyd,qydi->kqyi", w, C), rtol=1e-10, atol=1e-10)
        one = found.weighted_sums(np.ascontiguousarray(w[0]))[1]
        np.testing.assert_allclose(one, T[0], rtol=1e-10, atol=1e-10)
        bits.add(b"".join(a.tobytes() for a in (V, C, gamma, rho, S, T, one)))
    assert len(bits) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 4])
def test_rows_keep_their_numbers(kind, parts):
    """Every row comes back with its class, number and weight, sorted by class and then as rows came."""
    codes, classes, weights = table(1, 800, kind)
    index = index_of(codes, classes, weights, parts)
    other = index_of(codes[:100], classes[:100], None if weights is None else weights[:100])
    for found, first in ((index, 0), (other + index, 100)):
        seen = []
        for rows, labels, numbers, row_weights in found.training_rows(step=97):
            came = (numbers - first) % 800 if first == 0 else np.where(numbers < 100, numbers, numbers - 100)
            np.testing.assert_array_equal(rows, codes[came])
            np.testing.assert_array_equal(labels, classes[came])
            assert (row_weights is None) == (weights is None)
            if weights is not None:
                np.testing.assert_array_equal(row_weights, weights[came])
            seen.append(numbers)
        np.testing.assert_array_equal(np.sort(np.concatenate(seen)), np.arange(found.n_rows))
    some = np.array([3, 500, 799])
    assert sorted(n for _, _, at, _ in index.training_rows(some) for n in at.tolist()) == some.tolist()
    np.testing.assert_allclose(index.class_totals, np.bincount(classes, weights, R), rtol=1e-12)
    for i, (total, size) in enumerate(zip(index.value_totals(), SIZES, strict=True)):
        np.testing.assert_allclose(total, np.bincount(codes[:, i], weights, size), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_fields_give_the_rows_back(kind):
    """An index restored from its fields, packed as cells or row by row, counts the same bits."""
    codes, classes, weights = table(2, 600, kind)
    index = index_of(codes, classes, weights)
    expected = index.count(codes[:20])
    for plain in (False, True):
        other = kernels.MatchIndex(SIZES, R)
        other.restore(Fields(index.fields(plain)))
        assert all(segment.frequencies is None for segment in other.segments) or not plain
        got = other.count(codes[:20])
        np.testing.assert_allclose(got.match_counts, expected.match_counts, rtol=1e-12)
        assert got.match_counts.dtype == expected.match_counts.dtype
        if not plain:
            np.testing.assert_array_equal(got.match_counts, expected.match_counts)


CHANGES = {
    "a cell that is not there": lambda f: f["row_cells"].__setitem__(0, f["class_start"][-1]),
    "a row too many": lambda f: f.update(row_cells=np.append(f["row_cells"], f["row_cells"][:1])),
    "a run that does not begin": lambda f: f["run_start"].__setitem__(0, 1),
    "a run that ends before it begins": lambda f: f["run_start"].__setitem__(1, -3),
    "a run beyond the rows": lambda f: f["run_start"].__setitem__(-1, 2**62),
    "no runs": lambda f: f.update(run_start=np.array([0]), run_weight=np.array([])),
    "a factor too few": lambda f: f.update(run_weight=f["run_weight"][1:]),
    "an infinite factor": lambda f: f["run_weight"].__setitem__(0, np.inf),
    "a negative factor": lambda f: f["run_weight"].__setitem__(0, -1.0),
    "another factor": lambda f: f["run_weight"].__setitem__(0, 17.0),
    "loose rows without weights": lambda f: f["run_weight"].__setitem__(0, 0.0),
    "a weight too many": lambda f: f.update(loose_weights=np.append(f["loose_weights"], 1.0)),
    "classes beside them": lambda f: f.update(row_classes=np.zeros(600, np.uint8)),
    "weights beside them": lambda f: f.update(weights=np.ones(600)),
    "weights of rows": lambda f: f.update(row_weights=np.ones(599)),
    "text": lambda f: f.update(run_start="0"),
}


@pytest.mark.parametrize("kind", ["none", "few", "whole"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_frequencies_that_do_not_fit_are_refused(change, kind):
    """What the kernel trusts is checked when rows are read from a file: one line, no crash."""
    codes, classes, weights = table(2, 600, kind)
    fields = index_of(codes, classes, weights).fields()
    (part,) = fields["segments"]
    part |= {name: value.copy() for name, value in part.items() if isinstance(value, np.ndarray)}
    change(part)
    with pytest.raises(ValueError, match=r"\S"):
        kernels.MatchIndex(SIZES, R).restore(Fields(fields))


def test_runs_that_do_not_fit_are_not_counted():
    """The kernel itself refuses runs that leave rows out or point outside of the weights."""
    codes, classes, _ = table(2, 600, "none")
    (segment,) = index_of(codes, classes, None).segments
    words, start, sizes, loose, by_value, run_start, factor = segment.as_kernel_input(False)
    good = run_start, factor, loose

    def count(run_start, factor, loose):
        part = words, start, sizes, loose, by_value, run_start, factor
        return compiled.MatchCounts([part], codes[:2], R, False, None, None, weighted=False)

    count(*good).distance_counts()
    far, back, shifted = run_start.copy(), run_start.copy(), run_start + 1
    far[-1], back[1] = 2**62, -5
    zero = factor.copy()
    zero[0] = 0
    for damaged in (
        (far, factor, loose),
        (back, factor, loose),
        (shifted, factor, loose),
        (run_start[:-1], factor[:-1], loose),
        (run_start, factor[:-1], loose),
        (run_start, zero, loose),
        (run_start, factor, np.append(loose, 1.0)),
        (np.array([0, start[-1]]), np.ones(1), loose[:0]),
    ):
        with pytest.raises(ValueError, match="run"):
            count(*damaged)


def test_where_rows_differ_nothing_is_put_together():
    """A table of different rows is packed as it is; a table of few different rows takes their memory."""
    rng = np.random.default_rng(0)
    different = np.stack(np.unravel_index(rng.permutation(1200), (2, 3, 2, 300)), axis=1).astype(np.uint16)
    classes = rng.integers(0, R, 1200)
    (segment,) = index_of(different[:1000], classes[:1000], None).segments
    assert segment.frequencies is None
    (segment,) = index_of(np.tile(different[:10], (100, 1)), np.arange(1000) % 10 % R, None).segments
    assert (segment.n_rows, segment.n_cells) == (1000, 10)


def test_leaving_rows_out_knows_every_one_of_them():
    """Equal rows are left out one at a time: each is recognised by its equals."""
    rows, classes = np.tile(np.array([[0, 1], [1, 0]], np.uint8), (50, 1)), np.arange(100) % 2
    model = LCWNB(1).fit(Coded(rows, [2, 2]), classes)
    assert model.index_.segments[0].n_cells == 2
    assert model.leave_one_out([1.0])["accuracy"].tolist() == [1.0]
    assert model.sample_local(Coded(rows[:1], [2, 2]), 0)[0].max() < 100
