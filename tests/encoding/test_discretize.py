"""Bins other than of equal width: quantiles, and Fayyad and Irani's cuts as Weka makes them."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

import localbayes.datasets
from command_line import ok, run
from localbayes import LCWNB, NB
from localbayes.classifiers import METHODS
from localbayes.datasets import load, load_arff
from localbayes.datasets.arff import Attribute, Table, write_arff
from localbayes.encoding import TableEncoder
from localbayes.encoding.discretize import DISCRETIZERS, Discretizer, cut_points, stable_order
from localbayes.persistence import load_model

SUPERVISED = "weka.filters.supervised.attribute.Discretize"
EMBEDDED = sorted((Path(localbayes.datasets.__file__).parent / "embedded").glob("*.arff"))

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def mdl(numbers, classes, weights=None):
    return cut_points("mdl", np.asarray(numbers, float), np.asarray(classes), weights, 10)


def quantiles(numbers, n_bins, weights=None):
    return cut_points("quantile", np.asarray(numbers, float), None, weights, n_bins)


# --- Weka -----------------------------------------------------------------------------------------


def assert_weka_agrees(weka, path):
    X, y = load_arff(path)
    encoder = TableEncoder(missing="ignore", discretize="mdl").fit(X, y.cat.codes.to_numpy())
    sizes, cells = weka.cells(SUPERVISED, path)
    assert encoder.sizes.tolist() == sizes[:-1].tolist()
    cuts = weka.cuts(SUPERVISED, path)
    for column, theirs in zip(encoder.columns, cuts, strict=False):
        np.testing.assert_array_equal(getattr(column, "cuts", []), theirs)
    codes = encoder.encode(X).astype(float)
    codes[X.isna().to_numpy()] = np.nan
    np.testing.assert_array_equal(codes, cells[:, :-1])


@pytest.mark.parametrize("path", EMBEDDED, ids=lambda path: path.stem)
def test_weka_cuts_the_embedded_sets_alike(weka, path):
    """Cuts and bins of every numeric column are those of Weka's supervised Discretize."""
    assert_weka_agrees(weka, path)


@pytest.mark.parametrize("name", ["anneal", "autos", "hepatitis", "segment", "sick", "vehicle", "vowel"])
def test_weka_cuts_the_papers_sets_alike(weka, paper_data, name):
    """So they are where there are many rows, many classes, and many missing values."""
    assert_weka_agrees(weka, paper_data / f"{name}.arff")


def random_columns(rng, classes):
    n = len(classes)
    for scale in np.repeat([0.5, 1, 2, 5, 20], 5):
        shift = rng.choice([0, 0.5, 1, 2, 3])
        column = np.round(rng.normal(size=n) * scale + classes * shift, rng.choice([0, 0, 1, 3]))
        column[rng.random(n) < rng.choice([0, 0.1])] = np.nan
        yield column / rng.choice([1, 3])
    # A mirror has two equally good cuts wherever it has one.
    yield from (np.arange(n) // step / 1.0 for step in (1, 2, 3))


@pytest.mark.parametrize("seed", range(20))
def test_weka_cuts_random_columns_alike(weka, tmp_path, seed):
    """Equal numbers, equally good cuts, missing values and few rows: Weka's cuts, to the bit."""
    rng = np.random.default_rng(seed)
    r = int(rng.integers(2, 6))
    classes = rng.integers(0, r, int(rng.integers(2, 250 if seed % 2 else 15)))
    classes = np.concatenate([classes, classes[::-1]])
    columns = list(random_columns(rng, classes))
    attributes = [Attribute(f"a{i}", "numeric") for i in range(len(columns))]
    declared = Attribute("class", "nominal", tuple(f"c{k}" for k in range(r)))
    path = tmp_path / "random.arff"
    write_arff(path, Table("random", (*attributes, declared), (*columns, classes.astype(np.int32))))
    for column, theirs in zip(columns, weka.cuts(SUPERVISED, path), strict=False):
        np.testing.assert_array_equal(mdl(column, classes), theirs)


def test_weka_closes_its_bins_on_the_right(weka, tmp_path):
    """Between neighbouring doubles the middle is the lower one, and it stays on the left in Weka and here."""
    low, high = 1.0, np.nextafter(1.0, 2.0)
    numbers, classes = np.repeat([low, high], 10), np.repeat([0, 1], 10)
    kinds = (Attribute("x", "numeric"), Attribute("class", "nominal", ("a", "b")))
    path = tmp_path / "neighbours.arff"
    write_arff(path, Table("neighbours", kinds, (numbers, classes.astype(np.int32))))
    assert weka.cuts(SUPERVISED, path)[0].tolist() == mdl(numbers, classes).tolist() == [low]
    assert weka.cells(SUPERVISED, path)[1][:, 0].tolist() == classes.tolist()
    encoder = TableEncoder(discretize="mdl").fit(numbers[:, None], classes)
    assert encoder.encode(numbers[:, None])[:, 0].tolist() == classes.tolist()


# --- the paper's criterion -------------------------------------------------------------------------


def fayyad_irani(numbers, classes, weights):
    """Cuts by trying every place between two different numbers, as the paper describes it."""
    rows = sorted(zip(numbers, classes, weights, strict=True))

    def weight(part):
        return sum(w for _, _, w in part)

    def entropy(part):
        shares = [sum(w for _, c, w in part if c == y) / weight(part) for y in {c for _, c, _ in part}]
        return -sum(p * math.log2(p) for p in shares)

    def search(part):
        n = weight(part)
        places = [k for k in range(1, len(part)) if part[k - 1][0] < part[k][0]]
        found = [
            ((weight(part[:k]) * entropy(part[:k]) + weight(part[k:]) * entropy(part[k:])) / n, k)
            for k in places
        ]
        if not found:
            return []
        # Of equally good places the first, whatever the last digit says.
        least = min(found)[0]
        after, k = next(pair for pair in found if pair[0] <= least + 1e-11)
        gain = entropy(part) - after
        counts = [len({c for _, c, _ in some}) for some in (part, part[:k], part[k:])]
        entropies = [entropy(some) for some in (part, part[:k], part[k:])]
        delta = math.log2(3 ** counts[0] - 2) - (
            counts[0] * entropies[0] - counts[1] * entropies[1] - counts[2] * entropies[2]
        )
        margin = gain - (math.log2(max(n - 1, 1)) + delta) / n
        assume(abs(margin) > 1e-11)
        if margin <= 0:
            return []
        return [*search(part[:k]), (part[k - 1][0] + part[k][0]) / 2, *search(part[k:])]

    return search(rows)


rows = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 3), st.integers(1, 12)), min_size=1, max_size=40)


