"""ReplaceMissingValues and Discretize against the running Weka, cell by cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import localbayes.datasets
from localbayes.datasets.arff import Attribute, Table, read_arff, write_arff
from localbayes.datasets.table import to_frame
from localbayes.weka import Discretize, ReplaceMissingValues, apply_paper_filters
from weka_driver import WekaDriver, WekaError

EMBEDDED = sorted((Path(localbayes.datasets.__file__).parent / "embedded").glob("*.arff"))
REPLACE = "weka.filters.unsupervised.attribute.ReplaceMissingValues"
DISCRETIZE = "weka.filters.unsupervised.attribute.Discretize -B {}"
BOTH = f'weka.filters.MultiFilter -F "{REPLACE}" -F "{DISCRETIZE.format(10)}"'

# Three decimals: where the ends of two bins agree to six, Weka's Discretize fails on equal labels.
NUMBERS = st.integers(-1_000_000, 1_000_000).map(lambda thousandths: thousandths / 1000)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Nominal and numeric columns with missing cells, rare and constant values, and a class."""
    n_rows = draw(st.integers(1, 60))
    attributes, columns = [], []
    for i in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            size = draw(st.integers(1, 5))
            cells = draw(st.lists(st.integers(-1, size - 1), min_size=n_rows, max_size=n_rows))
            attributes.append(Attribute(f"a{i}", "nominal", tuple(f"v{k}" for k in range(size))))
            columns.append(np.array(cells, dtype=np.int32))
        else:
            some = draw(st.lists(NUMBERS, min_size=1, max_size=n_rows))
            values = st.sampled_from([*some, np.nan])
            attributes.append(Attribute(f"a{i}", "numeric"))
            columns.append(np.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows))))
    attributes.append(Attribute("class", "nominal", ("yes", "no")))
    columns.append(np.zeros(n_rows, dtype=np.int32))
    return Table("random", tuple(attributes), tuple(columns))


def features(table: Table) -> pd.DataFrame:
    return to_frame(table).iloc[:, :-1]


def cells(X: pd.DataFrame) -> tuple[list[int], np.ndarray]:
    """Number of declared values per column and the cells, in the driver's terms."""
    nominal = [isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes]
    sizes = [len(X.iloc[:, i].cat.categories) if nominal[i] else 0 for i in range(X.shape[1])]
    values = [
        X.iloc[:, i].cat.codes.astype(float).replace(-1, np.nan) if nominal[i] else X.iloc[:, i]
        for i in range(X.shape[1])
    ]
    return sizes, np.column_stack([column.to_numpy() for column in values])


def assert_weka_has_these_cells(weka: WekaDriver, spec: str, path: Path, ours: pd.DataFrame) -> None:
    weka_sizes, weka_cells = weka.cells(spec, path)
    our_sizes, our_cells = cells(ours)
    assert our_sizes == weka_sizes[:-1].tolist()
    np.testing.assert_array_equal(our_cells, weka_cells[:, :-1])


def assert_weka_filters_alike(weka: WekaDriver, path: Path, X: pd.DataFrame, bins: int = 10) -> None:
    spec = DISCRETIZE.format(bins)
    discretize = Discretize(bins).fit(X)
    assert_weka_has_these_cells(weka, REPLACE, path, ReplaceMissingValues().fit_transform(X))
    assert_weka_has_these_cells(weka, spec, path, discretize.transform(X))
    for ours, theirs in zip(discretize.cut_points_, weka.cuts(spec, path), strict=False):
        np.testing.assert_array_equal([] if ours is None else ours, theirs)


def test_nine_sets_are_embedded() -> None:
    """The comparison below runs on nine sets."""
    assert len(EMBEDDED) == 9


@pytest.mark.parametrize("path", EMBEDDED, ids=lambda path: path.stem)
def test_weka_filters_the_embedded_sets_alike(weka: WekaDriver, path: Path) -> None:
    """Every cell, every number of declared values and every cut point is Weka's to the last bit."""
    X = features(read_arff(path))
    assert_weka_filters_alike(weka, path, X)
    assert_weka_has_these_cells(weka, BOTH, path, apply_paper_filters(X))


