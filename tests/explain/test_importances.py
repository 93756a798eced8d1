"""What matters overall: against classifiers that are fitted again without a row, or without an attribute."""

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from localbayes.classifiers import CLASSIFIERS, ICLNB, LCWNB, LWNB, NB
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.explain import plot_importances
from localbayes.explain.importance import MOST_ROWS

mpl.use("Agg")

every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


@pytest.fixture(scope="module")
def table():
    """Sixty rows of five attributes: one that tells the class, one that helps, three of noise."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 60)
    codes = rng.integers(0, 3, (60, 5))
    codes[:, 1] = np.where(rng.random(60) < 0.85, y, codes[:, 1])
    codes[:, 3] = np.where(rng.random(60) < 0.4, y, codes[:, 3])
    return codes, np.array(["a", "b", "c"])[y]


def coded(codes):
    return Coded(codes, [3] * codes.shape[1])


def refitted_loss(model, codes, y):
    """Mean log loss of every row under a classifier that is fitted on all others."""
    losses = []
    for k in range(len(y)):
        others = np.arange(len(y)) != k
        labels = pd.Series(pd.Categorical(y, ["a", "b", "c"]))[others]
        proba = model.fit(coded(codes[others]), labels).predict_proba(coded(codes[[k]]))[0]
        losses.append(-np.log(proba["abc".index(y[k])]))
    return np.mean(losses)


def test_for_naive_bayes_the_loss_is_that_of_a_fit_without_the_attribute(table):
    """Dropping a term of NB is NB without the column: 60 x 6 classifiers fitted again agree."""
    codes, y = table
    found = NB().fit(coded(codes), y).importances()
    whole = refitted_loss(NB(), codes, y)
    assert found.log_loss == pytest.approx(whole, abs=1e-12)
    for i in range(5):
        without = refitted_loss(NB(), np.delete(codes, i, axis=1), y)
        assert found.loss[i] == pytest.approx(without - whole, abs=1e-12)


@pytest.mark.parametrize("model", [NB(), LWNB(k=9), ICLNB(k=4), LCWNB(kappa=5)], ids=str)
def test_strength_is_the_mean_of_what_explanations_show(model, table):
    """Each row is explained by a classifier that is fitted on all others; bars are averaged."""
    codes, y = table
    expected = np.zeros(5)
    for k in range(len(y)):
        others = np.arange(len(y)) != k
        answer = model.fit(coded(codes[others]), y[others]).explain(coded(codes[[k]]), top=0)
        expected += np.abs(answer.log_odds().contributions) / len(y)
    found = model.fit(coded(codes), y).importances()
    np.testing.assert_allclose(found.strength, expected, atol=1e-9)


@every_classifier
def test_noise_matters_less_than_what_tells_the_class(name, table):
    """In every classifier the telling attribute leads and its loss is the largest."""
    codes, y = table
    model = CLASSIFIERS[name]().fit(coded(codes), y)
    found = model.importances()
    assert found.order[0] == 1
    assert found.loss.argmax() == 1
    assert found.loss[1] > 0.1
    assert found.n_rows == 60
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares, found.strength / found.strength.sum())


def test_scikit_learn_selects_by_it(table):
    """SelectFromModel reads `feature_importances_` and keeps the telling column."""
    codes, y = table
    X = pd.DataFrame(codes.astype(str), columns=list("pqrst"))
    chosen = SelectFromModel(NB()).fit(X, y)
    assert chosen.get_feature_names_out().tolist() == ["q"]


@pytest.mark.parametrize("options", [{"priors": [0.2, 0.3, 0.5]}, {"class_weight": {"a": 3.0}}], ids=str)
@pytest.mark.parametrize("model", [NB, LCWNB])
def test_priors_and_class_weights_are_part_of_the_loss(model, options, table):
    """The log loss is that of `predict_proba(None)`."""
    codes, y = table
    fitted = model(**options).fit(coded(codes), y)
    proba = fitted.predict_proba(None)[np.arange(60), np.searchsorted(fitted.classes_, y)]
    assert fitted.importances().log_loss == pytest.approx(-np.log(proba).mean(), abs=1e-9)


def test_a_row_of_weight_two_is_two_rows(table):
    """Weights and copies give the same figures."""
    codes, y = table
    weights = np.where(np.arange(60) % 3, 1, 2)
    weighted = NB().fit(coded(codes), y, sample_weight=weights).importances()
    copied = NB().fit(coded(np.repeat(codes, weights, axis=0)), np.repeat(y, weights)).importances()
    np.testing.assert_allclose(weighted.strength, copied.strength)
    np.testing.assert_allclose(weighted.loss, copied.loss)


@pytest.mark.parametrize("model", [NB(0.0), ICLNB(alpha=0.0)], ids=str)
def test_impossible_classes_leave_no_nan(model):
    """Without Laplace's constant the figures are finite."""
    X, y = load("labor")
    found = model.fit(X, y).importances()
    assert np.isfinite([*found.strength, *found.loss, found.log_loss]).all()


