"""Counts under distances given by tables, against plain NumPy over all rows."""

from __future__ import annotations

import localbayes.kernels._kernels as _kernels
import numpy as np
import pytest

UNSEEN, MISSING = np.uint32(2**32 - 1), np.uint32(2**32 - 2)


class Case:
    """Random rows in several parts, random tables and random queries."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.r = int(rng.integers(1, 30 if seed % 4 == 0 else 8)), int(rng.integers(1, 8))
        self.may_miss, self.weighted = bool(seed % 3 == 0), bool(seed % 5 == 1)
        self.sizes = rng.integers(1, 40 if seed % 2 else 12, self.m).astype(np.uint32)
        self.nominal = (rng.random(self.m) < 0.3).astype(np.uint8)
        self.by_value = (1 - self.nominal).astype(np.uint8)
        self.tables = [
            self.table(rng, q, nominal) for q, nominal in zip(self.sizes, self.nominal, strict=True)
        ]
        self.distance = _kernels.Distance(
            self.sizes, *(np.concatenate([t[k].ravel() for t in self.tables]) for k in (0, 1)), self.nominal
        )
        self.most = np.array([t[0].max() for t in self.tables])
        self.parts, rows, classes, weights = [], [], [], []
        sizes = self.sizes.copy()
        for _ in range(int(rng.integers(1, 4))):
            n = int(rng.integers(0, 3000 if seed % 7 == 0 else 300))
            codes = rng.integers(0, sizes, (n, self.m)).astype(np.uint32)
            if self.may_miss:
                codes[rng.random(codes.shape) < 0.2] = MISSING
            y = np.sort(rng.integers(0, self.r, n))
            start = np.searchsorted(y, np.arange(self.r + 1))
            w = rng.integers(0, 25, n) / 8
            words = _kernels.pack(codes, np.arange(n), sizes, self.may_miss, self.by_value)
            _kernels.check_rows(words, start, sizes, self.may_miss, self.by_value)
            self.parts.append((words, start, sizes, w if self.weighted else None, self.by_value))
            rows.append(codes)
            classes.append(y)
            weights.append(w if self.weighted else np.ones(n))
            sizes = np.maximum(1, sizes - rng.integers(0, 2, self.m)).astype(np.uint32)
        self.parts.reverse()  # later parts know more values
        self.rows, self.classes, self.weights = map(np.concatenate, (rows, classes, weights))
        self.own = None
        if seed % 4 == 3 and len(self.rows):
            self.own = rng.integers(0, len(self.rows), 9)
            self.queries = self.rows[self.own].copy()
        else:
            self.queries = rng.integers(0, self.sizes + 1, (9, self.m)).astype(np.uint32)
            self.queries[self.queries == self.sizes] = UNSEEN
            if self.may_miss:
                self.queries[rng.random(self.queries.shape) < 0.2] = MISSING

    @staticmethod
    def table(rng, q, nominal):
        """Random numbers, distances by rank with a cap, or two numbers for a nominal attribute."""
        if nominal:
            return np.array([0, rng.integers(1, 8)], np.uint8), np.array([rng.integers(0, 8), 0], np.uint8)
        if rng.random() < 0.5:
            cap = int(rng.integers(1, 8))
            d = np.minimum(abs(np.subtract.outer(np.arange(q), np.arange(q))), cap).astype(np.uint8)
            return d, (cap - d).astype(np.uint8)
        d, s = (rng.integers(0, 8, (q, q)).astype(np.uint8) for _ in range(2))
        np.fill_diagonal(d, 0)
        return d, s

    def counts(self):
        own = None if self.own is None else self.classes[self.own].astype(np.int64)
        own_weight = self.weights[self.own] if self.own is not None and self.weighted else None
        return _kernels.MatchCounts(
            self.parts, self.queries, self.r, self.may_miss, own, own_weight, distance=self.distance
        )

    def terms(self, q):
        """Distance and agreement of one query with every row, by attribute."""
        d = np.zeros(self.rows.shape, int)
        s = np.zeros(self.rows.shape, int)
        for i, v in enumerate(self.queries[q]):
            u = self.rows[:, i]
            known = u != MISSING
            if v == MISSING:
                continue
            if v == UNSEEN:
                d[known, i] = self.most[i]
                continue
            d_table, s_table = self.tables[i]
            at = (u[known] != v).astype(int) if self.nominal[i] else (v, u[known])
            d[known, i], s[known, i] = d_table[at], s_table[at]
        return d, s

    def expected(self):
        """V and C by definition; the query's own row is passed over."""
        n = self.distance.n_distances
        V = np.zeros((len(self.queries), self.r, n))
        C = np.zeros((*V.shape, self.m * (1 + self.may_miss)))
        for q in range(len(self.queries)):
            d, s = self.terms(q)
            weights = self.weights.copy()
            if self.own is not None:
                weights[self.own[q]] = 0
            if self.may_miss:
                s = np.hstack([s, self.rows != MISSING])
            cell = (self.classes, d.sum(1))
            np.add.at(V[q], cell, weights)
            np.add.at(C[q], cell, weights[:, None] * s)
        return V, C


@pytest.fixture(autouse=True)
def _restore_isa():
    before = _kernels.isas().index(_kernels.isa())
    yield
    _kernels.use_isa(before)


