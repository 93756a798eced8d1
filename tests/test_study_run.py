"""Plans, methods and runs: what is measured is right, what fails is a row, what is done stays done."""

from __future__ import annotations

import fcntl
import io
import itertools
import json
import multiprocessing
import os
import pty
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC
from typer.testing import CliRunner

from localbayes.classifiers import LCWNB, NB
from localbayes.cli import app
from localbayes.cli import study as cli
from localbayes.datasets import load
from localbayes.study import (
    FoldRow,
    Method,
    Prediction,
    Store,
    crew,
    from_estimator,
    make_plan,
    methods,
    run_study,
)
from localbayes.study.data import SetSource, find_sets, prepare
from localbayes.study.findings import examine
from localbayes.study.methods import built_in, resolve
from localbayes.study.owner import this_process
from localbayes.study.published import WEIGHTS, product_score
from localbayes.study.scoring import score
from localbayes.study.table import SetInfo
from localbayes.study.work import run_unit
from localbayes.weka import WekaFolds, apply_paper_filters
from study_support import PATIENCE, answers, paper_store, small_plan
from terminal import read_terminal

OWN = """@relation fruit
@attribute colour {red, green, blue}
@attribute note string
@attribute size numeric
@attribute kind {apple, pear}
@data
red,a,1,apple
green,b,2,apple
green,a,?,pear
red,b,4,pear
green,a,5,pear
red,b,6,apple
"""


class Stubborn(NB):
    """Fails on every other fold of the first run, and dies or hangs on nothing."""

    def fit(self, X, y):
        if len(X) % 2:
            raise RuntimeError("an odd\nnumber of rows")
        return super().fit(X, y)


class Deadly(NB):
    """Takes its process with it."""

    def fit(self, X, y):
        if os.environ.get("STUDY_TEST_PARENT") != str(os.getpid()):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class Numbered(LinearSVC):
    """Answers with numbers in place of classes, as a classifier that encodes them and forgets to decode."""

    def fit(self, X, y):
        return super().fit(X, np.unique(y, return_inverse=True)[1])


class Contrary(NB):
    """Predicts the first class always, whatever its probabilities."""

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Even(NB):
    """Has the same probability for every class, and predicts as NB does."""

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class Misshapen(DummyClassifier):
    """Answers with too few labels or probabilities."""

    def __init__(self, fault="label"):
        super().__init__()
        self.fault = fault

    def predict(self, X):
        labels = super().predict(X)
        return {"label": labels[:1], "none": None, "column": labels[:, None]}.get(self.fault, labels)

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        changed = {"zeros": 0 * proba, "row": proba[:1], "classes": proba[:, :1], "negative": -proba}
        return changed.get(self.fault, proba)


class Leaving(NB):
    """Ends the program, or is interrupted."""

    def fit(self, X, y):
        raise SystemExit("that was it")


class Interrupted(NB):
    def fit(self, X, y):
        raise KeyboardInterrupt


def make_method():
    return given


def make_dummy():
    return DummyClassifier(strategy="most_frequent")


not_a_classifier = 3
given = Method("given", ("given",), lambda fold: None, lambda model, fold, columns: {})
frames = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")
frames.study_input = "frame"
codes = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")
codes.study_input = "codes"
wrong_input = DummyClassifier()
wrong_input.study_input = "picture"


# --- scores ---------------------


