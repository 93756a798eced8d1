"""LWNB and ICLNB against plain loops over neighbours, and the hook that both are written with."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from localbayes.classifiers import ICLNB, LCWNB, LWNB, LazyClassifier
from localbayes.classifiers.lazy import kth_distance
from localbayes.encoding import Coded


@st.composite
def problems(draw):
    """Few values and few columns, so that ties at the k-th distance and coinciding rows are common."""
    m, r = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    sizes = np.array(draw(st.lists(st.integers(1, 4), min_size=m, max_size=m)), np.uint32)
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n = draw(st.integers(1, 80))
    codes = (rng.beta(0.6, 1.2, (n, m)) * sizes).astype(np.int64)
    classes = rng.integers(0, r, n)
    asked = (rng.beta(0.6, 1.2, (4, m)) * (sizes + 1)).astype(np.int64)
    return Coded(codes, sizes), pd.Categorical.from_codes(classes, list("abcd")[:r]), Coded(asked, sizes)


def assert_agrees(model, sums, problem, k):
    """Sums are those of the loop, and so is the score made of them."""
    X, y, asked = problem
    model.fit(X, y)
    counts = model.index_.count(asked.codes)
    S, T = counts.weighted_sums(np.ascontiguousarray(model.weights(counts.distance_counts)))
    log_joint = model.predict_log_joint(asked)
    for q, query in enumerate(asked.codes):
        expected_S, expected_T = sums(X.codes, y.codes, len(y.categories), query, k)
        np.testing.assert_allclose(S[q], np.array(expected_S, float), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(T[q], np.array(expected_T, float), rtol=1e-13, atol=1e-13)
        scores = oracle.naive_bayes_scores(expected_S, expected_T, X.sizes)
        np.testing.assert_allclose(log_joint[q], scores, rtol=1e-12, atol=1e-12)
        # A tie is broken by rounding in neither: the class declared first wins in both.
        assert model.predict(asked)[q] == y.categories[np.flatnonzero(scores >= scores.max() - 1e-9)[0]]


@settings(max_examples=60)
@given(problem=problems(), k=st.sampled_from([1, 2, 5, 10, 50, 1000]))
def test_lwnb_is_a_loop_over_neighbours(problem, k):
    """Weights 1 - d / d_k, scaled to the number of rows that have one; equal where all are equally far."""
    assert_agrees(LWNB(k), oracle.lwnb_sums, problem, k)


@settings(max_examples=60)
@given(problem=problems(), k=st.sampled_from([1, 2, 5, 10, 50, 1000]))
def test_iclnb_is_a_loop_over_neighbours(problem, k):
    """The k nearest and their ties, each cloned once for every value it shares with the query."""
    assert_agrees(ICLNB(k), oracle.iclnb_sums, problem, k)


def test_iclnb_sums_are_whole_numbers():
    """Clones are counted, so S and T are exact."""
    rng = np.random.default_rng(0)
    X, y = Coded(rng.integers(0, 3, (500, 9)), np.full(9, 3)), rng.integers(0, 3, 500)
    model = ICLNB().fit(X, y)
    counts = model.index_.count(X.codes[:20])
    S, T = counts.weighted_sums(np.ascontiguousarray(model.weights(counts.distance_counts)))
    for q in range(20):
        expected = oracle.iclnb_sums(X.codes, y, 3, X.codes[q], 10)
        np.testing.assert_array_equal(S[q], expected[0])
        np.testing.assert_array_equal(T[q], expected[1])


def test_lwnb_where_the_nearest_coincide_with_the_query():
    """d_k = 0: equal weights by default; the published results show 0 / 0, which declares the last class."""
    X, y = [["a"]] * 5 + [["b"]] * 5, ["first"] * 5 + ["last"] * 5
    query = [["a"]]
    equal = LWNB(3).fit(X, y)
    # By hand: five rows of the first class weigh one each; q = 2, r = 2.
    first, last = 6 / 7 * 6 / 7, 1 / 7 * 1 / 2
    np.testing.assert_allclose(equal.predict_proba(query), [[first / (first + last), last / (first + last)]])
    published = LWNB(3, zero_distance="published").fit(X, y)
    assert published.predict(query).tolist() == ["last"]
    np.testing.assert_allclose(published.predict_proba(query).sum(), 1)


def test_lwnb_as_published_elsewhere_is_the_same():
    """Where some neighbour is nearer than the k-th, both settings give the same answer."""
    rng = np.random.default_rng(1)
    X, y = Coded(rng.integers(0, 3, (200, 8)), np.full(8, 3)), rng.integers(0, 2, 200)
    asked = Coded(rng.integers(0, 3, (50, 8)), np.full(8, 3))
    equal, published = LWNB(20).fit(X, y), LWNB(20, zero_distance="published").fit(X, y)
    nearer = [len(set(sorted(oracle.hamming(X.codes, q.tolist()))[:20])) > 1 for q in asked.codes]
    assert sum(nearer) > 40
    np.testing.assert_array_equal(
        equal.predict_log_joint(asked)[nearer], published.predict_log_joint(asked)[nearer]
    )


def test_lwnb_as_published_where_all_are_equally_far():
    """d_k > 0 and nobody nearer: all weights are zero and Laplace's constants alone are left."""
    X, y = [["a", "b"], ["a", "c"], ["b", "c"]], ["x", "y", "y"]
    model = LWNB(3, zero_distance="published").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([["new", "too"]]), [[0.5, 0.5]])