@given(rows, st.sampled_from([1.0, 0.25, 0.1, 3.7]))
def test_cuts_are_those_of_the_paper(rows, unit):
    """With weights of any size, cuts are where the search over all places of the paper puts them."""
    numbers, classes, times = (np.array(column) for column in zip(*rows, strict=True))
    # Classes lean on the numbers, or hardly any cut is worth its cost.
    classes = np.where(times % 3 > 0, (numbers + 9) // 5, classes)
    weights = times * unit
    expected = fayyad_irani(numbers.tolist(), classes.tolist(), weights.tolist())
    np.testing.assert_allclose(mdl(numbers, classes, weights), expected, atol=1e-12)


@given(rows, st.randoms(use_true_random=False))
def test_a_weight_is_so_many_rows(rows, random):
    """Weight 3 is three rows, weight 0 none, and order and missing numbers do not matter."""
    numbers, classes, times = (np.array(column) for column in zip(*rows, strict=True))
    numbers, times = numbers.astype(float), times % 4
    assume(times.any())
    plain = np.repeat(numbers, times), np.repeat(classes, times)
    np.testing.assert_array_equal(mdl(numbers, classes, times.astype(float)), mdl(*plain))
    weighted = quantiles(numbers, 4, times.astype(float))
    np.testing.assert_array_equal(weighted, quantiles(plain[0], 4))
    shuffled = random.sample(range(len(rows)), len(rows))
    holes = np.append(numbers[shuffled], [np.nan, np.nan])
    more = np.append(times[shuffled], [5, 5]).astype(float)
    np.testing.assert_array_equal(
        mdl(holes, np.append(classes[shuffled], [0, 1]), more), mdl(numbers, classes, times.astype(float))
    )
    np.testing.assert_array_equal(quantiles(holes, 4, more), weighted)


def test_a_column_that_says_nothing_is_one_value():
    """Where no cut is worth its cost, or there is nothing to cut, a column has one bin."""
    classes = np.tile([0, 1], 20)
    assert mdl(np.repeat(np.arange(20), 2), classes).tolist() == []
    assert mdl(np.full(40, 7.0), classes).tolist() == []
    assert mdl(np.full(40, np.nan), classes).tolist() == []
    assert mdl(np.arange(40), np.zeros(40, int)).tolist() == []
    X = np.column_stack([np.repeat(np.arange(20.0), 2), np.arange(40.0)])
    encoder = TableEncoder(discretize="mdl").fit(X, np.repeat([0, 1], 20))
    assert encoder.sizes.tolist() == [2, 2]
    assert TableEncoder(discretize="mdl").fit(X, classes).sizes.tolist() == [1, 1]


def test_many_cuts_and_many_classes():
    """A thousand classes side by side are parted at every border."""
    numbers, classes = np.repeat(np.arange(1000.0), 40), np.repeat(np.arange(1000), 40)
    assert mdl(numbers, classes).tolist() == (np.arange(999) + 0.5).tolist()


@pytest.mark.parametrize(
    "ends",
    [(-1.7e308, 1.7e308), (5e-324, 1e-323), (1.0, np.nextafter(1, 2)), (np.nextafter(1, 2), 1 + 2**-51)],
)
def test_a_cut_parts_numbers_however_large_or_close(ends):
    """Both ends of the range of doubles, and neighbours among them, fall into different bins."""
    classes = np.repeat([0, 1], 20)
    numbers = np.repeat(ends, 20)
    (cut,) = mdl(numbers, classes)
    assert np.searchsorted([cut], ends, side="left").tolist() == [0, 1]


# --- quantiles -------------------------------------------------------------------------------------

numbers_and_bins = (
    st.lists(st.integers(-20, 20) | st.floats(-1e9, 1e9), min_size=1, max_size=60),
    st.integers(1, 12),
)


@given(*numbers_and_bins)
def test_quantiles_are_numpys(numbers, n_bins):
    """Cuts are the empirical quantiles (inverse of the distribution function), save the largest number."""
    n = len(numbers)
    # NumPy multiplies n by a rounded k / n_bins; a share of the rows that is whole is asked for just below.
    shares = [float(Fraction(k, n_bins)) - (1e-12 if k * n % n_bins == 0 else 0) for k in range(1, n_bins)]
    expected = np.unique(np.quantile(np.array(numbers, float), shares, method="inverted_cdf"))
    assert quantiles(numbers, n_bins).tolist() == expected[expected < max(numbers)].tolist()


@given(*numbers_and_bins)
def test_equal_numbers_share_a_bin(numbers, n_bins):
    """No bin is empty, equal numbers are together, and larger numbers never lie in a lower bin."""
    X = np.array(numbers, float)[:, None]
    encoder = TableEncoder(n_bins=n_bins, discretize="quantile").fit(X)
    codes = encoder.encode(X)[:, 0].astype(int)
    assert set(codes) == set(range(encoder.sizes[0]))
    assert encoder.sizes[0] <= n_bins
    order = np.argsort(X[:, 0], kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert len({(x, code) for x, code in zip(X[:, 0].tolist(), codes, strict=True)}) == len(set(X[:, 0]))


def test_bins_of_different_numbers_are_equally_full():
    """A hundred different numbers in ten bins are ten in each."""
    X = np.random.default_rng(0).permutation(100.0 ** np.linspace(-3, 3, 100))[:, None]
    codes = TableEncoder(discretize="quantile").fit(X).encode(X)
    assert np.bincount(codes[:, 0]).tolist() == [10] * 10


# --- in the classifiers ----------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("discretize", ["quantile", "mdl"])
def test_every_classifier_learns_its_bins_from_the_training_rows(method, discretize):
    """A classifier on numbers is that on the bins, cut where the training rows and their classes say."""
    X, y = load("glass")
    train = np.arange(len(X)) % 3 > 0
    weights = 1.0 + np.arange(len(X)) % 4
    model = method(discretize=discretize, n_bins=6).fit(X[train], y[train], weights[train])
    codes = y.cat.codes.to_numpy()[train]
    bins = {}
    for name in X:
        cuts = cut_points(discretize, X[name].to_numpy()[train], codes, weights[train], 6)
        bins[name] = pd.Categorical(np.searchsorted(cuts, X[name]), categories=range(len(cuts) + 1))
    binned = pd.DataFrame(bins)
    expected = method().fit(binned[train], y[train], weights[train])
    np.testing.assert_array_equal(model.predict_proba(X[~train]), expected.predict_proba(binned[~train]))
    model.partial_fit(X[~train], y[~train], sample_weight=weights[~train])
    expected.partial_fit(binned[~train], y[~train], sample_weight=weights[~train])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(binned))


@pytest.mark.parametrize(
    ("missing", "of_missing"), [("impute", "of the mean"), ("category", "own"), ("ignore", "none")]
)
def test_missing_numbers_move_no_cut(missing, of_missing):
    """Cuts are learned from known numbers; the mean of those falls into one of their bins."""
    numbers = np.append(np.arange(100.0), [np.nan] * 50)
    classes = np.append(np.repeat([0, 1], [60, 40]), [1] * 50)
    encoder = TableEncoder(discretize="mdl", missing=missing).fit(numbers[:, None], classes)
    assert encoder.columns[0].cuts.tolist() == [59.5]
    codes = encoder.encode(np.array([[59.5], [60.0], [np.nan]]))[:, 0].tolist()
    assert codes == [0, 1, {"of the mean": 0, "own": 2, "none": 254}[of_missing]]


def listed():
    """Names of all discretizers, as a message lists them."""
    *most, last = map(repr, DISCRETIZERS)
    return f"{', '.join(most)} or {last}"


def test_what_cannot_be_cut_so_is_refused():
    """An unknown name, no classes for a method that needs them, no bins."""
    X, classes = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match=f"^discretize must be {listed()}, got 'chimerge'$"):
        METHODS["NB"](discretize="chimerge").fit(X, classes)
    with pytest.raises(ValueError, match=r"discretize='mdl' depends on the classes, got no classes"):
        TableEncoder(discretize="mdl").fit(X)
    with pytest.raises(ValueError, match="n_bins must be a whole number >= 1, got 0"):
        METHODS["NB"](discretize="quantile", n_bins=0).fit(X, classes)