def test_log_loss_is_scikit_learns():
    """The log loss is scikit-learn's, whatever the order of the columns and a common factor."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), size=40)
    truth = rng.integers(0, 3, size=40)
    shuffled = np.log(proba[:, [2, 0, 1]]) + rng.normal(size=(40, 1))
    found = score(Prediction(["c", "a", "b"], shuffled), ["a", "b", "c"], truth)
    assert found.log_loss == pytest.approx(log_loss(truth, proba))
    assert found.correct == (proba.argmax(axis=1) == truth).sum()
    bins = np.array(json.loads(found.bins))
    assert bins.shape == (10, 3)
    assert bins[:, 0].sum() == 40
    assert bins[:, 1].sum() == pytest.approx(proba.max(axis=1).sum(), abs=1e-4)
    assert bins[:, 2].sum() == found.correct


def test_ties_fall_to_the_class_declared_first():
    """Of scores within 1e-9 the class declared first wins; well and badly count how ties could fall."""
    scores = np.log([[0.5, 0.5], [0.5, 0.5], [0.3, 0.7]]) + np.array([[0, 4e-10], [0, 0], [0, 0]])
    found = score(Prediction(["x", "y"], scores), ["y", "x"], np.array([0, 1, 0]))
    assert (found.correct, found.ties_well, found.ties_badly) == (2, 3, 1)


def test_a_class_never_seen_has_probability_zero():
    """A class that a method does not know is never predicted and costs what scikit-learn clips to."""
    found = score(Prediction(["a"], np.zeros((2, 1))), ["a", "b"], np.array([0, 1]))
    assert found.correct == 1
    clipped = log_loss([0, 1], np.array([[1.0, 0.0], [1.0, 0.0]]), labels=[0, 1])
    assert found.log_loss == pytest.approx(clipped)


def test_labels_decide_where_given():
    """A method that does not predict its best score is taken at its word, and ties do not matter then."""
    scores = np.log([[0.9, 0.1], [0.5, 0.5]])
    found = score(Prediction(["a", "b"], scores, ["b", "unheard of"]), ["a", "b"], np.array([1, 0]))
    assert (found.correct, found.ties_well, found.ties_badly) == (1, 1, 1)


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        (Prediction(["a"]), "scores, labels or both"),
        (Prediction(["a", "b"], np.zeros((1, 3))), "2 columns"),
        (Prediction(["a", "b"], np.array([[0.0, np.nan]])), "NaN"),
        (Prediction(["a", "b"], np.array([[0.0, np.inf]])), "infinite"),
        (Prediction(["a", "b"], np.zeros((3, 2))), r"scores of shape \(3, 2\) for 1 rows and 2 classes"),
        (Prediction(["a", "b"], np.zeros(2)), r"scores of shape \(2,\) for 1 rows and 2 classes"),
        (Prediction(["a", "b"], np.full((1, 2), -np.inf)), "row 0 has no probability for any class"),
        (Prediction((), labels=["a", "b"]), "predicted 2 labels for 1 rows: expected one for each"),
        (Prediction(["a", "b"], np.zeros((1, 2)), ["a", "b"]), "predicted 2 labels for 1 rows"),
        (Prediction((), labels="a"), r"labels of shape \(\) for 1 rows"),
        (
            Prediction(["a", "b", "c"], np.zeros((1, 3))),
            "scores for the class 'c', which the data",
        ),
        (Prediction((), labels=[0]), "no class of the data set, but 0: expected 'a', 'b'$"),
        (Prediction(["a", "b"], np.zeros((1, 2)), np.array([1])), "but 1: expected 'a', 'b'$"),
    ],
)
def test_predictions_that_make_no_sense(prediction, message):
    """A prediction without scores, with too many or with NaN is an error of the method."""
    with pytest.raises(ValueError, match=message):
        score(prediction, ["a", "b"], np.array([0]))


# --- folds and methods ---------------------


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


def test_kappas_share_a_pass():
    """The three kappas are one method, and asking for one of them is no other work."""
    (method,) = resolve(["LCWNB20", "LCWNB5"])
    assert (method.name, method.columns) == ("LCWNB", ("LCWNB5", "LCWNB20"))
    data = SetSource("labor").load()
    fold = data.fold(1, 0, 10)
    both = method.predict(method.fit(fold), fold, method.columns)
    one = method.predict(method.fit(fold), fold, ("LCWNB20",))
    np.testing.assert_array_equal(both["LCWNB20"].log_joint, one["LCWNB20"].log_joint)


@pytest.mark.parametrize("column", sorted(built_in()))
def test_every_built_in_column_runs(column):
    """Every column that comes along gives a row per fold without error."""
    (method,) = resolve([column])
    plan = make_plan(["labor"], [column], runs=1, folds=5)
    rows = [row for found in run_unit(plan.units()[0], SetSource("labor").load(), 5) for row in found]
    assert [(row.method, row.error) for row in rows] == [(column, None)] * 5
    assert sum(row.tested for row in rows) == 57
    assert method.about


def test_the_fitted_tie_rule_decides_ties_only():
    """LWNB and ICLNB differ from their plain versions in nothing but how equal scores fall."""
    data = SetSource("diabetes").load()
    for name in ("LWNB", "ICLNB"):
        method = built_in()[name]
        fold = data.fold(1, 0, 10)
        found = method.predict(method.fit(fold), fold, method.columns)
        fitted, plain = found[name], found[f"{name}-declared"]
        np.testing.assert_array_equal(fitted.log_joint, plain.log_joint)
        truth = data.truth[fold.test_rows]
        a, b = score(fitted, data.classes, truth), score(plain, data.classes, truth)
        assert (a.ties_well, a.ties_badly, a.log_loss) == (b.ties_well, b.ties_badly, b.log_loss)
        assert a.ties_badly <= a.correct <= a.ties_well


@pytest.mark.parametrize("kind", ["LWNB", "ICLNB"])
def test_the_product_is_the_log_joint(kind):
    """Up to rounding and a common factor, the product of the tie rule is the method's own score."""
    data = SetSource("glass").load()
    fold = data.fold(1, 3, 10)
    method = built_in()[f"{kind}-declared"]
    model = method.fit(fold)
    log_joint = method.predict(model, fold, [f"{kind}-declared"])[f"{kind}-declared"].log_joint
    order = [list(model.classes_).index(label) for label in data.classes]
    for row in range(len(fold.test_rows)):
        matches = fold.train.codes == fold.test.codes[row]
        weights = WEIGHTS[kind](matches.shape[1] - matches.sum(axis=1), matches.shape[1])
        product = product_score(
            matches, weights, data.truth[fold.train_rows], fold.train.sizes, len(data.classes)
        )
        difference = np.log(product) - log_joint[row, order]
        np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_foreign_classifiers(tmp_path):
    """Any scikit-learn classifier runs: on codes, frames or arrays, with or without probabilities."""
    here = "test_study_run"
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
    specs = ["test_study_run:Contrary", "test_study_run:Even", "NB"]
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
        (["test_study_run:not_a_classifier"], "expected a classifier"),
        (["test_study_run:wrong_input"], "study_input must be one of"),
        (["x=sklearn.svm:SVC", "x=sklearn.svm:LinearSVC"], "two methods are called 'x'"),
        (["NB=sklearn.svm:LinearSVC"], "'NB' is a column of localbayes: give yours another name"),
        (["sklearn.linear_model:LogisticRegression"], "'LogisticRegression' is a column of localbayes"),
        ([Method("mine", ("TAN",), print, print)], "'TAN' is a column of localbayes"),
        (["other=test_study_run:given"], "is a Method, which has its own name; leave out 'other='"),
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
    assert resolve(["test_study_run:given"]) == resolve(["test_study_run:make_method"]) == [given]


