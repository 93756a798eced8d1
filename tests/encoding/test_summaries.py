"""Summaries of the parts of a table add up to that of the whole, exactly."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localbayes.encoding import TableEncoder
from localbayes.encoding.summaries import exact_sum
from small_tables import finite, frame, one_column


@settings(max_examples=100)
@given(st.lists(finite, min_size=1, max_size=60))
def test_sums_are_exact(values):
    """The sum behind a mean has no rounding: it is that of fractions, huge, tiny and cancelling ones too."""
    expected = sum(map(Fraction, values))
    assert exact_sum(np.array(values)) == expected * 2**1074


def test_the_mean_of_many_numbers_is_rounded_once():
    """Over more rows than are added at a time, it is the quotient of whole numbers."""
    numbers = np.random.default_rng(0).integers(0, 2**53, 200_001)
    _, _, encoder = one_column(np.append(numbers.astype(float), np.nan))
    assert encoder.columns[0].fill == sum(numbers.tolist()) / len(numbers)


@pytest.mark.parametrize("n_parts", [2, 3, 8])
def test_summaries_of_parts_add_up(n_parts):
    """Domains, bins, means and modes learned from parts are those of the whole table."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "word": pd.Series(rng.choice(["a", "b", "c", None], 50), dtype=object),
            "declared": pd.Categorical(rng.choice(["u", "v"], 50), categories=["w", "v", "u"]),
            "number": np.where(rng.random(50) < 0.2, np.nan, rng.normal(size=50)),
            "late": [None] * 30 + ["x"] * 20,
            "late number": pd.Series([None] * 30 + [1.5, 2.5] * 10, dtype=object),
        }
    )
    for missing in ("impute", "category"):
        whole = TableEncoder(missing=missing, categorical_features=["word", "declared", "late"]).fit(X)
        parts = TableEncoder(missing=missing, categorical_features=["word", "declared", "late"]).start(
            X.columns
        )
        rows = np.array_split(np.arange(50), n_parts)
        total = parts.summarise(X.iloc[rows[0]])
        for some in rows[1:]:
            total = [a + b for a, b in zip(total, parts.summarise(X.iloc[some]), strict=True)]
        parts.learn(total)
        assert parts.sizes.tolist() == whole.sizes.tolist()
        np.testing.assert_array_equal(parts.encode(X), whole.encode(X))


def test_parts_of_different_kinds():
    """Nothing known in a part leaves the kind open; numbers in one and words in another are refused."""
    encoder = TableEncoder().start(["c"])
    nothing, number, word = (
        encoder.summarise(pd.DataFrame({"c": pd.Series(v, dtype=d)}))[0]
        for v, d in (([None], object), ([1.0, np.nan], float), (["a"], object))
    )
    no_number = encoder.summarise(pd.DataFrame({"c": [np.nan]}))[0]
    for first, second in ((nothing, number), (number, nothing)):
        assert (first + second).n_missing == 2
        assert (first + second).mean == 1.0
    for empty in (nothing, no_number):
        for first, second in ((empty, word), (word, empty)):
            assert (first + second).counts == {"a": 1}
            assert (first + second).n_missing == 1
    for first, second in ((number, word), (word, number)):
        with pytest.raises(
            ValueError, match="column 'c' holds numbers in one part of the table and other values"
        ):
            first + second


def test_domains_declared_differently_in_parts_are_joined():
    """Like concatenating such columns: a declaration in every part keeps all declared, else what occurs."""
    encoder = TableEncoder().start(["c"])

    def part(values, declared):
        return encoder.summarise(
            frame(c=pd.Categorical(values, categories=declared) if declared else values)
        )[0]

    both = part(["a"], ["a", "b"]) + part(["c"], ["c", "a"])
    assert both.declared
    assert list(both.counts) == ["a", "b", "c"]
    one = part(["a"], ["a", "b"]) + part(["c"], None)
    assert not one.declared
    assert one.counts == {"a": 1, "c": 1}
