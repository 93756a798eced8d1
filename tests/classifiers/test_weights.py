"""Weights of rows and classes, and given priors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.naive_bayes import CategoricalNB

import oracle
from localbayes.classifiers import LCWNB, METHODS, NB
from localbayes.classifiers.class_shares import row_weights
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.encoding.summaries import exact_mean

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
PAIRS = {"TAN", "AODE", "WAODE", "HNB"}


def close(got, expected, tolerance=1e-10):
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def mixed_table(seed, n=60):
    """Numbers and categories, declared and not, with holes; classes that lean on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    words = np.array(["ash", "beech", "fir", "oak"])[(y + rng.integers(0, 3, n)) % 4].astype(object)
    words[rng.random(n) < 0.15] = None
    numbers = y * 1.5 + rng.normal(size=n).round(1)
    numbers[rng.random(n) < 0.15] = np.nan
    X = pd.DataFrame(
        {
            "word": pd.Series(words, dtype=object),
            "declared": pd.Categorical.from_codes(rng.integers(-1, 3, n), ["x", "never", "z"]),
            "number": numbers,
            "whole": rng.integers(0, 8, n).astype(float),
        }
    )
    return X, np.array(["no", "perhaps", "yes"])[y], rng


def whole_weights(rng, n):
    weights = rng.integers(0, 4, n)
    weights[:6] = [0, 1, 2, 3, 0, 2]
    return weights


def repeated(X, y, times):
    rows = np.repeat(np.arange(len(X)), times)
    return X.iloc[rows].reset_index(drop=True), y[rows]


def fixed(method, **options):
    """A classifier that chooses nothing by leaving rows out, which pieces of rows and factors would sway."""
    return method(**options, **({"kappa": 5} if method is LCWNB else {}))


# --- a weight is so many rows ----------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("missing", "discretize"), [("impute", "width"), ("category", "quantile"), ("ignore", "mdl")]
)
def test_a_weight_is_so_many_rows(method, seed, missing, discretize):
    """Weight 2 is the row twice and weight 0 its absence: in domains, bins, means, modes and all counts."""
    if method.__name__ in PAIRS and missing == "ignore":
        missing = "impute"
    X, y, rng = mixed_table(seed)
    weights = whole_weights(rng, len(X))
    options = {"missing": missing, "discretize": discretize, "n_bins": 5}
    weighted = method(**options).fit(X, y, weights)
    plain = method(**options).fit(*repeated(X, y, weights))
    assert weighted.encoder_.sizes.tolist() == plain.encoder_.sizes.tolist()
    np.testing.assert_array_equal(weighted.encoder_.encode(X), plain.encoder_.encode(X))
    assert weighted.class_count_.tolist() == plain.class_count_.tolist()
    close(weighted.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(weighted.predict(X), plain.predict(X))


@every_method
def test_a_row_may_be_cut_into_pieces(method):
    """A row of weight 1 is as good as two of it, of weight 0.3 and 0.7."""
    X, y, _ = mixed_table(4)
    twice, labels = repeated(X, y, 2)
    pieces = fixed(method).fit(twice, labels, np.tile([0.3, 0.7], len(X)))
    close(pieces.predict_proba(X), fixed(method).fit(X, y).predict_proba(X), 1e-8)


@every_method
def test_rows_of_weight_zero_bring_nothing(method):
    """Neither values nor classes nor numbers nor holes; what was declared stays declared."""
    X, y, _ = mixed_table(2)
    strange = pd.DataFrame(
        {"word": ["yew"], "declared": pd.Categorical(["x"], X["declared"].cat.categories)}
        | {"number": [1e6], "whole": [np.nan]}
    )
    more = pd.concat([X, strange], ignore_index=True)
    weights = np.append(np.ones(len(X)), 0)
    for missing in ("impute", "category"):
        got = method(missing=missing).fit(more, np.append(y, "strange"), weights)
        expected = method(missing=missing).fit(X, y)
        assert got.classes_.tolist() == expected.classes_.tolist()
        np.testing.assert_array_equal(got.predict_proba(more), expected.predict_proba(more))
    got.partial_fit(more, np.append(y, "unheard of"), sample_weight=weights)
    np.testing.assert_array_equal(got.predict_proba(X), expected.partial_fit(X, y).predict_proba(X))
    declared = pd.Categorical(np.append(y, "strange"), ["yes", "no", "perhaps", "strange"])
    assert len(method().fit(more, declared, weights).classes_) == 4


@every_method
def test_weights_of_one_leave_integers(method):
    """Rows that all weigh one are counted in integers, as without weights, to the bit."""
    X, y, _ = mixed_table(3)
    plain = method().fit(X, y)
    for ones in (np.ones(len(X)), [1] * len(X), pd.Series(1.0, index=X.index), 1):
        weighted = method().fit(X, y, ones)
        np.testing.assert_array_equal(weighted.predict_log_joint(X), plain.predict_log_joint(X))
        assert weighted.class_count_.dtype.kind == "i"
    if hasattr(weighted, "counts_"):
        assert weighted.counts_.value_counts.dtype.kind == "i"
    else:
        assert all(segment.weights is None for segment in weighted.index_.segments)


@every_method
def test_all_kinds_of_tables_take_weights(method):
    """pandas, polars, arrays, lists and codes; weights as a list, array or series, whatever its index."""
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, (50, 3)), rng.integers(0, 2, 50)
    words = np.array(["u", "v", "w"], dtype=object)[codes]
    weights = whole_weights(rng, 50)
    names = ["a", "b", "c"]
    queries = pd.DataFrame(words, columns=names)
    expected = method().fit(*repeated(queries, y, weights)).predict_proba(queries)
    frame = pd.DataFrame(words, columns=names, index=np.arange(50) + 1000)
    series = pd.Series(weights, index=np.arange(50)[::-1])
    labels = ["no", "yes"]
    for X, labelled, given_weights, asked in [
        (frame, pd.Series(y, index=frame.index), series, queries),
        (frame, pd.Categorical.from_codes(y, labels), weights, queries),
        (
            pl.DataFrame(words.tolist(), schema=names, orient="row"),
            pl.Series(y),
            weights,
            pl.from_pandas(queries),
        ),
        (
            pl.DataFrame(words.tolist(), schema=names, orient="row"),
            pl.Series(np.array(labels)[y], dtype=pl.Enum(labels)),
            weights.tolist(),
            pl.from_pandas(queries),
        ),
        (words, y, weights, words),
        (words.tolist(), y.tolist(), weights.tolist(), words.tolist()),
        (Coded(codes, [3, 3, 3]), y, weights, Coded(codes, [3, 3, 3])),
    ]:
        close(method().fit(X, labelled, given_weights).predict_proba(asked), expected)


