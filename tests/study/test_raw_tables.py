"""Studies of raw tables: methods get the table as it is, and no store mixes them with filtered ones."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss

from command_line import ok, refused
from localbayes import LCWNB, NB, LocalBayesClassifier
from localbayes.datasets import load
from localbayes.study import Method, Prediction, Store, make_plan, run_study, write_report
from localbayes.study import alternatives as other_libraries
from localbayes.study.builtin_columns import RAW_COLUMNS, groups, resolve
from localbayes.study.findings import examine
from localbayes.study.raw_rivals import NAMES, TypedColumns, make
from localbayes.study.study_sets import SetSource
from localbayes.weka import WekaFolds
from study_support import answers

# Explainable boosting takes seconds for the smallest table, and has a test of its own among the columns.
QUICK = [name for name in other_libraries.installed() if name != "EBM"]


def messy(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of numbers, text, bools, dates, declared values and holes, with a column that is empty."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    X = pd.DataFrame(
        {
            'si"ze, [cm]': np.where(rng.random(n) < 0.1, np.nan, size),
            "count": rng.integers(0, 9, n),
            "colour": rng.choice(["red", "green", "blue", None], n),
            "sold": rng.random(n) < 0.5,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 5, n), unit="D"),
            "grade": pd.Categorical(rng.choice(["a", "b"], n), categories=["a", "b", "never"]),
            "void": np.full(n, None),
        }
    )
    return X, np.where(size + rng.normal(size=n) / 4 > 0, "yes", "no")


@pytest.fixture(scope="module")
def glass(tmp_path_factory) -> dict:
    """Results of two columns on the raw table glass, run 1."""
    path = tmp_path_factory.mktemp("raw") / "s.db"
    outcome = run_study(make_plan(["glass"], ["LCWNB", "NB"], runs=1, raw=True), path)
    assert (outcome.rows, outcome.failed) == (20, 0), outcome.first_error
    return answers(path)


@pytest.mark.parametrize(("name", "model"), [("LCWNB", LCWNB()), ("NB", NB())])
def test_results_are_those_of_plain_use_on_the_table_as_it_is(glass, name, model):
    """A column holds what fit on the raw training rows gives on the raw test rows, under Weka's folds."""
    X, y = load("glass")
    for fold, (train, test) in enumerate(WekaFolds(n_splits=10, n_repeats=1).split(X, y)):
        train = np.sort(train)
        model.fit(X.iloc[train], y.iloc[train])
        right = (model.predict(X.iloc[test]) == y.iloc[test].to_numpy()).sum()
        loss = log_loss(y.iloc[test], model.predict_proba(X.iloc[test]), labels=model.classes_)
        correct, tested, measured, error = glass["glass", name, 1, fold]
        assert (correct, tested, error) == (right, len(test), None)
        assert measured == pytest.approx(loss)


@pytest.mark.parametrize("raw", [False, True])
def test_the_flagship_is_a_column_of_both_kinds(raw):
    """LocalBayes gets numbers as numbers, or ten bins that it knows to be in order."""
    fold = SetSource("iris", raw=raw).load().fold(1, 0, 3)
    (method,) = resolve(["LocalBayes"])
    found = method.predict(method.fit(fold), fold, ["LocalBayes"])["LocalBayes"].log_joint
    if raw:
        X, y = load("iris")
        train, test = X.iloc[fold.train_rows], X.iloc[fold.test_rows]
        expected = LocalBayesClassifier().fit(train, y.iloc[fold.train_rows]).predict_log_proba(test)
        np.testing.assert_array_equal(found, expected)
    else:
        assert fold.train.ordered.tolist() == [True] * 4
    assert accuracy_score(fold.data.truth[fold.test_rows], np.argmax(found, axis=1)) > 0.8