@pytest.mark.parametrize("seed", range(48))
def test_counts_and_sums_are_those_of_plain_loops_on_every_instruction_set(seed):
    """V and C are exact, and so are sums for given weights and for the paper's, to rounding."""
    case = Case(seed)
    V, C = case.expected()
    kappas = np.array([0.5, 5.0, 30.0])[: 1 + seed % 3]
    found = []
    for isa in range(len(_kernels.isas())):
        _kernels.use_isa(isa)
        counts = case.counts()
        np.testing.assert_array_equal(counts.distance_counts(), V)
        np.testing.assert_array_equal(counts.match_counts(), C)
        weights = np.random.default_rng(seed).random(V.shape)
        S, T = counts.weighted_sums(weights)
        np.testing.assert_allclose(S, (weights * V).sum(-1), rtol=1e-12)
        np.testing.assert_allclose(T, np.einsum("qyd,qydi->qyi", weights, C), rtol=1e-12)
        gamma, rho, S, T = case.counts().cell_sums(kappas)
        for k, kappa in enumerate(kappas):
            expected = _kernels.cell_weights(V, kappa)
            np.testing.assert_array_equal(gamma[k], expected[0])
            np.testing.assert_array_equal(rho[k], expected[1])
            np.testing.assert_allclose(S[k], (expected[2] * V).sum(-1), rtol=1e-11)
            np.testing.assert_allclose(T[k], np.einsum("qyd,qydi->qyi", expected[2], C), rtol=1e-11)
        found.append([S, T, gamma, rho])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("nominal", [False, True])
def test_hamming_by_tables_is_hamming(nominal):
    """Tables that say "another value" give the counts of a batch without a distance."""
    rng = np.random.default_rng(1)
    sizes = np.array([2, 5, 9, 40], np.uint32)
    codes = rng.integers(0, sizes, (500, 4)).astype(np.uint8)
    start = np.array([0, 200, 500])
    if nominal:
        d, s = np.tile([0, 1], 4), np.tile([1, 0], 4)
    else:
        s = np.concatenate([np.eye(q, dtype=int).ravel() for q in sizes])
        d = 1 - s
    by_value = np.full(4, not nominal, np.uint8)
    distance = _kernels.Distance(sizes, d.astype(np.uint8), s.astype(np.uint8), np.full(4, nominal, np.uint8))
    plain = [(_kernels.pack(codes, np.arange(500), sizes, False), start, sizes, None)]
    tables = [(_kernels.pack(codes, np.arange(500), sizes, False, by_value), start, sizes, None, by_value)]
    one = _kernels.MatchCounts(plain, codes[:50], 2, False, None, None)
    other = _kernels.MatchCounts(tables, codes[:50], 2, False, None, None, distance)
    np.testing.assert_array_equal(one.distance_counts(), other.distance_counts())
    np.testing.assert_array_equal(one.match_counts(), other.match_counts())
    args = np.array([5.0]), sizes.astype(float), 1.0, np.inf
    np.testing.assert_array_equal(one.cell_log_joint(*args), other.cell_log_joint(*args))


@pytest.mark.parametrize(
    ("d", "s", "nominal", "said"),
    [
        ([0, 1, 1], [1, 0, 0], None, "too small"),
        ([0, 1, 1, 0, 0], [1, 0, 0, 1, 0], None, "must have 4 numbers"),
        ([0, 1, 1, 1], [1, 0, 0, 1], None, "distance 0 of itself"),
        ([0, 8, 1, 0], [1, 0, 0, 1], None, "must be 0 to 7"),
        ([0, 1, 1, 0], [8, 0, 0, 1], None, "must be 0 to 7"),
        ([0, 1], [1, 1], [1], "must agree by 0"),
        ([0, 1, 1, 0], [1, 0, 0, 1], [0, 0], "entry for every attribute"),
    ],
)
def test_tables_that_are_no_distance_are_refused(d, s, nominal, said):
    """Shapes, the largest number and the diagonal are checked."""
    arrays = (np.array(a, np.uint8) for a in (d, s))
    with pytest.raises(ValueError, match=said):
        _kernels.Distance(
            np.array([2], np.uint32), *arrays, None if nominal is None else np.array(nominal, np.uint8)
        )


def test_a_table_needs_rows_packed_by_value():
    """Digits of a code cannot be compared; the message says what to do."""
    sizes = np.array([20], np.uint32)
    d = np.minimum(abs(np.subtract.outer(np.arange(20), np.arange(20))), 3).astype(np.uint8)
    distance = _kernels.Distance(sizes, d.ravel(), (3 - d).ravel())
    words = _kernels.pack(np.zeros((1, 1), np.uint8), np.arange(1), sizes, False)
    with pytest.raises(ValueError, match="must be packed by value"):
        _kernels.MatchCounts(
            [(words, np.array([0, 1]), sizes, None)],
            np.zeros((1, 1), np.uint8),
            1,
            False,
            None,
            None,
            distance,
        )


def test_three_hundred_columns_of_the_largest_distance():
    """Totals reach into the thousands."""
    rng = np.random.default_rng(2)
    sizes = np.full(300, 8, np.uint32)
    d = abs(np.subtract.outer(np.arange(8), np.arange(8))).astype(np.uint8)
    distance = _kernels.Distance(sizes, np.tile(d.ravel(), 300), np.tile((7 - d).ravel(), 300))
    codes = rng.integers(0, 8, (200, 300)).astype(np.uint8)
    codes[0], codes[1] = 0, 7
    parts = [(_kernels.pack(codes, np.arange(200), sizes, False), np.array([0, 200]), sizes, None)]
    V = _kernels.MatchCounts(parts, codes[:20], 1, False, None, None, distance).distance_counts()[:, 0]
    assert distance.n_distances == 2101
    assert V[0, 2100] == 1
    totals = abs(codes[:20, None].astype(int) - codes[None]).sum(-1)
    np.testing.assert_array_equal(V, [np.bincount(t, minlength=2101) for t in totals])