@every_method
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "fractions"])
def test_learning_in_parts_is_learning_at_once(method, whole):
    """Parts with weights, parts without, and rows of weight zero among them add up."""
    X, y, rng = mixed_table(5, n=90)
    weights = whole_weights(rng, 90).astype(float) if whole else rng.random(90) * 3
    weights[30:50] = 1
    parts = method(categorical_features=["word", "declared"])
    parts.partial_fit(X[:30], y[:30], classes=np.unique(y), sample_weight=weights[:30])
    parts.partial_fit(X[30:50], y[30:50])
    parts.partial_fit(X[50:], y[50:], sample_weight=weights[50:])
    # Bins, means and modes are those of the first part, so both see them through its encoder.
    known = parts.encoder_
    coded = Coded(known.encode(X), known.sizes)
    whole = method().fit(coded, y, weights)
    close(parts.predict_proba(X), whole.predict_proba(coded))
    close(parts.class_count_, [weights[y == label].sum() for label in parts.classes_])


# --- fractions against the textbook ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "reach"), [("LCWNB", 4.0), ("LCWNB", 0.3), ("LWNB", 20), ("ICLNB", 7), ("NB", None)]
)
def test_fractions_of_rows(seed, name, reach):
    """Weights multiply rows in the formulas, and the k nearest rows, or kappa of them, count weight."""
    rng = np.random.default_rng(seed)
    sizes, r, n = [2, 3, 4, 2, 6], 3, 80
    y = rng.integers(0, r, n)
    codes = np.where(rng.random((n, 5)) < 0.5, y[:, None], rng.integers(0, 100, (n, 5))) % sizes
    queries = rng.integers(0, 100, (20, 5)) % sizes
    weights = rng.choice([0.25, 0.5, 1.75, 3.0], n)
    options = {} if reach is None else {"kappa" if name == "LCWNB" else "k": reach}
    model = METHODS[name](**options).fit(Coded(codes, sizes), y, weights)
    expected = []
    for query in queries:
        local = weights
        if reach is not None:
            distance = oracle.known_distances(codes, query.tolist())
            local = oracle.local_weights(name, distance, y, r, 5, weights, reach)
        expected.append(oracle.naive_bayes_with_missing(codes, y, sizes, r, query, local))
    close(model.predict_log_joint(Coded(queries, sizes)), expected, 1e-9)


