"""Factors of the local Bayes classifier in one compiled pass, against NumPy over V and C."""

import numpy as np
import pytest

from localbayes import kernels
from localbayes.counts import MatchIndex, Ordered
from oracle_local import gamma_of

ALPHA = 0.5
KAPPAS = np.array([0.25, 1.0, 3.0, 20.0, 500.0])


class Table:
    """Random rows under an ordered distance, with unseen values and perhaps holes and weights."""

    def __init__(self, seed, n=260):
        rng = np.random.default_rng(seed)
        self.m, self.r = int(rng.integers(1, 20)), int(rng.integers(1, 7))
        self.sizes = rng.integers(1, 12, self.m).astype(np.uint32)
        self.may_miss = seed % 3 == 0
        ordered = np.where(rng.random(self.m) < 0.7, self.sizes, 0)
        distance = Ordered(tuple(ordered.tolist()), cap=3, soft=seed % 2 == 0)
        self.index = MatchIndex(self.sizes, self.r, self.may_miss, distance=distance)
        rows = rng.integers(0, self.sizes, (n, self.m)).astype(np.uint8)
        self.classes = rng.integers(0, self.r, n)
        self.weights = rng.integers(1, 9, n) / 4 if seed % 4 == 1 else None
        self.queries = rng.integers(0, self.sizes + 1, (11, self.m)).astype(np.uint8)
        self.queries[self.queries >= self.sizes] = 255
        if self.may_miss:
            rows[rng.random(rows.shape) < 0.1] = 254
            self.queries[rng.random(self.queries.shape) < 0.1] = 254
        self.own = None
        if seed % 5 == 2:
            self.queries, self.own = rows[:11], self.classes[:11]
            self.weights = None
        self.index.add(rows, self.classes, self.weights)

    def counts(self):
        """Counts of the queries."""
        return self.index.count(self.queries, self.own)

    def features(self, kappa):
        """Logs of the factors, class by class, from V and C."""
        counts = self.counts()
        V, C = counts.distance_counts.astype(float), counts.match_counts.astype(float)
        d = np.arange(V.shape[2])
        w = np.array([[gamma_of(V[q, y], kappa) ** d for y in range(self.r)] for q in range(len(V))])
        squares = (w**2 * V).sum(axis=(1, 2))
        rho = np.where(squares > 0, (w * V).sum(axis=(1, 2)) / np.where(squares > 0, squares, 1), 1.0)
        S, T = rho[:, None] * (w * V).sum(axis=2), rho[:, None, None] * (w[..., None] * C).sum(axis=2)
        known = T[..., self.m :] if self.may_miss else S[..., None]
        T = T[..., : self.m] / self.index.measure.units
        terms = np.log((ALPHA + T) / (ALPHA * self.sizes + known))
        terms[np.broadcast_to((self.queries >= self.sizes)[:, None], terms.shape)] = 0.0
        return np.concatenate([np.log1p(S)[..., None], terms], axis=2)

    def compiled(self):
        """The same from the kernel."""
        return self.counts().cell_features(KAPPAS, self.sizes, self.index.measure.units, ALPHA)


@pytest.mark.parametrize("seed", range(20))
def test_features_are_the_logs_of_the_factors(seed):
    """Smoothed frequencies of the query's values among rows that weigh rho gamma^d, and log(1 + S)."""
    table = Table(seed)
    expected = np.stack([table.features(kappa) for kappa in KAPPAS])
    np.testing.assert_allclose(table.compiled(), expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize("seed", range(6))
def test_features_are_the_same_bits_on_all_instruction_sets(seed):
    """The logarithm is one formula, in one order, on all machines."""
    table, before = Table(seed), kernels.isa()
    try:
        answers = []
        for name in kernels.isas():
            kernels.use_isa(name)
            answers.append(table.compiled())
    finally:
        kernels.use_isa(before)
    for answer in answers[1:]:
        assert np.array_equal(answer, answers[0])


def test_numbers_that_do_not_fit_are_refused():
    """Every attribute has a size and a unit."""
    table = Table(4)
    with pytest.raises(ValueError, match="fit"):
        table.counts().cell_features(KAPPAS, table.sizes[1:], table.index.measure.units, ALPHA)