def test_a_new_discretizer_is_one_function(monkeypatch, tmp_path):
    """Registered, it is a value of the parameter in Python and on the command line, whose help lists it."""

    def halves(values, classes, weights, n_bins):
        """Two bins, cut at the mean of the extremes."""
        return np.array([(values[0] + values[-1]) / 2])

    monkeypatch.setitem(DISCRETIZERS, "halves", Discretizer("halves", halves))
    X, y = load("iris")
    model = METHODS["NB"](discretize="halves").fit(X, y)
    expected = [(X[name].min() + X[name].max()) / 2 for name in X]
    assert [column.cuts.tolist() for column in model.encoder_.columns] == [[cut] for cut in expected]
    iris = localbayes.datasets.embedded_path("iris")
    ok("fit", iris, "-t", "class", "-o", tmp_path / "m", "-m", "NB", "-p", "discretize=halves")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict_proba(X), model.predict_proba(X))
    shown = " ".join(run("fit", "--help", env={"COLUMNS": "1000"}).output.split())
    assert "discretize=halves (two bins, cut at the mean of the extremes)" in shown
    assert listed().endswith(" or 'halves'")
    with pytest.raises(ValueError, match=f"^discretize must be {listed()}, got 'x'$"):
        METHODS["NB"](discretize="x").fit(X, y)


