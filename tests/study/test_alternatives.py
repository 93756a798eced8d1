"""Columns beyond the paper: LCWNB that chooses kappa, and scikit-learn's classifiers."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import CategoricalNB

from localbayes import LCWNB
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.study import make_plan, run_study
from localbayes.study.alternatives import COLUMNS
from localbayes.weka import apply_paper_filters
from localbayes.weka.folds import split_run


@pytest.fixture(scope="module")
def accuracies(tmp_path_factory):
    """Share of rows that every column gets right on iris, run 1."""
    path = tmp_path_factory.mktemp("study") / "study.db"
    outcome = run_study(make_plan(["iris"], ["beyond", "alternatives"], runs=1, folds=3), path)
    assert not outcome.failed, outcome.first_error
    with sqlite3.connect(path) as connection:
        rows = pd.read_sql_query("SELECT * FROM folds", connection)
    totals = rows.groupby("method")[["correct", "tested"]].sum()
    return (totals["correct"] / totals["tested"]).to_dict()


@pytest.fixture(scope="module")
def folds():
    """Codes and classes of iris under the paper's filters, and Weka's folds of run 1."""
    X, y = load("iris")
    filtered = apply_paper_filters(X)
    codes = np.stack([filtered[c].cat.codes.to_numpy() for c in filtered], axis=1)
    sizes = np.array([len(filtered[c].cat.categories) for c in filtered])
    rows = np.arange(len(y))
    tests = split_run(y.cat.codes.to_numpy(), 1, 3)
    return codes, sizes, y, [(np.setdiff1d(rows, test), test) for test in tests]


def test_every_alternative_is_a_column_and_learns_something(accuracies):
    """Each beats a guess, which gets a third of iris right."""
    _, y = load("iris")
    majority = DummyClassifier().fit(np.zeros((len(y), 1)), y).score(np.zeros((len(y), 1)), y)
    assert set(accuracies) == {"LCWNB-loo", "LCWNB-mix", *COLUMNS}
    assert min(accuracies.values()) > majority


def test_columns_are_what_the_classifiers_give_by_themselves(accuracies, folds):
    """LCWNB-mix, LCWNB-loo and CategoricalNB, fitted here fold by fold, get as many rows right."""
    codes, sizes, y, splits = folds
    right = dict.fromkeys(("LCWNB-mix", "LCWNB-loo", "CategoricalNB"), 0)
    for train, test in splits:
        for name, kappa in (("LCWNB-mix", "mixture"), ("LCWNB-loo", "loo")):
            model = LCWNB(kappa).fit(Coded(codes[train], sizes), y.array[train])
            right[name] += (model.predict(Coded(codes[test], sizes)) == y.array[test]).sum()
        plain = CategoricalNB(min_categories=sizes).fit(codes[train], np.asarray(y)[train])
        right["CategoricalNB"] += (plain.predict(codes[test]) == np.asarray(y)[test]).sum()
    assert {name: n / len(y) for name, n in right.items()} == {name: accuracies[name] for name in right}
