"""The compatibility theorem for weights that are products over attributes, as docs/theorem.md states it."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from independent_tables import independent_tables, joint_table, naive_bayes_at, normalised
from localbayes.classifiers import LCWNB
from localbayes.classifiers.exponents import Exponents, fit_exponents
from localbayes.classifiers.local_distance import LocalDistance
from localbayes.counts import Distance, Ordered
from localbayes.encoding import Coded

shares = st.fractions(0, 1, max_denominator=40)
positive_shares = st.fractions(Fraction(1, 40), 1, max_denominator=40)


class Given(Distance):
    """Tables as they are given."""

    def __init__(self, tables):
        self.tables = tables

    def table(self, attribute, size):
        """The table of an attribute."""
        return self.tables[attribute]


@st.composite
def distances(draw, sizes):
    """Tables of the library's distances, and some that nobody would call a distance."""
    m = len(sizes)
    bins = tuple(draw(st.integers(0, q)) for q in sizes)
    weights = tuple(draw(st.floats(0, 1)) for _ in sizes)
    any_table = [
        [[0 if a == b else draw(st.integers(0, 7)) for b in range(q)] for a in range(q)] for q in sizes
    ]
    kind = draw(
        st.sampled_from(
            [
                Ordered(bins, cap=draw(st.integers(1, 4))),
                LocalDistance(bins, m),
                LocalDistance(bins, m, weights),
                LocalDistance(bins, draw(st.integers(0, m)), weights),
                Given(any_table),
            ]
        )
    )
    return [np.asarray(kind.table(i, q)).tolist() for i, q in enumerate(sizes)]


@st.composite
def problems(draw, numbers=None, max_attributes=3):
    """Independent attributes, a query, tables of distances and a gamma for every class."""
    options = {} if numbers is None else {"numbers": numbers}
    problem = draw(independent_tables(max_attributes=max_attributes, **options))
    tables = draw(distances(problem[2]))
    gammas = [draw(shares) for _ in problem[0]]
    return *problem, tables, gammas


def kernels_of(tables, gammas):
    """k_iy(v, u) = gamma_y^(distance of u from v): one at agreement, as every distance is zero there."""
    return [
        [[[gamma**d if d else Fraction(1) for d in row] for row in table] for table in tables]
        for gamma in gammas
    ]


def weighted(table, query, kernels):
    """Every cell times the product over attributes of k_iy(query's value, row's value)."""
    local = {}
    for (x, y), p in table.items():
        values = enumerate(zip(query, x, strict=True))
        local[x, y] = p * prod((kernels[y][i][v][u] for i, (v, u) in values), start=Fraction(1))
    return local


def is_product_of_margins(table, sizes, y):
    """Whether the attributes are independent in class y."""
    mass = sum(p for (_, label), p in table.items() if label == y)
    margins = [
        [sum(p for (x, label), p in table.items() if label == y and x[i] == v) / mass for v in range(q)]
        for i, q in enumerate(sizes)
    ]
    return all(
        table[x, y] == mass * prod(margins[i][v] for i, v in enumerate(x))
        for x in product(*map(range, sizes))
    )


# --- the theorem ------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(problem=independent_tables(max_attributes=3), data=st.data())
def test_any_product_that_is_one_at_agreement_is_compatible(problem, data):
    """Kernels of any non-negative fractions, another one for every attribute, class and pair of values."""
    prior, columns, sizes, query = problem
    kernels = [
        [
            [[Fraction(1) if u == v else data.draw(shares) * 3 for u in range(q)] for v in range(q)]
            for q in sizes
        ]
        for _ in prior
    ]
    table = joint_table(prior, columns, sizes)
    local = weighted(table, query, kernels)
    expected = normalised([table[tuple(query), y] for y in range(len(prior))])
    assert naive_bayes_at(query, local, len(prior)) == expected
    assert all(is_product_of_margins(local, sizes, y) for y in range(len(prior)))


@settings(max_examples=100)
@given(problem=problems())
def test_powers_of_a_distance_are_compatible_with_a_gamma_for_every_class(problem):
    """Ordered bins, columns that weigh differently, terms without distance, tables that are not symmetric."""
    prior, columns, sizes, query, tables, gammas = problem
    table = joint_table(prior, columns, sizes)
    local = weighted(table, query, kernels_of(tables, gammas))
    expected = normalised([table[tuple(query), y] for y in range(len(prior))])
    assert naive_bayes_at(query, local, len(prior)) == expected
    assert all(is_product_of_margins(local, sizes, y) for y in range(len(prior)))


