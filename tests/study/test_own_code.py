"""A column of a store holds one classifier: another one is told apart and refused."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression

from localbayes.study import (
    FoldRow,
    Store,
    from_estimator,
    make_plan,
    run_study,
)
from study_support import answers


def test_a_store_holds_one_classifier_in_a_column(tmp_path):
    """A column that has become another classifier is refused, and the store stays as it was."""
    path = tmp_path / "s.db"
    first, other = (from_estimator("mine", DummyClassifier(strategy=s)) for s in ("prior", "uniform"))
    run_study(make_plan(["labor"], [first, "NB"], runs=1, folds=3), path)
    before = answers(path)
    with pytest.raises(
        ValueError, match=r"has results of DummyClassifier\(\), got Dummy.*strategy='uniform'"
    ):
        run_study(make_plan(["labor"], [other], runs=2, folds=3), path)
    assert answers(path) == before
    assert run_study(make_plan(["labor"], [first], runs=2, folds=3), path).rows == 3


def votes(members: int, place: int, c: float) -> VotingClassifier:
    """Many classifiers, of which the one in this place depends on `c`."""
    values = [c if i == place else 1.5 + i for i in range(members)]
    return VotingClassifier(
        [(f"a_long_name_{i}", LogisticRegression(C=v, max_iter=500 + i)) for i, v in enumerate(values)]
    )


def constant_of_many_numbers(one: float) -> DummyClassifier:
    """A parameter of 2000 numbers, which numpy shows in part: not the one in the middle."""
    constant = np.zeros(2000)
    constant[1000] = one
    return DummyClassifier(strategy="constant", constant=constant)


def given_as(kind: str | None) -> DummyClassifier:
    dummy = DummyClassifier()
    if kind:
        dummy.study_input = kind
    return dummy


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (lambda c: votes(14, 6, c), 0.01, 100.0),
        (lambda c: votes(40, 35, c), 0.01, 100.0),
        (constant_of_many_numbers, 1.0, 2.0),
        (given_as, None, "codes"),
        (given_as, "codes", "frame"),
    ],
)
def test_classifiers_that_differ_in_one_place_are_told_apart(tmp_path, make, one, other):
    """However long its description, another classifier in a column is refused, in a short message."""

    def column(value):
        (about,) = from_estimator("mine", make(value)).about
        return [("mine", about)]

    with Store(tmp_path / "s.db") as store:
        store.add_methods(column(one))
        store.add([FoldRow("labor", "mine", 1, 0, 9, 9, 9, 9)])
        store.add_methods(column(one))
        with pytest.raises(ValueError, match=r"has results of (.+), got (.+): use another store") as refused:
            store.add_methods(column(other))
    message = str(refused.value).replace(str(tmp_path), "")
    assert len(message) < 300
    old, new = re.search(r"has results of (.+), got (.+): use", message).groups()
    assert old != new


def test_the_default_input_is_not_told():
    """A description is the one of scikit-learn where `study_input` is the default and nothing is cut."""
    assert from_estimator("mine", given_as("array")).about == (repr(DummyClassifier()),)
    (about,) = from_estimator("mine", votes(14, 6, 2.0)).about
    assert all(f"a_long_name_{i}'" in about for i in range(14))
    assert "..." not in about


OWN_CLASS = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline

class Base(BaseEstimator, ClassifierMixin):
    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        return self

class Mine(Base):
    def predict(self, X):
        return [self.classes_[{which}]] * len(X){note}

def piped():
    return make_pipeline(Mine())
"""


@pytest.mark.parametrize("made_by", ["Mine", "piped"])
def test_a_change_inside_a_class_of_ones_own_is_seen(tmp_path, made_by):
    """Its results under one version are not taken for those of another; a comment changes nothing."""

    def study(which: int, note: str, runs: int) -> str:
        folder = tmp_path / f"{which}{len(note)}"
        folder.mkdir()
        (folder / "own_class.py").write_text(OWN_CLASS.format(which=which, note=note))
        code = (
            "from localbayes.study import make_plan, run_study\n"
            f"plan = make_plan(['labor'], ['mine=own_class:{made_by}'], runs={runs}, folds=3)\n"
            f"print(run_study(plan, {str(tmp_path / 's.db')!r}).rows)"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    assert study(0, "", 1) == "3"
    assert study(0, "  # the first class", 2) == "3"
    assert re.search(r"has results of .* \[code \w{8}\], got .*: use another store or give", study(1, "", 2))


def test_built_in_columns_may_be_described_anew(tmp_path):
    """A version of localbayes that describes its own columns in other words goes on with older stores."""
    path = tmp_path / "s.db"
    run_study(make_plan(["labor"], ["NB"], runs=1, folds=3), path)
    with Store(path) as store, store.transaction():
        store._db.execute("UPDATE methods SET about = 'as an older version had it'")
    assert run_study(make_plan(["labor"], ["NB"], runs=2, folds=3), path).rows == 3
