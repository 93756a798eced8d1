"""Explanations: parts against loops over training rows, sums against the textbook's probabilities."""

import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp
from sklearn.base import clone

import oracle
import oracle_eager
from eager_tables import tables
from localbayes.classifiers import AODE, HNB, ICLNB, LCWNB, LWNB, METHODS, NB, TAN, WAODE, LazyClassifier
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.explain import plot_explanation, sentence
from localbayes.explain.words import odds_factor

mpl.use("Agg")

small_tables = tables(most_columns=6, most_values=5, most_classes=4, most_rows=40, queries=4, unseen=True)
every_method = pytest.mark.parametrize("name", METHODS)


def make(name, **parameters):
    """A method with settings small enough for small tables; LCWNB with the paper's kappa."""
    own = {"LCWNB": {"kappa": 3.0}, "LWNB": {"k": 7}, "ICLNB": {"k": 3}}.get(name, {})
    return METHODS[name](**(own | parameters))


def sorted_classes(table):
    return [int(name[1:]) for name in sorted(f"c{k}" for k in range(table.r))]


def textbook(name, table, query):
    """Log joint of a query by the method's formula, from loops over training rows."""
    rows = (table.codes, table.classes, table.sizes, table.r, query)
    if name == "LCWNB":
        return oracle.lcwnb_scores(*rows, kappa=3.0)
    if name in ("LWNB", "ICLNB"):
        sums, k = (oracle.lwnb_sums, 7) if name == "LWNB" else (oracle.iclnb_sums, 3)
        S, T = sums(table.codes, table.classes, table.r, query, k)
        return oracle.naive_bayes_scores(S, T, table.sizes)
    formula = {"NB": "naive_bayes"}.get(name, name.lower())
    return getattr(oracle_eager, formula)(*rows)


# --- sums ----------------------------------------------------------------------------------------------


@every_method
@settings(max_examples=40)
@given(table=small_tables)
def test_contributions_sum_to_the_textbooks_log_probability(name, table):
    """Base and contributions give the log probability of the formula to 1e-9, holes and all."""
    answer = make(name).fit(table.training, table.labels).explain(table.asked, top=0)
    joint = np.array([textbook(name, table, query) for query in table.queries])[:, sorted_classes(table)]
    expected = log_softmax(joint, axis=1)
    np.testing.assert_allclose(
        answer.base + answer.contributions.sum(axis=2), expected, rtol=1e-12, atol=1e-9
    )
    np.testing.assert_allclose(answer.proba, np.exp(expected), atol=1e-9)


@every_method
@settings(max_examples=25)
@given(table=small_tables, seed=st.integers(0, 2**31))
def test_weights_and_priors_are_part_of_the_sum(name, table, seed):
    """With weighted rows, weighted classes and given priors the sum is still the log probability."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.25, 1.0, 2.0, 3.5], len(table.classes))
    priors = rng.dirichlet(np.ones(table.r))
    model = make(name, priors=priors, class_weight={"c0": 2.5})
    model.fit(table.training, table.labels, sample_weight=weights)
    answer = model.explain(table.asked, top=0)
    expected = model.predict_log_proba(table.asked)
    np.testing.assert_allclose(
        answer.base + answer.contributions.sum(axis=2), expected, rtol=1e-12, atol=1e-9
    )


@pytest.mark.parametrize("name", ["LCWNB", "NB", "LWNB", "ICLNB"])
@settings(max_examples=40)
@given(table=small_tables)
def test_impossible_classes_have_reasons_that_are_infinite(name, table):
    """Without Laplace's constant a class may be impossible; the sum says so, and is never undefined."""
    model = make(name, alpha=0).fit(table.training, table.labels)
    answer = model.explain(table.asked, top=0)
    with np.errstate(divide="ignore"):
        expected = np.log(answer.proba)
    total = answer.log_proba
    np.testing.assert_array_equal(np.isneginf(total), np.isneginf(expected))
    np.testing.assert_allclose(total[np.isfinite(total)], expected[np.isfinite(total)], atol=1e-9)
    if table.r > 1:
        for row in range(len(answer)):
            assert answer.log_odds(row).total > -1e-9
    assert (answer.classes[answer.predicted] == model.predict(table.asked)).all()