@given(
    st.lists(
        st.tuples(st.floats(-1e12, 1e12), st.integers(1, 9)) | st.tuples(st.floats(), st.integers(1, 9)),
        min_size=1,
        max_size=20,
    ).filter(lambda rows: all(np.isfinite(x) for x, _ in rows))
)
def test_means_have_no_rounding_of_their_own(rows):
    """The mean of weighted numbers is that of so many rows, to the last digit: it may lie on a cut."""
    numbers, times = np.array([x for x, _ in rows]), np.array([k for _, k in rows])
    X = pd.DataFrame({"x": np.append(numbers, np.nan)})
    model = NB().fit(X, np.zeros(len(X)), np.append(times, 1))
    plain = NB().fit(*repeated(X, np.zeros(len(X)), np.append(times, 1)))
    assert model.encoder_.columns[0].fill == plain.encoder_.columns[0].fill
    assert exact_mean(numbers, times * 0.25) == plain.encoder_.columns[0].fill


# --- rows left out ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_leaving_rows_out_sees_repeated_rows(seed):
    """Leave-one-out on rows of weight 3 is that on three rows, of which one is left out at a time."""
    X, y, rng = mixed_table(seed)
    weights = whole_weights(rng, len(X))
    kappas = [0.5, 5, 50, 5000]
    got = LCWNB(kappa=5).fit(X, y, weights).leave_one_out(kappas)
    expected = LCWNB(kappa=5).fit(*repeated(X, y, weights)).leave_one_out(kappas)
    for column in ("accuracy", "log_loss"):
        close(got[column], expected[column])


def test_leaving_fractions_of_rows_out():
    """A row that weighs less than one is left out whole, and its loss counts as much as it weighs."""
    rng = np.random.default_rng(1)
    sizes, r, n = [2, 3, 4], 3, 30
    codes, y = rng.integers(0, 100, (n, 3)) % sizes, rng.integers(0, r, n)
    weights = rng.choice([0.25, 0.5, 1.0], n)
    got = LCWNB(kappa=2).fit(Coded(codes, sizes), y, weights).leave_one_out([2.0])
    loss = correct = 0.0
    for row in range(n):
        others = np.arange(n) != row
        distance = oracle.known_distances(codes[others], codes[row].tolist())
        local = oracle.local_weights("LCWNB", distance, y[others], r, 3, weights[others], 2.0)
        scores = oracle.naive_bayes_with_missing(codes[others], y[others], sizes, r, codes[row], local)
        loss -= weights[row] * (scores - logsumexp(scores))[y[row]]
        correct += weights[row] * (scores.argmax() == y[row])
    close(got["log_loss"], [loss / weights.sum()])
    close(got["accuracy"], [correct / weights.sum()])


@pytest.mark.parametrize("kappa", ["loo", "mixture"])
def test_the_choice_of_kappa_sees_repeated_rows(kappa):
    """A weight counts as so many rows in the choice of kappa and in the power of the probabilities too."""
    X, y, rng = mixed_table(7)
    weights = whole_weights(rng, len(X))
    weighted = LCWNB(kappa=kappa).fit(X, y, weights)
    plain = LCWNB(kappa=kappa).fit(*repeated(X, y, weights))
    close(weighted.kappas_, plain.kappas_)
    close(weighted.kappa_weights_, plain.kappa_weights_)
    close(weighted.temperature_, plain.temperature_, 1e-6)


