"""Columns of a study: each is what its classifier gives by itself, and names that are none are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from hostile_methods import given
from localbayes.classifiers import LCWNB, NB
from localbayes.datasets import load
from localbayes.study import (
    Method,
    from_estimator,
    make_plan,
    run_study,
)
from localbayes.study.builtin_columns import built_in, groups, resolve
from localbayes.study.fold_work import run_unit
from localbayes.study.study_sets import SetSource
from localbayes.weka import WekaFolds, apply_paper_filters
from study_support import answers


def test_folds_are_wekas():
    """The study's folds are those of WekaFolds, and train and test share no row."""
    data = SetSource("iris").load()
    _, y = load("iris")
    expected = list(WekaFolds(n_splits=10, n_repeats=2).split(y, y))
    for index, (train, test) in enumerate(expected):
        fold = data.fold(1 + index // 10, index % 10, 10)
        assert fold.test_rows.tolist() == test.tolist()
        assert sorted(fold.train_rows) == sorted(train)


def test_results_are_those_of_plain_use(tmp_path):
    """A column holds what fit and predict_proba on the filtered table give, fold by fold."""
    X, y = load("glass")
    filtered = apply_paper_filters(X)
    run_study(make_plan(["glass"], ["NB", "LCWNB10"], runs=1), tmp_path / "s.db")
    found = answers(tmp_path / "s.db")
    for fold, (train, test) in enumerate(WekaFolds(n_splits=10, n_repeats=1).split(X, y)):
        for name, model in (("NB", NB()), ("LCWNB10", LCWNB(kappa=10))):
            model.fit(filtered.iloc[train], y.iloc[train])
            right = (model.predict(filtered.iloc[test]) == y.iloc[test].to_numpy()).sum()
            loss = log_loss(y.iloc[test], model.predict_proba(filtered.iloc[test]), labels=model.classes_)
            correct, tested, measured, error = found["glass", name, 1, fold]
            assert (correct, tested, error) == (right, len(test), None)
            assert measured == pytest.approx(loss)


@pytest.mark.parametrize("column", sorted(built_in()))
def test_every_built_in_column_runs(column):
    """Every column that comes along gives a row per fold without error."""
    (method,) = resolve([column])
    # Explainable boosting takes a minute for a fold of labor.
    name, n = ("iris", 150) if column == "EBM" else ("labor", 57)
    plan = make_plan([name], [column], runs=1, folds=5)
    rows = [row for found in run_unit(plan.units()[0], SetSource(name).load(), 5) for row in found]
    assert [(row.method, row.error) for row in rows] == [(column, None)] * 5
    assert sum(row.tested for row in rows) == n
    assert method.about


def test_foreign_classifiers(tmp_path):
    """Any scikit-learn classifier runs: on codes, frames or arrays, with or without probabilities."""
    here = "hostile_methods"
    specs = [
        "logistic=sklearn.linear_model:LogisticRegression",
        "svm=sklearn.svm:LinearSVC",
        "categories=sklearn.naive_bayes:CategoricalNB",
        f"majority={here}:make_dummy",
        f"{here}:frames",
        f"{here}:codes",
        "mine=localbayes.classifiers:NB",
        "NB",
    ]
    outcome = run_study(make_plan(["vote"], specs, runs=1, folds=5), tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (40, 0)
    found = answers(tmp_path / "s.db")
    _, y = load("vote")
    for fold, (_, test) in enumerate(WekaFolds(n_splits=5, n_repeats=1).split(y, y)):
        assert found["vote", "majority", 1, fold][0] == (y.iloc[test] == "democrat").sum()
        assert found["vote", "svm", 1, fold][2] is None
        assert found["vote", "mine", 1, fold] == found["vote", "NB", 1, fold]
        assert found["vote", "logistic", 1, fold][2] > 0
        assert found["vote", "codes", 1, fold][0] == found["vote", "frames", 1, fold][0]


def test_foreign_classifiers_match_scikit_learns_own_use(tmp_path):
    """LogisticRegression under the study scores as it does on the codes by hand."""
    run_study(make_plan(["iris"], ["lr=sklearn.linear_model:LogisticRegression"], runs=1), tmp_path / "s.db")
    X, y = load("iris")
    codes = np.column_stack([column.cat.codes for _, column in apply_paper_filters(X).items()])
    found = answers(tmp_path / "s.db")
    for fold, (train, test) in enumerate(WekaFolds(n_splits=10, n_repeats=1).split(X, y)):
        train = np.sort(train)
        model = LogisticRegression().fit(codes[train], np.asarray(y)[train])
        right = (model.predict(codes[test]) == np.asarray(y)[test]).sum()
        assert found["iris", "lr", 1, fold][0] == right


def test_predict_of_ones_own_decides(tmp_path):
    """A class that overrides `predict` of localbayes is taken at its word, its probabilities stay NB's."""
    specs = ["hostile_methods:Contrary", "hostile_methods:Even", "NB"]
    run_study(make_plan(["vote"], specs, runs=1, folds=5), tmp_path / "s.db")
    found = answers(tmp_path / "s.db")
    _, y = load("vote")
    first = min(y.cat.categories)
    for fold, (_, test) in enumerate(WekaFolds(n_splits=5, n_repeats=1).split(y, y)):
        right, _, loss, _ = found["vote", "NB", 1, fold]
        assert found["vote", "Contrary", 1, fold][::2] == ((y.iloc[test] == first).sum(), loss)
        assert found["vote", "Even", 1, fold][::2] == (right, pytest.approx(np.log(2)))


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (["XYZ"], "unknown method 'XYZ'"),
        (["no.such.module:x"], "cannot import the method"),
        (["sklearn.svm:Nothing"], "cannot import the method"),
        (["hostile_methods:not_a_classifier"], "expected a classifier"),
        (["hostile_methods:wrong_input"], "study_input must be one of"),
        (["x=sklearn.svm:SVC", "x=sklearn.svm:LinearSVC"], "two methods are called 'x'"),
        (["NB=sklearn.svm:LinearSVC"], "'NB' is a column of localbayes: give yours another name"),
        (["sklearn.linear_model:LogisticRegression"], "'LogisticRegression' is a column of localbayes"),
        ([Method("mine", ("TAN",), print, print)], "'TAN' is a column of localbayes"),
        (["other=hostile_methods:given"], "is a Method, which has its own name; leave out 'other='"),
        ([from_estimator("x", LinearSVC()), Method("y", ("x",), print, print)], "fill the column 'x'"),
        ([built_in()["NB"].only(["none"])], "fills no column"),
        ([], "no methods given"),
    ],
)
def test_methods_that_cannot_be(specs, message):
    """A method that cannot be found, is no classifier or clashes with another is refused by name."""
    with pytest.raises(ValueError, match=message):
        resolve(specs)


