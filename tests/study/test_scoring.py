"""What a prediction is worth, against scikit-learn and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import log_loss

from hostile_methods import Misshapen
from localbayes.study import (
    Prediction,
    from_estimator,
    make_plan,
    run_study,
)
from localbayes.study.scoring import score
from study_support import answers


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
