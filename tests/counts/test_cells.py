"""Gamma against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from localbayes.counts import cell_weights


def total(V, gamma):
    """Sum of the weights gamma^d, exactly."""
    return sum(int(v) * Fraction(float(gamma)) ** d for d, v in enumerate(V))


@pytest.mark.parametrize("hair", [1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("V", [[5, 2, 0, 1], [1, 0, 0, 7], [3, 1, 1, 1, 1, 1], [1000, 1, 0, 5]])
def test_weights_sum_to_kappa_where_kappa_is_a_hair_above_a_count(V, hair):
    """A kappa just above the rows at distance zero is met to 1e-12, and gamma as far as that tells it."""
    kappa = V[0] * (1 + hair)
    (gamma,) = cell_weights(np.array([[V]]), kappa)[0][0]
    assert 0 < gamma < 1
    assert abs(total(V, gamma) - Fraction(kappa)) <= Fraction(1, 10**12) * Fraction(kappa)
    low, high = Fraction(0), Fraction(1)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if total_of(V, middle) < Fraction(kappa) else (low, middle)
    # An error of 1e-12 in the sum moves gamma by that much over the slope of the sum.
    slope = sum(d * int(v) * low ** (d - 1) for d, v in enumerate(V) if d)
    allowed = Fraction(1, 10**12) * Fraction(kappa) / slope
    assert abs(Fraction(float(gamma)) - low) <= allowed + Fraction(1, 10**9) * low


def total_of(V, gamma):
    return sum(int(v) * gamma**d for d, v in enumerate(V))
