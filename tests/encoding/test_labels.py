"""Class labels: declared, found, missing, of any type."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from localbayes.classifiers import LCWNB, NB
from localbayes.encoding import ClassLabels
from localbayes.encoding.labels import take_labels


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_labels_may_be_times(unit, kind):
    """They come back as they were, in their own unit."""
    y = np.array([2, 1, 2], f"{kind}[{unit}]")
    found = LCWNB(1).fit([["a"], ["b"], ["a"]], y).predict([["b"], ["a"]])
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found, y[[1, 0]])


def test_a_declared_class_without_rows_is_told():
    """It may be predicted, as in Weka; who filtered rows of a pandas Series may not have meant that."""
    y = pd.Series(["x", "y", "z", "x"], dtype="category")
    with pytest.warns(UserWarning, match=r"^1 of 3 declared classes have no training row, such as 'z', and"):
        LCWNB(1).fit([["a"], ["b"], ["b"]], y[y != "z"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LCWNB(1).fit([["a"], ["b"], ["b"]], y[y != "z"].cat.remove_unused_categories())


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


def test_warnings_name_the_line_that_asked():
    """Not one of the package, of which Python would show the first only."""
    model = NB().fit(pd.DataFrame({"zip": ["a", "b"]}), ["n", "y"])
    with pytest.warns(UserWarning, match="was learned as text") as caught:
        model.predict(pd.DataFrame({"zip": [1]}))
    assert caught[0].filename == __file__
