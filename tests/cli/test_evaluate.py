"""`evaluate` prints what scikit-learn computes on the same folds."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import cross_val_score

from command_line import IRIS, ok, on_terminal, refused, run
from localbayes import LCWNB, NB
from localbayes.classifiers import METHODS
from localbayes.cli import app
from localbayes.cli.evaluate import cross_validate
from localbayes.cli.measured import calibration_error
from localbayes.datasets import embedded_path, load
from localbayes.weka import WekaFolds, corrected_paired_ttest


def figures(text: str) -> list[float]:
    """Mean and sd of accuracy and log loss, out of the printed table."""
    return [float(number) for pair in re.findall(r"([\d.]+) ± ([\d.]+)", text) for number in pair]


def test_evaluate_agrees_with_scikit_learn() -> None:
    """Accuracy and log loss are those of scikit-learn's tools on the same folds."""
    X, y = load("glass")
    text = ok("evaluate", embedded_path("glass"), "--target", "Type", "--kappa", "10", "--folds", 5)
    assert "glass.arff: 214 rows, 9 columns, 7 classes; 5-fold cross-validation, 1 run" in text
    accuracy, losses, labels = [], [], sorted(y.cat.categories)
    for train, test in WekaFolds(5, 1).split(X, y):
        model = LCWNB(10).fit(X.iloc[train], y.iloc[train])
        accuracy.append(100 * accuracy_score(y.iloc[test], model.predict(X.iloc[test])))
        losses.append(log_loss(y.iloc[test], model.predict_proba(X.iloc[test]), labels=labels))
    expected = [statistic(values) for values in (accuracy, losses) for statistic in (mean, stdev)]
    assert figures(text)[:2] == pytest.approx(expected[:2], abs=0.0051)
    assert figures(text)[2:] == pytest.approx(expected[2:], abs=0.000051)


def test_evaluate_says_that_a_loss_is_infinite(tmp_path: Path) -> None:
    """Without smoothing the only row of a class with some value is impossible: inf, and no warning."""
    (tmp_path / "t.csv").write_text("x,class\n" + "a,yes\n" * 20 + "a,no\n" + "b,no\n" * 20)
    shown = ok("evaluate", tmp_path / "t.csv", "-t", "class", "-m", "NB", "--alpha", "0")
    assert re.search(r"\binf\b", shown)
    assert "nan" not in shown


@pytest.mark.parametrize("columns", ["200", "80", "50", "20"])
def test_evaluate_shows_its_figures_whole(columns: str) -> None:
    """A long description is continued on the next line, whatever the width; the figures stay as they are."""
    words = ["-m", "NB", "--missing", "ignore", "--n-bins", "5", "-p", "discretize=mdl"]
    result = run("evaluate", IRIS, "-t", "class", *words, env={"COLUMNS": columns})
    assert result.exit_code == 0
    model = NB(missing="ignore", n_bins=5, discretize="mdl")
    accuracy, losses = cross_validate(model, *load("iris"), folds=10, runs=1)
    expected = [
        statistic(values.tolist()) for values in (100 * accuracy, losses) for statistic in (mean, stdev)
    ]
    assert figures(result.stdout)[:2] == pytest.approx(expected[:2], abs=0.0051)
    assert figures(result.stdout)[2:] == pytest.approx(expected[2:], abs=0.000051)
    assert "…" not in result.stdout
    # The first line of the description has the figures behind it.
    letters = "".join(re.sub(r"[\d.]+ ± [\d.]+", "", result.stdout).split())
    assert "NB(discretize='mdl',missing='ignore',n_bins=5)" in letters


def test_long_numbers_are_classes(tmp_path: Path) -> None:
    """A target of numbers beyond 64 bits is read as text."""
    (tmp_path / "t.csv").write_text("x,class\n" + "a,123456789012345678901\nb,223456789012345678901\n" * 3)
    assert "2 classes" in ok("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m.skops")


def test_a_stream_of_another_kind_takes_the_result() -> None:
    """What stands in for standard output need not know about encodings."""
    with contextlib.redirect_stdout(io.StringIO()) as page, pytest.raises(SystemExit, match=r"^0$"):
        app(["evaluate", IRIS, "-t", "class", "-m", "NB"])
    assert "±" in page.getvalue()


def test_a_closed_standard_output_is_no_error() -> None:
    """Who closes the output wants none."""
    code = "import sys; sys.stdout = None; from localbayes.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "methods"], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_evaluate_gives_the_printed_figure(paper_data: Path) -> None:
    """Where nothing is to be filled or cut, as in kr-vs-kp, the paper's cell for LCWNB5 comes out."""
    text = ok("evaluate", paper_data / "kr-vs-kp.arff", "--target", "class", "--runs", 10, "--kappa", 5)
    assert figures(text)[:2] == [97.72, 0.81]