def test_a_method_record_can_be_imported():
    """An object that is a Method already is taken as it is."""
    assert resolve(["hostile_methods:given"]) == resolve(["hostile_methods:make_method"]) == [given]


def test_the_page_on_studies_names_every_column_and_group():
    """Each is in a table of docs/study.md; the column LCWNB is LCWNB() by default, and so is LCWNB-mix."""
    lines = (Path(__file__).parents[2] / "docs" / "study.md").read_text(encoding="utf-8").splitlines()
    first = [line.split("|")[1] for line in lines if line.startswith("| `")]
    named = {name.strip(" `") for cell in first for name in cell.split(",")}
    assert {*built_in(), *groups()} <= named
    assert "| `kappas` | `LCWNB5`, `LCWNB10`, `LCWNB20` |" in lines
    data = SetSource("labor").load()
    fold = data.fold(1, 0, 10)
    default = LCWNB().fit(fold.train, fold.classes).predict_log_proba(fold.test)
    for method in resolve(["LCWNB", "LCWNB-mix"]):
        found = method.predict(method.fit(fold), fold, method.columns)[method.columns[0]].log_joint
        np.testing.assert_array_equal(found, default)


def test_modules_in_the_current_folder(tmp_path, monkeypatch):
    """A module beside which the command is run can be named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("beside_me.py").write_text(
        "from sklearn.dummy import DummyClassifier\nmajority = DummyClassifier()\n"
    )
    (method,) = resolve(["beside_me:majority"])
    assert (method.columns, method.about) == (("majority",), ("DummyClassifier()",))