@settings(max_examples=40)
@given(problem=problems(numbers=st.integers(1, 3)), kappa=st.sampled_from([0.4, 1, 3, 5.5, 20, 1e6]))
def test_the_library_keeps_the_posterior_under_any_distance(problem, kappa):
    """On rows whose frequencies are such a table, LCWNB with alpha = 0 gives the posterior for any kappa."""
    prior, columns, sizes, query, tables, _ = problem
    table = joint_table(prior, columns, sizes)
    rows, classes = zip(*[cell for cell, count in table.items() for _ in range(count)], strict=True)
    model = LCWNB(kappa, alpha=0, distance=Given(tables)).fit(Coded(np.array(rows), sizes), np.array(classes))
    expected = normalised([Fraction(table[tuple(query), y]) for y in range(len(prior))])
    proba = model.predict_proba(Coded([query], sizes))
    np.testing.assert_allclose(proba, [[float(p) for p in expected]], rtol=1e-11)


def test_in_the_library_the_classes_have_different_gammas():
    """The case above is one of a gamma per class: on these bins they differ, and the posterior stays."""
    counts = {0: ([1, 2, 3, 4], [3, 1]), 1: ([2, 1, 1, 1], [1, 1])}
    rows, classes = [], []
    for y, (first, second) in counts.items():
        for (a, p), (b, q) in product(enumerate(first), enumerate(second)):
            rows += [(a, b)] * (p * q)
            classes += [y] * (p * q)
    X = Coded(np.array(rows), [4, 2])
    model = LCWNB(4.5, alpha=0, distance=Ordered((4, 0))).fit(X, classes)
    gamma = model.local_model(Coded([[0, 0]], [4, 2])).gamma[0]
    assert abs(gamma[0] - gamma[1]) > 0.01
    assert ((gamma > 0) & (gamma < 1)).all()
    # P(0) P(0, 0 | 0) : P(1) P(0, 0 | 1) = 1 * 3 rows : 2 * 1 rows
    np.testing.assert_allclose(model.predict_proba(Coded([[0, 0]], [4, 2])), [[3 / 5, 2 / 5]], rtol=1e-12)


# --- what the theorem needs --------------------------------------------------------------------------


def two_by_two():
    """A small table of independent attributes."""
    columns = [[[Fraction(1, 3), Fraction(2, 3)]] * 2, [[Fraction(3, 4), Fraction(1, 4)]] * 2]
    return joint_table([Fraction(1, 2)] * 2, columns, [2, 2])


def test_a_weight_that_is_no_product_is_not_compatible():
    """LWNB's 1 - d / d_k, here 1, 2/3 and 1/3, makes independent attributes dependent."""
    local = {(x, y): p * (1 - Fraction(sum(x), 3)) for (x, y), p in two_by_two().items()}
    assert naive_bayes_at((0, 0), local, 2) != naive_bayes_at((0, 0), two_by_two(), 2)
    assert not is_product_of_margins(local, [2, 2], 0)


@given(extra=st.fractions(Fraction(1, 9), 9, max_denominator=9))
def test_a_factor_at_agreement_multiplies_the_odds(extra):
    """A product that is c_y at agreement keeps independence but multiplies the score of class y by c_y."""
    kernels = [
        [[[c, Fraction(1, 2)], [Fraction(1, 2), c]], [[Fraction(1), Fraction(1, 3)]] * 2] for c in (1, extra)
    ]
    local = weighted(two_by_two(), (0, 0), kernels)
    plain = naive_bayes_at((0, 0), two_by_two(), 2)
    assert naive_bayes_at((0, 0), local, 2) == normalised([plain[0], extra * plain[1]])


# --- soft agreement ----------------------------------------------------------------------------------


def soft_naive_bayes_at(query, table, agreements, n_classes):
    """Naive Bayes at the query in which a value that is near counts in part."""
    scores = []
    for y in range(n_classes):
        mass = sum(p for (_, label), p in table.items() if label == y)
        score = mass
        for i, v in enumerate(query):
            score *= sum(p * agreements[i][v][x[i]] for (x, label), p in table.items() if label == y) / mass
        scores.append(score)
    return scores


def agreements_of(distance, sizes):
    """The library's agreement, as fractions of its unit."""
    found = []
    for i, q in enumerate(sizes):
        table, unit = distance.agreement(i, q)
        found.append([[Fraction(int(a)) / Fraction(unit) for a in row] for row in np.asarray(table).tolist()])
    return found


@settings(max_examples=60)
@given(problem=independent_tables(max_attributes=3), data=st.data())
def test_soft_agreement_gives_the_posterior_of_smoothed_probabilities(problem, data):
    """P(x_i | y) is replaced by its average under the kernel: agreement times gamma_y^distance."""
    prior, columns, sizes, query = problem
    bins = tuple(data.draw(st.sampled_from([0, q])) for q in sizes)
    distance = LocalDistance(bins, len(sizes))
    gammas = [data.draw(positive_shares) for _ in prior]
    agreements = agreements_of(distance, sizes)
    kernels = kernels_of([np.asarray(distance.table(i, q)).tolist() for i, q in enumerate(sizes)], gammas)
    local = weighted(joint_table(prior, columns, sizes), query, kernels)
    smoothed = [
        prior[y]
        * prod(
            sum(
                columns[y][i][u] * agreements[i][v][u] * kernels[y][i][v][u] for u in range(sizes[i])
            )
            for i, v in enumerate(query)
        )
        for y in range(len(prior))
    ]  # fmt: skip
    assert normalised(soft_naive_bayes_at(query, local, agreements, len(prior))) == normalised(smoothed)


