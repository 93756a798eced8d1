"""The paper's compatibility theorem: if attributes are independent given the class, weighting is harmless."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from independent_tables import independent_tables, joint_table, naive_bayes_at, normalised
from localbayes.classifiers import LCWNB
from localbayes.encoding import Coded


def cell_weighted(table, query, gammas):
    """Every cell weighted by gamma_y^(Hamming distance to the query)."""
    return {
        (x, y): p * gammas[y] ** sum(a != b for a, b in zip(x, query, strict=True))
        for (x, y), p in table.items()
    }


@settings(max_examples=60)
@given(problem=independent_tables(), data=st.data())
def test_weighting_leaves_the_posterior_at_the_query_as_it_is(problem, data):
    """Exactly, in rational arithmetic, and with a different gamma for every class."""
    prior, columns, sizes, query = problem
    gammas = data.draw(
        st.lists(st.fractions(0, 1, max_denominator=40), min_size=len(prior), max_size=len(prior))
    )
    table = joint_table(prior, columns, sizes)
    unweighted = normalised([table[tuple(query), y] for y in range(len(prior))])
    assert naive_bayes_at(query, table, len(prior)) == unweighted
    assert naive_bayes_at(query, cell_weighted(table, query, gammas), len(prior)) == unweighted


@settings(max_examples=30)
@given(problem=independent_tables(), gamma=st.fractions(Fraction(1, 40), 1, max_denominator=40))
def test_weighting_keeps_independence(problem, gamma):
    """The weighted table is again a product of its margins, class by class."""
    prior, columns, sizes, query = problem
    table = cell_weighted(joint_table(prior, columns, sizes), query, [gamma] * len(prior))
    for y in range(len(prior)):
        mass = sum(p for (_, label), p in table.items() if label == y)
        for x in product(*map(range, sizes)):
            expected = mass
            for i, v in enumerate(x):
                expected *= sum(p for (z, label), p in table.items() if label == y and z[i] == v) / mass
            assert table[x, y] == expected


def test_without_independence_weighting_changes_the_posterior():
    """The theorem needs its assumption: on a table with dependence the weighted posterior moves."""
    table = {
        (x, y): Fraction(1 + 5 * (y == 0 and x[0] == x[1]) + 2 * x[0])
        for x in product((0, 1), (0, 1))
        for y in (0, 1)
    }
    plain = naive_bayes_at((0, 0), table, 2)
    assert naive_bayes_at((0, 0), cell_weighted(table, (0, 0), [Fraction(1, 3)] * 2), 2) != plain


@settings(max_examples=40)
@given(
    problem=independent_tables(numbers=st.integers(1, 3), max_attributes=3),
    kappa=st.sampled_from([0.4, 1, 3, 5.5, 20, 1e6]),
)
def test_the_library_keeps_the_posterior_of_independent_data(problem, kappa):
    """On rows whose frequencies are such a table, LCWNB with alpha = 0 gives the posterior for any kappa."""
    prior, columns, sizes, query = problem
    table = joint_table(prior, columns, sizes)
    rows, classes = zip(*[cell for cell, count in table.items() for _ in range(count)], strict=True)
    model = LCWNB(kappa, alpha=0).fit(Coded(np.array(rows), sizes), np.array(classes))
    expected = normalised([Fraction(table[tuple(query), y]) for y in range(len(prior))])
    proba = model.predict_proba(Coded([query], sizes))
    np.testing.assert_allclose(proba, [[float(p) for p in expected]], rtol=1e-12)


@pytest.mark.parametrize("kappa", [1, 5])
def test_the_classes_of_that_data_have_different_gammas(kappa):
    """The library's case is the theorem with a gamma per class, not one for all."""
    rows = [(0, 0)] * 2 + [(0, 1)] * 4 + [(1, 0)] * 6 + [(1, 1)] * 12 + [(0, 0), (0, 1), (1, 0), (1, 1)] * 3
    classes = [0] * 24 + [1] * 12
    model = LCWNB(kappa + 2.5, alpha=0).fit(Coded(np.array(rows), [2, 2]), classes)
    gamma = model.local_model(Coded([[0, 0]], [2, 2])).gamma[0]
    assert 0 < gamma[0] < 1
    assert 0 < gamma[1] < 1
    assert abs(gamma[0] - gamma[1]) > 0.01
    np.testing.assert_allclose(model.predict_proba(Coded([[0, 0]], [2, 2])), [[2 / 5, 3 / 5]], rtol=1e-12)
