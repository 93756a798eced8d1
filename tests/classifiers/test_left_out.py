"""Predictions for training rows without themselves are those of a classifier that never saw the row."""

import numpy as np
import pandas as pd
import pytest
from crepes import WrapClassifier
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from localbayes.classifiers import AODE, CLASSIFIERS, HNB, LCWNB, LWNB, NB, TAN, WAODE, LocalBayesClassifier
from localbayes.classifiers import tan as tan_module
from localbayes.classifiers import waode as waode_module
from localbayes.counts import PairCounts
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.fields import Fields
from mixed_tables import coded_table, mixed_table

every_classifier = pytest.mark.parametrize("method", CLASSIFIERS.values(), ids=CLASSIFIERS)

VARIANTS = [
    *(method() for method in CLASSIFIERS.values()),
    NB(alpha=0),
    NB(missing="ignore"),
    AODE(min_count=4),
    LCWNB(kappa=2),
    LCWNB(kappa="loo", alpha=0),
    LCWNB(missing="ignore"),
    LCWNB(distance="ordered"),
    LWNB(k=4, zero_distance="published"),
    LWNB(k=9, missing="ignore", distance="ordered"),
    NB(priors=[0.2, 0.3, 0.5]),
    TAN(class_weight="balanced"),
    LCWNB(priors=[0.5, 0.25, 0.25], class_weight={1: 3.0}),
]


def as_text(model):
    return str(model).replace(" ", "")


def without_row(model, X, y, weights, row):
    """A classifier that never saw the row (or one of it, if it weighs more), with the same choices."""
    left = None
    if weights is not None:
        left = weights.copy()
        left[row] = max(left[row] - 1, 0)
    kept = np.ones(len(y), bool)
    kept[row] = left is not None and left[row] > 0
    refitted = clone(model)
    with pytest.MonkeyPatch.context() as patch:
        for name, choice in (("parents_", None), ("weights_", None)):
            choice = getattr(model, name, None)
            if isinstance(model, TAN) and name == "parents_":
                patch.setattr(tan_module, "grow_tree", lambda gains, choice=choice: choice)
            if isinstance(model, WAODE) and name == "weights_":
                patch.setattr(waode_module, "mutual_information", lambda counts, choice=choice: choice)
            if isinstance(model, HNB) and name == "weights_":
                patch.setattr(PairCounts, "conditional_information", lambda counts, choice=choice: choice)
        refitted.partial_fit(
            X[kept],
            y[kept],
            classes=model.labels_.declared,
            sample_weight=None if left is None else left[kept],
        )
    if model.keeps_rows:
        refitted.restore(refitted.statistic, Fields(model.learned()))
    return refitted


def table(seed, n, m, r, holes=False):
    """Codes with values outside their domain and perhaps missing ones, and classes that all occur."""
    codes, sizes, y, rng = coded_table(seed, n, m, r)
    missing = rng.random(codes.shape) < 0.15 if holes else None
    ordered = np.arange(m) % 2 == 1
    codes = np.where((rng.random(codes.shape) < 0.05) & ~ordered, sizes + 2, codes)
    return Coded(codes, sizes, missing=missing, ordered=ordered), y, rng


