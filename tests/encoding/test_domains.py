"""Values of a column and their codes: declared, found, unseen, mistaken."""

import re
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localbayes.classifiers import NB
from localbayes.encoding import TableEncoder, code_dtype
from localbayes.encoding.coded import unseen_code
from localbayes.encoding.tables import check_table
from small_tables import DATES, frame, is_categorical, one_column


def test_large_whole_numbers_stay_apart_beside_a_mask():
    """2**53 and 2**53 + 1 are one float but two categories; without categories they are numbers as ever."""
    large = np.ma.array([[2**53], [2**53 + 1], [7]], mask=[[False], [False], [True]])
    X = check_table(large, None)
    assert TableEncoder("all", missing="category").fit(X).encode(X).ravel().tolist() == [0, 1, 2]
    hidden = check_table(np.ma.array([[1, 5], [2, 6]], mask=[[False, True]] * 2), None)
    assert is_categorical(hidden) == [False, False]
    words = check_table(np.ma.array([["a", "b"], ["c", "d"]], mask=[[False, True]] * 2), None)
    assert is_categorical(words) == [True, True]


@pytest.mark.parametrize(
    ("learned", "came", "message"),
    [
        (
            ["a", "b"],
            [1, 2],
            "column 'c' was learned as text, got numbers such as 1, so no value is known; convert it",
        ),
        (
            [1, 2],
            ["one", None],
            "column 'c' was learned as numbers, got text such as 'one', so no value is known; convert it",
        ),
        ([True, False], ["yes", "x"], "column 'c' was learned as bool values, got text such as 'yes', so"),
        (
            ["1 January 2020"] * 2,
            pd.to_datetime(DATES),
            "column 'c' was learned as text, got Timestamp values such as",
        ),
    ],
)
def test_text_that_comes_as_numbers_is_told(learned, came, message):
    """No value is known by its meaning either: a warning names the column, what was learned, what came."""
    model = NB(categorical_features="all").fit(frame(c=learned), ["n", "y"])
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}") as told:
        model.predict(frame(c=came))
    assert len(told) == 1


def test_one_warning_tells_of_all_mistaken_columns():
    """It names the first and counts the others."""
    model = NB(categorical_features="all").fit(frame(a=["x", "y"], b=[1, 2], c=["u", "v"]), ["n", "y"])
    with pytest.warns(
        UserWarning, match="column 'a' was learned as text.*; convert all 2 such columns$"
    ) as told:
        model.predict(frame(a=[1], b=[2], c=[3]))
    assert len(told) == 1


def test_values_that_are_merely_new_are_not_told():
    """Other values of the same type, a column without values, and values of several types say nothing."""
    model = NB(categorical_features="all").fit(frame(c=["1", "2"]), ["n", "y"])
    mixed = NB(categorical_features="all").fit(frame(c=pd.Series(["1", 2], dtype=object)), ["n", "y"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame(c=["8", "9"]))
        model.predict(frame(c=[None, None]))
        model.predict(frame(c=pd.Categorical([None], categories=[1, 2])))
        model.predict(frame(c=pd.Series([1, "2"], dtype=object)))
        mixed.predict(frame(c=[1, 3]))
        model.partial_fit(frame(c=[1, 2]), ["n", "y"])


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["low", "high", "low"], categories=["low", "middle", "high"]),
        pd.Categorical(["low", "high", "low"], categories=["low", "middle", "high"], ordered=True),
        pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "middle", "high"])),
    ],
    ids=["pandas", "pandas ordered", "polars Enum"],
)
def test_a_categorical_declares_its_domain(column):
    """Codes are positions in the declared order, and a value that never occurs counts in the size."""
    X = (pl if isinstance(column, pl.Series) else pd).DataFrame({"c": column})
    encoder = TableEncoder().fit(X)
    assert encoder.encode(X).tolist() == [[0], [2], [0]]
    assert encoder.sizes.tolist() == [3]
    assert encoder.columns[0].labels() == ["low", "middle", "high"]


def test_a_polars_categorical_declares_nothing():
    """All its columns share one pool of strings, so its domain is what occurs."""
    X = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}).with_columns(pl.all().cast(pl.Categorical))
    assert TableEncoder().fit(X).sizes.tolist() == [2, 2]
    assert TableEncoder().fit(X).columns[1].values == ["u", "v"]


def test_found_values_are_sorted():
    """Without a declaration codes follow the sorted values, mixed types by type and then by text."""
    assert one_column(["b", "a", "c"])[0] == [1, 0, 2]
    assert one_column([10, 9, 2], categorical_features="all")[0] == [2, 1, 0]
    codes, size, _ = one_column(pd.Series(["b", 2, "a", 10], dtype=object))
    assert (codes, size) == ([3, 1, 2, 0], 4)