def test_a_class_that_a_training_fold_lacks_has_a_probability(tmp_path: Path) -> None:
    """With a class of one row, log loss stays finite: the whole file declares the classes."""
    path = tmp_path / "t.csv"
    path.write_text("x,class\n" + "a,1\nb,2\n" * 5 + "a,3\n")
    assert np.isfinite(figures(ok("evaluate", path, "--target", "class", "--folds", 11))).all()


def test_ties_go_to_the_class_declared_first() -> None:
    """Identical rows in two classes are a tie; the declared order, not the sorted one, decides."""
    X = pd.DataFrame({"x": ["a"] * 40})
    y = pd.Series(pd.Categorical(["p", "q"] * 20, categories=["q", "p"]))
    accuracy, _ = cross_validate(LCWNB(5), X, y, folds=10, runs=1)
    assert accuracy.mean() == 0.5
    hits = [
        (LCWNB(5).fit(X.iloc[a], y.iloc[a]).predict(X.iloc[b]) == y.iloc[b]).mean()
        for a, b in WekaFolds(10, 1).split(X, y)
    ]
    assert accuracy.tolist() == hits


# --- all scores ---------------------------------------------------------------------------------------


def answers_of(
    model: LCWNB, name: str, folds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Truth, prediction and probabilities of all rows of a set, fold after fold, and the folds' rows."""
    X, y = load(name)
    truth, predicted, proba, places = [], [], [], []
    for train, test in WekaFolds(folds, 1).split(X, y):
        fitted = model.fit(X.iloc[train], y.iloc[train])
        truth.append(y.iloc[test].to_numpy(dtype=object))
        predicted.append(fitted.predict(X.iloc[test]))
        proba.append(fitted.predict_proba(X.iloc[test]))
        places.append(np.arange(len(test)) + sum(map(len, places)))
    return np.concatenate(truth), np.concatenate(predicted), np.concatenate(proba), places


@pytest.mark.parametrize("name", ["glass", "breast-cancer"])
def test_every_score_is_that_of_scikit_learn(name: str) -> None:
    """Balanced accuracy, macro F1, AUC, Brier score, precision, recall and confusions, from --json."""
    told = json.loads(ok("evaluate", name, "-m", "NB", "--folds", 5, "--json"))
    (found,) = told["methods"]
    truth, predicted, proba, places = answers_of(NB(), name, 5)
    labels = sorted(load(name)[1].cat.categories)
    present = sorted(set(truth))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, predicted))
    f1 = metrics.f1_score(truth, predicted, labels=present, average="macro")
    assert found["macro_f1"] == pytest.approx(f1)
    areas = [
        metrics.roc_auc_score(truth[rows] == label, proba[rows, labels.index(label)])
        for rows in places
        for label in labels
        if 0 < (truth[rows] == label).sum() < len(rows)
    ]
    assert found["auc"] == pytest.approx(np.mean(areas))
    hits = np.array([[label == true for label in labels] for true in truth])
    # The probability of one of two classes has the usual Brier score, of which this is the general form.
    brier = np.mean([metrics.brier_score_loss(hits[:, k], proba[:, k]) for k in range(len(labels))])
    assert found["brier"] == pytest.approx(brier * len(labels) / 2)
    declared = load(name)[1].cat.categories.tolist()
    assert found["confusion"] == metrics.confusion_matrix(truth, predicted, labels=declared).tolist()
    for label in present:
        options = {"labels": [label], "average": "macro", "zero_division": np.nan}
        precision = metrics.precision_score(truth, predicted, **options)
        assert found["per_class"][label]["precision"] == (
            None if np.isnan(precision) else pytest.approx(precision)
        )
        recall = metrics.recall_score(truth, predicted, **options)
        assert found["per_class"][label]["recall"] == pytest.approx(recall)
    assert found["accuracy"]["mean"] == pytest.approx(np.mean(found["accuracy"]["folds"]))


def test_calibration_error_by_hand() -> None:
    """Two rows stated at 0.9 and 1.0 of which one is right, one at 0.6 that is right: (0.9 + 0.4) / 3."""
    found = calibration_error(np.array([0.9, 1.0, 0.6]), np.array([True, False, True]))
    assert found == pytest.approx((abs(0.9 + 1.0 - 1) + abs(0.6 - 1)) / 3)
    sure = np.full(100, 0.75)
    assert calibration_error(sure, np.arange(100) < 75) == pytest.approx(0)


def test_the_baseline_is_scikit_learns_dummy() -> None:
    """Always the most frequent class: the accuracy of DummyClassifier on the same folds; AUC is a half."""
    X, y = load("diabetes")
    told = json.loads(ok("evaluate", "diabetes", "-m", "NB", "--json"))["baseline"]
    dummy = cross_val_score(DummyClassifier(), X, y, cv=WekaFolds(10, 1))
    assert told["accuracy"]["folds"] == pytest.approx((100 * dummy).tolist())
    assert (told["auc"], told["balanced_accuracy"]) == (0.5, 0.5)