@pytest.mark.parametrize(
    "options",
    [{"priors": [0.7, 0.2, 0.1]}, {"class_weight": "balanced"}, {"class_weight": {1: 5.0}}],
    ids=["priors", "balanced", "dict"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_priors_and_class_weights_see_the_other_rows_only(options, weighted):
    """Leave-one-out is learning without the row: the shares that priors replace are those of the others."""
    rng = np.random.default_rng(2)
    codes, y = rng.integers(0, 3, (24, 3)), rng.integers(0, 3, 24)
    table, y = Coded(codes, [3, 3, 3]), pd.Categorical(y, categories=[0, 1, 2])
    weights = rng.choice([0.25, 0.5, 1.0], len(y)) if weighted else np.ones(len(y))
    got = LCWNB(kappa=2, **options).fit(table, y, weights).leave_one_out([2.0])
    loss = correct = 0.0
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        model = LCWNB(kappa=2, **options).fit(table[others], y[others], weights[others])
        loss -= weights[row] * model.predict_log_proba(table[[row]])[0, y[row]]
        correct += weights[row] * (model.predict(table[[row]])[0] == y[row])
    close(got["log_loss"], [loss / weights.sum()])
    close(got["accuracy"], [correct / weights.sum()])


def test_equal_errors_are_a_tie_whatever_the_weights():
    """Of equal errors the kappa of least log loss is chosen, also where rows weigh 0.7 each."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        X, y = rng.integers(0, 2, (10, 2)), rng.integers(0, 2, 10)
        model = LCWNB("loo").fit(Coded(X, [2, 2]), y, np.full(10, 0.7))
        if model.loo_ is None:  # all rows are of one class
            continue
        accuracy, loss = model.loo_["accuracy"], model.loo_["log_loss"]
        best = np.isclose(accuracy, accuracy.max(), rtol=1e-9)
        assert loss[model.loo_["kappa"] == model.kappa_] <= loss[best].min() * (1 + 1e-12)


# --- weights of classes ----------------------------------------------------------------------------


def assert_multiplied(model, plain, X, factors):
    """Probabilities are the plain ones times the factors, and the predictions go with them."""
    expected = plain.predict_proba(X) * factors
    expected /= expected.sum(axis=1, keepdims=True)
    got = model.predict_proba(X)
    close(got, expected)
    best = np.sort(expected, axis=1)
    clear = best[:, -1] > best[:, -2] + 1e-6
    np.testing.assert_array_equal(model.predict(X)[clear], model.classes_[expected.argmax(axis=1)][clear])
    return got


@every_method
def test_a_class_weight_multiplies_the_probability(method):
    """A class of weight 5 is five times as probable, relative to others; one that is not named weighs 1."""
    X, y, _ = mixed_table(6)
    y = pd.Categorical(y, ["yes", "perhaps", "no"])
    plain = fixed(method).fit(X, y)
    for class_weight, factors in [
        ({"perhaps": 5.0, "yes": 0.5}, [1, 5, 0.5]),
        ({"no": 0, "perhaps": 1, "yes": 1}, [0, 1, 1]),
    ]:
        model = fixed(method, class_weight=class_weight).fit(X, y)
        assert_multiplied(model, plain, X, factors)


@every_method
@pytest.mark.parametrize("weighted", [False, True])
def test_balanced_classes(method, weighted):
    """Balanced weights are inverse to the rows, or the weight, of the classes; one without rows has 1."""
    X, y, rng = mixed_table(8)
    y = pd.Categorical(y, ["no", "nowhere", "perhaps", "yes"])
    weights = rng.random(len(X)) + 0.5 if weighted else np.ones(len(X))
    plain = fixed(method).fit(X, y, weights)
    model = fixed(method, class_weight="balanced").fit(X, y, weights)
    rows = [weights[y == label].sum() for label in plain.classes_]
    factors = [weights.sum() / (3 * n) if n else 1 for n in rows]
    assert_multiplied(model, plain, X, factors)
    parts = fixed(method, class_weight="balanced")
    parts.partial_fit(X, y, sample_weight=weights).partial_fit(X[:9], y[:9])
    rows = [n + (y[:9] == label).sum() for n, label in zip(rows, plain.classes_, strict=True)]
    factors = [sum(rows) / (3 * n) if n else 1 for n in rows]
    assert_multiplied(parts, plain.partial_fit(X[:9], y[:9]), X, factors)


def test_superparents_occur_however_little_their_rows_weigh():
    """Small weights do not turn AODE into naive Bayes, which cannot tell these classes apart."""
    X = pd.DataFrame({"a": ["u", "v"] * 20, "b": ["u", "v", "v", "u"] * 10})
    y = np.where(X["a"] == X["b"], "same", "other")
    assert METHODS["AODE"]().fit(X, y, np.full(40, 0.04)).score(X, y) == 1
    assert NB().fit(X, y, np.full(40, 0.04)).score(X, y) < 1


@pytest.mark.parametrize("options", [{"class_weight": {"bad": 5.0}}, {"priors": [0.9, 0.1]}])
def test_what_is_chosen_by_leave_one_out_knows_nothing_of_class_weights(options):
    """Kappas and calibration are those of the plain classifier, whose probabilities are then multiplied."""
    X, y = load("credit-g")
    plain, moved = LCWNB().fit(X[::4], y[::4]), LCWNB(**options).fit(X[::4], y[::4])
    factors = np.array([5.0, 1.0])
    if "priors" in options:
        share = (plain.class_count_ + 1) / (plain.class_count_.sum() + 2)
        factors = np.array([0.9, 0.1]) / share
    assert moved.temperature_ == plain.temperature_
    expected = plain.predict_proba(X[1::4]) * factors
    close(moved.predict_proba(X[1::4]), expected / expected.sum(axis=1, keepdims=True))


# --- priors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1.0, 0.2, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_given_priors_are_those_of_scikit_learn(alpha, weighted):
    """Naive Bayes with given priors is scikit-learn's CategoricalNB with ``class_prior``."""
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 4, (70, 5)), rng.integers(0, 3, 70)
    weights = rng.random(70) if weighted else None
    priors = [0.7, 0.1, 0.2]
    peer = CategoricalNB(alpha=alpha, class_prior=priors, min_categories=4).fit(codes, y, weights)
    model = NB(alpha=alpha, priors=priors).fit(Coded(codes, [4] * 5), y, weights)
    close(model.predict_log_joint(Coded(codes, [4] * 5)), peer.predict_joint_log_proba(codes), 1e-9)


# Rows that the formulas of the paper's rivals add to every class, of r.
PSEUDO_ROWS = {"NB": lambda r: 1, "TAN": lambda r: 0.5, "WAODE": lambda r: 1 / r, "HNB": lambda r: 1 / r}


@pytest.mark.parametrize("name", PSEUDO_ROWS)
def test_given_priors_take_the_place_of_shares(name):
    """P(y) of the formula goes and the given one comes, in the order of ``classes_``, absent classes too."""
    X, y, rng = mixed_table(9)
    y = pd.Categorical(y, ["yes", "nowhere", "no", "perhaps"])
    plain = METHODS[name]().fit(X, y)
    rows, extra = plain.class_count_, PSEUDO_ROWS[name](4)
    share = (rows + extra) / (len(X) + 4 * extra)
    priors = rng.dirichlet(np.ones(4))
    got = METHODS[name](priors=priors).fit(X, y).predict_log_joint(X)
    close(got, plain.predict_log_joint(X) - np.log(share) + np.log(priors))


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_priors_of_a_local_model_end_in_naive_bayes(alpha):
    """With all rows near, LCWNB under given priors is naive Bayes under them."""
    X, y, _ = mixed_table(10)
    options = {"alpha": alpha, "priors": [0.2, 0.3, 0.5]}
    local = LCWNB(kappa=1e6, **options).fit(X, y)
    close(local.predict_proba(X), NB(**options).fit(X, y).predict_proba(X), 1e-9)


@every_method
def test_a_prior_of_zero_is_never_predicted(method):
    """A class of prior or weight zero has probability zero, though the rows say otherwise."""
    X, y, _ = mixed_table(11)
    for options in ({"priors": [0, 0.5, 0.5]}, {"class_weight": {"no": 0}}):
        model = method(**options).fit(X, y)
        proba = model.predict_proba(X)
        assert not proba[:, 0].any()
        close(proba.sum(axis=1), 1)
        assert "no" not in model.predict(X)


@pytest.mark.parametrize("model", [NB(alpha=0), LCWNB(kappa=5, alpha=0)])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"class_weight": {"a": 0}}, [0, 1]),
        ({"priors": [0.0, 1.0]}, [0, 1]),
        ({"class_weight": {"a": 3}}, [1, 0]),
    ],
)
def test_what_is_possible_may_be_ruled_out(model, options, expected):
    """Where only one class is possible and priors or class weights rule it out, they alone decide."""
    model.set_params(priors=None, class_weight=None).set_params(**options)
    model.fit([["u"], ["u"], ["v"]], ["a", "a", "b"])
    close(model.predict_proba([["u"]]), [expected])
    assert model.predict([["u"]]).tolist() == [["a", "b"][expected[1]]]