def test_weka_filters_the_papers_sets_alike(weka: WekaDriver, paper_data: Path) -> None:
    """On all of the paper's sets both filters in a row give Weka's cells."""
    for path in sorted(paper_data.glob("*.arff")):
        assert_weka_has_these_cells(weka, BOTH, path, apply_paper_filters(features(read_arff(path))))


@settings(max_examples=150)
@given(table=tables(), bins=st.integers(1, 12))
def test_weka_filters_random_tables_alike(
    weka: WekaDriver, tmp_path_factory: pytest.TempPathFactory, table: Table, bins: int
) -> None:
    """Missing everywhere, constant, tied modes, values on a cut, empty bins: Weka's cells in each case."""
    path = tmp_path_factory.getbasetemp() / "filters.arff"
    write_arff(path, table)
    assert_weka_filters_alike(weka, path, features(table), bins)


@given(
    seen=st.lists(NUMBERS, min_size=1, max_size=30),
    new=st.lists(st.one_of(NUMBERS, st.just(np.nan)), min_size=1, max_size=30),
    bins=st.integers(1, 12),
)
def test_new_values_go_to_the_bins_that_were_learnt(seen: list[float], new: list[float], bins: int) -> None:
    """A value is in bin k where k cuts lie strictly below it, also outside of the range seen in fit."""
    discretize = Discretize(bins).fit(pd.DataFrame({"x": seen}))
    binned = discretize.transform(pd.DataFrame({"x": new}))["x"]
    cuts = discretize.cut_points_[0]
    expected = [-1 if value != value else sum(cut < value for cut in cuts) for value in new]
    assert binned.cat.codes.tolist() == expected
    assert len(binned.cat.categories) == len(cuts) + 1


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.0, 3.0], ["(-inf, 1]", "(1, 2]", "(2, inf)"]),
        ([5.0, 5.0], ["(-inf, inf)"]),
        ([np.nan, np.nan], ["(-inf, inf)"]),
        ([1.0, 1.0000006], ["(-inf, 1.0000002]", "(1.0000002, 1.0000004]", "(1.0000004, inf)"]),
        ([-1e308, 1e308], ["(-inf, inf] #1", "(inf, inf] #2", "(inf, inf) #3"]),
    ],
)
def test_labels_tell_the_bins_apart(values: list[float], labels: list[str]) -> None:
    """A label shows the ends of its bin in as few digits as keep the labels different."""
    binned = Discretize(3).fit_transform(pd.DataFrame({"x": values}))["x"]
    assert binned.cat.categories.tolist() == labels


def test_narrow_columns_have_bins_too(weka: WekaDriver, tmp_path: Path) -> None:
    """Weka fails where the ends of two bins agree to six decimals; here the bins follow its formula."""
    table = Table(
        "narrow",
        (Attribute("x", "numeric"), Attribute("class", "nominal", ("yes",))),
        (np.array([0.0, 0.25e-6, 1e-6]), np.zeros(3, dtype=np.int32)),
    )
    write_arff(tmp_path / "narrow.arff", table)
    with pytest.raises(WekaError, match="duplicate labels"):
        weka.cells(DISCRETIZE.format(10), tmp_path / "narrow.arff")
    binned = Discretize(10).fit_transform(features(table))["x"]
    assert binned.cat.codes.tolist() == [0, 2, 9]


def test_what_was_learnt_fills_a_new_table() -> None:
    """Means and modes come from fit, domains stay as declared, integers count as numbers."""
    colours = pd.CategoricalDtype(["green", "red", "blue"])
    X = pd.DataFrame({"n": [1, 2, 6], "c": pd.Series(["blue", "red", None], dtype=colours)})
    replace = ReplaceMissingValues().fit(X)
    assert replace.fill_values_ == [3.0, "red"]
    new = pd.DataFrame({"n": [None, 5.0], "c": pd.Categorical([None, "green"], dtype=colours)}, index=[7, 9])
    expected = pd.DataFrame(
        {"n": [3.0, 5.0], "c": pd.Categorical(["red", "green"], dtype=colours)}, index=[7, 9]
    )
    filled = replace.transform(new)
    pd.testing.assert_frame_equal(filled, expected)
    reordered = new.assign(c=new["c"].cat.reorder_categories(["red", "blue", "green"]))
    pd.testing.assert_frame_equal(replace.transform(reordered), filled)
    assert new.isna().any(axis=None)


