"""Values that are left unknown: they neither match nor mismatch, and are in no count of their attribute."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import oracle
from eager_tables import tables
from localbayes import kernels
from localbayes.classifiers import LCWNB, METHODS
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.persistence import load_model, save_model

# Every classifier that can leave values unknown, small enough in reach that its weights matter.
REACH = {"LCWNB": {"kappa": 4.0}, "LWNB": {"k": 20}, "ICLNB": {"k": 7}, "NB": {}}
every_method = pytest.mark.parametrize("name", REACH)


def ignoring(name, **parameters):
    return METHODS[name](**REACH[name], missing="ignore", **parameters)


class Holes:
    """A random table with holes, as codes (MISSING where unknown), as a frame and as coded."""

    def __init__(self, seed, n=90, sizes=(2, 3, 4, 2, 6), r=3, share=0.25, queries=25):
        rng = np.random.default_rng(seed)
        self.sizes, self.r = list(sizes), r
        self.classes = rng.integers(0, r, n)
        self.codes = self._some(rng, n, share, self.classes)
        self.queries = self._some(rng, queries, share, rng.integers(0, r, queries))
        self.queries[0] = oracle.MISSING
        self.weights = rng.choice([0.25, 1.0, 2.5, 3.0], n)
        self.y = pd.Series(pd.Categorical.from_codes(self.classes, [f"c{k}" for k in range(r)]))

    def _some(self, rng, n, share, classes):
        lean = rng.random((n, len(self.sizes))) < 0.5
        codes = np.where(lean, classes[:, None], rng.integers(0, 1000, lean.shape)) % self.sizes
        return np.where(rng.random(codes.shape) < share, oracle.MISSING, codes)

    def frame(self, codes, declared=True):
        """Codes as a frame whose columns declare their domains, or leave them to what is found."""
        columns = {}
        for i, q in enumerate(self.sizes):
            values = [f"v{k}" for k in range(q)]
            known = pd.Categorical.from_codes(np.where(codes[:, i] < 0, -1, codes[:, i]), values)
            columns[f"a{i}"] = known if declared else pd.array(known, dtype=object)
        return pd.DataFrame(columns)

    def coded(self, codes):
        return Coded(codes, self.sizes, missing=codes == oracle.MISSING)

    def log_joint(self, name, queries, alpha=1.0, weights=None, rows=slice(None), reach=None):
        """Log joint of the queries by the textbook."""
        codes, classes = self.codes[rows], self.classes[rows]
        weights = np.ones(len(codes)) if weights is None else weights[rows]
        reach = next(iter(REACH[name].values()), None) if reach is None else reach
        scores = []
        for query in queries:
            local = weights
            if name != "NB":
                distance = oracle.known_distances(codes, query.tolist())
                m = len(self.sizes)
                local = oracle.local_weights(name, distance, classes, self.r, m, weights, reach)
            scores.append(
                oracle.naive_bayes_with_missing(codes, classes, self.sizes, self.r, query, local, alpha)
            )
        return np.array(scores)


def close(got, expected, tolerance=1e-9):
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


# --- against the textbook --------------------------------------------------------------------------


@pytest.fixture
def restored_isa():
    before = kernels.isa()
    yield
    kernels.use_isa(before)


@every_method
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.usefixtures("restored_isa")
def test_scores_are_those_of_the_textbook(name, seed, weighted):
    """Distances and frequencies are over the values that are known, with every instruction set."""
    table = Holes(seed)
    weights = table.weights if weighted else None
    expected = table.log_joint(name, table.queries, weights=weights)
    model = ignoring(name).fit(table.frame(table.codes), table.y, weights)
    queries = table.frame(table.queries)
    answers = []
    for isa in kernels.isas():
        kernels.use_isa(isa)
        answers.append(model.predict_log_joint(queries))
    close(answers[0], expected)
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])
    best = answers[0].argmax(axis=1)
    clear = np.partition(answers[0], -2, axis=1)
    clear = clear[:, -1] - clear[:, -2] > 1e-6
    np.testing.assert_array_equal(model.predict(queries)[clear], model.classes_[best][clear])


@every_method
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_other_constants_of_laplace(name, alpha):
    """Without Laplace's correction a value that no row has is impossible; if all classes are, priors stay."""
    table = Holes(5, n=200, sizes=(2, 3, 9), share=0.4)
    model = ignoring(name, alpha=alpha).fit(table.frame(table.codes), table.y)
    expected = table.log_joint(name, table.queries, alpha)
    prior = np.log(np.bincount(table.classes) / len(table.classes))
    expected = np.where(np.isneginf(expected).all(axis=1, keepdims=True), prior, expected)
    close(model.predict_log_joint(table.frame(table.queries)), expected)