@pytest.mark.parametrize("name", ["LCWNB", "NB", "LWNB", "ICLNB"])
def test_values_that_stay_unknown_have_no_say(name):
    """With missing="ignore" an attribute that the query lacks adds nothing, and the sum is right."""
    X, y = load("vote")
    model = make(name, missing="ignore").fit(X, y)
    answer = model.explain(X[:30], top=3)
    np.testing.assert_allclose(answer.log_proba, model.predict_log_proba(X[:30]), atol=1e-9)
    lacking = X[:30].isna().to_numpy()
    assert lacking.any()
    assert (answer.contributions.swapaxes(1, 2)[lacking] == 0).all()
    assert {answer.values[q][i] for q, i in zip(*np.nonzero(lacking), strict=True)} == {"missing"}
    if answer.neighbourhood:
        for q, rows in enumerate(answer.neighbourhood.rows):
            for row in rows:
                known = X.iloc[q].notna() & X.iloc[row.number].notna()
                assert row.distance == (X.iloc[q] != X.iloc[row.number])[known].sum()


def test_the_published_fault_of_lwnb_has_no_reasons():
    """Where the published LWNB divides 0 by 0 the last class wins, whatever the attributes say."""
    X, y = [["a", "b"]] * 6 + [["c", "b"]], ["no"] * 4 + ["yes"] * 3
    model = LWNB(k=3, zero_distance="published").fit(X, y)
    answer = model.explain([["a", "b"], ["c", "d"]])
    assert not answer.contributions[0].any()
    assert answer.contributions[1].any()
    assert answer.classes[answer.predicted[0]] == "yes"
    np.testing.assert_allclose(answer.log_proba, model.predict_log_proba([["a", "b"], ["c", "d"]]), atol=1e-9)


# --- parts ---------------------------------------------------------------------------------------------


def test_a_small_example_by_hand():
    """Four fruits, worked out on paper with Laplace's constants."""
    X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    answer = NB().fit(X, ["apple", "pepper", "pepper", "pepper"]).explain([["red", "round"]])
    joint_apple, joint_pepper = (2 / 6) * (2 / 3) * (2 / 3), (4 / 6) * (2 / 5) * (1 / 5)
    total = joint_apple + joint_pepper
    np.testing.assert_allclose(answer.contributions[0], np.log([[2 / 3, 2 / 3], [2 / 5, 1 / 5]]))
    np.testing.assert_allclose(answer.base[0], np.log([2 / 6 / total, 4 / 6 / total]))
    np.testing.assert_allclose(answer.proba[0], [joint_apple / total, joint_pepper / total])
    odds = answer.log_odds()
    assert (odds.for_class, odds.against_class) == ("apple", "pepper")
    np.testing.assert_allclose(odds.contributions, np.log([10 / 6, 10 / 3]))
    assert math.isclose(odds.start.log_odds, math.log(1 / 2))
    assert math.isclose(odds.total, math.log(joint_apple / joint_pepper))


@settings(max_examples=30)
@given(table=small_tables)
def test_tan_shows_the_probability_given_the_parent(table):
    """The contribution of an attribute of TAN is log P(value | parent's value, class)."""
    t = oracle_eager.Table(table.codes, table.classes, table.sizes, table.r)
    parents = oracle_eager.tan_parents(table.codes, table.classes, table.sizes, table.r)
    answer = table.fit(TAN).explain(table.asked)
    for q, query in enumerate(table.queries):
        for y, declared in enumerate(sorted_classes(table)):
            for i, parent in enumerate(parents):
                given_parent = {} if parent < 0 else {parent: query[parent]}
                above = 0.5 + t.count(declared, given_parent | {i: query[i]})
                below = 0.5 * table.sizes[i] + t.count(declared, given_parent)
                assert math.isclose(answer.contributions[q, y, i], math.log(above / below), abs_tol=1e-12)


