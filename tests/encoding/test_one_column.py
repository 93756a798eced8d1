"""Losses of one column against rows that are really left out."""

import math

import numpy as np
import pytest

from localbayes.encoding.one_column import left_out_losses


def loss_by_leaving_out(codes, size, agreement, y, r, power):
    """Sum over rows of minus the log of the probability of its class, learned from all other rows."""
    total = 0.0
    for k in range(len(y)):
        scores = []
        for c in range(r):
            others = [codes[j] for j in range(len(y)) if j != k and y[j] == c]
            agreeing = sum(agreement[codes[k]][value] for value in others)
            evidence = math.log((0.5 + agreeing) / (0.5 * size + len(others)))
            scores.append(math.log(1 + len(others)) + power * evidence)
        total += math.log(sum(map(math.exp, scores))) - scores[y[k]]
    return total


def made_up(seed, n=40, size=6, r=3):
    random = np.random.default_rng(seed)
    codes = random.integers(0, size - 1, n)  # the last value never occurs
    return codes, (codes + random.integers(0, 3, n)) % r, random


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("soft", [False, True])
def test_losses_are_those_of_a_loop_that_leaves_each_row_out(seed, soft):
    """Counting cells and taking one off gives what learning without the row gives."""
    codes, y, _ = made_up(seed)
    near = np.maximum(3 - np.abs(np.arange(6)[:, None] - np.arange(6)), 0) / 9 if soft else np.eye(6)
    found = left_out_losses(codes, 6, near if soft else None, y, np.ones(len(y)), 3, (0.0, 0.5, 1.0))
    expected = [loss_by_leaving_out(codes, 6, near, y, 3, power) for power in (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_weight_of_two_is_the_row_twice():
    """Of such a row one of two is left out."""
    codes, y, random = made_up(7)
    weights = random.integers(1, 4, len(y))
    weighted = left_out_losses(codes, 6, None, y, weights.astype(float), 3)
    repeated = left_out_losses(
        np.repeat(codes, weights), 6, None, np.repeat(y, weights), np.ones(weights.sum()), 3
    )
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)


def test_many_values_that_do_not_occur_take_no_room():
    """A column of a million values, of which five occur, has the losses of a loop over its rows."""
    codes, y, _ = made_up(3)
    found = left_out_losses(codes * 200_000, 1_000_000, None, y, np.ones(len(y)), 3)
    expected = loss_by_leaving_out(codes, 1_000_000, np.eye(6), y, 3, 1.0)
    np.testing.assert_allclose(found, [expected], rtol=1e-10)
