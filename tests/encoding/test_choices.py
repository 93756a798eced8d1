"""Values that a column can be changed to: those of training rows, each inside its own bin."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localbayes.classifiers import NB, TAN, LocalBayesClassifier
from localbayes.encoding import TableEncoder
from localbayes.encoding.choices import bin_labels, choices_of, round_number


def totals_of(model):
    return model.statistic.value_totals()


@settings(max_examples=300)
@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_a_round_number_lies_in_its_bin(low, width):
    """Above the lower end, at most the upper one."""
    high = low + width
    if low < high:
        assert low < round_number(low, high) <= high


@pytest.mark.parametrize(
    ("low", "high"), [(0.31, 0.74), (12.2, 19.9), (1001, 1999), (-7.5, -2.5), (2.01, 2.09)]
)
def test_no_number_with_fewer_digits_lies_in_the_bin(low, high):
    """Found by trying all multiples of larger powers of ten."""
    number = round_number(low, high)
    power = next(
        p for p in range(6, -6, -1) if math.isclose(number / 10**p, round(number / 10**p), abs_tol=1e-9)
    )
    # Halves of a power of ten are as easy to read as the power itself.
    for p in range(6, power + 1, -1):
        assert not any(low < k * 10**p <= high for k in range(-2000, 2001))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["width", "quantile", "mdl", "merged"]), st.integers(1, 12))
def test_every_bin_that_rows_have_is_a_choice_once(seed, discretize, n_bins):
    """The numbers of the choices fall into exactly the bins of training rows, and have their labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=40).round(1), "b": rng.lognormal(0, 2, 40)})
    model = NB(n_bins=n_bins, discretize=discretize).fit(X, rng.integers(0, 2, 40))
    codes = model.encode(X)
    for i, own in enumerate(choices_of(model.encoder_, totals_of(model))):
        if not len(model.encoder_.columns[i].cuts):
            assert len(own) == 0
            continue
        asked = pd.DataFrame({"a": np.zeros(len(own)), "b": np.zeros(len(own))})
        asked.iloc[:, i] = own.values
        found = model.encode(asked)[:, i].tolist()
        assert found == np.unique(codes[:, i]).tolist()
        labels = bin_labels(model.encoder_, i)
        assert own.labels == [labels[code] for code in found]


@pytest.mark.parametrize("missing", ["impute", "category", "ignore"])
def test_missing_and_absent_values_are_no_choices(missing):
    """A declared value without rows is left out, and so is "missing"."""
    column = pd.Categorical(["u", "w", None, "u"], ["u", "v", "w"])
    X = pd.DataFrame({"c": column, "d": [1.0, 2.0, np.nan, 9.0]})
    model = NB(missing=missing, n_bins=2).fit(X, ["a", "b", "a", "b"])
    first, second = choices_of(model.encoder_, totals_of(model))
    assert first.values == ["u", "w"]
    assert second.labels == ["≤ 5", "> 5"]


def test_columns_that_are_left_out_have_no_choices():
    """An id cannot be changed: classifiers do not look at it."""
    X = pd.DataFrame({"id": [f"customer {k}" for k in range(40)], "c": list("uv") * 20})
    with pytest.warns(UserWarning, match="left out column 'id'"):
        model = TAN().fit(X, list("ab") * 20)
    first, second = choices_of(model.encoder_, totals_of(model))
    assert (len(first), second.values) == (0, ["u", "v"])
    assert repr(model.encoder_) == "TableEncoder of 2 columns: 1 nominal, 1 left out"
    assert repr(TableEncoder()) == "TableEncoder, not fitted"


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        (pd.to_timedelta(np.arange(1, 61) * 1.5, unit="D"), "days"),
        (pd.to_timedelta(np.arange(1, 61) * 0.01, unit="s"), "0:00:00."),
        (pd.to_timedelta(np.arange(60) % 5, unit="D"), "day"),
    ],
    ids=["days", "hundredths", "few"],
)
def test_bins_of_durations_are_said_as_durations(lengths, text):
    """Labels are lengths of time, choices are lengths inside them, in order."""
    X = pd.DataFrame({"took": lengths})
    model = LocalBayesClassifier().fit(X, lengths > lengths[30])
    (own,) = choices_of(model.encoder_, totals_of(model))
    assert all(text in label for label in own.labels[1:])
    assert all(text in label for label in bin_labels(model.encoder_, 0)[1:-1])
    codes = model.encode(pd.DataFrame({"took": own.values}))[:, 0]
    assert codes.tolist() == sorted(set(codes.tolist()))
    assert all(lengths.min() <= value <= lengths.max() for value in own.values[1:-1])


def test_few_dates_are_said_as_dates():
    """A column of so few dates that each is a value of its own."""
    days = pd.to_datetime(["2024-01-31", "2024-02-29", "2024-03-31"] * 20)
    model = LocalBayesClassifier().fit(pd.DataFrame({"day": days}), np.arange(60) % 3 == 0)
    (own,) = choices_of(model.encoder_, totals_of(model))
    assert all("2024-0" in label for label in own.labels)


def test_bins_of_dates_are_said_as_dates():
    """Labels are days, choices are dates inside them."""
    days = pd.date_range("2024-03-01", periods=60)
    X = pd.DataFrame({"day": days.astype(str)})
    model = LocalBayesClassifier().fit(X, np.arange(60) > 30)
    (own,) = choices_of(model.encoder_, totals_of(model))
    labels = bin_labels(model.encoder_, 0)
    assert labels[0].startswith("≤ 2024-03-0")
    assert all("2024-0" in label for label in labels)
    codes = model.encode(pd.DataFrame({"day": [str(value) for value in own.values]}))[:, 0]
    assert codes.tolist() == sorted(set(codes.tolist()))
    assert min(own.values).year == max(own.values).year == 2024
