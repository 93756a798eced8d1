"""The corrected t-test against the running Weka and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from localbayes.weka import corrected_paired_ttest
from weka_driver import WekaDriver

PERCENT = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)
PAIRS = st.lists(st.tuples(PERCENT, PERCENT), min_size=2, max_size=120)
RATIO = st.sampled_from([0.0, 1 / 9, 0.25, 1.0])


@settings(max_examples=200)
@given(pairs=PAIRS, ratio=RATIO)
def test_weka_gives_the_same_p_value_and_the_same_mark(
    weka: WekaDriver, pairs: list[tuple[float, float]], ratio: float
) -> None:
    """Weka's PairedStatsCorrected and ours agree on difference, p-value and significance at 5 %."""
    a, b = zip(*pairs, strict=True)
    difference, pvalue, mark = weka.ttest(a, b, ratio)
    ours = corrected_paired_ttest(a, b, ratio)
    assert ours.difference == pytest.approx(difference, abs=1e-9)
    assert ours.pvalue == pytest.approx(pvalue, rel=1e-6, abs=1e-12)
    assert (math.copysign(1, ours.statistic) if ours.pvalue <= 0.05 else 0) == mark


@pytest.mark.parametrize("mean", [0.0, 1.0, -1.0, 1e-7])
@pytest.mark.parametrize("deviation", [0.0, 1e-9, 0.9e-6, 1.1e-6, 1e-3])
def test_a_deviation_below_a_millionth_is_none_to_weka(
    weka: WekaDriver, mean: float, deviation: float
) -> None:
    """Without deviation Weka says p = 1 if nothing differs and p = 0 if anything does; so do we."""
    a = mean + deviation * math.sqrt(0.9) * np.array([1.0, -1.0] * 5)
    b = np.zeros(10)
    _, pvalue, mark = weka.ttest(a, b, 1 / 9)
    ours = corrected_paired_ttest(a, b)
    assert ours.pvalue == pytest.approx(pvalue, rel=1e-6, abs=1e-30)
    assert (math.copysign(1, ours.statistic) if ours.pvalue <= 0.05 else 0) == mark


@given(pairs=PAIRS.filter(lambda pairs: len({a - b for a, b in pairs}) > 1), ratio=RATIO)
def test_the_correction_divides_the_plain_t_by_a_known_factor(
    pairs: list[tuple[float, float]], ratio: float
) -> None:
    """t is scipy's paired t over sqrt(1 + n * ratio), with n - 1 degrees of freedom."""
    a, b = map(np.array, zip(*pairs, strict=True))
    plain = stats.ttest_rel(a, b)
    ours = corrected_paired_ttest(a, b, ratio)
    expected = plain.statistic / math.sqrt(1 + len(pairs) * ratio)
    assert ours.statistic == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert ours.df == plain.df
    assert ours.pvalue == pytest.approx(2 * stats.t.cdf(-abs(expected), plain.df), rel=1e-6)


@given(pairs=PAIRS)
def test_the_order_of_the_two_methods_only_turns_the_sign(pairs: list[tuple[float, float]]) -> None:
    """The test is two-sided: exchanging a and b keeps p and negates t and the difference."""
    a, b = zip(*pairs, strict=True)
    there, back = corrected_paired_ttest(a, b), corrected_paired_ttest(b, a)
    assert there.pvalue == back.pvalue
    assert (there.statistic, there.difference) == (-back.statistic, -back.difference)


@pytest.mark.parametrize(
    ("a", "b", "ratio", "message"),
    [
        ([1, 2], [1, 2, 3], 1 / 9, r"got shapes \(2,\) and \(3,\)"),
        ([1], [2], 1 / 9, r"at least two, got shapes \(1,\)"),
        ([[1, 2]], [[1, 2]], 1 / 9, r"got shapes \(1, 2\)"),
        ([1, np.nan], [1, 2], 1 / 9, "must be finite"),
        ([1, 2], [1, 3], -0.1, "test_train_ratio must be a number >= 0, got -0.1"),
        ([1, 2], [1, 3], np.nan, "got nan"),
    ],
)
def test_results_that_do_not_pair_are_refused(a: object, b: object, ratio: float, message: str) -> None:
    """A comparison that makes no sense is an error, not a p-value."""
    with pytest.raises(ValueError, match=message):
        corrected_paired_ttest(a, b, ratio)  # type: ignore[arg-type]