def test_a_method_sees_numbers_as_numbers_and_holes_as_holes(tmp_path):
    """What reaches a method of one's own under --raw is the file's content, whatever it is."""
    seen = []

    def fit(fold):
        seen.append(fold.train)
        return fold.classes[0]

    def predict(model, fold, columns):
        return {"spy": Prediction((), labels=np.full(len(fold.test), model))}

    (tmp_path / "t.csv").write_text("n,word,y\n" + "1.5,red,a\n,,b\n2.5,blue,a\n3.5,red,b\n" * 3)
    spy = Method("spy", ("spy",), fit, predict)
    run_study(make_plan([str(tmp_path / "t.csv")], [spy], runs=1, folds=2, raw=True), tmp_path / "s.db")
    for table in seen:
        assert table["n"].dtype == np.float64
        assert set(table["n"].dropna()) <= {1.5, 2.5, 3.5}
        assert set(table["word"].dropna()) <= {"red", "blue"}
        assert table["word"].isna().equals(table["n"].isna())
    assert any(table["n"].isna().any() for table in seen)


@pytest.mark.parametrize("name", QUICK)
def test_every_rival_learns_from_a_messy_table(name):
    """Text, bools, dates, holes, odd names, an empty column and values never seen stop none of them."""
    X, y = messy()
    train, test = np.arange(40), np.arange(40, 60)
    X.loc[test[0], "colour"] = "violet"
    X.loc[test[1], "grade"] = "never"
    X.loc[test[2], ["colour", "grade", 'si"ze, [cm]']] = None
    model = make(name, X.iloc[train], y[train]).fit(X.iloc[train], y[train])
    proba = model.predict_proba(X.iloc[test])
    assert proba.shape == (20, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)
    # Trees that need twenty rows in every leaf learn little of forty; the others find the one that tells.
    chance = max(np.mean(y[test] == label) for label in np.unique(y))
    assert np.mean(model.predict(X.iloc[test]).ravel() == y[test]) >= (0.5 if "Boost" in name else chance)


@pytest.mark.parametrize("name", QUICK)
def test_every_rival_is_a_column_of_raw_tables(name):
    """Each fills its column on a table of three classes, one of which has a single training row."""
    _, y = load("iris")
    kept = np.r_[0:20, 50:70, 100:102]
    fold = SetSource("iris", raw=True).load().fold(1, 0, 3)
    few = type(fold)(fold.data, 1, 0, kept[:-1], kept[-1:])
    (method,) = resolve([name])
    answer = method.predict(method.fit(few), few, [name])[name]
    assert set(map(str, answer.classes)) == set(y.iloc[kept].astype(str))
    assert len(answer.labels) == 1


def test_what_rivals_know_comes_from_training_rows():
    """Values that only test rows have, and columns without a training value, leave no trace."""
    train = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0], "c": [None, None]})
    test = pd.DataFrame({"a": ["z", "y"], "b": [3.0, None], "c": ["new", "new"]})
    typed = TypedColumns().fit(train).transform(test)
    assert list(typed) == ["c0", "c1"]
    assert typed["c0"].cat.categories.tolist() == ["x", "y"]
    assert typed["c0"].isna().tolist() == [True, False]
    texts = TypedColumns(fill=True).fit(train.assign(a=["missing", 1])).transform(test)["c0"]
    assert len(set(texts.cat.categories)) == 3
    assert texts.tolist() == ["missing", "missing"]
    with pytest.raises(ValueError, match="no column has a value to learn from"):
        TypedColumns().fit(train[["c"]])
    with pytest.raises(ValueError, match=f"no rival is called 'X': expected one of {NAMES[0]}"):
        make("X", train, [0, 1])


def test_a_rival_whose_library_is_missing_is_refused_by_name(monkeypatch):
    """The error says what to install; the group of rivals leaves it out."""
    monkeypatch.setitem(other_libraries.OPTIONAL, "EBM", ("no_such_module", "interpret-core"))
    from localbayes.study import builtin_columns

    builtin_columns._own.cache_clear()
    try:
        assert "EBM" not in groups()["rivals"]
        with pytest.raises(ValueError, match="the column EBM needs interpret-core, which is not installed"):
            resolve(["EBM"])
    finally:
        monkeypatch.undo()
        builtin_columns._own.cache_clear()


