"""Dates and times are the same category in every library and unit."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localbayes.classifiers import NB
from localbayes.encoding import TableEncoder
from localbayes.encoding.tables import check_table
from small_tables import DATES, frame

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