def test_the_page_on_studies_names_every_column_and_group():
    """Each is in a table of docs/study.md; `LCWNB` there is three columns, and LCWNB() is LCWNB-mix."""
    lines = (Path(__file__).parents[1] / "docs" / "study.md").read_text(encoding="utf-8").splitlines()
    first = [line.split("|")[1] for line in lines if line.startswith("| `")]
    named = {name.strip(" `") for cell in first for name in cell.split(",")}
    assert {*built_in(), *methods._GROUPS} <= named
    assert "| `LCWNB` | `LCWNB5`, `LCWNB10`, `LCWNB20` |" in lines
    data = SetSource("labor").load()
    fold, (mixed,) = data.fold(1, 0, 10), resolve(["LCWNB-mix"])
    default = LCWNB().fit(fold.train, fold.classes).predict_log_proba(fold.test)
    found = mixed.predict(mixed.fit(fold), fold, mixed.columns)["LCWNB-mix"].log_joint
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


def test_exact_ties_are_broken_by_the_product():
    """Queries with equal scores get the first of the largest products, multiplied in the order of columns."""
    # A scale with weight and distance on either side, as in balance-scale: left and right are mirror images.
    rows = 1 + np.array(list(itertools.product(range(4), repeat=4)))
    X = pd.DataFrame({f"a{i}": pd.Categorical(rows[:, i]) for i in range(4)})
    torque = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
    y = pd.Series(pd.Categorical(np.sign(torque), categories=[-1, 0, 1]))
    data = prepare(SetInfo("ties", 256, 5, 3, paper=False), X, y)
    tied = 0
    for number in range(10):
        fold = data.fold(1, number, 10)
        method = built_in()["ICLNB"]
        prediction = method.predict(method.fit(fold), fold, ["ICLNB"])["ICLNB"]
        best = prediction.log_joint >= prediction.log_joint.max(axis=1, keepdims=True) - 1e-9
        for place, row in enumerate(fold.test_rows):
            if best[place].sum() < 2:
                assert prediction.labels[place] == prediction.classes[best[place].argmax()]
                continue
            tied += 1
            near = sorted(int((rows[t] != rows[row]).sum()) for t in fold.train_rows)[9]
            products = []
            for label in data.classes:
                total, matching, sizes = 1.0, [1.0] * 4, [4.0] * 4
                for t in fold.train_rows:
                    distance = int((rows[t] != rows[row]).sum())
                    if y[t] == label and distance <= near:
                        total += 5 - distance
                        sizes = [size + 5 - distance for size in sizes]
                        agrees = rows[t] == rows[row]
                        matching = [m + (5 - distance) * a for m, a in zip(matching, agrees, strict=True)]
                for m, size in zip(matching, sizes, strict=True):
                    total *= m / size
                products.append(total)
            among = [k for k, c in enumerate(data.classes) if best[place][list(prediction.classes).index(c)]]
            expected = data.classes[max(among, key=lambda k: (products[k], -k))]
            assert prediction.labels[place] == expected
    assert tied > 3, "the table has ties to break"


# --- data ---------------------


def test_own_files(tmp_path, monkeypatch):
    """Any ARFF or CSV file is a data set; text is a category, the class is last or the one named."""
    monkeypatch.chdir(tmp_path)
    Path("fruit.arff").write_text(OWN)
    Path("iris.csv").write_text("a,b,k\n" + "".join(f"{i % 3},x{i % 2},{'yn'[i % 2]}\n" for i in range(12)))
    arff, csv = find_sets(["fruit.arff", "iris.csv"])
    assert (arff.name, csv.name) == ("fruit", "iris.csv"), "a file is never taken for the paper's iris"
    fruit = arff.load()
    assert (fruit.info.n, fruit.info.m, fruit.info.r, fruit.info.paper) == (6, 4, 2, False)
    assert fruit.coded.sizes.tolist() == [3, 2, 10]
    (absent,) = find_sets(["iris.csv"], target="z")
    with pytest.raises(ValueError, match="no column is called 'z'; expected one of 'a', 'b', 'k'"):
        absent.load()
    (by_name,) = find_sets(["iris.csv"], target="b")
    assert by_name.load().classes == ["x0", "x1"]
    outcome = run_study(make_plan(["iris.csv"], ["NB"], runs=1, folds=3), "s.db")
    assert (outcome.rows, outcome.failed) == (3, 0)


