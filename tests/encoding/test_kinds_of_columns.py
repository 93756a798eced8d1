"""Which columns are categories and which are numbers."""

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localbayes.classifiers import NB
from localbayes.encoding import TableEncoder
from small_tables import DATES, frame, is_categorical

KINDS = pd.DataFrame(
    {
        "category": pd.Categorical(["a", "b"]),
        "object": pd.Series(["a", 1], dtype=object),
        "string": pd.Series(["a", "b"], dtype="string"),
        "text": ["a", "b"],
        "bool": [True, False],
        "boolean": pd.Series([True, None], dtype="boolean"),
        "date": pd.to_datetime(["2020-01-01", "2021-01-01"]),
        "float": [1.0, 2.0],
        "int": [1, 2],
        "nullable": pd.Series([1, None], dtype="Int64"),
    }
)


def test_dtypes_decide_which_columns_are_categories():
    """category, object, string, bool and dates are; numbers, nullable ones too, are cut into bins."""
    assert is_categorical(KINDS) == [True] * 7 + [False] * 3


def test_dtypes_of_polars_decide_too():
    """Enum, Categorical, String, Boolean and Date are categories; numbers are not."""
    X = pl.DataFrame(
        {
            "enum": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
            "categorical": pl.Series(["a", "b"], dtype=pl.Categorical),
            "string": ["a", "b"],
            "bool": [True, None],
            "date": [date(2020, 1, 1), None],
            "nothing": pl.Series([None, None], dtype=pl.Null),
            "float": [1.0, 2.0],
            "int": pl.Series([1, None], dtype=pl.Int8),
        }
    )
    assert is_categorical(X) == [True] * 6 + [False] * 2


def test_arrays_are_judged_by_dtype_and_object_arrays_column_by_column():
    """Text and bool are categories, numbers are not; None and NA beside numbers are missing numbers."""
    assert is_categorical(np.array([["a", "b"]])) == [True, True]
    assert is_categorical(np.array([[True, False]])) == [True, True]
    assert is_categorical(np.array([[1, 2]], dtype=np.int8)) == [False, False]
    cells = [
        [1.5, "a", True, None, None, 1],
        [pd.NA, "b", False, None, 2, "x"],
        [np.float32(2), "c", True, None, 3, 2],
    ]
    assert is_categorical(np.array(cells, dtype=object)) == [False, True, True, True, False, True]


@pytest.mark.parametrize(
    "chosen",
    [
        [False, True, True],
        np.array([False, True, True]),
        [1, 2],
        [-2, -1],
        np.array([2, 1], dtype=np.uint8),
        ["b", "c"],
        np.array(["c", "b"]),
        pd.Index(["b", "c"]),
        ("c", "b"),
    ],
    ids=str,
)
def test_categories_may_be_chosen(chosen):
    """A mask, indices (from the end, too) or names choose the columns; the rest are numbers."""
    X = frame(a=[1, 2], b=[3, 4], c=[5.5, 6.5])
    assert is_categorical(X, categorical_features=chosen) == [False, True, True]


def test_all_or_no_columns_may_be_categories():
    """ "all" makes categories of numbers; None makes numbers of all, as in scikit-learn."""
    X = frame(a=[1, 2, 1], b=[0.5, 7.5, 7.5])
    encoder = TableEncoder("all").fit(X)
    assert encoder.encode(X).tolist() == [[0, 0], [1, 1], [0, 1]]
    assert is_categorical(X, categorical_features=None) == [False, False]
    assert is_categorical(X, categorical_features=[]) == [False, False]


