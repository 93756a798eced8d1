"""The page's formulas, in a real browser, against the classifiers."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest

from localbayes import HNB, LCWNB, LWNB, NB, TAN, WAODE, LocalBayesClassifier
from localbayes.classifiers import CLASSIFIERS, METHODS
from localbayes.classifiers.scores import first_best, log_total
from localbayes.counts import Ordered, cell_weights
from localbayes.datasets import EMBEDDED, load
from localbayes.encoding import Coded
from localbayes.explain.words import odds_factor, probability_text, signed
from localbayes.whatif.bundle import script
from mixed_tables import coded_table, mixed_table
from what_if_pages import check_answers, show_page

pytestmark = pytest.mark.chromium

EAGER = [name for name, method in METHODS.items() if not method.keeps_rows]


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_classifier_on_every_embedded_set(browser, tmp_path, name):
    """For 50 rows the page's probabilities and terms are those of Python, to 1e-9, for all classifiers."""
    X, y = load(name)
    rows = X.iloc[np.linspace(0, len(X) - 1, 50).astype(int)]
    models = [method() for method in CLASSIFIERS.values()]
    for model in [*models, *(LCWNB(kappa) for kappa in (5, "loo", "switch"))]:
        check_answers(browser, tmp_path, model.fit(X, y), rows)


def hard_table(n: int = 150) -> tuple[pd.DataFrame, pd.Series]:
    """Missing cells, a declared value without rows, an id, dates, bools, whole numbers, an unused class."""
    X, y = mixed_table(n)
    rng = np.random.default_rng(1)
    X["declared"] = pd.Categorical(rng.choice(["b", "a"], n), categories=["b", "never", "a"])
    X["day"] = pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 200, n), unit="D")
    X["id"] = [f"customer {k}" for k in range(n)]
    for column in ("colour", "weight", "declared", "day"):
        X.loc[rng.random(n) < 0.15, column] = None
    return X, pd.Series(pd.Categorical(y, categories=["yes", "never", "perhaps", "no"]))


def hard_queries(X: pd.DataFrame) -> pd.DataFrame:
    """Rows of the table, and rows with values never seen, declared only, missing, and very large."""
    rows = X.iloc[:25].copy()
    odd = X.iloc[25:29].copy()
    odd["colour"] = ["violet", None, "</script>", "red"]
    odd["weight"] = [1e300, -1e300, np.nan, -0.0]
    odd["declared"] = ["never", "a", None, "outside"]
    return pd.concat([rows, odd])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": "category"},
        {"class_weight": "balanced"},
        {"priors": [0.0, 0.2, 0.3, 0.5]},
        {"discretize": "mdl", "class_weight": {"yes": 0.0}},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_raw_tables_under_all_options(browser, tmp_path, options):
    """Holes, values never seen, declared values and classes, dates and ids are read as Python reads them."""
    X, y = hard_table()
    for method in CLASSIFIERS.values():
        check_answers(browser, tmp_path, method(**options).fit(X, y), hard_queries(X))


@pytest.mark.filterwarnings("ignore")
def test_values_that_stay_unknown(browser, tmp_path):
    """With missing="ignore" a value that is not known has no part in the distance, and no term."""
    X, y = hard_table()
    for method in (NB, LCWNB, LWNB, CLASSIFIERS["ICLNB"], LocalBayesClassifier):
        check_answers(browser, tmp_path, method(missing="ignore").fit(X, y), hard_queries(X))


@pytest.mark.filterwarnings("ignore")
def test_weights_of_rows(browser, tmp_path):
    """Counts and training rows that have weights, whole or not, count as much on the page."""
    X, y = hard_table()
    weights = np.random.default_rng(2).choice([0.0, 0.3, 1.0, 2.0], len(X))
    for method in CLASSIFIERS.values():
        check_answers(browser, tmp_path, method().fit(X, y, sample_weight=weights), hard_queries(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        NB(alpha=0),
        LCWNB(3, alpha=0),
        LCWNB(alpha=0),
        LCWNB("loo", alpha=0, calibrate=True),
        LCWNB(alpha=0, priors=[0.0, 0.0, 1.0, 0.0]),
        LCWNB(kappa="loo", distance="ordered"),
        LCWNB(0.25, distance=Ordered((0, 0, 10, 10, 0, 0, 0), cap=2, soft=True)),
        LWNB(k=1),
        LWNB(k=3, zero_distance="published"),
        LWNB(distance="ordered", missing="category"),
        CLASSIFIERS["ICLNB"](k=1, distance="ordered"),
        CLASSIFIERS["AODE"](min_count=30),
        TAN(alpha=3),
        LocalBayesClassifier(missing="impute", n_bins=5, discretize="width"),
    ],
    ids=str,
)
def test_parameters_of_the_formulas(browser, tmp_path, model):
    """Laplace's constant, zero too, distances, numbers of neighbours and superparents are honoured."""
    X, y = hard_table()
    check_answers(browser, tmp_path, model.fit(X, y), hard_queries(X))


