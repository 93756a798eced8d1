"""NB, TAN, AODE, WAODE and HNB against textbook formulas, peers and what theory says."""

import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import CategoricalNB

import oracle_eager as oracle
from eager_tables import Table, tables
from localbayes.classifiers import tree as tree_module
from localbayes.classifiers.aode import AODE
from localbayes.classifiers.hnb import HNB
from localbayes.classifiers.nb import NB
from localbayes.classifiers.tan import TAN, grow_tree, parent_gains
from localbayes.classifiers.waode import WAODE
from localbayes.encoding import Coded

mpl.use("Agg")

FORMULAS = {NB: oracle.naive_bayes, TAN: oracle.tan, AODE: oracle.aode, WAODE: oracle.waode, HNB: oracle.hnb}

every_method = pytest.mark.parametrize("method", FORMULAS, ids=lambda method: method.__name__)
every_pair_method = pytest.mark.parametrize(
    "method", [TAN, AODE, WAODE, HNB], ids=lambda method: method.__name__
)


def random_table(seed, m, n=80, q=3, r=3, queries=10):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, r, n)
    cells = [(classes + rng.integers(0, 2, n) * rng.integers(0, q, n)) % q for _ in range(m)]
    return Table([q] * m, r, np.column_stack(cells), classes, rng.integers(0, q, (queries, m)))


# --- formulas ------------------------------------------------------------------------------------------


