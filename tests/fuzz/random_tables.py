"""Random tables against loops over all rows: distances, weights, missing and unseen values, naive Bayes."""

from __future__ import annotations

import numpy as np

import oracle
from localbayes import LCWNB
from localbayes.counts import Distance, MatchIndex, isas, use_isa
from localbayes.encoding import Coded
from localbayes.encoding.coded import missing_code, unseen_code


class Tables(Distance):
    """A distance given by random tables."""

    def __init__(self, rng: np.random.Generator, sizes: np.ndarray) -> None:
        self.tables = [rng.integers(0, 8, (q, q)).astype(np.uint8) for q in sizes]
        for table in self.tables:
            np.fill_diagonal(table, 0)

    def table(self, attribute: int, size: int) -> np.ndarray:
        """The table of one attribute."""
        return self.tables[attribute]


def check(number: int) -> str:
    """Compare the counts and the classifier with plain loops, on every instruction set in turn."""
    rng = np.random.default_rng([20, number])
    use_isa(isas()[number % len(isas())])
    if number % 4 == 3:
        return check_classifier(rng)
    m, r = int(rng.integers(1, 9 if number % 5 else 40)), int(rng.integers(1, 6))
    sizes = rng.integers(1, 30 if number % 2 else 5, m)
    n = int(rng.integers(0, 400 if number % 7 == 0 else 40))
    may_miss, weighted, own = bool(rng.integers(2)), bool(rng.integers(2)), bool(rng.integers(2)) and n > 0
    codes = rng.integers(0, sizes, (n, m))
    y = rng.integers(0, r, n)
    weights = rng.integers(1, 17, n) / 8 if weighted else None
    queries = rng.integers(0, sizes + 1, (6, m))
    queries[queries == sizes] = oracle.UNSEEN
    chosen = rng.integers(0, n, 6) if own else None
    if may_miss:
        codes[rng.random(codes.shape) < 0.2] = oracle.MISSING
        queries[rng.random(queries.shape) < 0.2] = oracle.MISSING
    if chosen is not None:
        queries = codes[chosen]
    distance = Tables(rng, sizes) if rng.random() < 0.5 else None
    dtype = [np.uint8, np.uint16, np.uint32][int(rng.integers(3))]
    index = MatchIndex(sizes, r, may_miss, **({} if distance is None else {"distance": distance}))
    cuts = np.sort(rng.integers(0, n + 1, int(rng.integers(0, 4))))
    for part in np.split(np.arange(n), cuts):
        index.add(as_codes(codes[part], dtype), y[part], None if weights is None else weights[part])
        if rng.random() < 0.5:
            index.pack()
    left_out = None if chosen is None else y[chosen].astype(np.int64)
    less = None if chosen is None or weights is None else weights[chosen]
    counts = index.count(as_codes(queries, dtype), left_out, less)
    V, C = counts.distance_counts, counts.match_counts
    scores = rng.random(V.shape)
    S, T = counts.weighted_sums(scores)
    for q, query in enumerate(queries):
        each = np.ones(n) if weights is None else weights.copy()
        if chosen is not None:
            each[chosen[q]] = 0
        expected_V, expected_C = plain_counts(codes, y, V.shape[1:], query, each, distance, may_miss)
        np.testing.assert_allclose(V[q], expected_V, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(C[q], expected_C, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(S[q], (expected_V * scores[q]).sum(1), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(T[q], np.einsum("yd,ydi->yi", scores[q], expected_C), rtol=1e-9, atol=1e-9)
    return "counts agree"


def as_codes(values: np.ndarray, dtype: type) -> np.ndarray:
    """Values as the package codes them."""
    codes = values.astype(np.int64)
    codes[values == oracle.UNSEEN] = unseen_code(np.dtype(dtype))
    codes[values == oracle.MISSING] = missing_code(np.dtype(dtype))
    return codes.astype(dtype)


def plain_counts(codes, y, shape, query, weights, distance, may_miss):
    """V and C of one query by looking at every value of every row."""
    n, m = codes.shape
    V, C = np.zeros(shape), np.zeros((*shape, m * (1 + may_miss)))
    for j in range(n):
        d, agrees = 0, np.zeros(m * (1 + may_miss))
        for i in range(m):
            mine, its = query[i], codes[j, i]
            if may_miss and its != oracle.MISSING:
                agrees[m + i] = 1
            if oracle.MISSING in (mine, its):
                continue
            agrees[i] = mine == its
            if distance is None:
                d += mine != its
            else:
                table = distance.tables[i]
                d += int(table.max()) if mine == oracle.UNSEEN else int(table[mine, its])
        V[y[j], d] += weights[j]
        C[y[j], d] += weights[j] * agrees
    return V, C


def check_classifier(rng: np.random.Generator) -> str:
    """LCWNB against the paper's pseudo-code."""
    m, r, n = int(rng.integers(1, 7)), int(rng.integers(2, 4)), int(rng.integers(6, 40))
    sizes = rng.integers(2, 6, m)
    codes, y = rng.integers(0, sizes, (n, m)), rng.integers(0, r, n)
    y[:r] = np.arange(r)
    kappa = float(rng.integers(1, 12))
    X = Coded(codes.astype(np.uint8), sizes)
    model = LCWNB(kappa).fit(X, y)
    queries = rng.integers(0, sizes, (4, m))
    got = model.predict_log_proba(Coded(queries.astype(np.uint8), sizes))
    for query, scores in zip(queries, got, strict=True):
        expected = oracle.lcwnb_scores(codes, y, sizes, r, query, kappa)
        expected -= np.logaddexp.reduce(expected)
        np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-9)
    return "LCWNB agrees"
