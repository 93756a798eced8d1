"""From tables to codes: kinds of columns, domains, bins, missing and unseen values, and every refusal."""

import re
import warnings
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from localbayes.classifiers import LCWNB, NB
from localbayes.encoding import ClassLabels, Coded, TableEncoder, code_dtype
from localbayes.encoding.coded import missing_code, unseen_code
from localbayes.encoding.columns import number_text
from localbayes.encoding.labels import take_labels
from localbayes.encoding.summaries import exact_sum
from localbayes.encoding.tables import check_table, is_missing

finite = st.floats(allow_nan=False, allow_infinity=False)


def frame(**columns):
    return pd.DataFrame(columns)


def is_categorical(X, **options):
    return TableEncoder(**options).fit(X).forced


def one_column(values, **options):
    """Codes, size and encoder of a table of one column."""
    X = pd.DataFrame({"c": values})
    encoder = TableEncoder(**options).fit(X)
    return encoder.encode(X)[:, 0].tolist(), int(encoder.sizes[0]), encoder


# --- which columns are categories --------------------------------------------------------------------

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


DATES = ["2020-01-01", "2021-06-30"]


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


# --- domains -----------------------------------------------------------------------------------------


MIDNIGHTS = [
    frame(c=pd.to_datetime(DATES)),
    frame(c=pd.to_datetime(DATES).astype("datetime64[s]")),
    frame(c=pd.to_datetime(DATES).astype("datetime64[ns]")),
    frame(c=pd.Categorical(pd.to_datetime(DATES))),
    frame(c=pd.Series(DATES, dtype=pd.ArrowDtype(pa.date32()))),
    frame(c=pd.Series(pd.to_datetime(DATES), dtype=pd.ArrowDtype(pa.timestamp("ms")))),
    frame(c=[date.fromisoformat(day) for day in DATES]),
    pl.DataFrame({"c": [date.fromisoformat(day) for day in DATES]}),
    pl.DataFrame({"c": [datetime.fromisoformat(day) for day in DATES]}),
    *(np.array(DATES, f"M8[{unit}]")[:, None] for unit in ("D", "s", "us", "ns")),
    np.array([[date(2020, 1, 1)], [np.datetime64(DATES[1], "ns")]], dtype=object),
    np.array([[pd.Timestamp(DATES[0])], [datetime(2021, 6, 30)]], dtype=object),
]
SPANS = [
    frame(c=pd.to_timedelta(["1s", "2s"])),
    frame(c=pd.to_timedelta(["1s", "2s"]).astype("timedelta64[ns]")),
    pl.DataFrame({"c": [timedelta(seconds=1), timedelta(seconds=2)]}),
    *(np.array([[1], [2]], "m8[s]").astype(f"m8[{unit}]") for unit in ("s", "us", "ns")),
    np.array([[timedelta(seconds=1)], [np.timedelta64(2, "s")]], dtype=object),
]
NANOSECONDS = [
    np.array([[0], [1]], "M8[ns]"),
    np.array([[pd.Timestamp(0)], [pd.Timestamp(1)]], dtype=object),
    frame(c=np.array([0, 1], "M8[ns]")),
]
NANOSPANS = [np.array([[0], [1]], "m8[ns]"), frame(c=np.array([0, 1], "m8[ns]"))]


@pytest.mark.parametrize(
    "same", [MIDNIGHTS, SPANS, NANOSECONDS, NANOSPANS], ids=["days", "spans", "ns", "ns spans"]
)
def test_a_time_is_the_same_in_every_library_and_unit(same):
    """A day is the moment it begins; nothing is lost of a time in nanoseconds."""
    for X in same:
        fitted = TableEncoder().fit(X)
        assert fitted.sizes.tolist() == [2]
        for later in same:
            assert fitted.encode(later).ravel().tolist() == [0, 1]