@every_method
def test_a_value_never_seen_is_known(name):
    """An unseen value of a query mismatches all rows; an unknown one does not."""
    table = Holes(7)
    foreign = table.queries.copy()
    foreign[:, 1] = oracle.UNSEEN
    frame = table.frame(table.queries).astype(object)
    frame["a1"] = "never seen"
    model = ignoring(name).fit(table.frame(table.codes), table.y)
    close(model.predict_log_joint(frame), table.log_joint(name, foreign))
    assert not np.allclose(
        model.predict_log_joint(table.frame(table.queries)), table.log_joint(name, foreign)
    )


@every_method
def test_a_training_value_outside_its_domain_is_known(name):
    """It matches no query and counts among the rows that know the attribute."""
    table = Holes(8)
    table.codes[:10, 2] = 77
    model = ignoring(name).fit(table.coded(table.codes), table.y)
    close(model.predict_log_joint(table.coded(table.queries)), table.log_joint(name, table.queries))


@pytest.mark.parametrize("size", [3, 252, 253, 254, 255, 65533, 65534, 65535])
def test_missing_stays_missing_beside_a_value_outside_its_domain(size):
    """Whatever the type of the codes: of three rows one is equal, one unknown there, one different."""
    rows = Coded(
        [[0, 0], [1, 0], [2 * size, 0]], [size, 2], missing=[[False] * 2, [True, False], [False] * 2]
    )
    model = LCWNB(1, missing="ignore").fit(rows, [0, 0, 0])
    asked = model.encode(Coded([[0, 0]], [size, 2]))
    assert model.index_.count(asked).distance_counts.tolist() == [[[2, 1, 0]]]


@every_method
def test_contributions_sum_to_the_score(name):
    """A base and a term for each attribute make up the log joint; an unknown attribute's term is zero."""
    table = Holes(9)
    model = ignoring(name).fit(table.frame(table.codes), table.y)
    codes = model.encode(table.frame(table.queries))
    base, terms = model.terms(codes)
    close(base + terms.sum(axis=2), table.log_joint(name, table.queries))
    assert not terms[np.broadcast_to((table.queries == oracle.MISSING)[:, None], terms.shape)].any()


# --- a classifier like any other -------------------------------------------------------------------


@settings(max_examples=25)
@given(table=tables(most_columns=6, most_rows=40, queries=6, unseen=True), data=st.data())
def test_where_nothing_is_missing_nothing_changes(table, data):
    """With all values known, leaving unknown ones unknown gives the probabilities of imputing them."""
    name = data.draw(st.sampled_from(sorted(REACH)))
    alpha = data.draw(st.sampled_from([0.0, 1.0]))
    expected = table.fit(METHODS[name], **REACH[name], alpha=alpha)
    got = table.fit(METHODS[name], **REACH[name], alpha=alpha, missing="ignore")
    close(got.predict_proba(table.asked), expected.predict_proba(table.asked), 1e-12)
    np.testing.assert_array_equal(got.predict(table.asked), expected.predict(table.asked))