def test_a_rare_class_is_not_hidden_by_accuracy(tmp_path: Path) -> None:
    """Fourteen rows of 2,000 are positive, by chance: what always says no is shown beside, and said."""
    rng = np.random.default_rng(0)
    lines = [f"{a},{b},{'yes' if k < 14 else 'no'}" for k, (a, b) in enumerate(rng.integers(0, 4, (2000, 2)))]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,class", *lines]))
    text = ok("evaluate", tmp_path / "t.csv", "-t", "class", "-m", "NB", "--categorical", "all")
    assert re.search(r"^ +always no +99\.30 ", text, re.MULTILINE)
    assert re.search(r"^ +balanced accuracy in % +50\.00 +50\.00 ", text, re.MULTILINE)
    assert "NB() is right no more often than a program that says no of every row (99.30%)." in text
    assert re.search(r"^ +yes +14 +– +0\.000 ", text, re.MULTILINE)


def test_several_methods_are_compared_with_the_first() -> None:
    """p is that of the corrected t-test on the same folds; -m may be repeated, have commas, or say all."""
    told = json.loads(ok("evaluate", "labor", "-m", "AODE,nb", "-m", "TAN", "--runs", 2, "--json"))
    assert [entry["method"] for entry in told["methods"]] == ["AODE()", "NB()", "TAN()"]
    first, *others = told["methods"]
    assert "versus_first" not in first
    for entry in others:
        test = corrected_paired_ttest(entry["accuracy"]["folds"], first["accuracy"]["folds"])
        assert entry["versus_first"]["p"] == pytest.approx(test.pvalue)
        assert entry["versus_first"]["difference"] == pytest.approx(test.difference)
    table = ok("evaluate", "labor", "-m", "AODE,nb", "-m", "TAN", "--runs", 2)
    for entry in others:
        assert re.search(rf"^ +{re.escape(entry['method'])} .* {entry['versus_first']['p']:.3f}", table, re.M)
    every = ok("evaluate", "labor", "-m", "all", "--folds", 2)
    assert all(f" {name}() " in every for name in METHODS)


def test_parameters_go_to_the_methods_that_have_them() -> None:
    """Of several methods one may have kappa; a parameter that none has is refused."""
    text = ok("evaluate", "labor", "-m", "LCWNB,NB", "--kappa", 5, "--folds", 2)
    assert "LCWNB(kappa=5)" in text
    assert "NB()" in text
    assert "has no parameter 'k'" in refused("evaluate", "labor", "-m", "LCWNB,NB", "--k", 5)


def test_one_class_leaves_nothing_to_tell_apart(tmp_path: Path) -> None:
    """A table of one class says so."""
    (tmp_path / "t.csv").write_text("x,class\n" + "a,yes\n" * 20)
    line = refused("evaluate", tmp_path / "t.csv", "-t", "class")
    assert line.endswith("t.csv has one class only, 'yes'; there is nothing to tell apart")


@pytest.mark.parametrize("name", ["vote", "glass", "soybean"])
def test_all_tables_fit_a_terminal_of_80_columns(name: str) -> None:
    """Nothing is cut, and no line is broken by the terminal: scores, classes, confusions."""
    shown = on_terminal("evaluate", name, "-m", "NB", "--folds", 3, columns=80)
    assert max(map(len, shown.splitlines())) <= 80
    matrix = [line.split() for line in shown.splitlines() if re.match(r" *[a-z] = ", line)]
    confusion = json.loads(ok("evaluate", name, "-m", "NB", "--folds", 3, "--json"))["methods"][0][
        "confusion"
    ]
    r = len(confusion)
    assert [[int(c.replace(".", "0")) for c in line[-r:]] for line in matrix] == confusion


def test_many_classes_have_their_mistakes_listed(tmp_path: Path) -> None:
    """Where a matrix would not fit 80 columns, the most frequent mistakes come in order."""
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 40, 1200)
    lines = [f"{c // 2},{c % 7},k{c}" for c in classes]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,class", *lines]))
    text = ok("evaluate", tmp_path / "t.csv", "-t", "class", "-m", "NB", "--folds", 2, "--n-bins", 5)
    told = json.loads(
        ok("evaluate", tmp_path / "t.csv", "-t", "class", "-m", "NB", "--folds", 2, "--n-bins", 5, "--json")
    )
    confusion = np.array(told["methods"][0]["confusion"])
    np.fill_diagonal(confusion, 0)
    listed = re.findall(r"^ +(k\d+) +(k\d+) +(\d+) +$", text.partition("most frequent mistakes")[2], re.M)
    assert [int(rows) for *_, rows in listed] == sorted(confusion.ravel().tolist(), reverse=True)[
        : len(listed)
    ]
    names = list(told["classes"])
    assert all(confusion[names.index(t), names.index(p)] == int(rows) for t, p, rows in listed)