@pytest.mark.parametrize("ending", ["csv", "arff"])
def test_a_target_of_measured_numbers(tmp_path, ending):
    """Fractions are no classes; whole numbers are, also where they are written 1.0."""
    heads = {"csv": "a,cls\n", "arff": "@relation x\n@attribute a numeric\n@attribute cls numeric\n@data\n"}
    measured, whole = tmp_path / f"measured.{ending}", tmp_path / f"whole.{ending}"
    measured.write_text(heads[ending] + "".join(f"{i},{i + 0.2232}\n" for i in range(12)))
    whole.write_text(heads[ending] + "".join(f"{i},{1 + i % 2}.0\n" for i in range(12)))
    plan = make_plan([str(measured), str(whole)], ["NB"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (6, 3)
    assert outcome.first_error.endswith(
        "measured." + ending + ": the target 'cls' holds numbers such as 0.2232; "
        "expected classes: text or whole numbers"
    )
    assert SetSource("whole", whole).load().classes == [1.0, 2.0]
    lacking = tmp_path / f"lacking.{ending}"
    lacking.write_text(whole.read_text() + "3,?\n")
    with pytest.raises(ValueError, match="1 of 13 rows have no value in the target 'cls'"):
        SetSource("lacking", lacking).load()


def test_endings_in_capitals(tmp_path):
    """FRUIT.ARFF and FRUIT.CSV are read as what they are."""
    (tmp_path / "FRUIT.ARFF").write_text(OWN)
    (tmp_path / "TABLE.CSV").write_text("a,b,k\n1,x,y\n2,y,n\n")
    fruit, table = (source.load() for source in find_sets([str(path) for path in sorted(tmp_path.iterdir())]))
    assert (fruit.info.name, fruit.coded.sizes.tolist()) == ("FRUIT", [3, 2, 10])
    assert (table.info.name, table.classes) == ("TABLE", ["n", "y"])


@pytest.mark.parametrize(
    ("names", "data", "message"),
    [
        (["nothing"], None, "neither one of the paper's sets nor a file"),
        (["table.txt"], None, "ends in '.txt'"),
        (["one/x.csv", "two/x.csv"], None, "two data sets are called 'x'"),
        (None, "absent", "does not exist"),
        (None, ".", "none of the paper's 36 sets"),
    ],
)
def test_data_that_cannot_be_found(tmp_path, monkeypatch, names, data, message):
    """Names that are no data set, files of another kind and empty folders are refused by name."""
    monkeypatch.chdir(tmp_path)
    for name in ("table.txt", "one/x.csv", "two/x.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=message):
        find_sets(names, Path(data) if data else None)


def test_a_list_of_sets_may_be_longer_than_a_file_name(tmp_path):
    """The names of all sets between commas are taken apart, though no file could be called so."""
    arguments = ["run", "--sets", ",".join(["iris", *50 * ["labor"]]), "--methods", "NB", "--runs", "1"]
    done = subprocess.run(
        [*COMMAND, *arguments, "--jobs", "1", "--store", str(tmp_path / "s.db")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(answers(tmp_path / "s.db")) == 20


def test_named_groups_of_sets(tmp_path):
    """`paper` is all 36, `embedded` nine, and a folder offers what it has."""
    assert len(find_sets(["paper"])) == 36
    assert len(find_sets()) == len(find_sets(["embedded", "iris"])) == 9
    (tmp_path / "zoo.arff").write_text("")
    assert [source.name for source in find_sets(None, tmp_path)] == ["zoo"]


@pytest.mark.parametrize(
    ("options", "message"), [({"runs": 0}, "runs must be"), ({"folds": 1}, "folds must be")]
)
def test_plans_that_cannot_be(options, message):
    """A plan needs at least one run and two folds."""
    with pytest.raises(ValueError, match=message):
        make_plan(["iris"], **options)


# --- running ---------------------


def test_running_again_does_what_is_missing(tmp_path):
    """A second run does nothing; a wider plan does only what it adds."""
    path = tmp_path / "s.db"
    assert run_study(small_plan(), path).rows == 120
    assert run_study(small_plan(), path).rows == 0
    assert run_study(small_plan(runs=3), path).rows == 60
    with Store(path) as store, store.transaction():
        store._db.execute("DELETE FROM folds WHERE dataset = 'glass' AND method = 'LCWNB10' AND fold = 3")
    assert run_study(small_plan(runs=3), path).rows == 3
    assert len(answers(path)) == 180


def test_processes_give_what_one_process_gives(tmp_path):
    """Two processes fill the store with the same answers as one."""
    alone, together = tmp_path / "1.db", tmp_path / "2.db"
    assert run_study(small_plan(), alone).rows == run_study(small_plan(), together, jobs=2).rows == 120
    assert answers(alone) == answers(together)
    with Store(together) as store:
        (about,) = store.invocations()
    assert (about["jobs"], about["folds"]) == (2, 120)
    assert about["seconds"] > 0


def test_a_failure_is_a_row(tmp_path):
    """A fold that fails has a row with the error, the others go on, and a retry tries it again."""
    path = tmp_path / "s.db"
    plan = make_plan(["iris", "labor"], ["bad=test_study_run:Stubborn", "NB"], runs=1, folds=4)
    outcome = run_study(plan, path)
    found = answers(path)
    errors = {key: value for key, value in found.items() if value[3]}
    assert outcome.rows == len(found) == 16
    assert outcome.failed == len(errors) > 0
    assert {value[3] for value in errors.values()} == {"RuntimeError: an odd number of rows"}
    assert {key[1] for key in errors} == {"bad"}
    assert outcome.first_error.startswith("bad on ")
    assert run_study(plan, path).rows == 0
    assert run_study(plan, path, retry=True).rows == len(errors)


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("Leaving", "SystemExit: that was it"),
        (
            "Numbered",
            "ValueError: the method predicted no class of the data set, but 0: expected 'bad', 'good'",
        ),
    ],
)
def test_methods_that_end_the_program_or_answer_with_numbers(tmp_path, method, error):
    """Both fail on every fold like a method that raises, and the others go on."""
    plan = make_plan(["labor"], [f"test_study_run:{method}", "TAN"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (6, 3)
    errors = {value[3] for key, value in answers(tmp_path / "s.db").items() if key[1] == method}
    assert {found.replace("but 1", "but 0") for found in errors} == {error}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("label", "the method predicted 1 label for 19 rows: expected one for each"),
        ("none", "the method predicted labels of shape () for 19 rows: expected one for each"),
        ("column", "the method predicted labels of shape (19, 1) for 19 rows: expected one for each"),
        ("row", "the method gave scores of shape (1, 2) for 19 rows and 2 classes: expected 19 rows and "),
        ("classes", "the method gave scores of shape (19, 1) for 19 rows and 2 classes: expected 19 rows "),
        ("zeros", "row 0 has no probability for any class: expected one above 0 in every row"),
        ("negative", "the method gave NaN, an infinite or a negative number as a probability"),
    ],
)
def test_predictions_of_another_shape(tmp_path, fault, error):
    """Too few labels or probabilities are never counted: each fold fails, with one clear line."""
    method = from_estimator("mine", Misshapen(fault))
    assert run_study(make_plan(["labor"], [method], runs=1, folds=3), tmp_path / "s.db").failed == 3
    errors = {value[3] for value in answers(tmp_path / "s.db").values()}
    assert len(errors) == 1
    assert errors.pop().startswith(f"ValueError: {error}")


def test_an_interrupt_is_no_failure(tmp_path):
    """Ctrl-C inside a method ends the run and leaves no row."""
    with pytest.raises(KeyboardInterrupt):
        run_study(make_plan(["labor"], ["test_study_run:Interrupted"], runs=1), tmp_path / "s.db")
    assert answers(tmp_path / "s.db") == {}


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


def test_what_cannot_be_sent_to_other_processes(tmp_path):
    """A method with a lambda inside needs one process, and is named."""
    plan = make_plan(["labor"], [given], runs=2, folds=3)
    with pytest.raises(ValueError, match=r"the column 'given' cannot be sent to other processes .*--jobs 1"):
        run_study(plan, tmp_path / "s.db", jobs=2)
    assert run_study(plan, tmp_path / "s.db", jobs=1).rows == 6


def test_a_data_set_that_cannot_be_used(tmp_path):
    """A broken or too small file fails in rows of its own, and other data sets go on."""
    (tmp_path / "broken.arff").write_text("@relation x\n@attribute a {1,2}\n@data\n3\n")
    (tmp_path / "tiny.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "unlabelled.csv").write_text("a,b\n1,x\n2,\n3,y\n")
    (tmp_path / "alone.csv").write_text("kind\n" + "x\ny\n" * 9)
    (tmp_path / "cut.csv").write_text("a,b\n" + "1,x\n2,y\n" * 9 + "1")
    names = ("broken.arff", "tiny.csv", "unlabelled.csv", "alone.csv", "cut.csv")
    files = [str(tmp_path / name) for name in names]
    outcome = run_study(make_plan([*files, "labor"], ["NB"], runs=1, folds=3), tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (18, 15)
    assert "line 20: expected 2 values, got 1" in answers(tmp_path / "s.db")["cut", "NB", 1, 1][3]
    errors = {key[0]: value[3] for key, value in answers(tmp_path / "s.db").items()}
    assert errors["labor"] is None
    assert "cannot make 3 folds of 2 rows" in errors["tiny"]
    assert "1 of 3 rows have no value in the target 'b'" in errors["unlabelled"]
    assert "cannot use the data set" in errors["broken"]
    assert "alone.csv has no column beside the target 'kind'; expected features too" in errors["alone"]


def test_a_process_that_dies_costs_its_unit_only(tmp_path, monkeypatch):
    """When a worker is killed, its unit is a failure with the cause, and the rest is done."""
    monkeypatch.setenv("STUDY_TEST_PARENT", str(os.getpid()))
    plan = make_plan(["iris", "labor"], ["deadly=test_study_run:Deadly", "NB"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db", jobs=2)
    assert (outcome.rows, outcome.failed) == (12, 6)
    assert "ended with exit code -9" in outcome.first_error
    assert {key[1] for key, value in answers(tmp_path / "s.db").items() if value[3]} == {"deadly"}


def test_workers_that_cannot_start(tmp_path, monkeypatch):
    """Processes that end before they did anything are an error, not an endless new start."""
    monkeypatch.setattr("localbayes.study.crew._worker", os._exit)
    with pytest.raises(OSError, match="before it had done anything"):
        run_study(make_plan(["iris"], ["NB"], runs=2), tmp_path / "s.db", jobs=2)


def test_a_store_that_fails_in_a_worker(tmp_path, monkeypatch):
    """An error of the store in a worker ends the run with that error."""
    path = tmp_path / "s.db"
    with Store(path) as store, store.transaction():
        store._db.execute(
            "CREATE TRIGGER t BEFORE INSERT ON folds BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    with pytest.raises(OSError, match="disk is full"):
        run_study(make_plan(["iris"], ["NB"], runs=2), path, jobs=2)
    with pytest.raises(sqlite3.Error, match="disk is full"):
        run_study(make_plan(["iris"], ["NB"], runs=2), path)


def test_a_worker_takes_what_is_free(tmp_path):
    """A worker tells its parent of every fold, and leaves alone what is done or claimed by others."""
    path, plan = tmp_path / "s.db", small_plan()
    with Store(path) as store:
        store.fix_folds(plan.n_folds)
        run_study(make_plan(["iris"], ["NB"], runs=1, folds=5), path)
        here, there = multiprocessing.Pipe(duplex=False)
        handler = signal.getsignal(signal.SIGINT)
        try:
            crew._worker(plan, plan.units(), path, there)
        finally:
            signal.signal(signal.SIGINT, handler)
        messages = []
        while here.poll():
            messages.append(here.recv())
        assert {kind for kind, _, _ in messages} == {"rows"}
        told = sum(len(rows) for _, _, rows in messages)
        assert told == 115
        assert len(answers(path)) == 120


def test_a_worker_whose_parent_is_gone(tmp_path, monkeypatch):
    """A worker that cannot tell anybody ends at once; the fold it has written stays."""
    here, there = multiprocessing.Pipe(duplex=False)
    here.close()
    monkeypatch.setattr(os, "_exit", _leave)
    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit, match="1"):
            crew._worker(small_plan(), small_plan().units(), tmp_path / "s.db", there)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert 0 < len(answers(tmp_path / "s.db")) <= 3


def test_a_worker_tells_what_went_wrong(tmp_path):
    """An error that is not a method's reaches the parent as one line with its place."""
    here, there = multiprocessing.Pipe(duplex=False)
    handler = signal.getsignal(signal.SIGINT)
    try:
        crew._worker(small_plan(), small_plan().units(), tmp_path / "no" / "s.db", there)
    finally:
        signal.signal(signal.SIGINT, handler)
    kind, text = here.recv()
    assert kind == "fatal"
    assert "folder of the store" in text
    assert "store.py:" in text


def _leave(code):
    raise SystemExit(str(code))


def test_threads_are_limited_for_workers_only(monkeypatch):
    """Processes are started with one thread each; what was set before is set again afterwards."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with crew._one_thread_each():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_waiting_for_another_run(tmp_path, monkeypatch):
    """What another process has claimed is waited for, and done when it is given up."""
    path, told = tmp_path / "s.db", []
    plan = make_plan(["labor"], ["NB"], runs=1, folds=3)

    class Watch:
        def begin(self, todo):
            told.append("begin")

        def advance(self, unit, rows):
            told.append("advance")

        def waiting(self, units):
            told.append(f"waiting for {units}")
            with Store(path) as store, store.transaction():  # the other machine gives up
                store._db.execute("DELETE FROM claims")

    away = replace(this_process(), host="elsewhere")
    with Store(path) as store, monkeypatch.context() as other:
        other.setattr("localbayes.study.store.this_process", lambda: away)
        store.claim("labor", "NB", 1)
    monkeypatch.setattr("localbayes.study.run.POLL_SECONDS", 0)
    assert run_study(plan, path, progress=Watch()).rows == 3
    assert told == ["begin", "waiting for 1", "advance", "advance", "advance"]


def test_a_claim_lost_at_the_last_moment(tmp_path, monkeypatch):
    """If another process takes a unit between looking and claiming, it is that process's."""
    with Store(tmp_path / "s.db") as store:
        looks = iter([False, True])
        monkeypatch.setattr(store, "_held", lambda key, me: next(looks))
        assert not store.claim("iris", "NB", 1)


def test_jobs_must_be_positive(tmp_path):
    """Less than one process is refused."""
    with pytest.raises(ValueError, match="jobs must be >= 1, got 0"):
        run_study(small_plan(), tmp_path / "s.db", jobs=0)


# --- command line ---------------------

COMMAND = [sys.executable, "-c", "from localbayes.cli import main; main()", "study"]
# A shell starts background jobs with SIGINT ignored, and that is inherited.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
INTERRUPTIBLE = [COMMAND[0], "-c", LISTEN + COMMAND[2], COMMAND[3]]


def invoke(*words: str):
    return CliRunner().invoke(app, ["study", *words])


def test_command_line(tmp_path, monkeypatch):
    """run, run again, show and report work together, and say what they did."""
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "--sets", "iris,labor", "--methods", "LCWNB,NB", "--runs", "1", "--jobs", "1"]
    first = invoke(*arguments)
    assert first.exit_code == 0
    assert first.stdout.startswith("study.db: 80 fold results in ")
    assert "nothing to do" in invoke(*arguments).stdout
    shown = invoke("show").stdout
    assert "iris" in shown
    assert "LCWNB20" in shown
    assert "mean rank" in shown
    done = invoke("report", "--out", "page")
    assert done.exit_code == 0
    assert "page/index.html" in done.stdout
    assert {path.name for path in Path("page").iterdir()} == {
        "table.csv",
        "table.tex",
        "tests.json",
        "figure1.svg",
        "figure2.svg",
        "critical-difference.svg",
        "index.html",
    }


def test_command_line_reports_failures(tmp_path):
    """Failures end with exit code 1 and the first of them."""
    (tmp_path / "tiny.csv").write_text("a,b\n1,x\n2,y\n")
    words = ["--sets", str(tmp_path / "tiny.csv"), "--methods", "NB", "--store", str(tmp_path / "s.db")]
    result = invoke("run", *words, "--jobs", "1")
    assert result.exit_code == 1
    assert "100 failed, the first: NB on tiny: cannot use the data set" in result.stderr
    again = invoke("run", *words, "--jobs", "1")
    assert again.exit_code == 1
    assert "are complete" not in again.stdout
    assert again.stderr == "100 folds failed earlier; --retry tries them again\n"


def test_a_complete_set_that_has_changed(tmp_path):
    """Also where nothing is left to do, a file with other content is refused under its name."""
    path = tmp_path / "mine.csv"
    words = ["run", "--sets", f"{path},labor", "--methods", "NB", "--runs", "1", "--folds", "3"]
    words += ["--jobs", "1", "--store", str(tmp_path / "s.db")]
    path.write_text("a,k\n" + "1,x\n2,y\n" * 9)
    assert invoke(*words).exit_code == 0
    before = answers(tmp_path / "s.db")
    assert "all 2 data sets are complete" in invoke(*words).stdout
    path.write_text("a,k\n" + "1,y\n2,x\n" * 9)
    changed = invoke(*words)
    assert changed.exit_code == 1
    assert "are complete" not in changed.stdout
    assert changed.stderr.startswith("data set 'mine' differs from the one in the store")
    assert answers(tmp_path / "s.db") == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--methods", "XYZ"], "unknown method 'XYZ'"),
        (["run", "--sets", "nothing"], "neither one of the paper's sets nor a file"),
        (["run", "--runs", "0"], "runs must be >= 1, got 0"),
        (["report", "--store", "none.db"], "there is no store none.db"),
        (["show", "--store", "empty.db"], "has no results yet"),
        (["show", "--store", "bad.db"], "not a usable study store"),
        (["show", "--store", "good.db", "--reference", "nope"], "the reference can be LCWNB5, LCWNB10, "),
        (["report", "--store", "good.db", "--reference", "nope"], "has no results of the column 'nope'"),
    ],
)
def test_command_line_errors_are_one_line(tmp_path, monkeypatch, words, message):
    """Bad input ends with exit code 2 and one line."""
    monkeypatch.chdir(tmp_path)
    Store("empty.db").close()
    Path("bad.db").write_text("no store" * 200)
    paper_store(Path("good.db"), ["iris"])
    result = invoke(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_store_that_cannot_be_written(tmp_path):
    """What SQLite says about a store that cannot be written comes as one line."""
    path = tmp_path / "s.db"
    with Store(path) as store, store.transaction():
        store._db.execute(
            "CREATE TRIGGER t BEFORE INSERT ON folds BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    words = ["--sets", "labor", "--methods", "NB", "--jobs", "1", "--store", str(path)]
    result = invoke("run", *words)
    assert result.exit_code == 2
    assert "cannot be used: disk is full" in result.stderr


def test_the_table_says_what_it_refers_to(tmp_path):
    """Without LCWNB5 the marks refer to the first column, and a column of one's own has its rank too."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store:
        store.add_methods([("Best", "never wrong")])
        store.add([FoldRow(s.name, "Best", 1, f, 9, 9, 9, 9) for s in store.sets() for f in range(2)])
        with store.transaction():
            store._db.execute("DELETE FROM folds WHERE method = 'LCWNB5'")
    shown = invoke("show", "--store", str(path))
    assert shown.exit_code == 0
    assert shown.stderr.startswith("warning: LCWNB5 has no results")
    assert "marks refer to LCWNB10" in shown.stderr
    (papers,) = (line for line in shown.stdout.splitlines() if "mean rank, paper's" in line)
    (every,) = (line for line in shown.stdout.splitlines() if "mean rank, all" in line)
    assert every.split()[-1] == "1.0000"
    assert len(every.split()) == len(papers.split()) + 1


def on_a_terminal(words: list[str], columns: int) -> tuple[int, str]:
    """Run a command on a terminal of so many columns; return exit code and what was seen."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen([*COMMAND, *words], stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    output = read_terminal(master, PATIENCE)
    os.close(master)
    return process.wait(PATIENCE), output.decode()


def test_progress_on_a_terminal(tmp_path):
    """On a terminal there is a bar; the names of data sets in it are not read as markup."""
    (tmp_path / "[red]x.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    words = ["run", "--sets", str(tmp_path / "[red]x.csv"), "--methods", "NB", "--jobs", "1"]
    code, seen = on_a_terminal([*words, "--store", str(tmp_path / "s.db")], 200)
    assert code == 0
    assert "%" in seen
    assert "[red]x" in seen
    assert "100 fold results" in seen


@pytest.mark.parametrize(("columns", "spread"), [(150, True), (60, False)])
def test_the_table_fits_the_terminal(tmp_path, columns, spread):
    """A wide terminal shows deviations and counts, a narrow one leaves them out and cuts nothing off."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store, store.transaction():
        store._db.execute("DELETE FROM folds WHERE method NOT IN ('LCWNB5', 'LCWNB10', 'NB', 'TAN')")
    code, seen = on_a_terminal(["show", "--store", str(path)], columns)
    assert code == 0
    assert ("94.73±0.00" in seen, "s.w." in seen) == (spread, spread)
    assert "94.73" in seen
    assert "…" not in seen


def test_the_bar_is_told_everything(tmp_path, monkeypatch):
    """On a terminal the bar moves with the rows, and says for whom it waits."""
    monkeypatch.setattr(sys, "stderr", Screen())
    plan = make_plan(["labor"], ["NB"], runs=1, folds=3)
    with cli._Bar() as bar:
        run_study(plan, tmp_path / "s.db", progress=bar)
        task = bar._progress.tasks[0]
        assert task.completed == pytest.approx(task.total)
        assert task.description == "labor · NB · run 1"
        bar.waiting(2)
        assert "another run that has the last 2 units" in bar._progress.tasks[0].description


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_interrupted_in_this_process(tmp_path, monkeypatch):
    """Ctrl-C in the middle of the work gives one line and exit code 130."""
    monkeypatch.setattr("localbayes.study.run.work", _interrupt)
    words = ["--sets", "labor", "--methods", "NB", "--jobs", "1", "--store", str(tmp_path / "s.db")]
    result = invoke("run", *words)
    assert result.exit_code == 130
    assert result.stderr.startswith("interrupted; ")


def _interrupt(*_):
    raise KeyboardInterrupt


def test_a_narrow_terminal_in_this_process(tmp_path, monkeypatch):
    """Too many columns for the terminal are shown without deviations."""
    monkeypatch.setenv("COLUMNS", "40")
    path = paper_store(tmp_path / "s.db", ["iris"])
    with Store(path) as store:
        brief = cli._rich_table(examine(store), brief=True)
    assert brief.row_count == 3


def test_silence_in_a_pipe(tmp_path):
    """In a pipe there is no bar, and nothing on stderr."""
    words = ["run", "--sets", "labor", "--methods", "NB", "--jobs", "1", "--store", str(tmp_path / "s.db")]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_ctrl_c(tmp_path):
    """Ctrl-C ends the run and its processes with one line and exit code 130; what was done stays done."""
    path = tmp_path / "s.db"
    words = ["run", "--sets", "credit-g,vote", "--methods", "ICLNB,LWNB", "--jobs", "2", "--store", str(path)]
    process = subprocess.Popen(
        [*INTERRUPTIBLE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until_rows(process, path, 5)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.strip() == f"interrupted; {path} keeps what is done, run again to go on"
    before = len(answers(path))
    assert before >= 5
    with Store(path) as store:
        held = store._db.execute("SELECT owner FROM claims").fetchall()
        assert all(store.free(*key) for key in store._db.execute("SELECT dataset, task, run FROM claims")), (
            held
        )


def until_rows(process: subprocess.Popen, path: Path, rows: int) -> None:
    """Watch the store until it has so many rows; an early end of the process is an error."""
    latest = time.monotonic() + PATIENCE
    while time.monotonic() < latest:
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            if path.exists() and count(path) >= rows:
                return
        else:
            raise AssertionError(f"ended early: {process.stderr.read() if process.stderr else ''}")
    process.kill()
    raise AssertionError(f"{path} has less than {rows} rows after {PATIENCE} s")


def count(path: Path) -> int:
    database = sqlite3.connect(path)
    try:
        return database.execute("SELECT count(*) FROM folds").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()


def test_rows_carry_the_version(tmp_path):
    """Every row names the version that made it."""
    from localbayes import __version__

    run_study(make_plan(["labor"], ["NB"], runs=1, folds=2), tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        rows: list[FoldRow] = list(store.rows())
    assert {row.version for row in rows} == {__version__}
    assert all(row.fit_seconds >= 0 and row.predict_seconds >= 0 for row in rows)


def test_results_of_another_version_are_told(tmp_path):
    """A store is not made anew for a new version: a run that keeps older results of our columns says so."""
    from localbayes import __version__

    path = tmp_path / "s.db"
    words = ["run", "--sets", "labor", "--methods", "NB,own=test_study_run:Stubborn", "--runs", "1"]
    words += ["--folds", "2", "--jobs", "1", "--store", str(path)]

    def stderr_with(column: str, version: str) -> list[str]:
        with Store(path) as store, store.transaction():
            store._db.execute("UPDATE folds SET version = ? WHERE method = ?", (version, column))
        return [line for line in invoke(*words).stderr.splitlines() if "warning" in line]

    invoke(*words)
    assert stderr_with("own", "0.0.1") == [], "a classifier of one's own is told apart by its description"
    assert stderr_with("NB", "0.0.1") == [
        f"warning: the store {path} keeps results of localbayes 0.0.1, this is {__version__}: "
        "use another store to have them all from this one"
    ]
    assert stderr_with("NB", __version__) == []
    with Store(path) as store:
        assert store.other_versions(["labor"], ["NB", "own"], __version__) == ["0.0.1"]