@every_method
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "found"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_learning_in_parts_is_learning_at_once(name, declared, weighted):
    """Parts that know different columns, and values that come later, add up to the table."""
    table = Holes(3)
    table.codes[:20, 0] = oracle.MISSING
    table.codes[:50, 4] = np.minimum(table.codes[:50, 4], 3)
    X = table.frame(table.codes, declared)
    weights = table.weights if weighted else np.ones(len(X))
    parts = ignoring(name)
    for begin, end in [(0, 20), (20, 50), (50, 53), (53, 90)]:
        rows = slice(begin, end)
        parts.partial_fit(X[rows], table.y[rows], sample_weight=weights[rows])
    queries = table.frame(table.queries)
    close(parts.predict_log_joint(queries), table.log_joint(name, table.queries, weights=weights))
    whole = ignoring(name).fit(X, table.y, weights)
    close(parts.predict_proba(queries), whole.predict_proba(queries), 1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_row_left_out_is_a_row_never_learnt(weighted):
    """Leave-one-out with holes: accuracy and log loss of models fitted without each row in turn."""
    table = Holes(11, n=40)
    weights = np.where(table.weights > 1, 1.0, table.weights) if weighted else np.ones(40)
    model = ignoring("LCWNB").fit(table.frame(table.codes), table.y, weights)
    kappas = [1.5, 6.0, 500.0]
    got = model.leave_one_out(kappas)
    for k, kappa in enumerate(kappas):
        loss = correct = 0.0
        for row in range(40):
            others = np.arange(40) != row
            (scores,) = table.log_joint("LCWNB", table.codes[[row]], 1.0, weights, others, kappa)
            loss -= weights[row] * (scores - logsumexp(scores))[table.classes[row]]
            correct += weights[row] * (scores.argmax() == table.classes[row])
        close(got["log_loss"][k], loss / weights.sum())
        close(got["accuracy"][k], correct / weights.sum())


@every_method
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int8, np.int64])
def test_codes_say_what_is_missing(name, dtype):
    """A mask marks cells of coded tables as unknown, whatever the dtype and the code below the mask."""
    table = Holes(1)
    rng = np.random.default_rng(0)

    def coded(codes):
        absent = codes == oracle.MISSING
        filled = np.where(absent, rng.integers(0, 100, codes.shape), codes).astype(dtype)
        return Coded(filled, table.sizes, missing=absent)

    model = ignoring(name).fit(coded(table.codes), table.y)
    framed = ignoring(name).fit(table.frame(table.codes), table.y)
    got = model.predict_proba(coded(table.queries))
    np.testing.assert_array_equal(got, framed.predict_proba(table.frame(table.queries)))
    mixed = ignoring(name).fit(table.frame(table.codes[:30]), table.y[:30])
    mixed.partial_fit(coded(table.codes[30:]), table.y[30:])
    np.testing.assert_array_equal(got, mixed.predict_proba(coded(table.queries)[:]))


@every_method
def test_coded_tables_of_wide_domains(name):
    """The code for unknown values is that of the dtype which the domains need, and no value has it."""
    table = Holes(2, sizes=(2, 300, 254), n=60)
    table.codes[0], table.queries[1] = [1, 254, 253], [1, 254, 253]
    model = ignoring(name).fit(table.coded(table.codes), table.y)
    close(model.predict_log_joint(table.coded(table.queries)), table.log_joint(name, table.queries))


def test_unknown_codes_are_never_seen_elsewhere():
    """A classifier that imputes knows no mean or mode of codes: to it, an unknown code is an unseen value."""
    table = Holes(1)
    absent = table.queries == oracle.MISSING
    model = METHODS["NB"]().fit(Coded(np.maximum(table.codes, 0), table.sizes), table.y)
    unseen = Coded(np.where(absent, 99, table.queries), table.sizes)
    np.testing.assert_array_equal(
        model.predict_proba(table.coded(table.queries)), model.predict_proba(unseen)
    )


@pytest.mark.parametrize("missing", [[[True]], [[0, 1]], [True, False]])
def test_a_mask_must_fit_the_codes(missing):
    """A mask of another shape, or of numbers, is refused."""
    with pytest.raises(ValueError, match="missing must say True or False of every code: got"):
        Coded([[0, 1]], [2, 2], missing=missing)