@pytest.mark.parametrize("method", [AODE, WAODE])
@settings(max_examples=25)
@given(table=tables(most_columns=5, most_values=4, most_classes=3, most_rows=30, queries=3))
def test_one_dependence_shows_means_over_superparents(method, table):
    """A contribution is the mean of log P(value | superparent's value, class) by share in the sum."""
    t = oracle_eager.Table(table.codes, table.classes, table.sizes, table.r)
    constant = [1.0 if method is AODE else 1 / q for q in table.sizes]
    information = [oracle_eager.mutual_information(t, p) for p in range(t.m)]
    worth = [1.0] * t.m if method is AODE or not any(information) else information
    answer = table.fit(method).explain(table.asked)
    for q, query in enumerate(table.queries):
        if method is AODE and not any(t.count(None, {p: query[p]}) for p in range(t.m)):
            continue
        for y, declared in enumerate(sorted_classes(table)):
            joint, terms = [], []
            for p in range(t.m):
                if worth[p] == 0 or (method is AODE and not t.count(None, {p: query[p]})):
                    continue
                n_py, own = t.count(declared, {p: query[p]}), constant[p] / (1 if method is AODE else t.r)
                start = math.log(worth[p] * (n_py + own) / (t.n + t.r * t.sizes[p] * own))
                row = [
                    math.log(
                        (t.count(declared, {p: query[p], i: query[i]}) + constant[i])
                        / ((t.count(declared) if i == p else n_py) + t.sizes[i] * constant[i])
                    )
                    for i in range(t.m)
                ]
                joint.append(start + sum(row) - row[p])
                terms.append(row)
            share = np.exp(np.array(joint) - logsumexp(joint))
            np.testing.assert_allclose(answer.contributions[q, y], share @ np.array(terms), atol=1e-10)


def test_aode_without_a_superparent_explains_naive_bayes():
    """A query of values never seen leaves AODE with naive Bayes, and so its explanation."""
    X, y = load("iris")
    X = X.round().astype("category")
    query = pd.DataFrame({name: ["never"] for name in X}).astype("category")
    np.testing.assert_allclose(
        AODE().fit(X, y).explain(query).contributions, NB().fit(X, y).explain(query).contributions
    )


@pytest.mark.parametrize("name", ["LCWNB", "LWNB", "ICLNB"])
@settings(max_examples=30)
@given(table=tables(most_columns=5, most_values=4, most_classes=3, most_rows=30, queries=3))
def test_lazy_methods_show_the_weighted_share_of_agreeing_rows(name, table):
    """A contribution is log of (1 + T) / (q + S), with S and T summed row by row."""
    answer = table.fit(type(make(name)), **{"LCWNB": {"kappa": 3}, "LWNB": {"k": 7}}.get(name, {"k": 3}))
    answer = answer.explain(table.asked, top=0)
    for q, query in enumerate(table.queries):
        S, T, scale = local_sums(name, table, query)
        for y, declared in enumerate(sorted_classes(table)):
            s, t = float(S[declared]), np.array(T[declared], dtype=float)
            expected = np.log((1 + scale * t) / (np.array(table.sizes) + scale * s))
            np.testing.assert_allclose(answer.contributions[q, y], expected, atol=1e-9)
            assert math.isclose(answer.neighbourhood.weight_sum[q, y], s, abs_tol=1e-9)


def local_sums(name, table, query):
    """S, T and the scale of the weights, by loops over training rows."""
    if name != "LCWNB":
        sums, k = (oracle.lwnb_sums, 7) if name == "LWNB" else (oracle.iclnb_sums, 3)
        return *sums(table.codes, table.classes, table.r, query, k), 1.0
    V, _ = oracle.match_counts(table.codes, table.classes, table.r, query)
    gamma = [oracle.solve_gamma(V[y], 3.0) for y in range(table.r)]
    distance = oracle.hamming(table.codes, query.tolist())
    weights = [gamma[y] ** d for y, d in zip(table.classes, distance, strict=True)]
    S, T = oracle.weighted_sums(table.codes, table.classes, table.r, query, lambda j: weights[j])
    return S, T, sum(weights) / sum(w**2 for w in weights)


