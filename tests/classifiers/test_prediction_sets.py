"""Prediction sets hold the true class as often as they promise, and a classifier that is not sure says so."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.validation import NotFittedError

from localbayes.classifiers import CLASSIFIERS, LCWNB, NB
from localbayes.classifiers.prediction_sets import log_odds, score_limit
from localbayes.datasets import load
from localbayes.encoding import Coded
from mixed_tables import coded_table, mixed_table

every_classifier = pytest.mark.parametrize("method", CLASSIFIERS.values(), ids=CLASSIFIERS)


def sets_by_refitting(model, codes, sizes, y, queries, coverage, by_class):
    """Refit without every row, and compare queries with Weibull's quantile of log odds of true classes."""

    def fitted(rows):
        return clone(model).partial_fit(Coded(codes[rows], sizes), y[rows], classes=[0, 1, 2])

    def logit(proba):
        return np.log(proba) - np.log1p(-proba)

    everything = np.arange(len(y))
    scores = []
    for row in everything:
        proba = fitted(everything != row).predict_proba(Coded(codes[[row]], sizes))[0]
        scores.append(logit(proba[y[row]]))
    scores, limits = np.array(scores), []
    for label in range(3):
        peers = scores[y == label] if by_class else scores
        known = (len(peers) + 1) * (1 - coverage) >= 1 - 1e-9
        limits.append(np.quantile(peers, 1 - coverage, method="weibull") if known else -np.inf)
    return logit(fitted(everything).predict_proba(Coded(queries, sizes))) >= np.array(limits) - 1e-9


@pytest.mark.parametrize("model", [NB(), LCWNB(kappa=3)], ids=["NB", "LCWNB"])
@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 40),
    coverage=st.sampled_from([0.5, 0.8, 0.9, 0.95]),
    by_class=st.booleans(),
)
def test_sets_are_those_of_a_quantile_of_refitted_scores(model, seed, n, coverage, by_class):
    """A class is in the set if its log odds reach NumPy's quantile of the left-out ones of true classes."""
    codes, sizes, y, rng = coded_table(seed, n, 3)
    queries = rng.integers(0, sizes, (10, 3))
    found = clone(model).fit(Coded(codes, sizes), y).predict_set(Coded(queries, sizes), coverage, by_class)
    expected = sets_by_refitting(model, codes, sizes, y, queries, coverage, by_class)
    assert found.dtype == bool
    assert np.array_equal(found, expected)


@every_classifier
def test_sets_cover_the_wanted_share_of_new_rows(method):
    """On 300 new rows of credit-g, 80 and 90 % are covered, of both classes too if it is asked for."""
    X, y = load("credit-g")
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], np.asarray(y)[order]
    model = method().fit(X[:700], y[:700])
    truth = np.searchsorted(model.classes_, y[700:])
    for coverage in (0.8, 0.9):
        sets = model.predict_set(X[700:], coverage)
        # A standard deviation of new rows is at most 2.3 points, that of the 700 scores 1.5 more.
        assert abs(sets[np.arange(300), truth].mean() - coverage) < 0.07
        mondrian = model.predict_set(X[700:], coverage, by_class=True)
        for label in (0, 1):
            assert abs(mondrian[truth == label, label].mean() - coverage) < 0.12


@every_classifier
def test_a_larger_coverage_gives_a_larger_set(method):
    """Every class of a set is in the sets of larger coverage, of new and of left-out rows."""
    X, y = mixed_table(80)
    model = method().fit(X[:60], y[:60])
    for rows in (X[60:], None):
        sets = [model.predict_set(rows, coverage) for coverage in (0.5, 0.7, 0.9, 0.97)]
        for small, large in pairwise(sets):
            assert not (small & ~large).any()