def test_a_day_and_its_midnight_are_one_category():
    """Rows of both count together: they are the mode, which stands for what is missing."""
    days = [
        date(2020, 1, 1),
        datetime(2020, 1, 1),
        date(2019, 1, 1),
        date(2020, 1, 1),
        datetime(2019, 1, 1),
        None,
    ]
    for X in (frame(c=pd.Series(days, dtype=object)), np.array(days, dtype=object)[:, None]):
        assert TableEncoder().fit(X).encode(X).ravel().tolist() == [1, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("unit", ["D", "ns"])
@pytest.mark.parametrize("kind", ["M", "m"])
def test_a_time_may_be_missing(kind, unit):
    """NaT and a masked time are missing, in an array of times as in one of objects."""
    times = np.array([1, 2, 2, "NaT"], f"{kind}8[{unit}]")[:, None]
    cells = np.empty((4, 1), dtype=object)
    for k, time_ in enumerate(times[:, 0]):
        cells[k, 0] = time_
    masked = np.ma.array(np.array([1, 2, 2, 1], times.dtype)[:, None], mask=[[False]] * 3 + [[True]])
    for X in (times, cells, masked, frame(c=times[:, 0])):
        X = check_table(X, None)
        assert TableEncoder().fit(X).encode(X).ravel().tolist() == [0, 1, 1, 1]


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
            ["1", "2"],
            [1, 2],
            "column 'c' was learned as text, got numbers such as 1, so no value is known; convert it",
        ),
        (
            [1, 2],
            ["1", None],
            "column 'c' was learned as numbers, got text such as '1', so no value is known; convert it",
        ),
        ([True, False], ["True", "x"], "column 'c' was learned as bool values, got text such as 'True', so"),
        (
            ["2020-01-01"] * 2,
            pd.to_datetime(DATES),
            "column 'c' was learned as text, got Timestamp values such as",
        ),
    ],
)
def test_text_that_comes_as_numbers_is_told(learned, came, message):
    """Every value is unseen then: one warning says which column, what was learned and what came."""
    model = NB(categorical_features="all").fit(frame(c=learned), ["n", "y"])
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}") as told:
        model.predict(frame(c=came))
    assert len(told) == 1


def test_one_warning_tells_of_all_mistaken_columns():
    """It names the first and counts the others."""
    model = NB(categorical_features="all").fit(frame(a=["1", "2"], b=[1, 2], c=["3", "4"]), ["n", "y"])
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


# --- bins --------------------------------------------------------------------------------------------


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


# --- missing values ----------------------------------------------------------------------------------

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


# --- parts of a table --------------------------------------------------------------------------------


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


# --- codes as they are -------------------------------------------------------------------------------


def test_a_coded_table_can_be_cut():
    """Slices, index arrays, masks and single rows give a Coded with the same domains."""
    table = Coded([[0, 1], [1, 2], [0, 0]], sizes=[2, 3], names=["a", "b"])
    assert table.shape == (3, 2)
    assert len(table) == 3
    for rows in (slice(1, None), [1, 2], np.array([False, True, True])):
        assert table[rows].codes.tolist() == [[1, 2], [0, 0]]
        assert table[rows].names == ["a", "b"]
        assert table[rows].codes.flags.c_contiguous
    assert table[1].codes.tolist() == [[1, 2]]
    assert table.codes.dtype == np.uint8
    assert Coded([[299]], [300]).codes.dtype == np.uint16
    assert Coded([[70_000]], [2]).codes.dtype == np.uint32