def test_no_rows_and_no_smoothing_leave_a_class_impossible():
    """Whatever prior a class without rows is given, there is nothing known of its values."""
    y = pd.Categorical(["a", "a", "b"], ["a", "b", "none"])
    model = NB(alpha=0, priors=[0.1, 0.1, 0.8]).fit([["u"], ["v"], ["v"]], y)
    close(model.predict_proba([["u"], ["v"]]), [[1, 0, 0], [1 / 3, 2 / 3, 0]])


@every_method
@pytest.mark.parametrize("weight", [1e8, 5e9, 9e12])
def test_heavy_rows_drown_the_pseudo_counts(method, weight):
    """With counts far above 2**31 the class that a value decides is as good as certain."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (100, 20))
    y = codes[:, 0] > 0
    model = fixed(method).fit(Coded(codes, [3] * 20), y, weight)
    assert (model.predict(Coded(codes, [3] * 20)) == y).all()


# --- what is refused -------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 1, 1], "sample_weight must not be negative, got -2"),
        ([0, 0, 0, 0], "sample_weight is zero for all rows; give some row a positive weight"),
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\): one weight per row"),
        ([[1], [1], [1], [1]], r"sample_weight.shape == \(4, 1\), expected \(4,\)"),
        ([1, np.nan, 1, 1], "sample_weight must be finite, got NaN or infinity"),
        ([1, np.inf, 1, 1], "sample_weight must be finite, got NaN or infinity"),
        (["heavy", 1, 1, 1], r"sample_weight must be numbers, one per row, got \['heavy'"),
        (-1, "sample_weight must not be negative, got -1"),
        ([1, 1e15, 1, 1], r"sample_weight adds up to 1e\+15, above 1e\+15 counts are not exact; divide all"),
        (1e300, "counts are not exact; divide all weights by the same number"),
    ],
)
def test_weights_that_make_no_sense_are_refused(method, weights, message):
    """By fit, by partial_fit, and by a later partial_fit, which leaves the classifier as it was."""
    X, y = [["u", "v"], ["u", "w"], ["x", "v"], ["x", "w"]], ["a", "b", "a", "b"]
    with pytest.raises(ValueError, match=message):
        method().fit(X, y, weights)
    with pytest.raises(ValueError, match=message):
        method().partial_fit(X, y, sample_weight=weights)
    model = method().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@every_method
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_weight": {"c": 1}}, r"class_weight names the class 'c', which is none of \['a', 'b'\]"),
        ({"class_weight": {"a": -1}}, "class_weight must hold numbers >= 0, one of them positive, got"),
        ({"class_weight": {"a": 0, "b": 0}}, "class_weight must hold numbers >= 0, one of them positive"),
        ({"class_weight": {"a": np.nan}}, "class_weight must hold numbers >= 0, one of them positive, got"),
        ({"class_weight": {"a": "much"}}, "class_weight must hold a number for every class, got"),
        ({"class_weight": {"a": None}}, "class_weight must hold a number for every class, got"),
        ({"class_weight": "equal"}, "class_weight must be a dict, 'balanced' or None, got 'equal'"),
        ({"class_weight": [1, 2]}, r"class_weight must be a dict, 'balanced' or None, got \[1, 2\]"),
        ({"priors": [1.0]}, r"priors must have one number per class \(2\), got shape \(1,\)"),
        ({"priors": [0.5, 0.4]}, r"priors must be numbers >= 0 that sum to 1, got \[0.5, 0.4\]"),
        ({"priors": [1.5, -0.5]}, "priors must be numbers >= 0 that sum to 1, got"),
        ({"priors": [np.nan, 1]}, "priors must be numbers >= 0 that sum to 1, got"),
        ({"priors": "equal"}, "priors must be numbers, one per class, got 'equal'"),
        (
            {"priors": [1, 0], "class_weight": {"a": 0}},
            "priors and class_weight leave no class possible; give one of them a positive number",
        ),
    ],
)
def test_priors_and_class_weights_that_make_no_sense_are_refused(method, options, message):
    """They are refused by fit, in one line that says what came."""
    with pytest.raises(ValueError, match=message):
        method(**options).fit([["u"], ["u"], ["v"]], ["a", "a", "b"])


def test_the_weight_of_several_calls_is_limited_too():
    """Counts are exact up to 1e15, by one call of partial_fit or by many; what was learned stays."""
    model = NB().partial_fit([["a"], ["b"]], [0, 1], sample_weight=[4e14, 4e14])
    with pytest.raises(ValueError, match=r"adds up to 1\.6e\+15, above 1e\+15 counts are not exact"):
        model.partial_fit([["a"], ["b"]], [0, 1], sample_weight=[4e14, 4e14])
    assert model.class_count_.tolist() == [4e14, 4e14]


def test_one_weight_serves_all_rows():
    """A single number is the weight of every row."""
    assert row_weights(2.5, 3).tolist() == [2.5] * 3
