"""Numbers in bins of equal width, and the names of the bins."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localbayes.classifiers import LCWNB
from localbayes.encoding import TableEncoder
from localbayes.encoding.columns import number_text
from small_tables import frame, one_column


@settings(max_examples=80)
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    n_bins=st.integers(1, 30),
    missing=st.sampled_from(["impute", "category"]),
)
def test_bins_have_equal_width_and_are_closed_on_the_right(values, n_bins, missing):
    """cut_k = min + k (max - min) / bins; a value goes to the first bin whose cut is not below it."""
    low, high = min(values), max(values)
    width = (high - low) / n_bins
    cuts = [low + width * k for k in range(1, n_bins)] if width > 0 else []
    codes, size, encoder = one_column(np.array(values), n_bins=n_bins, missing=missing)
    assert encoder.columns[0].cuts.tolist() == cuts
    assert size == len(cuts) + 1
    assert codes == [sum(value > cut for cut in cuts) for value in values]


@pytest.mark.parametrize("n_bins", [3, 30, 31, 32, 300])
@pytest.mark.parametrize("hole", [False, True])
def test_columns_of_different_numbers_of_cuts(n_bins, hole):
    """The codes of a table of numbers are those that NumPy's digitize gives its columns."""
    rng = np.random.default_rng(n_bins)
    X = frame(
        real=rng.normal(size=500),
        whole=rng.integers(0, 4, 500),
        small=rng.integers(0, 200, 500).astype(np.uint8),
        single=rng.normal(size=500).astype(np.float32),
        constant=np.ones(500),
    )
    encoder = TableEncoder(n_bins=n_bins, discretize="quantile").fit(X)
    later = X.copy()
    later["real"] *= 2
    if hole:
        later.loc[7, "real"] = np.nan
    expected = [
        np.digitize(later[name].fillna(column.fill), column.cuts, right=True)
        for name, column in zip(X, encoder.columns, strict=True)
    ]
    assert len({len(column.cuts) for column in encoder.columns}) > 1
    np.testing.assert_array_equal(encoder.encode(later), np.transpose(expected))
    np.testing.assert_array_equal(encoder.encode(pl.from_pandas(later)), np.transpose(expected))


def test_a_value_on_a_cut_goes_below_it():
    """Bins are (a, b], unlike those of scikit-learn's KBinsDiscretizer; outside the range they are open."""
    codes, size, encoder = one_column([0.0, 1.0, 1.0000001, 9.0, 9.1, 10.0])
    assert (codes, size) == ([0, 0, 1, 8, 9, 9], 10)
    assert encoder.encode(frame(c=[-5.0, 10.5])).ravel().tolist() == [0, 9]
    assert encoder.columns[0].labels()[:2] == ["≤ 1", "(1, 2]"]
    assert encoder.columns[0].labels()[-1] == "> 9"


@pytest.mark.parametrize("values", [[3.0, 3.0], [np.nan, np.nan], [5e-324, 0.0]], ids=str)
def test_a_column_without_width_is_one_value(values):
    """Constant, missing everywhere, or so narrow that a bin's width is zero: one bin, no cut."""
    codes, size, encoder = one_column(values)
    assert (codes, size) == ([0, 0], 1)
    assert encoder.columns[0].labels() == ["any"]


def test_the_widest_columns_have_finite_cuts():
    """max - min may exceed the largest double; cuts and mean do not."""
    codes, size, encoder = one_column([-1.7e308, -1.7e308, 1.7e308, np.nan, 0.0])
    column = encoder.columns[0]
    np.testing.assert_allclose(column.cuts, 1.7e307 * np.arange(-8, 9, 2), atol=1e292)
    assert column.fill == -1.7e308 / 4
    assert (codes[:3], size) == ([0, 0, 9], 10)


def test_a_number_of_bins_has_a_bound():
    """A typing error does not fill the memory with cuts."""
    with pytest.raises(ValueError, match="n_bins must be at most 1000000, got 1000000000"):
        TableEncoder(n_bins=10**9).fit(frame(c=[1.0, 2.0]))


@pytest.mark.parametrize("n_bins", [0, -3, 2.5, "ten", None, True])
def test_a_number_of_bins_must_be_a_whole_number(n_bins):
    """The message says what came and what was expected."""
    with pytest.raises(ValueError, match=f"n_bins must be a whole number >= 1, got {n_bins!r}"):
        TableEncoder(n_bins=n_bins).fit(frame(c=[1.0]))


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinity_is_refused(infinite):
    """An infinite number has no bin of equal width; the message names the column, in fit and in predict."""
    message = "column '{}' contains infinity; replace it by a finite number or by NaN"
    with pytest.raises(ValueError, match=message.format("c")):
        TableEncoder().fit(frame(c=[1.0, infinite]))
    encoder = TableEncoder().fit(frame(c=[1.0, 2.0]))
    for make in (pl.DataFrame, pd.DataFrame):
        with pytest.raises(ValueError, match=message.format("c")):
            encoder.encode(make({"c": [infinite]}))
    with pytest.raises(ValueError, match=message.format("x0")):
        encoder.encode(np.array([[infinite]]))


@pytest.mark.parametrize(
    "number", [2.0**31, 1_700_000_128.0, 123_456_792.0, 2.0**53, -0.0, 0.1, 1e300, 5e-324]
)
def test_a_number_can_be_read_back(number):
    """Its text is that number and no other; zero has no sign."""
    assert float(number_text(number)) == number
    assert number_text(float(np.float32(0.3))) == "0.3"
    assert number_text(-0.0) == "0"


def test_bins_of_large_numbers_can_be_told_apart():
    """Ends of bins have as many digits as that takes, and at least those before the point."""
    stamps = pd.DataFrame({"time": 1_700_000_000 + np.arange(50) * 7, "day": 20240101 + np.arange(50)})
    labels = [column.labels() for column in TableEncoder().fit(stamps).columns]
    assert [len(set(names)) for names in labels] == [10, 10]
    assert labels[0][:2] == ["≤ 1700000034", "(1700000034, 1700000069]"]
    assert labels[1][-1] == "> 20240145"
    answer = LCWNB(5).fit(stamps, ["old", "new"] * 25).explain(stamps.iloc[[3]])
    assert answer.values == (("1700000021", "20240104"),)
