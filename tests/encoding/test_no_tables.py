"""What is no table is refused; lists of rows keep their types."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localbayes.classifiers import LCWNB, NB
from small_tables import frame


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
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "^two columns of X are called 'a'"),
        (pa.table([[1, 2], [3, 4]], names=["a", "a"]), "^two columns of X are called 'a'"),
        (
            [{"a": 1}, {"b": 2}],
            "^row . of X has '[ab]' and row . has not; give None where",
        ),
    ],
    ids=[
        "1-D",
        "Series",
        "ragged",
        "empty",
        "no columns",
        "3-D",
        "complex",
        "lazy",
        "twins",
        "Arrow twins",
        "dicts",
    ],
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
        TypeError, match=r"X is a DataFrame whose .*; pass X.compute\(\) or use localbayes.distributed"
    ):
        NB().fit(X, [0, 1])


def test_lists_of_rows_keep_the_types_of_their_cells():
    """A row may mix numbers and words; 1, 1.0 and numpy's 1 are one number, not three words."""
    model = LCWNB(discretize="width").fit([[1.0, "a"], [11, "b"]], ["x", "y"])
    assert model.sizes_.tolist() == [10, 2]
    asked = [(1, "a"), [np.int64(11), "b"]]
    assert model.encoder_.encode(np.array(asked, dtype=object)).tolist() == [[0, 0], [9, 1]]
    assert model.predict(asked).tolist() == ["x", "y"]
    assert model.predict(tuple(asked)).tolist() == ["x", "y"]


def test_arrow_tables_are_tables():
    """A Table and its batches say what their pandas frame says; a dictionary column declares its domain."""
    words = pa.array(["a", "b", "a", None]).dictionary_encode()
    table = pa.table({"word": words, "number": [1.0, 2.0, None, 11.0], "flag": [True, False, None, True]})
    y = ["n", "y", "n", "y"]
    model = NB().fit(table, y)
    expected = NB().fit(table.to_pandas(), y)
    assert model.feature_names_in_.tolist() == ["word", "number", "flag"]
    for asked in (table, table.to_batches()[0], table.to_pandas()):
        np.testing.assert_array_equal(model.predict_proba(asked), expected.predict_proba(table.to_pandas()))


def test_rows_may_be_dicts():
    """One row, or a list of them, in any order of keys; they are rows of a frame with the same names."""
    frame = pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.0, 5.0, 11.0]})
    y = ["x", "y", "x"]
    model = NB().fit(frame, y)
    expected = model.predict_proba(frame)
    dicts = [{"size": row["size"], "colour": row["colour"]} for row in frame.to_dict("records")]
    np.testing.assert_array_equal(model.predict_proba(dicts), expected)
    np.testing.assert_array_equal(model.predict_proba(dicts[1]), expected[1:2])
    turned = frame[["size", "colour"]]
    np.testing.assert_array_equal(
        NB().fit(dicts, y).predict_proba(turned), NB().fit(turned, y).predict_proba(turned)
    )
    for wrong in ({"colour": "red"}, {"colour": "red", "size": 1, "id": 7}):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(wrong)
    holes = pd.DataFrame({"colour": [None], "size": [np.nan]})
    np.testing.assert_array_equal(
        model.predict_proba({"colour": None, "size": None}), model.predict_proba(holes)
    )
    other = [{"wind": "strong"}, {"wind": "weak"}]
    assert model.fit(other, ["n", "y"]).predict(other).tolist() == ["n", "y"]