def test_rows_can_be_chosen_and_are_bounded(monkeypatch):
    """Some rows by number; of a large table a fixed sample, the same each time."""
    X, y = load("vote")
    model = NB().fit(X, y)
    one, two = model.importances([0]), model.importances([1])
    both = model.importances([0, 1])
    np.testing.assert_allclose(both.strength, (one.strength + two.strength) / 2)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (MOST_ROWS + 1000, 3))
    large = NB().fit(Coded(codes, [2] * 3), codes[:, 0] ^ (rng.random(len(codes)) < 0.2))
    assert large.importances().n_rows == MOST_ROWS
    np.testing.assert_array_equal(large.importances().strength, large.importances().strength)


def test_names_and_text_are_those_of_the_table():
    """Strongest first, ten at most."""
    X, y = load("vote")
    found = NB().fit(X, y).importances()
    assert found.names == tuple(X.columns)
    lines = repr(found).splitlines()
    assert lines[0].startswith("Importances in NB(), of 435 left-out rows with log loss ")
    assert [line.split()[0] for line in lines[2:12]] == [found.names[i] for i in found.order[:10]]
    assert lines[-1] == "  and 6 more"


def test_bars_are_as_long_as_strengths():
    """Strongest first; the loss stands beside its bar."""
    X, y = load("vote")
    found = NB().fit(X, y).importances()
    ax = plot_importances(found, top=7)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], found.strength[found.order[:7]])
    assert [label.get_text() for label in ax.get_yticklabels()] == [found.names[i] for i in found.order[:7]]
    assert "9 weaker attributes not drawn" in ax.get_title(loc="left")
    assert [float(t.get_text().replace("−", "-")) for t in ax.texts[:7]] == pytest.approx(
        found.loss[found.order[:7]], abs=5e-4
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([435], "rows must be numbers from 0 to 434, got 435"),
        ([-1], "rows must be numbers from 0 to 434, got -1"),
        ([], "rows must hold the number of one training row or more, got none"),
    ],
)
def test_rows_that_are_not_there_are_refused(rows, message):
    """One line says which."""
    X, y = load("vote")
    with pytest.raises(ValueError, match=re.escape(message)):
        NB().fit(X, y).importances(rows)


def test_there_must_be_something_to_leave_out():
    """An unfitted classifier, and one of a single row, say so."""
    with pytest.raises(NotFittedError):
        NB().importances()
    assert not hasattr(NB(), "feature_importances_")
    single = NB().fit([["a"]], ["yes"])
    with pytest.raises(ValueError, match="two training rows or more, got 1"):
        single.importances()
    assert not hasattr(single, "feature_importances_")


def test_a_plot_wants_importances_and_says_so():
    """A model in place of its importances is refused in one line that says what to call."""
    with pytest.raises(TypeError, match=r"^importances must be those of clf\.importances\(\), got a NB$"):
        plot_importances(NB())