@every_classifier
def test_training_rows_are_covered_as_asked(method):
    """Of n left-out rows no more than (n + 1) (1 - coverage) fall below the limit."""
    X, y = mixed_table(90)
    model = method().fit(X, y)
    truth = np.searchsorted(model.classes_, y)
    for coverage in (0.6, 0.9):
        covered = model.predict_set(None, coverage)[np.arange(90), truth]
        assert (~covered).sum() <= np.floor(91 * (1 - coverage) + 1e-9)
        by_class = model.predict_set(None, coverage, by_class=True)
        for label in range(3):
            own = truth == label
            assert (~by_class[own, label]).sum() <= np.floor((own.sum() + 1) * (1 - coverage) + 1e-9)


def test_a_row_of_weight_two_counts_as_two_scores():
    """Whole weights give the sets of repeated rows."""
    codes, sizes, y, rng = coded_table(4, 40, 3)
    weights = rng.integers(1, 4, 40)
    once = NB().fit(Coded(codes, sizes), y, sample_weight=weights)
    repeated = NB().fit(Coded(codes.repeat(weights, axis=0), sizes), y.repeat(weights))
    for by_class in (False, True):
        for coverage in (0.7, 0.9):
            sets = [model.predict_set(Coded(codes, sizes), coverage, by_class) for model in (once, repeated)]
            assert np.array_equal(*sets)


def test_sets_follow_what_was_learned():
    """Scores are computed once, and again after partial_fit, forget, fit or a change of parameters."""
    X, y = mixed_table(120)
    model = LCWNB(kappa=2).fit(X[:60], y[:60])
    asked = X[100:]
    for change in (
        lambda: model.partial_fit(X[60:100], y[60:100]),
        lambda: model.forget(rows=range(20)),
        lambda: model.set_params(alpha=0.1),
        lambda: model.fit(X[:50], y[:50]),
    ):
        model.predict_set(asked, 0.8)
        change()
        fresh = clone(model)
        vars(fresh).update({name: value for name, value in vars(model).items() if name != "_set_scores"})
        assert np.array_equal(model.predict_set(asked, 0.8), fresh.predict_set(asked, 0.8))


def test_log_odds_tell_classes_apart_where_probabilities_round_to_one():
    """Log odds grow with the log joint, also above 40, where the probability is 1 in floating point."""
    gaps = np.linspace(0, 700, 71)
    odds = log_odds(np.column_stack([gaps, np.zeros(71), np.full(71, -np.inf)]))
    assert (np.diff(odds[:, 0]) > 0).all()
    np.testing.assert_allclose(odds[:, 0], gaps, rtol=1e-12)
    np.testing.assert_allclose(odds[:, 1], -gaps, rtol=1e-12)
    assert (odds[:, 2] == -np.inf).all()
    assert (log_odds(np.zeros((2, 1))) == np.inf).all()


@given(n=st.integers(1, 60), coverage=st.floats(0.01, 0.99), seed=st.integers(0, 99))
def test_a_new_score_falls_below_the_limit_as_often_as_promised(n, coverage, seed):
    """Of n + 1 scores in any order, a share within 1 / (n + 1) of 1 - coverage is below the others' limit."""
    scores = np.random.default_rng(seed).permutation(n + 1).astype(float)
    below = sum(scores[k] < score_limit(np.delete(scores, k), np.ones(n), coverage) for k in range(n + 1))
    assert abs(below / (n + 1) - (1 - coverage)) <= 1 / (n + 1) + 1e-9


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
def test_small_classes_are_covered_as_asked_on_average(coverage):
    """From 1 / (1 - coverage) rows on, uniform scores are covered as asked, and rounding adds nothing."""
    random = np.random.default_rng(0)
    for n in range(round(1 / (1 - coverage)), 40):
        limits = np.array([score_limit(random.random(n), np.ones(n), coverage) for _ in range(2000)])
        # A uniform score is below a limit with a probability of the limit; five standard errors.
        assert abs(limits.mean() - (1 - coverage)) < 5 * limits.std() / np.sqrt(2000)


def test_limits_are_numbers_where_scores_are_infinite():
    """One class has infinite odds, an impossible row odds of minus infinity; a limit is never NaN."""
    infinite = np.array([-np.inf, -np.inf, 0.0, np.inf, np.inf])
    for coverage in np.linspace(0.01, 0.99, 99):
        assert not np.isnan(score_limit(infinite, np.ones(5), coverage))