# --- neighbourhood -------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(table=small_tables, top=st.integers(0, 8))
def test_the_heaviest_rows_are_those_of_a_search_through_all(table, top):
    """Half of each leading class; numbers, distances and weights gamma^d; heaviest and nearest first."""
    answer = table.fit(LCWNB, kappa=2).explain(table.asked, top=top)
    near = answer.neighbourhood
    names = answer.classes.tolist()
    seen = np.where(table.codes >= table.sizes, -1, table.codes)
    for q, query in enumerate(table.queries):
        everything = []
        for number, (row, y) in enumerate(zip(seen, table.classes, strict=True)):
            distance = sum(a != b for a, b in zip(row, query, strict=True))
            gamma = near.gamma[q, names.index(f"c{y}")]
            everything.append((-(gamma**distance), distance, number, f"c{y}"))
        total = -sum(weight for weight, *_ in everything)
        everything.sort()
        weighty, expected = [line for line in everything if line[0] < 0], []
        for k, half in ((answer.predicted[q], (top + 1) // 2), (answer.runner_up[q], top // 2)):
            own = [line for line in weighty if k >= 0 and line[3] == names[k]]
            expected += own[:half]
        expected += [line for line in weighty if line not in expected][: top - len(expected)]
        expected.sort()
        rows = near.rows[q]
        # Powers by multiplication and by pow may differ in the last digit, and so may the order of such rows.
        np.testing.assert_allclose([row.weight for row in rows], [-w for w, *_ in expected], rtol=1e-12)
        order = [(-row.weight, row.distance, row.number) for row in rows]
        assert order == sorted(order)
        for row in rows:
            assert row.label == f"c{table.classes[row.number]}"
            assert row.distance == (seen[row.number] != query).sum()
            assert list(row.agrees) == (seen[row.number] == query).tolist()
            assert math.isclose(row.share, row.weight / total, rel_tol=1e-9)
            alike = [n for _, d, n, label in everything if (d, label) == (row.distance, row.label)]
            listed = [r.number for r in rows if (r.distance, r.label) == (row.distance, row.label)]
            assert listed == alike[: len(listed)]


def test_weights_are_those_of_the_local_model():
    """gamma, S and rho are what `local_model` gives; sizes sum squares as Kish's formula does."""
    X, y = load("breast-cancer")
    model = LCWNB(kappa=5).fit(X, y)
    near, local = model.explain(X[:20], top=0).neighbourhood, model.local_model(X[:20])
    np.testing.assert_allclose(near.gamma, local.gamma)
    np.testing.assert_allclose(near.weight_sum, local.class_weight_sum)
    np.testing.assert_allclose(near.weight_scale, local.weight_scale)
    everything = model.explain(X[:3], top=len(X)).neighbourhood
    for q, rows in enumerate(everything.rows):
        for k, label in enumerate(model.classes_):
            weights = np.array([row.weight for row in rows if row.label == label])
            assert math.isclose(everything.effective_size[q, k], weights.sum() ** 2 / (weights**2).sum())


def test_rows_keep_their_numbers_over_several_fits_and_weigh_what_they_were_given():
    """partial_fit goes on counting; a row of weight 3 weighs three times its neighbours."""
    model = ICLNB(k=6).partial_fit([["a", "b"], ["a", "c"]], ["no", "yes"], sample_weight=[3, 1])
    model.partial_fit([["d", "c"], ["a", "b"]], ["yes", "no"])
    rows = model.explain([["a", "b"]]).neighbourhood.rows[0]
    assert [(row.number, row.label, row.distance, row.weight) for row in rows] == [
        (0, "no", 0, 9.0),
        (3, "no", 0, 3.0),
        (1, "yes", 1, 2.0),
        (2, "yes", 2, 1.0),
    ]
    assert rows[2].values == ("a", "c")
    assert rows[2].agrees == (True, False)
    assert sum(row.share for row in rows) == 1


def test_kappas_are_asked_of_lcwnb_alone():
    """Others have none."""
    with pytest.raises(ValueError, match="kappas are those of LCWNB, the classifier is NB; leave them out"):
        NB().fit([["a"], ["b"]], [0, 1]).explain([["a"]], kappas=[1])


def test_the_curve_is_that_of_classifiers_with_each_kappa():
    """Probabilities at a kappa are those of a classifier fitted with it, priors or not."""
    X, y = load("labor")
    for priors in (None, [0.9, 0.1]):
        model = LCWNB(kappa=5, priors=priors).fit(X, y)
        curve = model.explain(X[:5], kappas=[20, 0.7, 5]).neighbourhood.curve
        assert curve.kappas.tolist() == [0.7, 5, 20]
        assert (curve.in_use.tolist(), curve.in_use_weights.tolist()) == ([5], [1])
        for kappa, proba in zip(curve.kappas, curve.proba, strict=True):
            alone = LCWNB(kappa=kappa, priors=priors).fit(X, y).predict_proba(X[:5])
            np.testing.assert_allclose(proba, alone, atol=1e-12)
    default = LCWNB(kappa=5).fit(X, y).explain(X[:1]).neighbourhood.curve
    assert default.kappas[0] == 0.5
    assert default.kappas[-1] == pytest.approx(len(X))
    assert 5 in default.kappas


def test_a_weighting_of_ones_own_is_explained():
    """A subclass that gives nothing but weights has explanations for free."""

    class Halving(LazyClassifier):
        def weights(self, distance_counts):
            return np.broadcast_to(0.5 ** np.arange(distance_counts.shape[2]), distance_counts.shape)

    answer = Halving().fit([["a", "b"], ["a", "c"], ["d", "c"]], ["no", "yes", "yes"]).explain([["a", "b"]])
    np.testing.assert_allclose(answer.contributions[0], np.log([[2 / 3, 2 / 3], [1.5 / 2.75, 1 / 2.75]]))
    assert [row.weight for row in answer.neighbourhood.rows[0]] == [1, 0.5, 0.25]
    assert answer.neighbourhood.gamma is None
    assert answer.neighbourhood.curve is None


# --- several kappas ------------------------------------------------------------------------------------


def averaging(kappas, weights):
    """A classifier that averages the predictions of several kappas."""
    model = LCWNB(kappa="mixture", calibrate=False)

    def set_kappas(X, y):
        model.fit(X, y)
        model.kappas_, model.kappa_weights_ = np.array(kappas), np.array(weights)
        return model

    return set_kappas


@settings(max_examples=25)
@given(table=small_tables, seed=st.integers(0, 2**31))
def test_averages_over_kappas_show_means_by_share(table, seed):
    """The contribution is the mean over kappas, weighted by what each adds to the class's probability."""
    kappas = [0.8, 4.0, 15.0]
    weights = np.random.default_rng(seed).dirichlet(np.ones(3))
    answer = averaging(kappas, weights)(table.training, table.labels).explain(table.asked)
    alone = [table.fit(LCWNB, kappa=kappa).explain(table.asked) for kappa in kappas]
    parts = np.stack([w * part.proba for w, part in zip(weights, alone, strict=True)])
    share = parts / parts.sum(axis=0)
    np.testing.assert_allclose(answer.proba, parts.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        answer.contributions,
        sum(s[:, :, None] * part.contributions for s, part in zip(share, alone, strict=True)),
        atol=1e-9,
    )
    np.testing.assert_allclose(answer.log_proba, np.log(parts.sum(axis=0)), atol=1e-9)
    heaviest = answer.neighbourhood.rows[0][0]
    y = table.labels.cat.categories.get_loc(heaviest.label)
    position = sorted_classes(table).index(y)
    gammas = [part.neighbourhood.gamma[0, position] for part in alone]
    expected = sum(w * gamma**heaviest.distance for w, gamma in zip(weights, gammas, strict=True))
    assert math.isclose(heaviest.weight, expected, rel_tol=1e-9)


@pytest.mark.parametrize("kappa", ["mixture", "loo"])
@pytest.mark.parametrize("calibrate", [True, False])
def test_chosen_kappas_and_mended_probabilities_are_explained(kappa, calibrate):
    """However kappa was chosen and probabilities mended, the sum is the log of what is predicted."""
    X, y = load("breast-cancer")
    model = LCWNB(kappa=kappa, calibrate=calibrate).fit(X, y)
    answer = model.explain(X[:40], top=2)
    np.testing.assert_allclose(answer.log_proba, np.log(model.predict_proba(X[:40])), atol=1e-9)
    assert answer.neighbourhood.curve.in_use_weights.sum() == pytest.approx(1)


# --- odds ----------------------------------------------------------------------------------------------


def test_log_odds_of_any_two_classes():
    """Given classes are compared; by default the predicted with the next best; the sum is the log ratio."""
    X, y = load("iris")
    answer = HNB().fit(X, y).explain(X[60:61])
    by_probability = answer.classes[np.argsort(-answer.proba[0])].tolist()
    odds = answer.log_odds()
    assert [odds.for_class, odds.against_class] == by_probability[:2]
    assert answer.log_odds(0, by_probability[2]).against_class == by_probability[0]
    for a in by_probability:
        for b in by_probability:
            if a == b:
                continue
            p, q = (answer.proba[0, answer.classes.tolist().index(c)] for c in (a, b))
            assert math.isclose(answer.log_odds(0, a, b).total, math.log(p / q), abs_tol=1e-9)
    several = odds.strongest(2)
    assert len(several) == 3
    assert several[2].name == "2 other attributes"
    assert math.isclose(sum(r.log_odds for r in several) + odds.start.log_odds, odds.total)
    assert len(odds.strongest(3)) == 4
    assert [r.name for r in odds.strongest(3)] == [r.name for r in odds.strongest(99)]


def test_ties_go_to_the_class_declared_first():
    """Of equally probable classes the predicted one and the runner-up are the first declared."""
    y = pd.Series(["z", "m", "a"], dtype=pd.CategoricalDtype(["z", "m", "a"]))
    answer = NB().fit([["u"], ["u"], ["u"]], y).explain([["u"]])
    assert answer.classes.tolist() == ["a", "m", "z"]
    assert (answer.predicted[0], answer.runner_up[0]) == (2, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.log_odds(1), "row must be from 0 to 0, the rows explained, got 1"),
        (lambda e: e.log_odds(-1), "row must be from 0 to 0, the rows explained, got -1"),
        (lambda e: e.log_odds("first"), "row must be from 0 to 0, the rows explained, got 'first'"),
        (lambda e: e.log_odds().strongest(-1), "top must be a whole number >= 0, got -1"),
        (lambda e: e.log_odds(0, "pear"), "no class is called 'pear'; the model knows 'no', 'yes'"),
        (lambda e: e.log_odds(0, "no", "no"), "log odds compare two different classes, got 'no' twice"),
        (lambda e: sentence(e, 5), "row must be from 0 to 0, the rows explained, got 5"),
    ],
)
def test_questions_that_have_no_answer(call, message):
    """Rows and classes that are not there are refused by name."""
    answer = NB().fit([["a"], ["b"]], ["yes", "no"]).explain([["a"]])
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(") + "$"):
        call(answer)


@pytest.mark.parametrize("top", [-1, 2.5, True, "all"])
def test_top_must_be_a_count(top):
    """How many rows to list is a whole number."""
    with pytest.raises(ValueError, match="top must be a whole number >= 0, got"):
        NB().fit([["a"]], ["yes"]).explain([["a"]], top=top)


def test_one_class_leaves_nothing_to_compare():
    """A model that knows one class predicts it; odds and drawings are refused with that reason."""
    answer = LCWNB(kappa=5).fit([["a"], ["b"]], ["yes", "yes"]).explain([["a"]])
    assert answer.log_proba.tolist() == [[0.0]]
    assert answer.runner_up.tolist() == [-1]
    assert sentence(answer) == "Predicted yes, the only class that the model knows."
    for call in (answer.log_odds, lambda: plot_explanation(answer)):
        with pytest.raises(ValueError, match="the model knows only one"):
            call()


# --- words and values ----------------------------------------------------------------------------------


def test_values_read_as_they_came_and_as_they_are_taken():
    """Bins, stand-ins for missing values and values never seen are named."""
    X = pd.DataFrame({"colour": ["red", "red", "blue"], "size": [0.0, 1.0, 10.0], "flat": [2.0, 2.0, 2.0]})
    model = NB(n_bins=2).fit(X, ["a", "b", "b"])
    asked = pd.DataFrame({"colour": ["green", None], "size": [2.5, np.nan], "flat": [2, 3]})
    answer = model.explain(asked)
    assert answer.names == ("colour", "size", "flat")
    assert answer.values == (("green", "2.5", "2"), ("missing", "missing", "3"))
    assert answer.readings == (("never seen", "≤ 5", ""), ("taken as red", "taken as ≤ 5", ""))
    assert model.explain(pl.from_pandas(asked)).readings == answer.readings
    own = NB(n_bins=2, missing="category").fit(asked, ["a", "b"]).explain(asked)
    assert own.values[1] == ("missing", "missing", "3")
    assert own.readings[1] == ("", "", "> 2.5")


def test_codes_read_as_labels_where_there_are_any():
    """Codes show as themselves, under the names they bring; a model of a table reads them back."""
    coded = Coded([[0, 1], [1, 9]], sizes=[2, 3], names=["first", "second"])
    answer = NB().fit(coded, ["a", "b"]).explain(coded)
    assert answer.names == ("first", "second")
    assert answer.values == (("0", "1"), ("1", "(outside its domain)"))
    assert NB().fit(Coded([[0]], [1]), ["a"]).explain(Coded([[0]], [1])).names == ("x0",)
    model = NB().fit([["u", "v"], ["w", "v"]], ["a", "b"])
    assert model.explain(Coded([[1, 0]], [2, 1])).values == (("w", "v"),)


def test_a_sentence_says_what_matters():
    """The predicted class, its probability, the strongest reasons on both sides, with their factors."""
    X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    model = NB().fit(X, ["apple", "pepper", "pepper", "pepper"])
    assert sentence(model.explain([["red", "round"]])) == (
        "Predicted apple with probability 0.735, ahead of pepper with 0.265. What speaks most for apple: "
        "x1 = round (odds × 3.3), x0 = red (× 1.7). Against: frequency of the class (÷ 2.0)."
    )
    equal = NB().fit([["a"], ["a"]], ["no", "yes"]).explain([["a"]])
    assert sentence(equal).endswith("Nothing in particular speaks for no. Nothing much speaks against it.")


@settings(max_examples=200)
@given(st.floats(-600, 600))
def test_factors_are_what_log_odds_do_to_odds(log_odds):
    """The factor shown is exp of the log odds, to the digits shown."""
    text = odds_factor(log_odds)
    number = text[2:].replace(",", "")
    if "·10" in number:
        mantissa, power = number.split("·10")
        number = f"{mantissa}e{''.join(str('⁰¹²³⁴⁵⁶⁷⁸⁹'.index(c)) for c in power)}"
    shown = math.log(float(number)) * (-1 if text[0] == "÷" else 1)
    assert abs(shown - log_odds) < 0.06


# --- drawing -------------------------------------------------------------------------------------------


def test_bars_are_as_long_as_the_log_odds():
    """The drawing shows start, attributes and their sum, at their length, on the right side."""
    X, y = load("breast-cancer")
    answer = TAN().fit(X, y).explain(X[3:4])
    odds = answer.log_odds()
    ax = plot_explanation(answer, top=4)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    bars = dict(zip(labels, [bar.get_width() for bar in ax.patches], strict=True))
    assert len(labels) == 7
    for reason in odds.strongest(4)[:4]:
        assert math.isclose(bars[str(reason)], reason.log_odds)
    assert math.isclose(bars["frequency of the class"], odds.start.log_odds)
    assert math.isclose(bars["together"], odds.total)
    assert ax.get_title(loc="left") == "Why no-recurrence-events (0.820), not recurrence-events (0.180)"
    plt.close(ax.figure)


def test_a_drawing_survives_any_value_and_infinity(tmp_path):
    """Dollar signs are no formula, long names are cut, an impossible class has the longest bar."""
    X = [["$a^{$", "x" * 90], ["b", "y"], ["b", "x" * 90]]
    answer = NB(alpha=0).fit(X, ["$yes_$", "no", "no"]).explain(X[:1])
    _, given_ax = plt.subplots()
    ax = plot_explanation(answer, ax=given_ax)
    assert ax is given_ax
    ax.figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    texts = [text.get_text() for text in ax.texts]
    assert "+∞  (× ∞)" in texts
    assert max(len(label.get_text()) for label in ax.get_yticklabels()) <= 45
    plt.close(ax.figure)


@pytest.mark.parametrize(
    "model", [NB(0.0), LCWNB(1, alpha=0.0), ICLNB(alpha=0.0)], ids=["NB", "LCWNB", "ICLNB"]
)
@pytest.mark.parametrize(
    "how", [{"priors": [0.0, 1.0]}, {"class_weight": {"no": 0.0}}], ids=["priors", "class_weight"]
)
def test_a_class_that_is_ruled_out_leaves_no_nan(model, how):
    """Where alpha rules out one class and a prior of zero the other, reasons add up to the prediction."""
    X = [["a", "b"], ["a", "b"], ["c", "d"], ["c", "d"]]
    model = clone(model).set_params(**how).fit(X, ["no", "no", "yes", "yes"])
    answer = model.explain([["a", "b"], ["c", "d"]])
    np.testing.assert_allclose(
        np.exp(answer.log_proba), model.predict_proba([["a", "b"], ["c", "d"]]), atol=1e-12
    )
