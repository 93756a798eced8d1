"""What the local Bayes classifier learns, against SciPy's search and the formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from localbayes.counts import Neighbourhood, isa, isas, least_loss_exponents, use_isa

SHAPES = [(60, 2, 3), (40, 3, 8), (30, 11, 17), (7, 2, 1), (1, 4, 5)]
POWERS = np.geomspace(0.1, 3, 9)


def feature_problem(n, r, p):
    """Features of rows and classes, some useless, some that speak for the wrong class."""
    random = np.random.default_rng(100 * n + p)
    truth = random.integers(0, r, n)
    features = random.normal(size=(n, r, p)).astype(np.float32)
    features[np.arange(n), truth] += random.normal(0.3, 0.7, p).astype(np.float32)
    return features, truth, random.choice([0.5, 1.0, 3.0], n), random.integers(0, 2, p).astype(float)


def log_losses(features, truth, w, b):
    scores = features.astype(float) @ w + b
    most = scores.max(axis=1, keepdims=True)
    total = most[:, 0] + np.log(np.exp(scores - most).sum(axis=1))
    return total - scores[np.arange(len(truth)), truth]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ridge", [0.1, 2.5])
def test_exponents_are_those_of_a_general_search(shape, ridge):
    """SciPy's bounded search finds no lower loss, and the same exponents."""
    features, truth, weights, prior = feature_problem(*shape)
    r, p = shape[1:]
    w, b, loss, penalty = least_loss_exponents(features, truth, weights, prior, POWERS, ridge)
    at_powers = [log_losses(features, truth, t * prior, 0.0) @ weights for t in POWERS]
    target = POWERS[int(np.argmin(at_powers))] * prior

    def penalised(v):
        distance = ((v[:p] - target) ** 2).sum() + (v[p:] ** 2).sum()
        return log_losses(features, truth, v[:p], v[p:]) @ weights + ridge * distance

    bounds = [(0, None)] * p + [(None, None)] * r
    peer = minimize(
        penalised, np.append(target, np.zeros(r)), bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-13}
    )
    assert (w >= 0).all()
    assert penalised(np.append(w, b)) <= peer.fun * (1 + 1e-6)
    assert loss == pytest.approx(peer.fun, rel=1e-6)
    assert loss - penalty == pytest.approx(log_losses(features, truth, w, b) @ weights, rel=1e-5)
    np.testing.assert_allclose(np.append(w, b), peer.x, atol=3e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_search_may_begin_anywhere(shape):
    """The loss is convex: where the search begins does not matter."""
    features, truth, weights, prior = feature_problem(*shape)
    far = np.full(shape[2], 2.0), np.linspace(-1, 1, shape[1])
    found = least_loss_exponents(features, truth, weights, prior, POWERS, 1.0)
    again = least_loss_exponents(features, truth, weights, prior, POWERS, 1.0, far)
    assert found[2] == pytest.approx(again[2], rel=1e-7)
    np.testing.assert_allclose(found[0], again[0], atol=1e-3)


def neighbour_problem(n, m, n_queries):
    """Rows with small weights for most, values of every column apart by up to one, queries among the rows."""
    random = np.random.default_rng(n)
    codes, classes = random.integers(0, 4, (n, m)), random.integers(0, 3, n)
    tables = random.random((m, 4, 4))
    apart = np.concatenate([tables[i][:, codes[:, i]] for i in range(m)]).astype(np.float32)
    own = np.sort(random.choice(n, n_queries, replace=False))
    mass = random.choice([1.0, 2.0, 0.3], n)
    left, weights = np.maximum(mass[own] - 1, 0), random.random(n_queries)
    return apart, codes[own] + 4 * np.arange(m), mass, own, left, classes, weights


def neighbour_loss(w, apart, picks, mass, own, left, classes, weights):
    """The formula, query by query, in double precision."""
    total = 0.0
    for q, row in enumerate(own):
        found = mass.copy()
        found[row] = left[q]
        found = found * np.exp(-(w[:, None] * apart[picks[q]].astype(float)).sum(axis=0))
        total -= weights[q] * np.log(found[classes == classes[row]].sum() / found.sum())
    return total


@pytest.mark.parametrize("shape", [(20, 3, 5), (64, 1, 9), (130, 9, 40)])
def test_loss_of_a_neighbourhood(shape):
    """Loss and slope are those of the formula; the slope is that of the loss."""
    problem, w = neighbour_problem(*shape), np.linspace(0, 3, shape[1])
    neighbourhood = Neighbourhood(*problem)
    loss, slope = neighbourhood.loss(w)
    assert loss == pytest.approx(neighbour_loss(w, *problem), rel=1e-5)
    assert neighbourhood.loss(w, slope=False)[0] == loss
    error = check_grad(lambda v: neighbour_loss(v, *problem), lambda v: neighbourhood.loss(v)[1], w)
    assert error < 1e-4 * (1 + np.abs(slope).max())


def test_every_instruction_set_learns_the_same_bits():
    """Sums are in a fixed order, so that a model does not depend on the machine."""
    features, near, before, found = feature_problem(50, 5, 13), neighbour_problem(100, 7, 30), isa(), []
    try:
        for name in isas():
            use_isa(name)
            w, b, loss, penalty = least_loss_exponents(*features, POWERS, 2.5)
            value, slope = Neighbourhood(*near).loss(np.linspace(0, 2, 7))
            found.append(np.concatenate([w, b, [loss, penalty, value], slope]).tobytes())
    finally:
        use_isa(before)
    assert len(set(found)) == 1


def test_what_does_not_fit_is_refused():
    """Classes that are none and arrays of other shapes give an error, not a wrong answer."""
    features, truth, weights, prior = feature_problem(10, 2, 3)
    with pytest.raises(ValueError, match="the class of a row is no class"):
        least_loss_exponents(features, truth + 1, weights, prior, POWERS, 1.0)
    with pytest.raises(ValueError, match="features do not fit"):
        least_loss_exponents(features, truth[1:], weights, prior, POWERS, 1.0)
    apart, picks, *rest = neighbour_problem(20, 3, 5)
    with pytest.raises(ValueError, match="picks what is not there"):
        Neighbourhood(apart, picks + 12, *rest).loss(np.ones(3))
    with pytest.raises(ValueError, match="do not fit each other"):
        Neighbourhood(apart, picks, *rest).loss(np.ones(2))