@pytest.mark.parametrize("name", EAGER)
def test_columns_that_tell_nothing(browser, tmp_path, name):
    """Where no attribute tells anything, or no value was ever seen, formulas fall back as in Python."""
    X = pd.DataFrame({"a": ["u", "v"] * 20, "b": ["p", "p", "q", "q"] * 10})
    y = np.repeat(["no", "yes"], 20)
    rows = pd.concat([X.iloc[:8], pd.DataFrame({"a": ["new", "new"], "b": ["new", "p"]})])
    check_answers(browser, tmp_path, METHODS[name]().fit(X, y), rows)


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_many_equal_rows(browser, tmp_path, weight):
    """Where the k nearest rows equal the query, weights and the published 0 / 0 are as in Python.

    Ten rows of weight 0.1 are one row, though their sum is less in floating point.
    """
    X = pd.DataFrame({"a": ["u", "v"] * 20, "b": ["p", "p", "q", "q"] * 10})
    y = np.where((X["a"] == "u") & (X["b"] == "p"), "yes", "no")
    models = [
        LWNB(1),
        LWNB(3),
        LWNB(1, zero_distance="published"),
        CLASSIFIERS["ICLNB"](1),
        LCWNB(2),
        LCWNB(0.3),
    ]
    for model in models:
        model.fit(X, y, sample_weight=np.full(40, weight))
        check_answers(browser, tmp_path, model, X.iloc[:8])


def test_codes_and_one_class(browser, tmp_path):
    """Models of codes, some outside their domain in training, and of a single class have pages, too."""
    codes, sizes, y, rng = coded_table(3)
    codes = np.where(rng.random(codes.shape) < 0.1, sizes, codes)
    table = Coded(codes, sizes, missing=rng.random(codes.shape) < 0.1)
    for model in (NB(missing="ignore"), LCWNB(missing="ignore"), WAODE(), HNB(), LocalBayesClassifier()):
        check_answers(browser, tmp_path, model.fit(table, y), table[:20])
    check_answers(browser, tmp_path, LCWNB().fit([["a"], ["b"]], ["yes", "yes"]), [["b"], ["c"]])


def test_terms_of_raw_numbers(browser, tmp_path):
    """Single whole numbers, crossed columns, intervals and log odds are as in Python, to the exact number."""
    rng = np.random.default_rng(4)
    n = 1200
    X = pd.DataFrame({"whole": rng.integers(0, 26, n), "fine": rng.random(n)})
    X["p"], X["q"] = rng.choice(list("abc"), n), rng.choice(list("xyz"), n)
    both = (X["p"] == "a") ^ (X["q"] == "x")
    y = (X["whole"] % 2 == 1).astype(int) + 2 * both + 4 * (X["fine"] > 0.517)
    X.loc[::50, "fine"] = np.nan
    model = LocalBayesClassifier().fit(X, y)
    kinds = {type(term).__name__ for term in model.encoder_.terms}
    assert kinds == {"Values", "Intervals", "Crossed", "Odds"}
    rows = X.iloc[:30].copy()
    rows.loc[0, "fine"], rows.loc[1, "whole"], rows.loc[2, "p"] = np.nan, 99, "new"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_answers(browser, tmp_path, model, rows)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_domains_that_grew(browser, tmp_path, missing):
    """Values that came with later rows, a missing one among them, have the codes that they got then.

    A declared domain does not grow: a value outside it is known, but equals no other.
    """
    X, y = hard_table()
    X["declared"] = X["declared"].astype(object).where(X.index % 7 != 6, "outside")
    X["colour"] = X["colour"].where(X.index >= 60, X["colour"].fillna("red"))
    first = X[:60].replace({"colour": {"blue": "red"}, "declared": {"outside": "a"}})
    first["declared"] = pd.Categorical(first["declared"], categories=["b", "never", "a"])
    for method in (NB, LCWNB, WAODE, LocalBayesClassifier):
        if method is WAODE and missing == "ignore":
            continue
        model = method(missing=missing).partial_fit(first, y[:60])
        model.partial_fit(X[60:].replace({"colour": {"blue": "azure"}}), y[60:])
        check_answers(browser, tmp_path, model, hard_queries(X).replace({"colour": {"blue": "azure"}}))