@pytest.mark.parametrize(
    ("codes", "sizes", "names", "message"),
    [
        ([0, 1], [2], None, "codes must have a column per size: got shape (2,) and 1 sizes"),
        ([[0, 1]], [2], None, "codes must have a column per size: got shape (1, 2) and 1 sizes"),
        ([[0, -1]], [2, 2], None, "codes must not be negative, got -1"),
        ([[0.5]], [2], None, "codes must be whole numbers, got dtype float64"),
        ([["a"]], [2], None, "codes must be whole numbers, got dtype <U1"),
        ([[0]], [0], None, "sizes must be whole numbers >= 1, one per column, got [0]"),
        ([[0]], [1.5], None, "sizes must be whole numbers >= 1, one per column, got [1.5]"),
        ([[0]], 1, None, "sizes must be whole numbers >= 1, one per column, got 1"),
        ([[0]], [2**33], None, "a column may have at most 2**32 - 2 values, got 8589934592"),
        ([[0]], [1], ["a", "b"], "every column needs a name: got 2 for 1 columns"),
    ],
)
def test_codes_that_make_no_sense_are_refused(codes, sizes, names, message):
    """The message says what came and what was expected."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Coded(codes, sizes, names)


# --- tables that are none ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["a", "b"], "Expected 2D array, got 1D array instead"),
        (pd.Series([1, 2]), "Expected a 2-dimensional container but got"),
        ([["a"], ["b", "c"]], "rows of different lengths"),
        ([], "Expected 2D array, got 1D array instead"),
        ([[]], "Found array with 0 feature"),
        ([[[1]], [[2]]], "Found array with dim 3"),
        (np.array([[1j], [2j]]), "Complex data not supported"),
        (pl.DataFrame({"a": [1, 2]}).lazy(), "collect"),
        (pa.table({"a": [1, 2]}), r"^X is a Table, which would lose its names; pass X.to_pandas\(\)$"),
        (pa.table({"a": [1, 2]}).to_batches()[0], r"^X is a RecordBatch, .*; pass X.to_pandas\(\)$"),
    ],
    ids=["1-D", "Series", "ragged", "empty", "no columns", "3-D", "complex", "lazy", "Arrow", "batch"],
)
def test_what_is_no_table_is_refused(X, message):
    """Vectors, ragged and empty lists, cubes, complex numbers and unevaluated frames are not tables."""
    with pytest.raises((ValueError, TypeError), match=message):
        LCWNB().fit(X, [0, 1])


def test_a_dask_frame_is_not_computed_in_silence():
    """Its rows may be more than one machine holds; the message says how to go on."""
    dask = pytest.importorskip("dask.dataframe")
    X = dask.from_pandas(frame(a=[1, 2]), npartitions=1)
    with pytest.raises(
        TypeError, match=r"X is a DataFrame whose .*; pass X.compute\(\) or use localbayes.scale"
    ):
        NB().fit(X, [0, 1])


def test_lists_of_rows_keep_the_types_of_their_cells():
    """A row may mix numbers and words; 1, 1.0 and numpy's 1 are one number, not three words."""
    model = LCWNB().fit([[1.0, "a"], [11, "b"]], ["x", "y"])
    assert model.sizes_.tolist() == [10, 2]
    asked = [(1, "a"), [np.int64(11), "b"]]
    assert model.encoder_.encode(np.array(asked, dtype=object)).tolist() == [[0, 0], [9, 1]]
    assert model.predict(asked).tolist() == ["x", "y"]
    assert model.predict(tuple(asked)).tolist() == ["x", "y"]


# --- labels ------------------------------------------------------------------------------------------


def test_codes_of_a_smaller_domain_keep_what_they_lack():
    """What a table calls missing or unseen is so for a model that knows more values than the table."""
    rng = np.random.default_rng(1)
    model = LCWNB(5, missing="ignore").fit(Coded(rng.integers(0, 300, (500, 2)), [300, 300]), [0, 1] * 250)
    holes = [[False, True], [False, False]]
    narrow, wide = (Coded([[0, 5], [0, code]], [n, n], missing=holes) for n, code in ((10, 12), (300, 999)))
    assert narrow.codes.dtype != wide.codes.dtype
    np.testing.assert_array_equal(model.predict_proba(narrow), model.predict_proba(wide))


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_labels_may_be_times(unit, kind):
    """They come back as they were, in their own unit."""
    y = np.array([2, 1, 2], f"{kind}[{unit}]")
    found = LCWNB(1).fit([["a"], ["b"], ["a"]], y).predict([["b"], ["a"]])
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found, y[[1, 0]])


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