@pytest.mark.parametrize("chosen", ["some", [True], [0, 7], [[0]], [1.5], 3, ["a", 1.0, None]], ids=str)
def test_a_choice_that_means_nothing_is_refused(chosen):
    """The message says what may be given and for how many columns."""
    message = (
        "categorical_features must be 'from_dtype', 'all', a mask, indices or names of columns "
        f"for 2 columns, got {chosen!r}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        TableEncoder(chosen).fit(frame(a=[1], b=[2]))


def test_a_chosen_name_that_the_table_lacks_is_refused():
    """The message gives the name."""
    with pytest.raises(ValueError, match="categorical_features names the column 'z', which the table lacks"):
        TableEncoder(["a", "z"]).fit(frame(a=[1]))


def test_a_column_keeps_the_kind_it_had_in_fit():
    """Numbers fitted as categories stay so when they come as text or floats, and bins stay bins."""
    encoder = TableEncoder(["a"]).fit(frame(a=[1, 2, 3], b=[0.0, 5.0, 10.0]))
    assert encoder.encode(frame(a=[3.0, 1.0], b=["10", "0"])).tolist() == [[2, 9], [0, 0]]
    assert encoder.encode(np.array([[2, 5]])).tolist() == [[1, 4]]
    message = "column '{}' is to be numeric but holds {}; convert it, or list it in categorical_features"
    with pytest.raises(ValueError, match=message.format("b", "'five'")):
        encoder.encode(frame(a=[1, 1], b=["4", "five"]))
    with pytest.raises(ValueError, match=message.format("b", "'five'")):
        encoder.encode(pl.DataFrame({"a": [1, 1], "b": ["4", "five"]}))
    with pytest.raises(ValueError, match=message.format("x1", "'five'")):
        encoder.encode(np.array([[1, "five"]], dtype=object))
    with pytest.raises(ValueError, match=message.format("x1", "10{39}")):
        encoder.encode(np.array([[1, 10**400]], dtype=object))
    numbers = TableEncoder(None).fit(frame(a=pd.Categorical([1, 2, 11])))
    assert numbers.encode(
        pl.DataFrame({"a": pl.Series(["1", "11"], dtype=pl.Enum(["1", "11"]))})
    ).tolist() == [
        [0],
        [9],
    ]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    ("X", "held"),
    [
        (np.array(DATES, "M8[ns]")[:, None], "datetime.datetime(2020, 1, 1, 0, 0)"),
        (np.array([1, 2], "m8[D]")[:, None], "datetime.timedelta(days=1)"),
        (np.array([[np.nan], [np.datetime64("2020-01-01")]], object), "np.datetime64('2020-01-01')"),
        (np.array([[1.0], [np.timedelta64(1, "s")]], object), "np.timedelta64(1,'s')"),
        (np.array([[1], [1j]], object), "1j"),
        (np.array([[1], [np.complex64(1j)]], object), "np.complex64(1j)"),
        (frame(x0=pd.to_datetime(DATES)), "Timestamp('2020-01-01 00:00:00')"),
        (frame(x0=pd.to_timedelta(["1s", "2s"])), "Timedelta('0 days 00:00:01')"),
        (frame(x0=pd.Series([1, 1j], dtype=object)), "1j"),
        (frame(x0=[1j, 2j]), "1j"),
        (frame(x0=pd.Series([1, 10**400], dtype=object)), "10{39}"),
        (pl.DataFrame({"x0": [date(2020, 1, 1), None]}), "datetime.date(2020, 1, 1)"),
        (pl.DataFrame({"x0": [datetime(2020, 1, 1)]}), "datetime.datetime(2020, 1, 1, 0, 0)"),
        (pl.DataFrame({"x0": [timedelta(1)]}), "datetime.timedelta(days=1)"),
        (pl.DataFrame({"x0": [time(1)]}), "datetime.time(1, 0)"),
    ],
    ids=lambda given: f"{type(given).__module__.split('.')[0]}" if not isinstance(given, str) else given,
)
def test_what_only_looks_like_a_number_is_refused(X, held):
    """Times and complex numbers are no measurements in any library, in fit as in predict."""
    held = held if held == "10{39}" else re.escape(held)
    message = (
        f"^column 'x0' is to be numeric but holds {held}; convert it, or list it in categorical_features"
    )
    with pytest.raises(ValueError, match=message):
        TableEncoder(None).fit(X)
    with pytest.raises(ValueError, match=message):
        NB().fit(frame(x0=[0.0, 1.0] * 3), ["n", "y"] * 3).predict(X)


def test_names_and_positions_are_not_mixed():
    """NumPy would take the position for a name; the message says what is wrong."""
    for mixed in (["a", 1], [np.int64(0), "b"], np.array(["a", 1], dtype=object)):
        with pytest.raises(
            ValueError, match="categorical_features mixes names and positions of columns, got"
        ):
            TableEncoder(mixed).fit(frame(a=[1], b=[2]))


def test_objects_that_are_numbers_are_numbers():
    """Numbers in a column of objects, as databases give them, mean what a column of floats means."""
    cells = [Decimal("1.5"), 2, None, np.float32(4.0), 11.5]
    floats = pd.DataFrame({"x": [1.5, 2.0, None, 4.0, 11.5]})
    encoder = TableEncoder().fit(floats)
    codes = encoder.encode(floats).tolist()
    for X in (pd.DataFrame({"x": pd.Series(cells, dtype=object)}), np.array(cells, dtype=object)[:, None]):
        again = TableEncoder().fit(X)
        assert again.encode(X).tolist() == codes == encoder.encode(X).tolist()
        np.testing.assert_array_equal(again.columns[0].cuts, encoder.columns[0].cuts)
