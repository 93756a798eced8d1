"""A table of one row, and a small array, get the codes that they get as part of a large table."""

import numpy as np
import pandas as pd
import pytest

from localbayes import LCWNB
from localbayes.encoding import TableEncoder
from localbayes.encoding.columns import RawColumn


def mixed(n=60, seed=0):
    """Texts, categories, bools, numbers, whole numbers and times, with holes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "text": rng.choice(["a", "b", "c"], n),
            "kind": pd.Categorical(rng.choice(["u", "v"], n), ["w", "v", "u"]),
            "grade": pd.Categorical(rng.integers(0, 4, n)),
            "true": rng.random(n) < 0.5,
            "size": rng.normal(size=n),
            "count": rng.integers(0, 2**40, n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 3, n), "D"),
        }
    )
    X.loc[rng.random(n) < 0.2, "text"] = None
    X.loc[rng.random(n) < 0.2, "size"] = np.nan
    return X


def tables():
    """Tables of which some are read in one step and some are not."""
    X = mixed()
    known = X.dropna().reset_index(drop=True)
    return {
        "all kinds": X,
        "without holes": known,
        "texts": known[["text"]],
        "categories": known[["kind"]].assign(other=known["kind"]),
        "texts and numbers": known[["text", "kind", "size", "count"]],
        "numbers": known[["size", "count"]],
        "whole numbers as categories": known[["grade", "true"]],
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("missing", ["impute", "category", "ignore"])
def test_a_row_has_the_codes_that_it_has_in_its_table(name, missing):
    """How many rows come at once has no part in their codes."""
    X = tables()[name]
    encoder = TableEncoder(missing=missing).fit(X)
    one_by_one = np.concatenate([encoder.encode(X[k : k + 1]) for k in range(len(X))])
    assert one_by_one.tolist() == encoder.encode(X).tolist()


@pytest.mark.filterwarnings("ignore:column 'text' was learned as text")
@pytest.mark.parametrize("cell", ["never seen", None, float("nan"), 3, True, pd.Timestamp("2024-01-01")])
def test_an_unusual_cell_means_the_same_alone_and_among_others(cell):
    """A value never seen, a hole, and values of another type."""
    X = mixed()[["text", "size"]].dropna().reset_index(drop=True)
    encoder = TableEncoder(missing="category").fit(X)
    asked = pd.DataFrame({"text": pd.Series([cell, "a"], dtype=object), "size": [0.5, 1.5]})
    assert encoder.encode(asked[:1]).tolist() == encoder.encode(asked)[:1].tolist()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_an_array_has_the_codes_of_a_frame(dtype, seed):
    """Many cuts or few, many rows or few, holes or none."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(400, 7)) * 40 + 100).clip(0, 255).astype(dtype)
    if dtype.startswith("f") and seed % 2:
        X[rng.random(X.shape) < 0.05] = np.nan
    encoder = TableEncoder(n_bins=(5, 29, 30, 31, 200)[seed], missing="category").fit(X)
    codes = [column.encode(raw) for column, raw in zip(encoder.columns, _raws(X), strict=True)]
    assert encoder.encode(X).tolist() == np.array(codes).T.tolist()
    assert encoder.encode(X[:1]).tolist() == encoder.encode(X)[:1].tolist()


def _raws(X):
    """Columns as they are read one by one."""
    for i, column in enumerate(X.T):
        yield RawColumn(f"x{i}", numbers=column.astype(np.float64))


def test_an_array_that_does_not_fit_is_still_refused():
    """Columns are counted, and infinity is named, however few rows come."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = LCWNB(5).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="has 2 features"):
        model.predict(X[:1, :2])
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.array([[np.inf, 0.0, 0.0]]))
    with pytest.raises(ValueError, match="minimum of 1"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="2D"):
        model.predict(X[0])


def test_cuts_that_change_are_seen():
    """An encoder that is fitted again forgets its cuts."""
    X = np.arange(20.0).reshape(-1, 1)
    encoder = TableEncoder(n_bins=2).fit(X)
    assert encoder.encode(X).max() == 1
    assert TableEncoder(n_bins=4).fit(X).encode(X).max() == 3
    encoder.n_bins = 4
    assert encoder.fit(X).encode(X).max() == 3