def test_a_declared_class_without_rows_is_told():
    """It may be predicted, as in Weka; who filtered rows of a pandas Series may not have meant that."""
    y = pd.Series(["x", "y", "z", "x"], dtype="category")
    with pytest.warns(UserWarning, match=r"^1 of 3 declared classes have no training row, such as 'z', and"):
        LCWNB(1).fit([["a"], ["b"], ["b"]], y[y != "z"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LCWNB(1).fit([["a"], ["b"], ["b"]], y[y != "z"].cat.remove_unused_categories())


def test_names_of_codes_are_compared():
    """Codes in another order of columns are refused, those without names are taken as they are."""
    table = Coded([[0, 2], [1, 0]], [2, 3], names=["sex", "size"])
    model = LCWNB(1).fit(table, ["x", "y"])
    assert model.explain(Coded([[0, 2]], [2, 3])).names == ("sex", "size")
    with pytest.raises(ValueError, match="column 0 of the codes is called 'size', but 'sex' in fit"):
        model.predict(Coded([[2, 0]], [3, 2], names=["size", "sex"]))


def test_labels_are_sorted_outside_and_declared_inside():
    """classes is sorted; codes follow the declared order, which decides ties."""
    labels = ClassLabels.learn(pd.Categorical(["lo", "hi"], categories=["lo", "none", "hi"]))
    assert labels.classes.tolist() == ["hi", "lo", "none"]
    assert labels.encode(["hi", "lo", "none"]).tolist() == [2, 0, 1]
    assert labels.classes[labels.sorted_position].tolist() == ["lo", "none", "hi"]
    assert labels.columns.tolist() == [2, 0, 1]
    assert len(labels) == 3


@pytest.mark.parametrize(
    "y",
    [
        pd.Categorical(["b", "a"], categories=["c", "b", "a"]),
        pd.Series(pd.Categorical(["b", "a"], categories=["c", "b", "a"])),
        pd.CategoricalIndex(["b", "a"], categories=["c", "b", "a"]),
        pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"])),
        pd.DataFrame({"y": pd.Categorical(["b", "a"], categories=["c", "b", "a"])}),
        pl.DataFrame({"y": pl.Series(["b", "a"], dtype=pl.Enum(["c", "b", "a"]))}),
    ],
    ids=["Categorical", "Series", "Index", "Enum", "frame", "polars frame"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_categorical_declares_its_classes(y):
    """Also those that do not occur, in declared order; other labels of the same classes are understood."""
    labels = ClassLabels.learn(y)
    assert labels.declared == ["c", "b", "a"]
    assert labels.encode(y).tolist() == [1, 2]
    assert labels.encode(pd.Categorical(["a", "c"])).tolist() == [2, 0]
    assert labels.encode(np.array(["a", "c"])).tolist() == [2, 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda column: pd.Series(pd.Categorical(column, categories=["c", "b", "a"])),
        lambda column: pd.DataFrame({"y": pd.Categorical(column, categories=["c", "b", "a"])}),
        lambda column: pl.Series(column, dtype=pl.Enum(["c", "b", "a"])),
        lambda column: pl.DataFrame({"y": pl.Series(column, dtype=pl.Enum(["c", "b", "a"]))}),
    ],
    ids=["Series", "frame", "polars Series", "polars frame"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_some_labels_declare_the_same_classes(make):
    """Rows that are left out take no class with them."""
    some = take_labels(make(["b", "a", "b"]), np.array([True, False, True]))
    assert ClassLabels.learn(some).declared == ["c", "b", "a"]
    assert ClassLabels.learn(some).encode(some).tolist() == [1, 1]


@pytest.mark.parametrize(
    "dtype", ["Int64", "UInt8", "boolean", "Float64", "int32[pyarrow]", "bool[pyarrow]", "double[pyarrow]"]
)
def test_labels_of_pandas_own_types_are_those_of_numpy(dtype):
    """Without a missing one, they are whole numbers, bools or floats as in a NumPy array."""
    y = pd.Series([1, 0, 1], dtype=dtype)
    numpy_y = y.to_numpy(y.dtype.numpy_dtype)
    for labels in (y, y.array, pd.Index(y)):
        model = NB().fit([["a"], ["b"], ["a"]], labels)
        assert model.classes_.dtype == NB().fit([["a"], ["b"], ["a"]], numpy_y).classes_.dtype
        np.testing.assert_array_equal(model.predict([["a"], ["b"]]), numpy_y[:2])
        assert model.score([["a"], ["b"], ["a"]], labels) == 1.0


@pytest.mark.parametrize("dtype", ["int64", "Int64", "int64[pyarrow]"])
def test_large_labels_stay_apart(dtype):
    """2**53 and 2**53 + 1 are two classes, though one float."""
    y = pd.Series([2**53, 2**53 + 1] * 3, dtype=dtype)
    assert NB().fit([["a"], ["b"]] * 3, y).classes_.tolist() == [2**53, 2**53 + 1]


@pytest.mark.parametrize("weights", [None, [1, 1, 0]])
@pytest.mark.parametrize(
    "make",
    [np.array, pd.DataFrame, lambda y: pl.DataFrame(y, orient="row"), list],
    ids=["array", "pandas", "polars", "list"],
)
def test_a_column_of_labels_is_told_once(make, weights):
    """One warning, as in scikit-learn, and the labels are those of the column."""
    with pytest.warns(DataConversionWarning) as told:
        model = NB().fit([["a"], ["b"], ["a"]], make([["x"], ["y"], ["x"]]), sample_weight=weights)
    assert len(told) == 1
    assert model.classes_.tolist() == ["x", "y"]


def test_classes_may_be_given():
    """As a list or a categorical, each once, in the order that decides ties."""
    assert ClassLabels.learn(["a"], ["b", "a", "b"]).declared == ["b", "a"]
    assert ClassLabels.learn(["a"], pd.Categorical(["a"], categories=["b", "a"])).declared == ["b", "a"]


def test_labels_of_several_types_stay_apart():
    """1 and "1" are two classes; NumPy would make strings of both."""
    labels = ClassLabels.learn(pd.Categorical([1, "1", "a"], categories=[1, "1", "a"]))
    assert labels.classes.tolist() == [1, "1", "a"]
    assert labels.encode(pd.Categorical(["1", 1], categories=[1, "1"])).tolist() == [1, 0]
    assert ClassLabels.learn(np.array(["1", 1, "a"], dtype=object)).classes.tolist() == [1, "1", "a"]


@pytest.mark.parametrize("y", [[0.5, 1.5, 2.7], np.array([[1, 0], [0, 1]])], ids=["continuous", "matrix"])
def test_what_is_no_label_is_refused(y):
    """Real numbers are a regression's target, and a matrix is none of ours."""
    with pytest.raises(ValueError, match=r"Unknown label type|should be a 1d array"):
        ClassLabels.learn(y)


@pytest.mark.parametrize("later", [["z"], pd.Categorical(["z"])])
def test_a_label_that_was_not_declared_is_refused(later):
    """The message names it, lists the classes there are and says what to do."""
    labels = ClassLabels.learn(["x", "y"])
    message = (
        "y contains the class 'z', which is not among the declared classes ['x', 'y']; "
        "pass all classes at the first partial_fit"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        labels.encode(later)


@pytest.mark.parametrize(
    "y",
    [
        ["x", None],
        [1.0, np.nan],
        [1.0, np.inf],
        pd.Series(["x", pd.NA], dtype="string"),
        pd.Series([1, None], dtype="Int64"),
        pd.Categorical(["x", None]),
        pl.Series(["x", None]),
        pl.Series(["x", None], dtype=pl.Enum(["x"])),
        ["x", float("nan")],
        ("x", None),
        np.array(["2020-01-01", "NaT"], "datetime64[D]"),
        np.array(["2020-01-01", "NaT"], "datetime64[ns]"),
        np.ma.masked_array(["x", "y"], [False, True]),
        np.ma.masked_array([1, 2], [False, True]),
    ],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', y)}",
)
def test_a_missing_label_is_refused(y):
    """The message names the row and says what to do."""
    message = "Input y contains NaN, infinity or a missing value (row 1); drop such rows or give them a class"
    with pytest.raises(ValueError, match=re.escape(message)):
        ClassLabels.learn(y).encode(y)


def test_what_is_missing_throughout_may_be_text_later():
    """A column of NaN alone among text is no column of numbers: it knows no value, and refuses none."""
    model = NB().fit([["a", np.nan], ["b", np.nan]], ["n", "y"])
    assert model.predict([["a", "u"]]).tolist() == ["n"]
    assert model.partial_fit([["a", "u"]], ["n"]).encoder_.columns[1].values == ["u"]


def test_times_that_python_does_not_know_stay_as_they_are():
    """Years beyond 9999, and classes of one's own that are called like pandas'."""
    far = np.array([["20000-01-01"], ["20001-01-01"]] * 3, "M8[D]")
    model = NB().fit(far, ["n", "y"] * 3)
    assert model.encoder_.columns[0].labels() == ["20000-01-01", "20001-01-01"]
    assert model.predict(far[:2]).tolist() == ["n", "y"]

    class Timestamp(str):
        """A category that is no time."""

    own = [[Timestamp("a")], [Timestamp("b")]] * 3
    assert NB().fit(own, ["n", "y"] * 3).predict(own[:2]).tolist() == ["n", "y"]


def test_warnings_name_the_line_that_asked():
    """Not one of the package, of which Python would show the first only."""
    model = NB().fit(pd.DataFrame({"zip": ["1", "2"]}), ["n", "y"])
    with pytest.warns(UserWarning, match="was learned as text") as caught:
        model.predict(pd.DataFrame({"zip": [1]}))
    assert caught[0].filename == __file__