@every_method
@settings(max_examples=60)
@given(table=tables(most_columns=6, most_values=5, most_classes=4, most_rows=40, queries=5, unseen=True))
def test_the_joint_is_that_of_the_textbook(method, table):
    """Log joint within 1e-11 of the formula, with unseen values, absent classes, one row."""
    joint = table.fit(method).predict_log_joint(table.asked)
    np.testing.assert_allclose(joint, table.oracle(FORMULAS[method]), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("r", range(1, 20))
@every_method
def test_any_number_of_classes(method, r):
    """The kernels work on several classes at a time; none is left over or counted twice."""
    table = random_table(r, m=5, r=r)
    joint = table.fit(method).predict_log_joint(table.asked)
    order = [int(name[1:]) for name in sorted(f"c{k}" for k in range(r))]
    np.testing.assert_allclose(joint, table.oracle(FORMULAS[method])[:, order], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("m", [15, 16, 17, 33])
@every_method
def test_many_attributes(method, m):
    """Factors are multiplied in groups; at every border of a group the joint is right."""
    table = random_table(m, m=m, q=4, n=40, queries=2)
    joint = table.fit(method).predict_log_joint(table.asked)
    np.testing.assert_allclose(joint, table.oracle(FORMULAS[method]), rtol=1e-11)


def alike(method, m, q):
    """Joint of classes a and b if all attributes of row k (of q) have the value k and all rows are a's."""
    log = math.log
    if method is NB:
        return [log((q + 1) / (q + 2)) + m * log(2 / (2 * q)), log(1 / (q + 2)) + m * log(1 / q)]
    if method is TAN:
        a = log((q + 0.5) / (q + 1)) + log(1.5 / (1.5 * q)) + (m - 1) * log(1.5 / (0.5 * q + 1))
        return [a, log(0.5 / (q + 1)) + m * log(1 / q)]
    if method is AODE:
        a = log(2 / (q + 2 * q)) + (m - 1) * log(2 / (1 + q))
        return [log(m) + a, log(m) + log(1 / (q + 2 * q)) + (m - 1) * log(1 / q)]
    if method is WAODE:
        a = log((1 + 1 / (2 * q)) / (q + 1)) + (m - 1) * log((1 + 1 / q) / 2)
        return [log(m) + a, log(m) + log(1 / (2 * q) / (q + 1)) + (m - 1) * log(1 / q)]
    return [log((q + 0.5) / (q + 1)) + m * log((1 + 1 / q) / 2), log(0.5 / (q + 1)) + m * log(1 / q)]


@every_method
def test_hundreds_of_attributes_do_not_underflow(method):
    """The joint with 600 attributes, far below the smallest double, is the one known by hand."""
    m, q = 600, 4
    rows = Coded(np.repeat(np.arange(q)[:, None], m, axis=1), [q] * m)
    model = method().fit(rows, pd.Categorical.from_codes([0] * q, ["a", "b"]))
    joint = model.predict_log_joint(rows)
    assert joint.min() < math.log(np.finfo(float).tiny)
    np.testing.assert_allclose(joint, [alike(method, m, q)] * q, rtol=1e-12)


@every_method
@given(table=tables(most_rows=25), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_weighted_counts_give_what_repeated_rows_give(method, table, seed):
    """The formulas over floating-point counts agree with those over integers."""
    weights = np.random.default_rng(seed).integers(1, 4, len(table.codes))
    rows = np.repeat(np.arange(len(weights)), weights)
    repeated = method().fit(table.training[rows], table.labels.iloc[rows])
    weighted = method().fit(table.training[rows], table.labels.iloc[rows])
    counts = type(weighted.counts_)(table.sizes, table.r)
    counts.add(table.codes.astype(np.uint8), table.classes, weights.astype(float))
    weighted.adopt(counts)
    if method is TAN:
        np.testing.assert_allclose(
            parent_gains(weighted.counts_, 0.5), parent_gains(repeated.counts_, 0.5), atol=1e-10
        )
        return
    np.testing.assert_allclose(
        weighted.predict_log_joint(table.asked), repeated.predict_log_joint(table.asked), rtol=1e-12
    )


# --- naive Bayes ---------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(tables(), st.sampled_from([0.1, 1.0, 3.5]))
def test_naive_bayes_is_that_of_scikit_learn(table, alpha):
    """CategoricalNB with the same constant and prior gives the same probabilities."""
    model = table.fit(NB, alpha=alpha)
    present = np.unique(table.classes)
    prior = (alpha + np.bincount(table.classes, minlength=table.r)[present]) / (
        alpha * table.r + len(table.classes)
    )
    peer = CategoricalNB(alpha=alpha, class_prior=prior, min_categories=table.sizes, force_alpha=True)
    peer.fit(table.codes, table.classes)
    expected = peer.predict_joint_log_proba(table.queries)
    np.testing.assert_allclose(model.predict_log_joint(table.asked)[:, present], expected, rtol=1e-12)


def test_without_a_constant_naive_bayes_takes_relative_frequencies():
    """alpha=0: products of relative frequencies, zero where one is, and the prior where all are."""
    X, y = [["a", "p"], ["a", "q"], ["b", "q"]], ["no", "no", "yes"]
    model = NB(alpha=0).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba([["a", "p"], ["b", "q"], ["b", "p"]])[:2], [[1, 0], [0, 1]]
    )
    # No class has both b and p, nor a value never seen.
    np.testing.assert_allclose(model.predict_proba([["b", "p"], ["new", "p"]]), [[2 / 3, 1 / 3]] * 2)
    declared = NB(alpha=0).fit(X, pd.Categorical(y, categories=["no", "never", "yes"]))
    np.testing.assert_allclose(declared.predict_proba([["a", "p"]]), [[0, 1, 0]])


# --- one-dependence estimators -------------------------------------------------------------------------


@given(tables(most_columns=5, most_values=4, most_rows=30, queries=6), st.integers(1, 6))
@settings(max_examples=40)
def test_a_superparent_needs_min_count_rows(table, min_count):
    """AODE averages over values that occur often enough; if there is none it is naive Bayes."""
    joint = table.fit(AODE, min_count=min_count).predict_log_joint(table.asked)
    np.testing.assert_allclose(joint, table.oracle(oracle.aode, min_count=min_count), rtol=1e-11)
    never = table.fit(AODE, min_count=10**6).predict_log_joint(table.asked)
    np.testing.assert_allclose(never, table.fit(NB).predict_log_joint(table.asked), rtol=1e-12)


def test_superparents_may_lie_many_orders_of_magnitude_apart():
    """A superparent that is 2^1100 times less probable than another adds nothing, and no NaN."""
    n, m, q = 200, 900, 4
    codes = np.zeros((n, m), dtype=int)
    codes[:2, 0] = 1
    table = Table([q] * m, 2, codes, np.arange(n) % 2, np.array([[1] + [0] * (m - 1)]))
    half = n // 2
    first = math.log(2 / (n + 2 * q)) + (m - 1) * math.log(2 / (1 + q))
    other = math.log((half + 1) / (n + 2 * q) * 2 / (half + q)) + (m - 2) * math.log((half + 1) / (half + q))
    assert other - first > 1100 * math.log(2)
    expected = np.logaddexp(first, math.log(m - 1) + other)
    np.testing.assert_allclose(table.fit(AODE).predict_log_joint(table.asked), expected, rtol=1e-12)


def test_attributes_that_tell_nothing_weigh_the_same():
    """WAODE with no information at all is the plain mean over superparents."""
    table = Table([2, 3], 2, np.zeros((6, 2), int), np.array([0, 0, 0, 0, 1, 1]), np.array([[0, 0], [1, 2]]))
    model = table.fit(WAODE)
    assert model.weights_.tolist() == [0, 0]
    first = math.log((4 + 1 / 4) / 7 * (4 + 1 / 3) / 5 + (4 + 1 / 6) / 7 * (4 + 1 / 2) / 5)
    np.testing.assert_allclose(model.predict_log_joint(table.asked)[0, 0], first)


def test_information_is_never_negative():
    """Leaving out a rare cell, as Weka does, may make the sum negative; such a superparent tells nothing."""
    n = 3000
    y, a = np.zeros(n, int), np.zeros(n, int)
    y[:2] = 1
    a[1:3] = 1
    model = WAODE().fit(Coded(a[:, None], [2]), y)
    assert model.weights_.tolist() == [0.0]
    # The only superparent decides, whatever it weighs: one row of the value in each class.
    np.testing.assert_allclose(model.predict_proba(Coded([[1]], [2])), [[0.5, 0.5]], atol=1e-12)


@pytest.mark.parametrize("weight", [0.7, 0.45, 1 / 96])
def test_rounding_is_no_information(weight):
    """Attributes that are independent, or tell nothing, do so in rows of any weight too."""
    designs = [[a, b, c, k] for a in (0, 1) for b in (0, 0, 0, 1) for c in (0, 1, 1, 1) for k in (0, 0, 1)]
    codes, y = np.array(designs)[:, :3], np.array(designs)[:, 3]
    weights = np.full(len(y), weight)
    model = HNB().fit(Coded(codes, [2, 2, 2]), y, weights)
    assert not model.weights_.any()
    alone = [
        (weight * ((codes[:, i] == v) & (y == k)).sum() + 0.5) / (weight * (y == k).sum() + 1)
        for k in (0, 1)
        for i, v in enumerate([0, 1, 1])
    ]
    prior = (weight * np.bincount(y) + 0.5) / (weight * len(y) + 1)
    expected = prior * np.reshape(alone, (2, 3)).prod(axis=1)
    np.testing.assert_allclose(
        model.predict_proba(Coded([[0, 1, 1]], [2, 2, 2]))[0], expected / expected.sum(), rtol=1e-12
    )
    latin = np.array([[i, j] for i in range(3) for j in range(3)] * 3)
    weighted = WAODE().fit(Coded(latin, [3, 3]), latin.sum(axis=1) % 3, np.full(27, weight))
    assert weighted.weights_.tolist() == [0.0, 0.0]
    assert weighted.predict(Coded([[0, 1], [2, 2]], [3, 3])).tolist() == [1, 1]


def test_weights_are_information():
    """WAODE: a copy of the class weighs the entropy of the class. HNB: only its copy explains a column."""
    y = np.array([0, 0, 1, 1] * 6)
    noise = np.array([0, 1] * 12)
    model = WAODE().fit(Coded(np.column_stack([y, noise]), [2, 2]), y)
    np.testing.assert_allclose(model.weights_, [1, 0], atol=1e-15)
    other = np.array([0, 1, 2] * 8)
    hidden = HNB().fit(Coded(np.column_stack([noise, other, noise]), [2, 3, 2]), y)
    np.testing.assert_allclose(hidden.weights_, [[0, 0, 1], [0, 0, 0], [1, 0, 0]], atol=1e-15)


# --- tree ----------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(tables(most_columns=7, most_values=4, most_rows=30))
def test_the_tree_is_a_tree(table):
    """One root, every path leads to it, and the arcs are those of the plain search, ties and all."""
    parents = table.fit(TAN).parents_.tolist()
    assert parents.count(-1) == 1
    for node in range(len(parents)):
        path = [node]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
            assert len(path) <= len(parents)
    assert parents == oracle.tan_parents(table.codes, table.classes, table.sizes, table.r)


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_with_a_symmetric_score_the_tree_is_the_maximum_spanning_tree(m, seed):
    """SciPy's minimum spanning tree of the negated gains has the same arcs."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    half = np.triu(np.random.default_rng(seed).uniform(1, 2, (m, m)), 1)
    gains = half + half.T
    arcs = {frozenset((child, parent)) for child, parent in enumerate(grow_tree(gains)) if parent >= 0}
    peer = minimum_spanning_tree(np.where(gains > 0, 3 - gains, 0)).nonzero()
    assert arcs == {frozenset(pair) for pair in zip(*(ends.tolist() for ends in peer), strict=True)}


def test_a_copied_column_hangs_on_its_original():
    """The arc that explains most is in the tree."""
    rng = np.random.default_rng(0)
    y, a, b = rng.integers(0, 2, 200), rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    parents = TAN().fit(Coded(np.column_stack([b, a, y, a]), [3, 4, 2, 4]), y).parents_
    assert parents[1] == 3 or parents[3] == 1


def test_counts_beyond_the_look_up_table_are_computed(monkeypatch):
    """Gains are the same, to rounding, when log Gamma is looked up for 7 counts only."""
    table = random_table(0, m=6, n=5000)
    counts = table.fit(TAN).counts_
    looked_up = parent_gains(counts, 0.5)
    monkeypatch.setattr(tree_module, "_TABLE_SIZE", 7)
    np.testing.assert_allclose(parent_gains(counts, 0.5), looked_up, rtol=1e-9, atol=1e-9)


def test_the_tree_can_be_drawn():
    """Every attribute is written once, every arc drawn, parents left of children; given axes are used."""
    import matplotlib.pyplot as plt

    X = pd.DataFrame(random_table(3, m=9).codes, columns=[f"column {i}" for i in range(9)]).astype("category")
    model = TAN().fit(X, X["column 0"].cat.codes)
    ax = model.plot_tree()
    places = {text.get_text(): text.get_position() for text in ax.texts if text.get_text()}
    assert sorted(places) == sorted(X.columns)
    assert len(set(places.values())) == 9
    assert len([text for text in ax.texts if not text.get_text()]) == 8
    for child, parent in enumerate(model.parents_):
        if parent >= 0:
            assert places[f"column {parent}"][0] < places[f"column {child}"][0]
    _, own = plt.subplots()
    nameless = TAN().fit(Coded([[0, 1], [1, 0]], [2, 2]), [0, 1])
    assert nameless.plot_tree(own) is own
    assert sorted(text.get_text() for text in own.texts if text.get_text()) == ["0", "1"]
    # A name that looks like a formula is a name.
    model = TAN().fit(X.rename(columns={"column 0": "$a_$"}), X["column 0"].cat.codes)
    model.plot_tree(own).figure.canvas.draw()
    with pytest.raises(NotFittedError):
        TAN().plot_tree()
    plt.close("all")


# --- parameters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NB(alpha=-1), "alpha must be a number >= 0, got -1"),
        (NB(alpha="none"), "alpha must be a number >= 0, got 'none'"),
        (TAN(alpha=0), "alpha must be a number > 0, got 0"),
        (TAN(alpha=math.nan), "alpha must be a number > 0, got nan"),
        (AODE(min_count=0), "min_count must be a number >= 1, got 0"),
        (HNB(max_table_bytes=-5), "max_table_bytes must be a number > 0, got -5"),
        (AODE(max_table_bytes=None), "max_table_bytes must be a number > 0, got None"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(model, message):
    """fit says what came and what was expected."""
    with pytest.raises(ValueError, match=message):
        model.fit([["a"], ["b"]], [0, 1])


@every_pair_method
def test_a_table_of_pairs_beyond_the_limit_is_refused(method):
    """The error names the column, by number where columns have no names."""
    X = pd.DataFrame({"flag": list("ab") * 10, "town": [f"t{k}" for k in range(20)]})
    y = [0, 1] * 10
    with pytest.raises(
        ValueError, match=r"504.0 bytes, .*500.0 bytes; column 'town' has the most values \(20\)"
    ):
        method(max_table_bytes=500).fit(X, y)
    with pytest.raises(ValueError, match="column 1 has the most values"):
        method(max_table_bytes=500).fit(X.to_numpy(), y)
    assert method(max_table_bytes=504).fit(X, y).predict(X).shape == (20,)