@pytest.mark.parametrize("model", VARIANTS, ids=as_text)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6), n=st.integers(6, 30), m=st.integers(1, 5), weighted=st.sampled_from([0, 1, 2])
)
def test_a_left_out_row_is_predicted_as_if_it_had_never_been_seen(model, seed, n, m, weighted):
    """Every row gets what a classifier fitted on all others says, domains and choices being the same."""
    X, y, rng = table(seed, n, m, 3, holes=model.missing == "ignore")
    weights = (None, rng.integers(1, 4, n).astype(float), rng.uniform(0.2, 2.5, n))[weighted]
    fitted = clone(model).fit(X, y, sample_weight=weights)
    joint, (base, terms) = fitted.left_out_log_joint(), fitted.left_out_terms()
    log_joint, proba, labels = (
        fitted.predict_log_joint(None),
        fitted.predict_proba(None),
        fitted.predict(None),
    )
    for row in range(n):
        other = without_row(fitted, X, y, weights, row)
        expected = other.log_joint(other.encode(X[row : row + 1]))[0]
        np.testing.assert_allclose(joint[row], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(base[row] + terms[row].sum(axis=1), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(log_joint[row], other.predict_log_joint(X[row : row + 1])[0], 1e-9, 1e-9)
        np.testing.assert_allclose(proba[row], other.predict_proba(X[row : row + 1])[0], rtol=0, atol=1e-9)
        ordered = np.sort(proba[row])
        if ordered[-1] - ordered[-2] > 1e-6:
            assert labels[row] == other.predict(X[row : row + 1])[0]


@every_classifier
def test_left_out_predictions_follow_the_order_of_rows_also_after_partial_fit(method):
    """Rows that come in parts, values that nobody declared among them, are numbered as they came."""
    X, y = mixed_table(60)
    X = X[["colour", "old"]].astype(str)
    y = np.array(["yes", "no"])[(X["colour"] == "red").astype(int)]
    whole = method().fit(X, y)
    parts = method().partial_fit(X[:7], y[:7], classes=["no", "yes"])
    for begin in range(7, 60, 9):
        parts.partial_fit(X[begin : begin + 9], y[begin : begin + 9])
    np.testing.assert_allclose(parts.predict_proba(None), whole.predict_proba(None), rtol=0, atol=1e-9)
    some = [40, 3, 3, 59]
    np.testing.assert_allclose(parts.left_out_log_joint(some), parts.left_out_log_joint()[some], atol=1e-12)
    assert parts.left_out_log_joint([]).shape == (0, 2)


@every_classifier
def test_left_out_predictions_do_not_depend_on_threads(method):
    """The bits are the same for one thread and for four."""
    X, y = mixed_table(400)
    one, four = (method(n_jobs=jobs).fit(X, y) for jobs in (1, 4))
    assert np.array_equal(one.predict_proba(None), four.predict_proba(None))
    assert np.array_equal(one.left_out_terms()[1], four.left_out_terms()[1])


def test_many_values_of_a_column_change_the_type_of_codes():
    """Codes of one byte, values never seen among them, become codes of two when a domain outgrows it."""
    rng = np.random.default_rng(0)
    numbers, y = np.concatenate([rng.integers(0, 40, 80), rng.integers(0, 900, 700)]), rng.integers(0, 2, 780)
    X = pd.DataFrame({"many": numbers.astype(str), "declared": np.where(numbers % 3, "x", "outside")})
    X.loc[:19, "declared"] = "x"
    eager, lazy = NB(), LCWNB(kappa=1e6)
    for model in (eager, lazy):
        model.partial_fit(
            X[:20].astype({"declared": pd.CategoricalDtype(["x", "y"])}), y[:20], classes=[0, 1]
        )
        model.partial_fit(X[20:80], y[20:80]).partial_fit(X[80:], y[80:])
    assert eager.sizes_.tolist() == [len(set(numbers)), 2]
    np.testing.assert_allclose(eager.predict_proba(None), lazy.predict_proba(None), rtol=0, atol=1e-9)


def test_a_value_that_only_the_row_has_is_never_seen_without_it():
    """LocalBayesClassifier gives no evidence to a value never seen, so a name in every row tells nothing."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame({"name": pd.Categorical([f"row {k}" for k in range(80)]), "says": np.where(y, "a", "b")})
    model = LocalBayesClassifier().fit(X, y)
    _, terms = model.left_out_terms()
    np.testing.assert_allclose(terms[:, :, 0], 0, atol=1e-12)
    assert (model.predict(None) == y).all()


@every_classifier
def test_crepes_calibrates_on_left_out_predictions(method):
    """The real package takes oob_decision_function_ for out-of-bag probabilities; its sets cover new rows."""
    X, y = load("credit-g")
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], np.asarray(y)[order]
    wrapped = WrapClassifier(method())
    wrapped.fit(X[:700], y[:700])
    wrapped.calibrate(X[:700], y[:700], oob=True)
    sets = wrapped.predict_set(X[700:], labels=False, confidence=0.9, seed=0)
    covered = sets[np.arange(300), np.searchsorted(wrapped.learner.classes_, y[700:])].mean()
    # Three hundred rows: the share that is covered has a standard deviation of 1.7 points.
    assert 0.85 < covered <= 1


@every_classifier
def test_errors_of_left_out_predictions_are_one_line(method):
    """Numbers of rows that are not there, one row only, a classifier without rows: each is said in a line."""
    X, y = mixed_table(20)
    model = method().fit(X, y)
    for rows in ([20], [-1], [0.5], "all", [[0]]):
        with pytest.raises(ValueError, match="rows must be ") as error:
            model.left_out_log_joint(rows)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="two training rows or more, got 1"):
        method().fit(X[:1], y[:1]).predict(None)
    with pytest.raises(ValueError, match="not fitted"):
        method().predict(None)
