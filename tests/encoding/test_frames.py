"""Frames of any library, and sparse matrices: the same cells give the same codes."""

import datetime
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator_sparse_array, check_estimator_sparse_tag

from localbayes.classifiers import LCWNB, NB, LocalBayesClassifier
from localbayes.encoding import rows as other_tables

Y = ["n", "y"] * 100


def mixed(n: int = 200) -> pd.DataFrame:
    """Numbers, whole numbers, text, bools, dates and holes, in n rows."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "count": rng.integers(0, 5, n),
            "colour": rng.choice(["red", "green", None], n),
            "sold": rng.random(n) < 0.5,
            "day": [datetime.datetime(2020, 1, 1 + k % 5) for k in range(n)],
            "grade": pd.Categorical(rng.choice(["a", "b"], n), categories=["b", "a", "never"]),
        }
    )


def as_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The same cells; the declared domain of a category column becomes an Enum."""
    table = pl.from_pandas(frame.drop(columns="grade"))
    grades = pl.Series("grade", frame["grade"].astype(object).tolist(), dtype=pl.Enum(["b", "a", "never"]))
    return table.with_columns(grades)


@pytest.mark.parametrize("categorical", ["from_dtype", "all", ["count", "colour", "sold", "day", "grade"]])
@pytest.mark.parametrize("make", [lambda frame: frame, as_polars, pa.Table.from_pandas])
def test_a_few_rows_have_the_codes_that_they_have_among_many(make, categorical):
    """A frame of few cells is read in another way than a large one; the codes are the same."""
    X = mixed()
    model = NB(categorical_features=categorical).fit(make(X), Y)
    whole = model.encode(make(X))
    assert model.encoder_.columns[-1].values == ["b", "a", "never"]
    for begin, end in ((0, 1), (7, 8), (20, 50), (0, 200)):
        np.testing.assert_array_equal(model.encode(make(X[begin:end])), whole[begin:end])
    single = NB(categorical_features=categorical).fit(make(X[:4]), Y[:4])
    assert single.encoder_.columns[-1].values == ["b", "a", "never"]


def test_libraries_agree():
    """pandas, polars and Arrow tables of the same cells have the same codes, whichever was learned from."""
    X = mixed().drop(columns="day")
    tables = [X, as_polars(X), pa.Table.from_pandas(X)]
    for learned in tables:
        model = NB().fit(learned, Y)
        first, *others = [model.encode(asked) for asked in tables]
        for codes in others:
            np.testing.assert_array_equal(codes, first)


def test_a_frame_that_narwhals_knows_is_a_table(monkeypatch):
    """Modin's frames, which pandas does not know, are read as the pandas frames that they stand for."""

    class DataFrame:
        def __init__(self, frame):
            self.frame = frame

    class Known:
        def __init__(self, table):
            self.table = table

        def to_pandas(self):
            return self.table.frame

    known = types.SimpleNamespace(
        dependencies=types.SimpleNamespace(
            is_pandas_dataframe=lambda X: isinstance(X, pd.DataFrame),
            is_polars_dataframe=lambda X: False,
            is_into_dataframe=lambda X: isinstance(X, DataFrame),
        ),
        from_native=lambda X, eager_only: Known(X),
    )
    monkeypatch.setattr(other_tables, "nw", known)
    X = mixed()
    model = NB().fit(DataFrame(X), Y)
    assert model.feature_names_in_.tolist() == list(X)
    np.testing.assert_array_equal(model.encode(DataFrame(X)), NB().fit(X, Y).encode(X))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices_are_tables(container, kind):
    """Whatever its format, a sparse matrix has the answers of the array with its zeros."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 5)) * (rng.random((60, 5)) < 0.3)
    y = (X[:, 0] > 0).astype(int)
    model = NB().fit(container(X).asformat(kind), y)
    expected = NB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(container(X).asformat(kind)), expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_a_sparse_matrix_that_is_too_large_is_refused():
    """Zeros count as values, so that all cells are needed; the message says how many there may be."""
    wide = sparse.csr_array(([1.0], ([0], [0])), shape=(2, 1 << 30))
    with pytest.raises(
        ValueError, match=r"^X is a sparse matrix of 2 x 1,073,741,824 cells.*at most 134,217,728"
    ):
        NB().fit(wide, [0, 1])


@pytest.mark.parametrize("model", [NB(), LCWNB(), LocalBayesClassifier()])
def test_scikit_learns_checks_of_sparse_input(model):
    """The tag says that sparse input is taken, and it is."""
    check_estimator_sparse_tag(type(model).__name__, clone(model))
    check_estimator_sparse_array(type(model).__name__, clone(model))


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_twins_are_refused_when_asked_too(make):
    """A column name that occurs twice among the queries is named."""
    model = NB().fit(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), [0, 1])
    twins = pd.DataFrame([[1, 3]], columns=["a", "a"])
    asked = twins if make is pd.DataFrame else pa.table([[1], [3]], names=["a", "a"])
    with pytest.raises(ValueError, match=r"^two columns of X are called 'a'; columns need different names"):
        model.predict(asked)


def test_narwhals_loads_no_other_library():
    """To know a frame of another library, its library need not be installed."""
    NB().fit(mixed(), Y)
    assert not {"modin", "cudf"} & set(sys.modules)


def test_names_of_polars_columns_do_not_depend_on_scikit_learn(monkeypatch):
    """Versions before 1.9 see the names of frames of pandas only, once polars lacks the old protocol."""
    from sklearn.utils import validation

    found = validation._get_feature_names
    monkeypatch.setattr(
        validation, "_get_feature_names", lambda X: found(X) if isinstance(X, pd.DataFrame) else None
    )
    X = pl.DataFrame({"a": ["u", "v"] * 4, "b": [1.0, 2.0] * 4})
    model = NB().fit(X, ["n", "y"] * 4)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename({"a": "c"}))