@settings(max_examples=50)
@given(counts=st.lists(st.integers(0, 5), min_size=1, max_size=10).filter(any), k=st.integers(1, 60))
def test_the_kth_distance_is_that_of_sorting(counts, k):
    """The distance of the k-th nearest row, or of the farthest if there are fewer."""
    distances = sorted(d for d, c in enumerate(counts) for _ in range(c))
    assert kth_distance(np.array([counts]), k).tolist() == [distances[:k][-1]]


@pytest.mark.parametrize("method", [LWNB, ICLNB])
@pytest.mark.parametrize("k", [0, -1, 2.5, "ten", None, True])
def test_a_k_that_is_no_whole_number_is_refused(method, k):
    """The message says what came and what was expected."""
    with pytest.raises(ValueError, match=r"k must be a whole number >= 1, got ") as error:
        method(k).fit([["a"]], ["x"])
    assert str(error.value).endswith(f"got {k!r}")


def test_an_unknown_zero_distance_is_refused():
    """The message lists the two settings."""
    with pytest.raises(ValueError, match="zero_distance must be 'equal' or 'published', got 'weka'"):
        LWNB(zero_distance="weka").fit([["a"]], ["x"])


class Uniform(LazyClassifier):
    """All rows weigh one, which is naive Bayes."""

    def weights(self, distance_counts):
        return np.ones(distance_counts.shape)


@settings(max_examples=20)
@given(problem=problems())
def test_a_weighting_of_ones_is_naive_bayes(problem):
    """A new weighting is one method; with all weights one it is Laplace's naive Bayes."""
    X, y, asked = problem
    log_joint = Uniform().fit(X, y).predict_log_joint(asked)
    for q, query in enumerate(asked.codes):
        S, T = oracle.weighted_sums(X.codes, y.codes, len(y.categories), query, lambda j: 1)
        np.testing.assert_allclose(log_joint[q], oracle.naive_bayes_scores(S, T, X.sizes), rtol=1e-12)


SHAPE = r"in the shape of distance_counts, \(1, 2, 3\), got "


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda V: np.full(V.shape, np.nan), "be finite and not negative where there are rows, got nan"),
        (lambda V: np.full(V.shape, np.inf), "be finite and not negative where there are rows, got inf"),
        (lambda V: np.full(V.shape, -1), "be finite and not negative where there are rows, got -1.0"),
        (lambda V: 0.5 ** np.arange(V.shape[2]), SHAPE + r"float64 of shape \(3,\)"),
        (lambda V: np.full(V.shape, "much"), SHAPE + r"<U4 of shape \(1, 2, 3\)"),
        (lambda V: None, SHAPE + "None"),
        (lambda V: [["a"]], SHAPE + r"\[\['a'\]\]"),
    ],
)
def test_weights_that_are_none_are_refused(given, message):
    """In one line, by predict and by explain."""

    class Odd(LazyClassifier):
        def weights(self, distance_counts):
            return given(distance_counts)

    model = Odd().fit([["a", "b"], ["a", "c"]], ["x", "y"])
    for call in (model.predict, model.predict_proba, model.explain):
        with pytest.raises(ValueError, match=f"^Odd.weights must .*{message}$"):
            call([["a", "b"]])


@pytest.mark.parametrize("odd", [bool, int, "nan where there are no rows"])
def test_weights_of_any_type_are_weights(odd):
    """Truth values and whole numbers count as one or none; what no row has is not looked at."""

    class Near(LazyClassifier):
        def weights(self, distance_counts):
            near = np.broadcast_to(np.arange(distance_counts.shape[2]) < 2, distance_counts.shape)
            return np.where(distance_counts > 0, near, np.nan) if isinstance(odd, str) else near.astype(odd)

    class Plain(LazyClassifier):
        def weights(self, distance_counts):
            return np.broadcast_to(np.array([1.0, 1.0, 0.0]), distance_counts.shape)

    X, y = [["a", "b"], ["a", "c"], ["d", "c"]], ["x", "y", "y"]
    model, plain = Near().fit(X, y), Plain().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.explain(X).contributions, plain.explain(X).contributions)


def test_a_lazy_classifier_without_weights_says_so():
    """The base class alone cannot predict."""
    model = LazyClassifier().fit([["a"]], ["x"])
    with pytest.raises(NotImplementedError):
        model.predict([["a"]])


def test_weights_of_lcwnb_cannot_be_overridden_in_vain():
    """Its weights are compiled in; a subclass that overrides the hook is told so instead of being ignored."""
    with pytest.raises(
        TypeError, match=r"Steeper: weights of LCWNB are compiled in.*derive .* LazyClassifier"
    ):
        type("Steeper", (LCWNB,), {"weights": lambda self, distance_counts: distance_counts})