@every_classifier
def test_rows_set_aside_calibrate_in_place_of_training_rows(method):
    """The limits are NumPy's quantiles of the log odds of rows that were set aside (split conformal sets)."""
    X, y = load("credit-g")
    y = np.asarray(y)
    model = method().fit(X[:500], y[:500])
    aside, asked = slice(500, 800), slice(800, 1000)
    truth = np.searchsorted(model.classes_, y[aside])
    log_proba = model.predict_log_proba(X[aside])
    scores = log_proba[:, 0] - log_proba[:, 1]
    scores = np.where(truth == 0, scores, -scores)
    new = model.predict_log_proba(X[asked])
    odds = np.column_stack([new[:, 0] - new[:, 1], new[:, 1] - new[:, 0]])
    for coverage in (0.8, 0.95):
        found = model.predict_set(X[asked], coverage, calibration=(X[aside], y[aside]))
        limit = np.quantile(scores, 1 - coverage, method="weibull")
        assert np.array_equal(found, odds >= limit - 1e-8)
        found = model.predict_set(X[asked], coverage, by_class=True, calibration=(X[aside], y[aside]))
        limits = [np.quantile(scores[truth == k], 1 - coverage, method="weibull") for k in (0, 1)]
        assert np.array_equal(found, odds >= np.array(limits) - 1e-8)


def test_errors_of_calibration_are_one_line():
    """A table without classes, unequal lengths, an unknown class, no rows: each is said in one line."""
    X, y = mixed_table(60)
    model = NB().fit(X[:40], y[:40])
    for calibration, message in (
        (X, "calibration must be a table and its classes"),
        (5, "calibration must be a table and its classes, .X, y., got int"),
        ((X[40:], y[41:]), "inconsistent numbers of samples"),
        ((X[40:], ["never"] * 20), "never"),
        ((X[:0], y[:0]), "0 sample"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            model.predict_set(X, calibration=calibration)
        assert "\n" not in str(error.value)


@every_classifier
def test_decide_is_predict_where_the_probability_reaches_the_confidence(method):
    """Labels as predict gives them, None where the probability of the predicted class is smaller."""
    X, y = mixed_table(90)
    model = method().fit(X[:60], y[:60])
    for rows in (X[60:], None):
        decided, labels, proba = model.decide(rows, 0.6), model.predict(rows), model.predict_proba(rows)
        sure = proba[np.arange(len(labels)), np.searchsorted(model.classes_, labels)] >= 0.6
        assert decided.dtype == object
        assert decided.tolist() == [label if well else None for label, well in zip(labels, sure, strict=True)]
        assert 0 < sure.sum() < len(sure)


@every_classifier
def test_errors_of_sets_are_one_line(method):
    """A coverage outside (0, 1), an empty table, other columns, no fit: each is said in one line."""
    X, y = mixed_table(40)
    model = method().fit(X, y)
    for share in (0, 1, 90, -0.1, float("nan"), "0.9", None, True):
        with pytest.raises(ValueError, match="coverage must be a number between 0 and 1, such as") as error:
            model.predict_set(X, share)
        assert "\n" not in str(error.value)
        with pytest.raises(ValueError, match="confidence must be a number between 0 and 1"):
            model.decide(X, share)
    for method_ in (model.predict_set, model.decide):
        with pytest.raises(ValueError, match="0 sample"):
            method_(X[:0])
        with pytest.raises(ValueError, match="feature"):
            method_(X[["old", "weight"]])
    with pytest.raises(NotFittedError):
        method().predict_set(X)
    with pytest.raises(ValueError, match="two training rows or more, got 1"):
        method().fit(X[:1], y[:1]).predict_set(X)


def test_a_class_without_rows_is_in_every_set_by_class():
    """Nothing is known of its scores, so that no limit can be promised for its rows."""
    X, y = mixed_table(60)
    model = NB().partial_fit(X, y, classes=["never", "no", "perhaps", "yes"])
    assert model.predict_set(X, by_class=True)[:, 0].all()