def test_every_discretizer_is_documented():
    """The table of docs/missing.md has a row for each, in order."""
    page = Path(__file__).parents[2].joinpath("docs", "missing.md").read_text(encoding="utf-8")
    table = page.partition("| `discretize=` |")[2].partition("\n\n")[0]
    rows = [line.split("`")[1].strip('"') for line in table.splitlines() if line.startswith("| `")]
    assert rows == list(DISCRETIZERS)


@pytest.mark.parametrize("classifier", [NB, LCWNB])
@pytest.mark.parametrize("weights", [None, np.repeat([1.0, 2.0], 104)])
def test_few_whole_numbers_have_a_bin_each(classifier, weights):
    """Odd and even are told apart in a column of few whole numbers, as scikit-learn's CategoricalNB does."""
    X = np.arange(208)[:, None] % 26
    y = X[:, 0] % 2
    assert CategoricalNB().fit(X, y).score(X, y) == 1.0
    model = classifier().fit(X, y, sample_weight=weights)
    assert model.score(X, y) == 1.0
    assert model.encoder_.encode(np.array([[3.4], [3.6]])).ravel().tolist() == [3, 4]


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=400), st.integers(1, 12), st.integers(0, 400))
def test_auto_cuts_are_those_of_values_or_of_equal_width(cells, n_bins, at):
    """Every number has its bin where numbers are few; parts of a column add up to the column."""
    numbers = np.array(cells, dtype=np.float64)
    different = np.unique(numbers)
    few = len(different) <= min(30, max(n_bins, len(numbers) // 5))
    cuts = cut_points("auto", numbers, None, None, n_bins)
    if few:
        assert np.searchsorted(cuts, different).tolist() == list(range(len(different)))
    else:
        np.testing.assert_array_equal(cuts, cut_points("width", numbers, None, None, n_bins))
    encoder = TableEncoder(n_bins=n_bins, discretize="auto").start(["x"])
    parts = [encoder.summarise(part[:, None]) for part in np.split(numbers, [at]) if len(part)]
    whole = parts[0][0] if len(parts) == 1 else parts[0][0] + parts[1][0]
    np.testing.assert_array_equal(encoder.learn([whole]).columns[0].cuts, cuts)


SOME = st.sampled_from([0.0, -0.0, 0.5, math.inf, -math.inf])


@given(st.lists(st.one_of(st.integers(-40000, 40000), SOME)))
def test_sorting_digit_by_digit_is_sorting(numbers):
    """Whole numbers in the range of 16 bits take another way, with NumPy's answer for all."""
    values = np.array(numbers, dtype=np.float64)
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()
    few = np.rint(np.clip(values, -3, 3))
    assert stable_order(few).tolist() == np.argsort(few, kind="stable").tolist()