@every_method
def test_it_can_be_kept(name, tmp_path):
    """A pickle and a model file predict the same, to the bit, and can learn on."""
    table = Holes(4)
    X, queries = table.frame(table.codes, declared=False), table.frame(table.queries)
    model = ignoring(name).fit(X[:50], table.y[:50])
    save_model(model, tmp_path / "model.skops")
    copies = [pickle.loads(pickle.dumps(model)), load_model(tmp_path / "model.skops")]
    for copy in copies:
        np.testing.assert_array_equal(copy.predict_proba(queries), model.predict_proba(queries))
    model.partial_fit(X[50:], table.y[50:])
    for copy in copies:
        copy.partial_fit(X[50:], table.y[50:])
        np.testing.assert_array_equal(copy.predict_proba(queries), model.predict_proba(queries))


@every_method
def test_threads_do_not_change_a_bit(name):
    """Neither do chunks: a query is answered by itself as among others."""
    table = Holes(6, queries=60)
    X, queries = table.frame(table.codes), table.frame(table.queries)
    model = ignoring(name, n_jobs=1).fit(X, table.y)
    expected = model.predict_proba(queries)
    model.set_params(n_jobs=2)
    np.testing.assert_array_equal(model.predict_proba(queries), expected)
    one_by_one = [model.predict_proba(queries[q : q + 1])[0] for q in range(len(queries))]
    np.testing.assert_array_equal(one_by_one, expected)