@given(
    level=st.fractions(3, 9, max_denominator=7),
    slope=st.fractions(Fraction(-1, 4), Fraction(1, 4), max_denominator=9),
    reach=st.sampled_from([2, 3, 6]),
)
def test_the_triangular_kernel_has_unit_mass_and_keeps_what_is_linear(level, slope, reach):
    """In the middle of bins whose probabilities lie on a line, soft agreement without weights is exact."""
    bins = {2: 7, 3: 13, 6: 25}[reach]
    middle = bins // 2
    agreement = agreements_of(LocalDistance((bins,), 1), [bins])[0][middle]
    assert agreement[middle] == Fraction(1, reach)
    assert sum(agreement) == 1
    line = [level + slope * (v - middle) for v in range(bins)]
    assert sum(a * p for a, p in zip(agreement, line, strict=True)) == level


@given(gammas=st.lists(positive_shares, min_size=2, max_size=2))
def test_under_weights_the_mass_of_the_kernel_depends_on_the_class(gammas):
    """A posterior of flat probabilities moves by the ratio of the masses, and stays if gammas are equal."""
    size, query = 7, [3]
    distance = LocalDistance((size,), 1)
    flat = [[[Fraction(1, size)] * size]] * 2
    kernels = kernels_of([np.asarray(distance.table(0, size)).tolist()], gammas)
    local = weighted(joint_table([Fraction(1), Fraction(1)], flat, [size]), query, kernels)
    found = normalised(soft_naive_bayes_at(query, local, agreements_of(distance, [size]), 2))
    # Reach 2: agreement 2/4 at the query's bin and 1/4 at its two neighbours, which are three away.
    masses = [Fraction(1, 2) + Fraction(1, 2) * gamma**3 for gamma in gammas]
    assert found == normalised(masses)
    assert (found[0] == Fraction(1, 2)) == (gammas[0] == gammas[1])


# --- exponents ---------------------------------------------------------------------------------------


def local_features(problem):
    """Logs of naive Bayes's factors around every cell as the query, and the probabilities of the cells."""
    prior, columns, sizes, _, tables, gammas = problem
    table = joint_table(prior, columns, sizes)
    total, r = sum(table.values()), len(prior)
    cells = list(product(*map(range, sizes)))
    features = np.zeros((len(cells), r, 1 + len(sizes)))
    for k, query in enumerate(cells):
        local = weighted(table, query, kernels_of(tables, gammas))
        for y in range(r):
            mass = sum(p for (_, label), p in local.items() if label == y)
            features[k, y, 0] = np.log(float(mass))
            for i, v in enumerate(query):
                part = sum(p for (x, label), p in local.items() if label == y and x[i] == v)
                features[k, y, 1 + i] = np.log(float(part / mass))
    joint = np.array([[float(table[x, y] / total) for y in range(r)] for x in cells])
    return features, joint


few = st.fractions(Fraction(1, 5), 5, max_denominator=6)


@settings(max_examples=20)
@given(problem=problems(numbers=few, max_attributes=2))
def test_exponents_of_one_are_best_under_independence(problem):
    """Their expected log loss is the entropy of the class given the row, which no exponents go below."""
    assume(len(problem[0]) > 1)
    features, joint = local_features(problem)
    entropy = -(joint * np.log(joint / joint.sum(axis=1, keepdims=True))).sum()
    n, r, p = features.shape
    ones = Exponents(np.ones(p), np.zeros(r))
    assert -(joint * ones.log_proba(features)).sum() == pytest.approx(entropy, rel=1e-9)
    # The library's own search, on one row for every cell and class that weighs its probability.
    rows, truth = np.repeat(features, r, axis=0), np.tile(np.arange(r), n)
    found = fit_exponents(rows, truth, joint.ravel(), ridge=1e-9)
    loss = -(joint * found.log_proba(features)).sum()
    assert loss >= entropy - 1e-12
    assert loss == pytest.approx(entropy, abs=1e-4)


def test_a_copy_of_an_attribute_has_other_exponents():
    """Where independence fails, one is not best: of an attribute and its copy, halves give the entropy."""
    columns = [[[Fraction(4, 5), Fraction(1, 5)]], [[Fraction(1, 5), Fraction(4, 5)]]]
    once, joint = local_features(([1, 1], columns, [2], None, [[[0, 1], [1, 0]]], [Fraction(1), Fraction(1)]))
    twice = np.concatenate([once, once[..., 1:]], axis=2)
    entropy = -(joint * np.log(joint / joint.sum(axis=1, keepdims=True))).sum()

    def loss(*w):
        return -(joint * Exponents(np.array(w), np.zeros(2)).log_proba(twice)).sum()

    assert loss(1, 0.5, 0.5) == pytest.approx(entropy, rel=1e-12)
    assert loss(1, 1, 1) > entropy + 0.05