def test_a_store_is_of_one_kind(tmp_path):
    """Raw and filtered results are never mixed, whichever came first; nothing is added by the refused run."""
    for first in (True, False):
        path = tmp_path / f"{first}.db"
        run_study(make_plan(["iris"], ["NB"], runs=1, folds=2, raw=first), path)
        words = ("raw", "add --raw") if first else ("filtered", "leave out --raw")
        with pytest.raises(ValueError, match=f"has results on {words[0]} tables, got .*: {words[1]} or use"):
            run_study(make_plan(["labor"], ["NB"], runs=1, folds=2, raw=not first), path)
        assert len(answers(path)) == 2
        assert run_study(make_plan(["iris"], ["NB"], runs=1, folds=2, raw=first), path).rows == 0


def test_a_store_from_before_there_were_raw_tables_is_filtered(tmp_path):
    """Results without a note of their kind are of filtered tables."""
    path = tmp_path / "s.db"
    run_study(make_plan(["iris"], ["NB"], runs=1, folds=2), path)
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM meta WHERE key = 'raw'")
    with pytest.raises(ValueError, match="has results on filtered tables"):
        run_study(make_plan(["iris"], ["NB"], runs=1, folds=2, raw=True), path)
    assert run_study(make_plan(["iris"], ["NB"], runs=1, folds=2), path).rows == 0


def test_a_raw_table_that_changed_is_refused(tmp_path):
    """A number in a file of one's own that differs by little is another data set."""
    file = tmp_path / "t.csv"
    file.write_text("n,y\n" + "1.5,a\n2.5,b\n" * 5)
    plan = make_plan([str(file)], ["NB"], runs=1, folds=2, raw=True)
    assert run_study(plan, tmp_path / "s.db").rows == 2
    file.write_text("n,y\n" + "1.5,a\n2.5,b\n" * 4 + "1.5,a\n2.500001,b\n")
    (words,) = run_study(plan, tmp_path / "s.db").refused
    assert "differs from the one in the store" in words


def test_page_and_terminal_say_first_what_methods_were_given(tmp_path, monkeypatch):
    """The lead of the page and the first line of `show` say it; a raw study leaves the paper out."""
    monkeypatch.chdir(tmp_path)
    common = ["--sets", "iris", "--methods", "LCWNB5,NB", "--runs", "1", "--folds", "3", "--jobs", "1"]
    for store, more, words in (("f.db", [], "filtered"), ("r.db", ["--raw"], "raw")):
        ok("study", "run", *common, *more, "--store", store)
        seen = ok("study", "show", "--store", store)
        assert seen.startswith(f"The methods were given {words} tables:")
        ok("study", "report", "--store", store, "--out", words)
        page = Path(words, "index.html").read_text(encoding="utf-8")
        lead = page.partition('class="lead"')[2].partition("</p>")[0]
        assert f"The methods were given {words} tables" in lead
        assert json.loads(Path(words, "tests.json").read_text())["given"] == f"{words} tables"
        assert ("Locally Weighted Learning" in page) == (words == "filtered")
    assert "has results on raw tables" in refused("study", "run", *common, "--store", "r.db")


def test_a_raw_study_leads_with_the_flagships(tmp_path):
    """LocalBayes and LCWNB are the first columns, and marks refer to the first."""
    assert RAW_COLUMNS[:2] == ("LocalBayes", "LCWNB")
    plan = make_plan(["labor"], ["NB", "LCWNB", "LocalBayes"], runs=1, folds=2, raw=True)
    run_study(plan, tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        findings = examine(store)
    assert findings.table.columns[:2] == ("LocalBayes", "LCWNB")
    assert findings.table.reference == "LocalBayes"
    assert not findings.compared_cells
    assert write_report(tmp_path / "s.db", tmp_path / "out")
