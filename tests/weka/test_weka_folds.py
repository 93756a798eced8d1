"""JavaRandom and WekaFolds against the running Java and Weka."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

import localbayes.datasets
from localbayes.datasets.arff import read_arff
from localbayes.weka import JavaRandom, WekaFolds, split_run
from weka_driver import WekaDriver, WekaError

EMBEDDED = sorted((Path(localbayes.datasets.__file__).parent / "embedded").glob("*.arff"))
SEEDS = [0, 1, 10, -1, -(2**63), 2**63 - 1, 0x5DEECE66D, 123456789012345]
# Powers of two, small and large ones; just above 2**30 Java must draw again half of the time.
BOUNDS = [1, 2, 3, 7, 10, 16, 1000, 2**16, 2**30, 2**30 + 1, 2**31 - 1]


@st.composite
def label_vectors(draw: st.DrawFn) -> tuple[list[int], int]:
    """Class codes, some classes rare or in one piece, and a number of folds."""
    n_classes = draw(st.integers(1, 8))
    weights = draw(st.lists(st.integers(1, 20), min_size=n_classes, max_size=n_classes))
    urn = [code for code, weight in enumerate(weights) for _ in range(weight)]
    labels = draw(st.lists(st.sampled_from(urn), min_size=2, max_size=250))
    return labels, draw(st.integers(2, min(len(labels), 15)))


def write_labels(path: Path, labels: list[int]) -> Path:
    values = ",".join(map(str, range(max(labels) + 1)))
    lines = ["@relation labels", f"@attribute class {{{values}}}", "@data", *map(str, labels)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def assert_weka_has_these_folds(weka: WekaDriver, path: Path, y: object, n_splits: int) -> None:
    ours = list(WekaFolds(n_splits=n_splits).split(None, y))
    theirs = [fold for run in range(1, 11) for fold in weka.folds(path, run, n_splits)]
    assert len(ours) == len(theirs) == 10 * n_splits
    for (train, test), (weka_train, weka_test) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(test, weka_test)
        np.testing.assert_array_equal(train, weka_train)


@pytest.mark.parametrize("seed", SEEDS)
def test_java_draws_the_same_numbers(weka: WekaDriver, seed: int) -> None:
    """For any seed, integers below any bound, 32-bit integers and doubles are java.util.Random's."""
    for bound in BOUNDS:
        ours = JavaRandom(seed)
        assert [ours.next_int(bound) for _ in range(20)] == weka.random(seed, 20, bound)
    ours = JavaRandom(seed)
    assert [ours.next_int() for _ in range(100)] == weka.random(seed, 100, "int")
    ours = JavaRandom(seed)
    assert [ours.next_double() for _ in range(100)] == weka.random(seed, 100, "double")


@pytest.mark.parametrize("bound", BOUNDS)
def test_java_draws_the_same_numbers_when_many_are_drawn_at_once(weka: WekaDriver, bound: int) -> None:
    """Numbers that Java rejects are skipped inside a vectorised draw too, across its blocks."""
    ours = JavaRandom(7).next_ints(np.full(70_000, bound))
    np.testing.assert_array_equal(ours, weka.random(7, 70_000, bound))


@given(seed=st.integers(), bounds=st.lists(st.integers(1, 2**31 - 1), max_size=40))
def test_drawing_at_once_is_drawing_one_by_one(seed: int, bounds: list[int]) -> None:
    """The generator is left in the same state by either way."""
    at_once, one_by_one = JavaRandom(seed), JavaRandom(seed)
    assert at_once.next_ints(bounds).tolist() == [one_by_one.next_int(bound) for bound in bounds]
    assert at_once.next_int() == one_by_one.next_int()


@pytest.mark.parametrize("bound", [0, -1, 2**31])
def test_a_bound_that_java_has_no_int_for_is_refused(bound: int) -> None:
    """A bound is a positive 32-bit integer."""
    with pytest.raises(ValueError, match="a bound must be between 1 and 2147483647, got"):
        JavaRandom(1).next_int(bound)


@settings(max_examples=50)
@given(vector=label_vectors())
def test_weka_makes_the_same_folds_of_any_labels(
    weka: WekaDriver, tmp_path_factory: pytest.TempPathFactory, vector: tuple[list[int], int]
) -> None:
    """Runs 1 to 10 on random label vectors: every fold has Weka's rows in Weka's order."""
    labels, n_splits = vector
    path = write_labels(tmp_path_factory.getbasetemp() / "labels.arff", labels)
    assert_weka_has_these_folds(weka, path, labels, n_splits)


def test_nine_sets_are_embedded() -> None:
    """The comparison below runs on nine sets."""
    assert len(EMBEDDED) == 9


