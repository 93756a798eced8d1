"""Factors of the local Bayes classifier in one compiled pass, against NumPy over V and C."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import softmax

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


class Contest(Table):
    """The same with exponents, biases and a prior."""

    def __init__(self, seed, n=260, sharp=1.0):
        super().__init__(seed, n)
        rng = np.random.default_rng(seed)
        k = len(KAPPAS)
        self.w = sharp * np.where(rng.random((k, 1 + self.m)) < 0.3, 0.0, rng.random((k, 1 + self.m)))
        self.b = rng.normal(size=(k, self.r)) / 4
        self.shares = rng.dirichlet(np.ones(k + 1))
        self.prior = rng.dirichlet(np.ones(self.r))
        self.first = int(rng.integers(1, self.m + 1))

    def averages(self):
        """Logs of the average probabilities, from V and C."""
        scores = np.stack([self.features(kappa) for kappa in KAPPAS]) @ self.w[:, None, :, None]
        parts = softmax(scores[..., 0] + self.b[:, None], axis=2)
        return np.log(np.tensordot(self.shares[:-1], parts, 1) + self.shares[-1] * self.prior)

    def scored(self, contenders):
        """The same from the kernel, or those of the classes that can win."""
        return self.counts().average_log_proba(
            *(KAPPAS, self.sizes, self.index.measure.units, ALPHA),
            exponents=self.w,
            biases=self.b,
            shares=self.shares,
            prior=self.prior,
            first=self.first,
            contenders=contenders,
        )


@pytest.mark.parametrize("seed", range(20))
def test_averages_are_those_of_the_formula(seed):
    """Scores with exponents and biases, as probabilities, averaged over kappas and with the prior."""
    table = Contest(seed)
    np.testing.assert_allclose(table.scored(False), table.averages(), rtol=0, atol=2e-12)


@pytest.mark.parametrize("seed", range(60))
def test_only_classes_that_cannot_win_are_left_out(seed):
    """The class of the largest average has its average, under flat and steep exponents."""
    table = Contest(seed, sharp=(0.0, 0.3, 1.0, 4.0)[seed % 4])
    expected, contenders = table.averages(), table.scored(True)
    left_out = np.isneginf(contenders)
    best = expected.max(axis=1, keepdims=True)
    assert (expected[left_out] < np.broadcast_to(best, expected.shape)[left_out] - 1e-9).all()
    assert not left_out.all(axis=1).any()
    assert np.array_equal(contenders.argmax(axis=1), expected.argmax(axis=1))


@dataclass(frozen=True)
class WithTerms(Ordered):
    """Nominal attributes from the fifth on have no distance."""

    def far(self, attribute):
        """Distance of two nominal values."""
        return 0 if attribute > 3 else super().far(attribute)


class Terms(Contest):
    """Terms of few and of many values, which no row of a class has, or few, or many; one part or two."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = np.random.default_rng(seed)
        self.m, self.r, self.may_miss, self.own, self.first = 12, 9, False, None, 4
        self.sizes = np.array([6, 9, 4, 12, 2, 5, 8, 15, 16, 20, 40, 90], np.uint32)
        self.index = MatchIndex(self.sizes, self.r, distance=WithTerms((6, 9, 0, 12) + (0,) * 8, cap=3))
        classes = rng.integers(0, self.r, 700)
        near = rng.random((700, self.m)) < 0.6
        usual = (classes[:, None] * 7 + np.arange(self.m)) % self.sizes
        rows = np.where(near, usual, rng.integers(0, self.sizes, near.shape)).astype(np.uint8)
        for part in np.array_split(np.arange(660), 1 + seed % 2):
            self.index.add(rows[part], classes[part])
        self.queries = rows[660:]
        k = len(KAPPAS)
        self.w = rng.exponential(0.5 + seed % 3, (k, 1 + self.m)) * (rng.random((k, 1 + self.m)) < 0.8)
        self.b, self.prior = rng.normal(size=(k, self.r)), rng.dirichlet(np.ones(self.r))


@pytest.mark.parametrize("seed", range(30))
def test_a_class_that_lacks_the_values_of_terms_may_still_win(seed):
    """Few rows have a value that a term speaks for; no bound takes the class of the largest average away."""
    table = Terms(seed)
    expected, before = table.averages(), kernels.isa()
    try:
        for name in kernels.isas():
            kernels.use_isa(name)
            assert np.array_equal(table.scored(True).argmax(axis=1), expected.argmax(axis=1))
    finally:
        kernels.use_isa(before)


def test_most_classes_are_left_out_where_one_is_clear():
    """Bounds from V, and from some of the attributes, spare the kernel most of the counting."""
    rng = np.random.default_rng(0)
    n, m, r = 2000, 12, 10
    classes = rng.integers(0, r, n)
    rows = np.clip(classes[:, None] + rng.integers(-1, 2, (n, m)), 0, r - 1).astype(np.uint8)
    index = MatchIndex(np.full(m, r, np.uint32), r, distance=Ordered((r,) * m, soft=True))
    index.add(rows, classes)
    averages = index.count(rows[:50]).average_log_proba(
        *([1.0], [r] * m, index.measure.units, ALPHA),
        exponents=np.ones((1, 1 + m)),
        biases=np.zeros((1, r)),
        shares=[0.99, 0.01],
        prior=np.full(r, 1 / r),
        first=m // 2,
        contenders=True,
    )
    assert np.isneginf(averages).mean() > 0.8
    assert (averages.argmax(axis=1) == classes[:50]).mean() > 0.9


@pytest.mark.parametrize("seed", range(6))
def test_averages_are_the_same_bits_on_all_instruction_sets_and_in_all_batches(seed):
    """Neither the machine nor the neighbours of a query have a part in its scores."""
    table, before = Contest(seed), kernels.isa()
    queries, own = table.queries, table.own
    try:
        answers = []
        for name in kernels.isas():
            kernels.use_isa(name)
            answers.append((table.scored(False), table.scored(True)))
    finally:
        kernels.use_isa(before)
    each = []
    for k in range(len(queries)):
        table.queries, table.own = queries[k : k + 1], None if own is None else own[k : k + 1]
        each.append((table.scored(False)[0], table.scored(True)[0]))
    for answer in [*answers[1:], tuple(map(np.stack, zip(*each, strict=True)))]:
        assert all(np.array_equal(one, other) for one, other in zip(answer, answers[0], strict=True))


def test_numbers_that_do_not_fit_are_refused():
    """Every attribute has a size and a unit."""
    table = Table(4)
    with pytest.raises(ValueError, match="fit"):
        table.counts().cell_features(KAPPAS, table.sizes[1:], table.index.measure.units, ALPHA)
