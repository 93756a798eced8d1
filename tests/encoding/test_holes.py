"""Missing cells: what counts as missing, and what stands in its place."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localbayes.classifiers import NB
from localbayes.encoding import TableEncoder
from localbayes.encoding.coded import missing_code, unseen_code
from localbayes.encoding.tables import check_table, is_missing
from small_tables import frame, one_column

NUMBERS_WITH_HOLES = [
    pd.Series([1.0, np.nan, 4.0]),
    pd.Series([1, None, 4], dtype="Int64"),
    pd.Series([1, pd.NA, 4], dtype="Float32"),
    pl.Series("c", [1, None, 4]),
    pl.Series("c", [1.0, float("nan"), 4.0]),
    np.array([1, None, 4], dtype=object),
    np.array([1, pd.NA, 4.0], dtype=object),
    np.array([1, np.nan, 4]),
]

WORDS_WITH_HOLES = [
    pd.Series(["b", None, "a", "b"], dtype=object),
    pd.Series(["b", np.nan, "a", "b"], dtype=object),
    pd.Series(["b", pd.NA, "a", "b"], dtype="string"),
    pd.Series(["b", None, "a", "b"]),
    pd.Series(pd.Categorical(["b", None, "a", "b"])),
    pl.Series("c", ["b", None, "a", "b"]),
    pl.Series("c", ["b", None, "a", "b"], dtype=pl.Categorical),
    pl.Series("c", ["b", None, "a", "b"], dtype=pl.Enum(["a", "b"])),
    np.array(["b", None, "a", "b"], dtype=object),
    np.array(["b", pd.NA, "a", "b"], dtype=object),
    np.array(["b", float("nan"), "a", "b"], dtype=object),
    np.array(["b", pd.NaT, "a", "b"], dtype=object),
]


def as_table(column):
    if isinstance(column, pl.Series):
        return pl.DataFrame({"c": column})
    return pd.DataFrame({"c": column}) if isinstance(column, pd.Series) else column[:, None]


@pytest.mark.parametrize("column", NUMBERS_WITH_HOLES)
def test_a_missing_number_is_the_mean_or_a_value_of_its_own(column):
    """NaN, None and NA alike: the mean, 2.5, which is in the fifth of ten bins, or an eleventh value."""
    X = as_table(column)
    encoder = TableEncoder().fit(X)
    assert encoder.encode(X).ravel().tolist() == [0, 4, 9]
    assert encoder.columns[0].fill == 2.5
    encoder = TableEncoder(missing="category").fit(X)
    assert encoder.encode(X).ravel().tolist() == [0, 10, 9]
    assert encoder.sizes.tolist() == [11]
    assert encoder.columns[0].labels()[-1] == "(missing)"
    encoder = TableEncoder(missing="ignore").fit(X)
    assert encoder.encode(X).ravel().tolist() == [0, missing_code(np.uint8), 9]
    assert encoder.sizes.tolist() == [10]


@pytest.mark.parametrize("column", WORDS_WITH_HOLES)
def test_a_missing_category_is_the_mode_or_a_value_of_its_own(column):
    """None, NaN, NA and NaT alike: the most frequent value, or a third one."""
    X = as_table(column)
    encoder = TableEncoder().fit(X)
    assert encoder.encode(X).ravel().tolist() == [1, 1, 0, 1]
    encoder = TableEncoder(missing="category").fit(X)
    assert encoder.encode(X).ravel().tolist() == [1, 2, 0, 1]
    assert encoder.sizes.tolist() == [3]
    assert encoder.columns[0].labels() == ["a", "b", "(missing)"]
    encoder = TableEncoder(missing="ignore").fit(X)
    assert encoder.encode(X).ravel().tolist() == [1, missing_code(np.uint8), 0, 1]


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        np.float16("nan"),
        complex("nan"),
        np.complex64("nan"),
        Decimal("NaN"),
        Decimal("sNaN"),
        np.datetime64("NaT"),
        np.timedelta64("NaT", "s"),
        pd.NaT,
        pd.NA,
    ],
    ids=repr,
)
def test_whatever_says_that_nothing_is_known_is_missing(value):
    """Beside words and beside numbers, in an array and in a frame."""
    assert is_missing(value)
    for known, options in (("a", {}), (1.0, {"categorical_features": None})):
        cells = np.empty((3, 1), dtype=object)
        cells[:, 0] = known, value, known
        for X in (cells, pd.DataFrame(cells, dtype=object)):
            encoder = TableEncoder(missing="category", **options).fit(X)
            assert encoder.encode(X).ravel().tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "holes",
    [
        np.array([[1.0], [None], [5.0], [Decimal("NaN")], [np.float32("nan")]], dtype=object),
        np.ma.array([[1.0], [7.0], [5.0], [8.0], [9.0]], mask=[[False], [True], [False], [True], [True]]),
        np.ma.array([[1], [7], [5], [8], [9]], mask=[[False], [True], [False], [True], [True]]),
        pd.DataFrame({"x0": pd.array([1, None, 5, None, None], pd.ArrowDtype(pa.decimal128(5, 1)))}),
    ],
    ids=["objects", "masked", "masked whole", "decimals"],
)
def test_a_hole_has_many_names(holes):
    """None, NaN of any type and a masked cell are missing: the mean of the others takes their place."""
    encoder = TableEncoder(n_bins=4).fit(check_table(holes, None))
    assert encoder.columns[0].fill == 3.0
    assert encoder.encode(check_table(holes, None)).ravel().tolist() == [0, 1, 3, 1, 1]


def test_masked_words_are_missing():
    """The mask of an array of objects hides its values too."""
    X = check_table(np.ma.array([["a"], ["b"], ["a"]], mask=[[False], [True], [False]], dtype=object), None)
    assert TableEncoder(missing="category").fit(X).encode(X).ravel().tolist() == [0, 1, 0]


def test_of_equally_frequent_values_the_one_declared_first_fills_the_holes():
    """Declared order where there is one, else sorted order."""
    domain = ["c", "a", "b"]
    assert one_column(pd.Categorical(["b", "a", None, "a", "b"], categories=domain))[0][2] == 1
    assert one_column(["b", "a", None, "a", "b"])[0][2] == 0


def test_a_column_without_any_value():
    """All missing: one value; as a category of its own it is that one value."""
    for missing in ("impute", "category"):
        codes, size, encoder = one_column(pd.Series([None, None], dtype=object), missing=missing)
        assert (codes, size) == ([0, 0], 1)
        assert encoder.columns[0].labels() == ["(missing)"]


def test_what_is_missing_only_later_is_filled_or_unseen():
    """Holes first met after fit get mean and mode; with "category" they are a value never seen."""
    X, holes = frame(a=["p", "q", "q"], b=[0.0, 5.0, 10.0]), frame(a=[None], b=[np.nan])
    assert TableEncoder().fit(X).encode(holes).tolist() == [[1, 4]]
    unseen = unseen_code(np.uint8)
    assert TableEncoder(missing="category").fit(X).encode(holes).tolist() == [[unseen, unseen]]


def test_new_values_and_late_holes_get_the_next_free_code():
    """Codes given once stay, whatever comes later; a declared domain takes in nothing but the hole."""
    domain = pd.CategoricalDtype(["u", "v"])
    encoder = TableEncoder(missing="category").fit(
        frame(a=["b", None], b=["b", "c"], c=[0.0, 1.0], d=pd.Series(["u", "v"], dtype=domain))
    )
    assert encoder.sizes.tolist() == [2, 2, 10, 2]
    later = frame(a=["a", "b", None], b=[None, "a", "b"], c=[np.nan, 2.0, 0.0], d=["u", "w", None])
    before, encoder = encoder, encoder.extended(later)
    assert before.sizes.tolist() == [2, 2, 10, 2]
    assert encoder.sizes.tolist() == [3, 4, 11, 3]
    unseen = unseen_code(np.uint8)
    assert encoder.encode(later).tolist() == [[2, 3, 10, 0], [0, 2, 9, unseen], [1, 0, 0, 2]]
    assert [column.labels() for column in encoder.columns[:2]] == [
        ["b", "(missing)", "a"],
        ["b", "c", "a", "(missing)"],
    ]
    assert encoder.extended(later).sizes.tolist() == encoder.sizes.tolist()


def test_an_unknown_way_with_missing_values_is_refused():
    """The message lists the ways there are."""
    with pytest.raises(ValueError, match="missing must be 'impute', 'category' or 'ignore', got 'mean'"):
        TableEncoder(missing="mean").fit(frame(c=[1.0]))


def test_what_is_missing_throughout_may_be_text_later():
    """A column of NaN alone among text is no column of numbers: it knows no value, and refuses none."""
    model = NB().fit([["a", np.nan], ["b", np.nan]], ["n", "y"])
    assert model.predict([["a", "u"]]).tolist() == ["n"]
    assert model.partial_fit([["a", "u"]], ["n"]).encoder_.columns[1].values == ["u"]