def test_the_same_value_in_another_table_has_the_same_code():
    """What counts is the value: not its position in a category, not the kind of table."""
    fitted = TableEncoder().fit(frame(c=pd.Categorical(["a", "b"], categories=["b", "a", "z"])))
    for X in (
        frame(c=["a", "b", "new"]),
        frame(c=pd.Categorical(["a", "b", "new"], categories=["new", "a", "b"])),
        pl.DataFrame({"c": ["a", "b", "new"]}),
        pl.DataFrame({"c": pl.Series(["a", "b", "new"], dtype=pl.Enum(["new", "b", "a"]))}),
        np.array([["a"], ["b"], ["new"]]),
    ):
        assert fitted.encode(X).tolist() == [[1], [0], [unseen_code(np.uint8)]]


@pytest.mark.parametrize(
    ("size", "dtype"), [(1, "uint8"), (254, "uint8"), (255, "uint16"), (65_534, "uint16"), (65_535, "uint32")]
)
def test_codes_take_the_smallest_type_that_fits(size, dtype):
    """Two codes at the top are kept for unseen and missing, so a byte holds 254 values."""
    X = frame(c=pd.Categorical.from_codes([0, size - 1], categories=np.arange(size)))
    encoder = TableEncoder().fit(X)
    codes = encoder.encode(X)
    assert codes.dtype == dtype
    assert codes.tolist() == [[0], [size - 1]]
    assert encoder.encode(frame(c=[-1])).tolist() == [[np.iinfo(dtype).max]]
    assert codes.flags.c_contiguous


def test_more_values_than_codes_are_refused():
    """The largest type has 2**32 codes, two of them reserved."""
    assert code_dtype(2**32 - 2) is np.uint32
    with pytest.raises(ValueError, match=re.escape("at most 2**32 - 2 values, got 4294967295")):
        code_dtype(2**32 - 1)


@pytest.mark.parametrize(
    ("column", "kind"),
    [([[1], [2]], "list"), ([{"a": 1}, {}], "dict"), ([{1}, {2}], "set"), ([[1, 2], [3, 4]], "list")],
)
def test_values_that_cannot_be_compared_are_refused(column, kind):
    """A cell that holds a list or a dict is no category; the message names the column."""
    message = f"column 'c' holds {kind} values; categories must be hashable: a string, a number or a bool"
    with pytest.raises(TypeError, match=message):
        TableEncoder().fit(frame(c=column))
    array = np.empty((2, 1), dtype=object)
    array[:, 0] = column
    with pytest.raises(TypeError, match=message.replace("'c'", "'x0'")):
        TableEncoder().fit(array)
    if kind == "list":
        with pytest.raises(TypeError, match=message):
            TableEncoder().fit(pl.DataFrame({"c": column}))


@pytest.mark.parametrize("cells", [[[1], [2]], [{"a": 1}, {"a": 2}]], ids=["list", "struct"])
def test_nested_columns_of_arrow_are_refused(cells):
    """As lists and dicts of Python are."""
    column = pd.Series(cells, dtype=pd.ArrowDtype(pa.array(cells).type))
    with pytest.raises(TypeError, match=r"column 'c' holds \w+ values; categories must be hashable"):
        TableEncoder().fit(frame(c=column))


@pytest.mark.parametrize(
    ("learned", "came", "known"),
    [
        (["1", "2"], [2, 1, 3], ["2", "1", None]),
        (["007", "1.50", "x"], [7.0, 1.5, 2.0], ["007", "1.50", None]),
        ([7, 8], ["7", "8.0", "x"], [7, 8, None]),
        ([2**60, 2**60 + 1], [str(2**60 + 1)], [2**60 + 1]),
        ([True, False], ["FALSE", "true", "yes"], [False, True, None]),
        (["TRUE", "FALSE", "maybe"], [True, False], ["TRUE", "FALSE"]),
        (["2020-01-01", "2021-06-30"], pd.to_datetime(DATES), ["2020-01-01", "2021-06-30"]),
        (["2020-01-01T12:30"], pd.to_datetime(["2020-01-01 12:30"]), ["2020-01-01T12:30"]),
        (
            ["2020-01-01"],
            ["2020-01-01 00:00:00", "2020-01-01T00:00", "2020-01-02"],
            ["2020-01-01"] * 2 + [None],
        ),
        ([date(2020, 1, 1)], ["2020-01-01"], [date(2020, 1, 1)]),
        (["7", "07", "8"], [7, 8], [None, "8"]),
        (["7", "x"], ["07", "7.0", "X"], [None, None, None]),
    ],
)
def test_a_value_is_known_by_its_meaning(learned, came, known):
    """7 is "7", True is "TRUE", a day is its text; but text is other text only if both are the same time."""
    encoder = TableEncoder("all").fit(frame(c=pd.Series(learned, dtype=object)))
    codes = encoder.encode(frame(c=came))[:, 0].tolist()
    own = encoder.encode(frame(c=pd.Series(learned, dtype=object)))[:, 0].tolist()
    expected = [own[learned.index(value)] if value is not None else unseen_code(np.uint8) for value in known]
    assert codes == expected