def functions_of(browser, folder, module: str) -> None:
    """Load the functions of one module and of those it needs."""
    (folder / "module.html").write_text(
        f"<meta charset=utf-8><script>{script(module)}</script>", encoding="utf-8"
    )
    browser.open((folder / "module.html").as_uri())


def test_gamma_solves_the_papers_equation(browser, tmp_path):
    """The page's gamma is the compiled one's for any counts and kappa, and the weights sum to kappa."""
    rng = np.random.default_rng(5)
    functions_of(browser, tmp_path, "gamma")
    cases = []
    for _ in range(200):
        V = rng.integers(0, rng.choice([2, 10, 1000]), rng.integers(2, 60)) * (rng.random() < 0.9)
        V[rng.random(len(V)) < rng.random()] = 0
        cases.append((V.tolist(), float(np.exp(rng.uniform(np.log(1e-3), np.log(2000))))))
    found = browser.run(f"{json.dumps(cases)}.map(([V, kappa]) => Math.exp(logGamma(V, kappa)))")
    for (V, kappa), gamma in zip(cases, found, strict=True):
        theirs = cell_weights(np.array([[V]]), kappa)[0][0, 0]
        assert gamma == pytest.approx(theirs, rel=1e-9, abs=1e-300)
        if 0 < gamma < 1:
            assert gamma ** np.arange(len(V)) @ V == pytest.approx(kappa, rel=1e-11)


def test_ties_go_to_the_class_declared_first(browser, tmp_path):
    """Scores that differ by less than 1e-9 tie on the page as in predict; sums of logarithms are the same."""
    rng = np.random.default_rng(7)
    functions_of(browser, tmp_path, "numbers")
    scores = -rng.integers(1, 3, (300, 4)) - rng.choice([0, 1e-12, 5e-10, 2e-9], (300, 4))
    assert browser.run(f"{scores.tolist()}.map(firstBest)") == first_best(scores).tolist()
    totals = browser.run(f"{(300 * scores).tolist()}.map(logTotal)")
    np.testing.assert_allclose(totals, log_total(300 * scores)[:, 0], rtol=1e-14)


def test_numbers_are_written_as_in_explanations(browser, tmp_path):
    """Probabilities, log odds and factors have the same text on both pages."""
    functions_of(browser, tmp_path, "texts")
    numbers = [0.0, 1.0, 0.25, 0.9994, 1e-5, 0.9995, 0.5, 0.0123]
    assert browser.run(f"{numbers}.map(probabilityText)") == [probability_text(p) for p in numbers]
    logs = [0.0, 0.004, -0.02, 0.7, -0.7, 2.29, -2.3, 4.4, -6.9, 6.91, 9.3, -13.0, 13.9, 45.6, -200.0]
    for name, ours in (("signed", signed), ("oddsFactor", odds_factor)):
        assert browser.run(f"[...{logs}, -Infinity, Infinity].map({name})") == [
            ours(x) for x in [*logs, -math.inf, math.inf]
        ]


def test_a_page_that_begins_without_a_table(browser, tmp_path):
    """Without presets the page begins with the commonest value, or bin, of every attribute."""
    X, y = mixed_table()
    show_page(browser, tmp_path, LCWNB().fit(X, y))
    values = browser.run("whatIf.values")
    labels = browser.run("whatIf.model.attributes[0].labels")
    assert labels[values[0]] == X["colour"].mode()[0]
    bins = pd.cut(X["weight"], 10, labels=False)
    edges = np.linspace(X["weight"].min(), X["weight"].max(), 11)
    common = int(bins.mode()[0])
    assert edges[common] - 1e-9 <= values[2] <= edges[common + 1] + 1e-9
