"""Rows that are forgotten leave no trace: what stays is a fit on the other rows."""

import sys
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from localbayes.classifiers import AODE, CLASSIFIERS, LCWNB, LWNB, NB, TAN
from localbayes.datasets import load
from localbayes.encoding import Coded
from mixed_tables import coded_table, mixed_table

every_classifier = pytest.mark.parametrize("method", CLASSIFIERS.values(), ids=CLASSIFIERS)

VARIANTS = [
    *(method() for method in CLASSIFIERS.values()),
    NB(missing="ignore", priors=[0.2, 0.3, 0.5]),
    TAN(class_weight="balanced"),
    AODE(min_count=3),
    LCWNB(missing="ignore", kappa="loo"),
    LWNB(k=5, distance="ordered"),
]


def table(seed, n, m, holes):
    """Codes with values outside their domain and perhaps missing ones, and classes that all occur."""
    codes, sizes, y, rng = coded_table(seed, n, m)
    missing = rng.random(codes.shape) < 0.15 if holes else None
    ordered = np.arange(m) % 2 == 1
    codes = np.where((rng.random(codes.shape) < 0.05) & ~ordered, sizes + 2, codes)
    return Coded(codes, sizes, missing=missing, ordered=ordered), y, rng


@pytest.mark.parametrize("model", VARIANTS, ids=lambda model: str(model).replace(" ", ""))
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 60),
    m=st.integers(1, 5),
    weighted=st.booleans(),
    by=st.booleans(),
)
def test_what_stays_is_a_fit_on_the_other_rows(model, seed, n, m, weighted, by):
    """Predictions, left-out predictions and counts are those of a classifier that never saw the rows."""
    X, y, rng = table(seed, n, m, model.missing == "ignore")
    weights = rng.choice([0.25, 1.0, 1.7, 2.0], n) if weighted else None
    gone = rng.choice(n, rng.integers(1, n), replace=False)
    if by and weighted:
        weights = rng.choice([1.5, 2.0], 3)[
            y
        ]  # equal rows weigh the same, so that it does not matter which go
    kept = np.setdiff1d(np.arange(n), gone)
    model = clone(model).fit(X, y, sample_weight=weights)
    model.forget(X[gone], y[gone]) if by else model.forget(rows=gone)
    rest = None if weights is None else weights[kept]
    expected = clone(model).partial_fit(X[kept], y[kept], classes=[0, 1, 2], sample_weight=rest)
    assert model.class_count_.tolist() == expected.class_count_.tolist()
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-9)
    if len(kept) > 1 and not by:
        np.testing.assert_allclose(model.predict_proba(None), expected.predict_proba(None), rtol=0, atol=1e-9)
    elif len(kept) > 1:  # which of several equal rows stays is not told by their values
        found, sought = (np.sort(m.left_out_log_joint(), axis=0) for m in (model, expected))
        np.testing.assert_allclose(found, sought, atol=1e-9)


@every_classifier
def test_a_window_that_slides_equals_a_fit_on_the_window(method):
    """partial_fit and forget in turn keep the encoder of the first rows and know the last rows only."""
    X, y = mixed_table(120, seed=3)
    start = method().partial_fit(X[:60], y[:60], classes=["no", "perhaps", "yes"])
    sliding = clone(start).partial_fit(X[:60], y[:60], classes=["no", "perhaps", "yes"])
    sliding.partial_fit(X[60:90], y[60:90]).forget(rows=range(30))
    sliding.partial_fit(X[90:], y[90:]).forget(X[30:60], y[30:60])
    at_once = start.partial_fit(X[60:], y[60:]).forget(rows=range(60))
    assert len(sliding.training_rows()) == len(at_once.training_rows()) == 60
    np.testing.assert_allclose(sliding.predict_proba(X), at_once.predict_proba(X), rtol=0, atol=1e-9)


def test_of_equal_rows_the_oldest_go():
    """Two equal rows of different weights: the first one is taken out."""
    model = NB().fit([["a"], ["b"], ["a"]], ["no", "yes", "no"], sample_weight=[5, 1, 2])
    assert model.forget([["a"]], ["no"]).class_count_.tolist() == [2, 1]


@every_classifier
def test_an_error_changes_nothing(method):
    """A row that is not there, or not twice, an unknown class, a wrong number: one line, same answers."""
    X, y = load("labor")
    model = method().fit(X, y)
    before = model.predict_proba(X), model.class_count_.tolist()
    wrong = [
        (
            {"X": pd.concat([X[:1], X[:1]]), "y": [y[0], y[0]]},
            "row 1 of X, of class .* is not among the training",
        ),
        ({"X": X[:2], "y": ["good", "excellent"]}, "contains the class 'excellent'"),
        ({"X": X[:3], "y": y[:2]}, "inconsistent numbers of samples"),
        ({"X": X[:2]}, "either X and y, or rows"),
        ({"X": X[:2], "y": y[:2], "rows": [0]}, "either X and y, or rows"),
        ({}, "either X and y, or rows"),
        ({"X": X[:0], "y": y[:0]}, "0 sample"),
        ({"rows": [0, 57]}, "numbers from 0 to 56, got 57"),
        ({"rows": [3, 3]}, "each row once"),
        ({"rows": range(57)}, "must leave a training row"),
        ({"rows": "all"}, "list of whole numbers"),
    ]
    for given_, message in wrong:
        with pytest.raises(ValueError, match=message) as error:
            model.forget(**given_)
        assert "\n" not in str(error.value)
    assert np.array_equal(model.predict_proba(X), before[0])
    assert model.class_count_.tolist() == before[1]


@every_classifier
def test_nothing_to_forget_changes_nothing(method):
    """An empty list of numbers leaves the same classifier."""
    X, y = load("labor")
    model = method().fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_allclose(model.forget(rows=[]).predict_proba(X), before, rtol=0, atol=1e-12)


def test_threads_that_teach_and_forget_lose_no_row():
    """One thread adds rows while another takes as many out; the number of rows is right at the end."""
    X, y = [["a", "b"], ["b", "c"], ["a", "c"]], [0, 1, 0]
    model, errors, switch = NB().partial_fit(X * 40, y * 40), [], sys.getswitchinterval()

    def work(method):
        try:
            for _ in range(30):
                method(X, y)
        except Exception as error:
            errors.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=work, args=[method]) for method in (model.partial_fit, model.forget)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert not errors
    assert model.class_count_.tolist() == [80, 40]