@pytest.mark.parametrize("name", ["LCWNB", "LWNB"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("alpha", [1.0, 0.01])
def test_large_classes_that_are_left_out_cannot_win(name, share, alpha):
    """The class predicted has the largest score of the textbook, however many values its rows lack."""
    table = Holes(8, n=4000, sizes=(8, 9, 7, 8, 6, 9, 8, 7, 9, 8), share=share, queries=40)
    model = ignoring(name, alpha=alpha).fit(table.coded(table.codes), table.y)
    scores = table.log_joint(name, table.queries, alpha=alpha)
    ordered = np.sort(scores)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    assert clear.mean() > 0.9
    predicted = model.predict(table.coded(table.queries))
    np.testing.assert_array_equal(predicted[clear], model.classes_[scores.argmax(1)][clear])


@every_method
def test_numbers_and_categories_may_be_missing(name):
    """A missing number is in no bin: the classifier is that of the bins with holes."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=80)
    classes = (numbers + rng.normal(size=80) > 0).astype(int)
    numbers[rng.random(80) < 0.3] = np.nan
    words = np.where(rng.random(80) < 0.2, None, np.where(rng.random(80) < 0.5, "u", "w"))
    X = pd.DataFrame({"number": numbers, "word": pd.Series(words, dtype=object)})
    bins = pd.cut(X["number"], 4, labels=False)
    known = np.nan_to_num(bins, nan=0).astype(int)
    coded = Coded(
        np.column_stack([known, np.where(words == "w", 1, 0)]),
        [4, 2],
        missing=X.isna().to_numpy(),
    )
    got = ignoring(name, n_bins=4).fit(X, classes).predict_proba(X)
    np.testing.assert_array_equal(got, ignoring(name).fit(coded, classes).predict_proba(coded))


@pytest.mark.parametrize("name", ["LCWNB", "LWNB", "NB"])
def test_a_column_that_nobody_knows_says_nothing(name):
    """Whatever queries have in a column that is missing in all training rows, probabilities stay."""
    table = Holes(10)
    X, queries = table.frame(table.codes), table.frame(table.queries)
    expected = ignoring(name).fit(X, table.y).predict_proba(queries)
    X["dark"] = pd.Categorical([None] * len(X), ["x", "z"])
    queries["dark"] = pd.Categorical((["x", None, "other"] * len(queries))[: len(queries)], ["x", "other"])
    close(ignoring(name).fit(X, table.y).predict_proba(queries), expected)


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(REACH)))
def test_counts_of_pairs_need_all_values(name):
    """Classifiers over pairs refuse to leave values unknown, and say what to do."""
    table = Holes(0)
    for X in (table.frame(table.codes), table.coded(table.codes)):
        with pytest.raises(
            ValueError, match=rf"{name} counts pairs .* use missing='impute' or 'category', or"
        ):
            METHODS[name](missing="ignore").fit(X, table.y)


# --- the compatibility theorem ---------------------------------------------------------------------


class Population:
    """All rows that three attributes independent given the class can make, as rows with weights.

    An attribute has value v and is then unknown with a probability that may depend on class and attribute.
    """

    def __init__(self, seed, unknown):
        rng = np.random.default_rng(seed)
        self.sizes, self.r = [2, 3, 3], 2
        prior = rng.dirichlet(np.ones(self.r))
        # shares[i][y, v], the last v being "unknown"
        self.shares = []
        for q in self.sizes:
            dark = unknown * rng.random((self.r, 1))
            self.shares.append(np.hstack([(1 - dark) * rng.dirichlet(np.ones(q), self.r), dark]))
        rows, classes, weights = [], [], []
        for y, *row in product(range(self.r), *(range(q + 1) for q in self.sizes)):
            weight = 300 * prior[y] * np.prod([s[y, v] for s, v in zip(self.shares, row, strict=True)])
            if weight > 0:
                rows.append(row)
                classes.append(y)
                weights.append(weight)
        self.codes, self.classes, self.weights = np.array(rows), np.array(classes), np.array(weights)
        self.prior = prior

    def coded(self, codes):
        return Coded(codes, self.sizes, missing=codes == self.sizes)

    def fit(self, name, **parameters):
        model = METHODS[name](missing="ignore", alpha=0, **parameters)
        return model.fit(self.coded(self.codes), self.classes, self.weights)

    @property
    def queries(self):
        return np.array(list(product(*(range(q + 1) for q in self.sizes))))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kappa", [2.0, 20.0, 80.0])
def test_unknown_values_of_the_query_keep_the_theorem(seed, kappa):
    """Rows weigh gamma^(distance over known attributes), and the posterior is that of naive Bayes."""
    population = Population(seed, unknown=0.0)
    queries = population.coded(population.queries)
    local = population.fit("LCWNB", kappa=kappa)
    close(local.predict_proba(queries), population.fit("NB").predict_proba(queries))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kappa", [2.0, 20.0, 80.0])
def test_unknown_values_of_training_rows_bend_the_posterior_by_a_known_factor(seed, kappa):
    """A class gains P(known | y) / P_w(known | y), before and after weighting, for each attribute asked."""
    population = Population(seed, unknown=0.5)
    local, naive = population.fit("LCWNB", kappa=kappa), population.fit("NB")
    for query in population.queries:
        asked = population.coded(query[None])
        gamma = local.local_model(asked).gamma[0]
        bend = np.ones(population.r)
        for share, value in zip(population.shares, query, strict=True):
            if value < share.shape[1] - 1:
                known, dark = share[:, :-1], share[:, -1]
                weighed = np.where(np.arange(known.shape[1]) == value, 1, gamma[:, None]) * known
                bend *= known.sum(axis=1) / (weighed.sum(axis=1) / (weighed.sum(axis=1) + dark))
        expected = naive.predict_proba(asked)[0] * bend
        close(local.predict_proba(asked)[0], expected / expected.sum())


def test_an_unknown_query_keeps_every_row_it_cannot_tell_apart():
    """With nothing known of the query all rows are at distance 0, so that the sample holds all of them."""
    X, y = load("vote")
    model = LCWNB(5, missing="ignore").fit(X, y)
    nothing = X.iloc[[0]].copy()
    nothing.loc[:, :] = None
    assert len(model.sample_local(nothing, random_state=0)[0]) == len(X)
    assert model.local_model(nothing).attribute_weight_sum.shape == (1, 2, X.shape[1])