@pytest.mark.parametrize("path", EMBEDDED, ids=lambda path: path.stem)
def test_weka_makes_the_same_folds_of_the_embedded_sets(weka: WekaDriver, path: Path) -> None:
    """Runs 1 to 10: every fold has Weka's rows in Weka's order."""
    assert_weka_has_these_folds(weka, path, read_arff(path).columns[-1], 10)


@given(vector=label_vectors(), runs=st.integers(1, 3))
def test_each_run_tests_every_row_once(vector: tuple[list[int], int], runs: int) -> None:
    """Test folds of a run are a partition with class counts that differ by 1 at most; the rest trains."""
    labels, n_splits = vector
    y = np.array(labels)
    splitter = WekaFolds(n_splits=n_splits, n_repeats=runs)
    folds = list(splitter.split(y, y))
    assert len(folds) == splitter.get_n_splits(y, y) == n_splits * runs
    for run in range(runs):
        tests = [test for _, test in folds[run * n_splits : (run + 1) * n_splits]]
        assert sorted(np.concatenate(tests)) == list(range(y.size))
        counts = np.array([np.bincount(y[test], minlength=y.max() + 1) for test in tests])
        assert np.ptp(counts, axis=0).max() <= 1
        for test, alone in zip(tests, split_run(y, run + 1, n_splits), strict=True):
            np.testing.assert_array_equal(test, alone)
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(y.size))


def test_only_equality_of_labels_matters() -> None:
    """Classes as strings, numbers or categories, unused or reordered ones too, give the same folds."""
    codes = np.random.default_rng(5).integers(0, 3, 60)
    names = np.array(["b", "a", "c"])[codes]
    expected = [test.tolist() for test in split_run(codes, 1)]
    for y in (
        codes,
        codes.astype(float),
        names,
        names.tolist(),
        names.astype(object),
        pd.Series(names),
        pd.Series(codes, dtype="Int64"),
        pd.Categorical(names, categories=["unused", "c", "b", "a"]),
        pd.Series(pd.Categorical(names), index=range(100, 160)),
    ):
        assert [test.tolist() for _, test in WekaFolds(n_repeats=1).split(codes, y)] == expected


@pytest.mark.parametrize(
    "y",
    [
        ["a", None, "b", None],
        [0.0, np.nan, 1.0, np.nan],
        pd.Series(["a", None, "b", None], dtype="category"),
        pd.Categorical(["a", None, "b", None]),
        pd.Series([1, None, 0, None], dtype="Int64"),
        np.array(["a", None, "b", np.nan], dtype=object),
    ],
)
def test_rows_without_a_class_are_refused(y: object) -> None:
    """A row with no class label belongs to no stratum, so it is named instead of guessed."""
    with pytest.raises(ValueError, match="2 rows have no class label: drop them"):
        next(WekaFolds(n_splits=2).split(None, y))


def test_what_weka_refuses_is_refused(weka: WekaDriver, tmp_path: Path) -> None:
    """More folds than rows, and fewer than two folds, are errors in Weka and here."""
    path = write_labels(tmp_path / "labels.arff", [0, 1, 0])
    for n_splits, message in [(4, "cannot make 4 folds of 3 rows"), (1, "n_splits must be"), (0, "got 0")]:
        with pytest.raises(WekaError, match="folds"):
            weka.folds(path, 1, n_splits)
        with pytest.raises(ValueError, match=message):
            next(WekaFolds(n_splits=n_splits).split(None, [0, 1, 0]))
        with pytest.raises(ValueError, match=message):
            split_run([0, 1, 0], 1, n_splits)


@pytest.mark.parametrize(
    ("splitter", "X", "y", "message"),
    [
        (WekaFolds(), None, None, "pass the class labels as y"),
        (WekaFolds(2), [[1], [2]], [0, 1, 0], "inconsistent numbers of samples"),
        (WekaFolds(2), None, [0.1, 0.7, 0.3], "got a continuous y"),
        (WekaFolds(2, n_repeats=0), None, [0, 1], "n_repeats must be a whole number >= 1, got 0"),
        (WekaFolds(n_splits=2.0), None, [0, 1], r"n_splits must be a whole number >= 2, got 2\.0"),
    ],
)
def test_a_split_that_makes_no_sense_is_refused(
    splitter: WekaFolds, X: object, y: object, message: str
) -> None:
    """The error says what came and what was expected."""
    with pytest.raises(ValueError, match=message):
        next(splitter.split(X, y))


def test_scikit_learn_takes_it_as_a_splitter() -> None:
    """cross_val_score accepts it as cv, gives a score a fold, and it can be cloned and printed."""
    y = np.array([0, 1] * 20)
    splitter = clone(WekaFolds(n_splits=5, n_repeats=2), safe=False)
    assert cross_val_score(DummyClassifier(), np.zeros((40, 1)), y, cv=splitter).shape == (10,)
    assert repr(splitter) == "WekaFolds(n_repeats=2, n_splits=5)"
