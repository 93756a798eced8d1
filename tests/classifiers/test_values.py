"""Values that are unseen, missing, declared or many, for every classifier."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localbayes.classifiers import METHODS
from localbayes.encoding import Coded
from mixed_tables import coded_table, mixed_table

EIGHT = {"LCWNB", "NB", "TAN", "AODE", "WAODE", "HNB", "LWNB", "ICLNB"}
WITH_TABLE_OF_PAIRS = EIGHT - {"LCWNB", "LWNB", "ICLNB", "NB"}

# Tables with and without names are compared on purpose; scikit-learn's warning is about just that.
pytestmark = pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning")

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


# --- values that are unseen, missing, declared, many -----------------------------------------------------


@every_method
def test_a_value_never_seen_is_no_error(method):
    """It matches nothing; what was fitted on other columns still counts."""
    X = pd.DataFrame({"a": list("ppqq") * 5, "b": list("uvvu") * 5, "c": list("ppqq") * 5})
    y = ["x", "x", "y", "y"] * 5
    model = method().fit(X, y)
    asked = pd.DataFrame({"a": ["p", "q", "new"], "b": ["new", "new", "newer"], "c": ["p", "q", "new"]})
    assert model.predict(asked)[:2].tolist() == ["x", "y"]
    assert np.isfinite(model.predict_log_proba(asked)).all()
    codes = Coded(model.encoder_.encode(asked), model.sizes_)
    np.testing.assert_array_equal(model.predict_proba(codes), model.predict_proba(asked))


@every_method
def test_two_values_never_seen_are_alike(method):
    """Which unseen value a query has makes no difference, in whichever dtype it comes."""
    codes, sizes, y, _ = coded_table(5)
    model = method().fit(Coded(codes, sizes), y)
    strange = codes[:20].copy()
    probabilities = []
    for dtype, code in ((np.uint8, 77), (np.uint8, 255), (np.uint16, 256), (np.int64, 10**6)):
        strange[:, 2] = code
        probabilities.append(model.predict_proba(Coded(strange.astype(dtype), sizes)).tobytes())
    assert len(set(probabilities)) == 1


@every_method
def test_a_training_value_outside_its_declared_domain_matches_nothing(method):
    """It is as if that cell held a value which no query has."""
    codes, sizes, y, _ = coded_table(6)
    assert sizes[2] == 4
    outside = codes.copy()
    outside[::7, 2] = 200
    model = method().fit(Coded(outside, sizes), y)
    asked = Coded(codes, sizes)
    # Two more rows, one by one, keep the same meaning when parts are merged.
    extra = Coded([[0, 0, 99, 0, 0], [1, 1, 3, 1, 1]], sizes)
    model.partial_fit(extra, [0, 1])
    everything = np.concatenate([outside, extra.codes])
    whole = method().fit(Coded(everything, sizes), np.concatenate([y, [0, 1]]))
    assert model.predict_proba(asked).tobytes() == whole.predict_proba(asked).tobytes()
    # Which strange code it is does not matter, and no query code finds it.
    other = np.where(everything >= sizes, 4, everything)
    same = method().fit(Coded(other, sizes), np.concatenate([y, [0, 1]]))
    assert same.predict_proba(asked).tobytes() == whole.predict_proba(asked).tobytes()
    unseen = codes.copy()
    unseen[:, 2] = 4
    for strange in (5, 200):
        again = unseen.copy()
        again[:, 2] = strange
        np.testing.assert_array_equal(
            whole.predict_proba(Coded(again, sizes)), whole.predict_proba(Coded(unseen, sizes))
        )


@every_method
def test_a_declared_column_that_meets_another_value_later(method):
    """A value outside a declared category, in a later part, is no error and not one of the declared."""
    domain = pd.CategoricalDtype(list("pqrs"))
    first = pd.DataFrame({"a": pd.Series(list("pqrs") * 3, dtype=domain), "b": list("uv") * 6})
    later = pd.DataFrame({"a": ["zzz"] * 30, "b": ["u"] * 30})
    model = method().fit(first, [0, 1] * 6)
    assert model.partial_fit(later, [0] * 30).sizes_.tolist() == [4, 2]
    same = method().fit(first, [0, 1] * 6)
    same.partial_fit(later.assign(a="yyy"), [0] * 30)
    np.testing.assert_array_equal(model.predict_proba(first), same.predict_proba(first))
    declared = method().fit(first, [0, 1] * 6).partial_fit(later.assign(a="p"), [0] * 30)
    assert not np.allclose(model.predict_proba(first), declared.predict_proba(first))


@every_method
def test_missing_values_get_mean_or_mode_or_a_value_of_their_own(method):
    """Imputing is filling the table first; "category" is writing a word into the holes."""
    X, y = mixed_table()
    X = X.astype({"colour": object, "old": object, "weight": object, "height": float})
    X.loc[::5, "colour"] = None
    X.loc[1::6, "old"] = np.nan
    X.loc[2::7, "weight"] = pd.NA
    X.loc[3::4, "height"] = np.nan
    X["weight"] = X["weight"].astype("Float64")
    filled = X.assign(
        colour=X["colour"].fillna(X["colour"].mode()[0]),
        old=X["old"].fillna(X["old"].mode()[0]),
        weight=X["weight"].fillna(X["weight"].mean()).astype(float),
        height=X["height"].fillna(X["height"].mean()),
    )
    imputed = method().fit(X, y)
    assert imputed.predict_proba(X).tobytes() == method().fit(filled, y).predict_proba(filled).tobytes()
    words = X[["colour", "old"]]
    written = words.map(str).where(words.notna(), "zz missing")
    category = method(missing="category").fit(words, y)
    assert (
        category.predict_proba(words).tobytes() == method().fit(written, y).predict_proba(written).tobytes()
    )


@every_method
def test_an_unknown_way_with_missing_values_is_refused(method):
    """The message lists the ways there are."""
    for X in ([["a"]], Coded([[0]], sizes=[2])):
        with pytest.raises(ValueError, match=r"missing must be 'impute', 'category'.*, got 'drop'"):
            method(missing="drop").fit(X, ["x"])


@every_method
def test_one_class_only(method):
    """It works and predicts that class with certainty."""
    model = method().fit([["a", 1.0], ["b", 2.0]], ["only", "only"])
    assert model.predict([["a", 1.5], ["new", 99.0]]).tolist() == ["only", "only"]
    np.testing.assert_allclose(model.predict_proba([["a", 1.5]]), [[1.0]])
    assert model.classes_.tolist() == ["only"]


@every_method
def test_one_row(method):
    """A table of one row is enough to fit and to predict."""
    model = method().fit([["a", "b"]], [7])
    assert model.predict([["a", "b"], ["c", "d"]]).tolist() == [7, 7]
    model = method().fit([["a", "b"]], pd.Categorical(["y"], categories=["x", "y"]))
    assert model.predict([["a", "b"]]).tolist() == ["y"]


@every_method
def test_one_column(method):
    """A single attribute has no pair, no parent and no neighbour column, and still works."""
    model = method().fit([["a"], ["a"], ["b"]], [0, 0, 1])
    assert model.predict([["a"], ["b"]]).tolist() == [0, 1]


@every_method
def test_a_column_with_70_000_values(method):
    """Counts of single values take it; a table of pairs would not fit and the error names the column."""
    n = 70_000
    X = pd.DataFrame({"flag": np.arange(n) % 2 == 0, "town": pd.Series(np.arange(n)).astype(str)})
    X["town"] = X["town"].astype("category")
    X["other"] = X["town"]
    y = np.arange(n) % 2
    if method.__name__ in WITH_TABLE_OF_PAIRS:
        with pytest.raises(
            ValueError, match=r"column 'town' has the most values \(70000\): bin, group or drop"
        ):
            method().fit(X, y)
    else:
        model = method().fit(X, y)
        assert model.sizes_.tolist() == [2, n, n]
        assert model.predict(X.iloc[:300]).tolist() == y[:300].tolist()


@every_method
def test_declared_values_and_classes_count_though_they_never_occur(method):
    """They are in sizes_, classes_ and the columns of probabilities; declaring more changes the smoothing."""
    X = pd.DataFrame({"a": pd.Categorical(list("ppqq"), categories=list("rqp")), "b": list("uvuv")})
    y = pd.Series(pd.Categorical(["y", "z", "y", "y"], categories=["z", "never", "y"]))
    model = method().fit(X, y)
    assert model.sizes_.tolist() == [3, 2]
    assert model.classes_.tolist() == ["never", "y", "z"]
    assert model.class_count_.tolist() == [0, 3, 1]
    assert model.predict_proba(X).shape == (4, 3)
    observed = method().fit(X.astype(str), y.astype(str))
    assert observed.sizes_.tolist() == [2, 2]
    assert not np.allclose(model.predict_proba(X)[:, 1:], observed.predict_proba(X.astype(str)), rtol=1e-6)
    enum = pl.Series(["y", "z", "y", "y"], dtype=pl.Enum(["z", "never", "y"]))
    frame = pl.DataFrame({"a": pl.Series(list("ppqq"), dtype=pl.Enum(list("rqp"))), "b": list("uvuv")})
    again = method().fit(frame, enum)
    assert again.predict_proba(frame).tobytes() == model.predict_proba(X).tobytes()


@every_method
@pytest.mark.parametrize("declared", [["x", "y"], ["y", "x"]])
def test_the_class_declared_first_wins_a_tie(method, declared):
    """A query between two classes alike goes to the first; classes_ is sorted all the same."""
    X = [["a", "a"], ["b", "b"]] * 5
    model = method().fit(X, pd.Categorical(["x", "y"] * 5, categories=declared))
    assert model.classes_.tolist() == ["x", "y"]
    np.testing.assert_allclose(model.predict_proba([["new", "new"]]), 0.5)
    assert model.predict([["new", "new"]]).tolist() == declared[:1]
    swapped = method().partial_fit(X, ["x", "y"] * 5, classes=declared)
    assert swapped.predict([["new", "new"]]).tolist() == declared[:1]


@every_method
@pytest.mark.parametrize(
    "labels", [[3, 1], [True, False], [2.0, 1.0], ["b", "a"], np.array(["b", "a"], dtype=object)], ids=str
)
def test_labels_may_be_of_any_type(method, labels):
    """Predictions are labels as they came."""
    X = [["a"], ["b"]] * 4
    model = method().fit(X, list(labels) * 4)
    assert model.predict(X[:2]).tolist() == list(labels)
    assert model.classes_.tolist() == sorted(labels)


@every_method
def test_labels_that_are_missing_are_refused(method):
    """None, NaN and NA in y are an error that names the row."""
    for y in (
        ["x", None],
        [1.0, np.nan],
        pd.Series(["x", pd.NA], dtype="string"),
        pd.Categorical(["x", None]),
    ):
        with pytest.raises(ValueError, match=r"missing value \(row 1\); drop such rows"):
            method().fit([["a"], ["b"]], y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        method().fit([["a"]], None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        method().fit([["a"]], ["x", "y"])
