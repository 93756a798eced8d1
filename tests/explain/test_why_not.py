"""Why not another class: smallest changes against all combinations of values, each asked of predict."""

import re
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eager_tables import tables
from localbayes.classifiers import CLASSIFIERS, LCWNB, NB, LocalBayesClassifier
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.explain import Change, sentence, why_not_sentence
from localbayes.explain.candidates import Candidates
from localbayes.explain.change_search import Search
from localbayes.explain.other_classes import others_of_rows
from localbayes.explain.readable import Readable
from localbayes.explain.words import change_text

every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
few_values = tables(most_columns=4, most_values=4, most_classes=3, most_rows=40, queries=2, unseen=True)


def smallest_by_brute_force(predict, row, values, wanted):
    """Fewest attributes whose change makes the class win, over all combinations of values; None if none."""
    m = len(row)
    for count in range(1, m + 1):
        changed = [
            [new[chosen.index(i)] if i in chosen else row[i] for i in range(m)]
            for chosen in combinations(range(m), count)
            for new in product(*(values[i] for i in chosen))
        ]
        if changed and (predict(changed) == wanted).any():
            return count
    return None


def with_changes(X, way):
    """A table of one row, changed as a counterfactual says, in a frame that holds any type."""
    changed = X.astype(object)
    for change in way.changes:
        changed.iloc[0, list(X.columns).index(change.name)] = change.value
    for name in X.columns:
        if isinstance(X[name].dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(X[name].dtype):
            changed[name] = changed[name].astype(X[name].dtype if changed[name].notna().all() else object)
    return changed


# --- the smallest change -------------------------------------------------------------------------------


@every_classifier
@settings(max_examples=25)
@given(table=few_values)
def test_no_smaller_change_exists(name, table):
    """Where one or two attributes suffice, no combination of training values needs fewer; all are tried."""
    model = table.fit(CLASSIFIERS[name])
    seen = [
        np.unique(column[column < q]).tolist() for column, q in zip(table.codes.T, table.sizes, strict=True)
    ]

    def predict(rows):
        return model.predict(Coded(np.array(rows), table.sizes))

    answer = model.explain(table.asked, top=0, why_not=True)
    for query, others, best in zip(table.queries, answer.why_not, model.predict(table.asked), strict=True):
        assert {other.label for other in others} == set(model.classes_) - {best}
        for other in others:
            assert other.complete
            fewest = smallest_by_brute_force(predict, query.tolist(), seen, other.label)
            if fewest in (None, 1, 2):
                assert {len(way) for way in other.ways} == ({fewest} if fewest else set())
            for way in other.ways:
                changed = query.tolist()
                for change in way.changes:
                    changed[int(change.name[1:])] = change.value
                assert predict([changed])[0] == other.label


@every_classifier
@pytest.mark.parametrize("name_of_set", ["breast-cancer", "glass", "labor"])
def test_predict_confirms_every_change(name, name_of_set):
    """On tables of words, numbers and holes the changed row is predicted as the class, as surely as said."""
    X, y = load(name_of_set)
    model = CLASSIFIERS[name]().fit(X[4:], y[4:])
    answer = model.explain(X[:4], top=0, why_not=True)
    found = 0
    for row, others in enumerate(answer.why_not):
        for other in others:
            for way in other.ways:
                asked = with_changes(X.iloc[[row]], way)
                assert model.predict(asked)[0] == other.label
                proba = model.predict_proba(asked)[0, model.classes_.tolist().index(other.label)]
                assert proba == pytest.approx(way.proba, abs=1e-12)
                found += 1
            sets = [tuple(change.name for change in way.changes) for way in other.ways]
            assert len(set(sets)) == len(sets) <= 3
    assert found


@every_classifier
def test_greedy_changes_are_all_needed(name):
    """Of three changes or more none can be taken back: without it the class does not win."""
    X, y = load("glass")
    model = CLASSIFIERS[name]().fit(X[3:], y[3:])
    large = 0
    for row, others in enumerate(model.explain(X[:3], top=0, why_not=True).why_not):
        for other in others:
            for way in other.ways:
                if len(way) > 2:
                    large += 1
                    whole = with_changes(X.iloc[[row]], way)
                    for change in way.changes:
                        back = whole.copy()
                        back[change.name] = X.iloc[[row]][change.name]
                        assert model.predict(back)[0] != other.label
    assert large


@pytest.mark.parametrize("name", ["LCWNB", "LWNB", "ICLNB"])
def test_a_way_is_found_where_a_near_training_row_shows_one(name):
    """If one of the ten rows of a class that agree most is predicted as the class, a change is found."""
    X, y = load("soybean")
    X, y = X[1:], y[1:]
    model = CLASSIFIERS[name]().fit(X, y)
    query, _ = load("soybean")
    codes, asked, found = model.encode(X), model.encode(query[:1])[0], 0
    agree = (codes == asked).sum(axis=1)
    for other in model.explain(query[:1], top=0, why_not=True).why_not[0]:
        own = np.flatnonzero(np.asarray(y) == other.label)
        near = own[np.argsort(-agree[own], kind="stable")[:10]]
        if (model.predict(X.iloc[near]) == other.label).any():
            found += 1
            assert other.ways
    assert found > 10


@settings(max_examples=20)
@given(data=st.data())
def test_numbers_move_to_bins_that_training_rows_have(data):
    """On small tables of numbers the fewest changes are those of a search through all training numbers."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = data.draw(st.integers(20, 60))
    X = pd.DataFrame(
        {"a": rng.normal(size=n).round(2), "b": rng.integers(0, 9, n), "c": rng.choice(list("uvw"), n)}
    )
    y = np.where(X["a"] + (X["b"] > 4) + rng.normal(0, 0.3, n) > 0.5, "yes", "no")
    if len(set(y)) < 2:
        return
    model = data.draw(st.sampled_from([LocalBayesClassifier(), LCWNB(kappa=5, n_bins=5), NB(n_bins=4)])).fit(
        X, y
    )
    values = [X[name].unique().tolist() for name in X]

    def predict(rows):
        return model.predict(pd.DataFrame(rows, columns=list("abc")).astype(X.dtypes.to_dict()))

    (other,) = model.explain(X[:1], why_not=True).why_not[0]
    fewest = smallest_by_brute_force(predict, X.iloc[0].tolist(), values, other.label)
    if fewest in (1, 2):
        assert len(other.ways[0]) == fewest


def test_attributes_can_be_held_fixed():
    """By name or by position; what is held is in no change, and with all held there is none."""
    X, y = load("breast-cancer")
    model = LCWNB(kappa=5).fit(X[10:], y[10:])
    free = model.explain(X[4:5], why_not=True).why_not[0][0]
    first = free.ways[0].changes[0].name
    for fixed in (first, [first], [list(X.columns).index(first)], np.array([first])):
        held = model.explain(X[4:5], why_not=True, fixed=fixed).why_not[0][0]
        assert held.ways
        assert first not in {change.name for way in held.ways for change in way.changes}
    (nothing,) = model.explain(X[4:5], why_not=True, fixed=list(X.columns)).why_not[0]
    assert nothing.ways == ()
    assert why_not_sentence(nothing) == f"For {nothing.label}: no change was found that makes it win."


def test_classes_can_be_chosen():
    """One label, some or all; the predicted class has no entry."""
    X, y = load("glass")
    model = NB().fit(X, y)
    best, *others = sorted(
        model.classes_, key=lambda c: -model.predict_proba(X[:1])[0, list(model.classes_).index(c)]
    )
    assert [w.label for w in model.explain(X[:1], why_not=True).why_not[0]] == others
    assert [w.label for w in model.explain(X[:1], why_not=others[1]).why_not[0]] == [others[1]]
    assert [w.label for w in model.explain(X[:1], why_not=[others[2], best, others[0]]).why_not[0]] == [
        others[0],
        others[2],
    ]
    assert model.explain(X[:1]).why_not is None
    flags = NB().fit([["a"], ["b"]], [True, False])
    assert [w.label for w in flags.explain([["a"]], why_not=[False]).why_not[0]] == [False]


# --- cost ----------------------------------------------------------------------------------------------


def test_wide_tables_cost_a_bounded_number_of_rows(monkeypatch):
    """With 400 columns no stage scores more rows than the limit, and the answer says it is not complete."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (60, 400))
    y = np.where((X[:, :9] > 1).sum(axis=1) > 4, "yes", "no")
    model = NB().fit(Coded(X, [4] * 400), y)
    table = model.check_queries(Coded(X[:1], [4] * 400))
    codes = model.encode_checked(table)
    scored = []
    tried = Search._tried
    monkeypatch.setattr(Search, "_tried", lambda self, picks: scored.append(len(picks)) or tried(self, picks))
    best = model.best_class(codes)
    wanted = [1 - int(best[0])]
    most = 2000
    ((other,),) = others_of_rows(
        model, table, codes, Readable(model, table), model.predict_proba(table), best, wanted, (), most
    )
    assert max(scored) <= most
    assert sum(scored) <= 4 * most
    assert not other.complete


def test_columns_of_very_many_values_are_cut_to_the_commonest():
    """A limit below the number of values leaves those that most rows have."""
    values = [0] * 40 + [1] * 30 + list(range(2, 20))
    X = Coded([[v, v % 2] for v in values], [20, 2])
    model = NB().fit(X, ["a"] * 50 + ["b"] * 38)
    codes = model.encode_checked(X[:1])
    candidates = Candidates(model, X[:1], codes, Readable(model, X[:1]), most=6)
    assert not candidates.complete
    assert Candidates(model, X[:1], codes, Readable(model, X[:1])).complete
    pairs = candidates.singles(0)
    assert pairs[pairs[:, 0] == 0, 1].tolist() == [1, 2]


# --- rows of the class ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["LCWNB", "LWNB", "ICLNB"])
@settings(max_examples=20)
@given(table=few_values)
def test_the_nearest_rows_of_a_class_are_those_of_a_search_through_all(name, table):
    """Rows of the class by distance, then by number; three at most."""
    answer = table.fit(CLASSIFIERS[name]).explain(table.asked, top=0, why_not=True)
    seen = np.where(table.codes >= table.sizes, -1, table.codes)
    for query, others in zip(table.queries, answer.why_not, strict=True):
        distance = (seen != query).sum(axis=1)
        for other in others:
            of_class = np.flatnonzero(table.classes == int(other.label[1:]))
            expected = sorted(of_class, key=lambda k: (distance[k], k))[:3]
            assert [row.number for row in other.rows] == expected
            assert [row.distance for row in other.rows] == [distance[k] for k in expected]
            assert {row.label for row in other.rows} <= {other.label}


def test_eager_classifiers_keep_no_rows_to_show():
    """Their answer has changes alone."""
    X, y = load("vote")
    assert NB().fit(X, y).explain(X[:1], why_not=True).why_not[0][0].rows == ()


# --- words ---------------------------------------------------------------------------------------------


def test_bins_are_said_as_intervals_with_a_number_inside():
    """A change of a number names the bin and a round number; of a date, a day."""
    assert change_text(Change("age", "35", "(40, 55.5]", 50.0)) == "age in (40, 55.5] (such as 50), not 35"
    assert change_text(Change("flag", "1.0", "2.0", 2.0)) == "flag = 2.0, not 1.0"
    days = pd.date_range("2024-01-01", periods=40)
    X = pd.DataFrame({"day": days.astype(str), "size": np.arange(40.0) % 7})
    model = LocalBayesClassifier().fit(X, np.where(np.arange(40) < 20, "old", "new"))
    (other,) = model.explain(X[:1], why_not=True).why_not[0]
    (change,) = other.ways[0].changes
    assert change.name == "day"
    assert change.after.startswith(("> 2024-", "(2024-"))
    assert model.predict(pd.DataFrame({"day": [str(change.value)], "size": [0.0]})).tolist() == ["new"]
    assert f"such as {change.value.date()}" in change_text(change)


def test_the_text_of_an_explanation_is_short():
    """At a prompt: a line for every row and other class, five rows at most."""
    X, y = load("vote")
    answer = LCWNB(kappa=5).fit(X, y).explain(X[:8], why_not=True)
    lines = repr(answer).splitlines()
    assert lines[0] == "Explanation of 8 rows by LCWNB(kappa=5)"
    assert lines[-1] == "  and 3 more"
    assert len(lines) == 12
    assert all(word in lines[1] for word in ("row 0", *map(str, answer.log_odds(0).strongest(1)[:1])))
    assert repr(answer.log_odds(0)).startswith("Log odds of republican against democrat, row 0: +")
    one = NB().fit([["a"]], ["yes"]).explain([["a"]], why_not=True)
    assert repr(one) == "Explanation of 1 row by NB()\n  row 0: yes 1"
    assert one.why_not == ((),)


def test_a_notebook_shows_the_bars_and_runs_nothing():
    """Escaped, without a script, a style sheet or anything from a network."""
    evil = "<script>alert(1)</script>"
    X = pd.DataFrame({evil: [evil, "b", evil], "x": ["u", "v", "v"]})
    answer = LCWNB(kappa=2).fit(X, [evil, "no", "no"]).explain(X, why_not=True)
    cell = answer._repr_html_()
    assert "<script" not in cell
    assert "&lt;script&gt;" in cell
    assert not any(word in cell for word in ("<style", "http", "src=", "url("))
    assert cell.count("together: odds") == 3
    assert cell.count("<div") == cell.count("</div>")


# --- bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"why_not": "maybe"}, "no class is called 'maybe'; the model knows 'no', 'yes'"),
        ({"why_not": ["yes", 3]}, "no class is called 3; the model knows 'no', 'yes'"),
        ({"fixed": "colur"}, "fixed: no attribute is called 'colur'; did you mean 'colour'?"),
        ({"fixed": ["zzz"]}, "fixed: no attribute is called 'zzz'; there are 'colour', 'size'"),
        ({"fixed": [2]}, "fixed must hold names of attributes or positions from 0 to 1, got 2"),
        ({"fixed": [None]}, "fixed must hold names of attributes or positions from 0 to 1, got None"),
    ],
)
def test_bad_input_is_one_clear_line(options, message):
    """An unknown class or attribute is named, with what there is."""
    X = pd.DataFrame({"colour": ["red", "blue"], "size": ["s", "l"]})
    model = NB().fit(X, ["yes", "no"])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.explain(X, **({"why_not": True} | options))


def test_an_empty_table_is_refused_in_one_line():
    """There is no row to explain."""
    X = pd.DataFrame({"colour": ["red", "blue"]})
    with pytest.raises(ValueError, match="0 sample") as error:
        NB().fit(X, ["yes", "no"]).explain(X[:0], why_not=True)
    assert "\n" not in str(error.value)


def test_the_sentence_stays_what_it_was():
    """Why-not adds to an explanation and changes nothing of it."""
    X, y = load("labor")
    model = LCWNB().fit(X, y)
    assert sentence(model.explain(X[:1], why_not=True)) == sentence(model.explain(X[:1]))