def test_nullable_numbers_are_numbers() -> None:
    """A pandas column of dtype Int64 or Float64 is numeric, its NA is missing."""
    X = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "b": pd.array([0.5, None, 1.5], dtype="Float64")}
    )
    assert ReplaceMissingValues().fit_transform(X).to_numpy().tolist() == [[1, 0.5], [2, 1], [3, 1.5]]


def test_scikit_learn_takes_them_as_transformers() -> None:
    """They can be cloned, chained and asked for names; index and names of the columns stay."""
    X = pd.DataFrame({"x": [1.0, None, 3.0], "c": pd.Categorical(["u", "v", None])}, index=[3, 4, 5])
    chain = clone(make_pipeline(ReplaceMissingValues(), Discretize(bins=2)))
    plain = chain.fit_transform(X, ["yes", "no", "no"])
    assert chain.get_feature_names_out().tolist() == ["x", "c"]
    assert chain[-1].n_features_in_ == 2
    assert plain.index.tolist() == [3, 4, 5]
    pd.testing.assert_frame_equal(chain.set_output(transform="pandas").fit_transform(X), plain)
    assert apply_paper_filters(X.set_axis([7, 3], axis=1)).columns.tolist() == [7, 3]


@given(table=tables())
def test_polars_tables_keep_their_domains(table: Table) -> None:
    """A chain set to polars takes and gives polars, with the cells and domains it has in pandas."""
    X = features(table)
    chain = make_pipeline(ReplaceMissingValues(), Discretize())
    expected = cells(chain.fit_transform(X))
    by_polars = chain.set_output(transform="polars").fit_transform(X)
    assert isinstance(by_polars, pl.DataFrame)
    assert [len(dtype.categories) for dtype in by_polars.dtypes] == expected[0]
    np.testing.assert_array_equal(by_polars.select(pl.all().to_physical()).to_numpy(), expected[1])


@pytest.mark.parametrize("transformer", [ReplaceMissingValues(), Discretize()])
def test_tables_that_do_not_fit_are_refused(transformer: ReplaceMissingValues | Discretize) -> None:
    """The error names the column, what came and what to do."""
    X = pd.DataFrame({"x": [1.0, 2.0], "c": pd.Categorical(["u", "v"])})
    with pytest.raises(TypeError, match="takes a pandas or polars DataFrame, got ndarray"):
        transformer.fit(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="column 'x' has dtype bool: convert it to category"):
        transformer.fit(pd.DataFrame({"x": [True, False]}))
    with pytest.raises(TypeError, match=r"column 'x' has dtype .*: convert it to category"):
        transformer.fit(pd.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(ValueError, match="column 'x' has infinite values"):
        transformer.fit(pd.DataFrame({"x": [1.0, np.inf]}))
    with pytest.raises(ValueError, match="columns need different names, got 'x' twice"):
        transformer.fit(X.set_axis(["x", "x"], axis=1))
    with pytest.raises(NotFittedError):
        clone(transformer).transform(X)
    fitted = clone(transformer).fit(X)
    with pytest.raises(ValueError, match="column 'c' declares other values than in fit"):
        fitted.transform(X.assign(c=pd.Categorical(["u", "w"])))
    with pytest.raises(ValueError, match="column 'c' is numeric but was nominal in fit"):
        fitted.transform(X.assign(c=1.0))
    with pytest.raises(ValueError, match="column 'x' is nominal but was numeric in fit"):
        fitted.transform(X.assign(x=pd.Categorical(["u", "w"])))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(X.rename(columns={"x": "y"}))


def test_a_column_without_declared_values_cannot_be_filled() -> None:
    """A category column that declares nothing has no mode."""
    with pytest.raises(ValueError, match="column 'c' declares no values"):
        ReplaceMissingValues().fit(pd.DataFrame({"c": pd.Categorical([None, None])}))


@pytest.mark.parametrize("bins", [0, -1, 2.0, True, "10"])
def test_the_number_of_bins_is_a_positive_integer(bins: object) -> None:
    """Anything else is refused in fit."""
    with pytest.raises(ValueError, match=f"bins must be a whole number >= 1, got {bins!r}"):
        Discretize(bins).fit(pd.DataFrame({"x": [1.0]}))  # type: ignore[arg-type]
