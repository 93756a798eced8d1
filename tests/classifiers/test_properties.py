"""What theory says of LCWNB at the ends of kappa, and of the order and names of rows, columns and values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB

from localbayes.classifiers import ICLNB, LCWNB, LWNB
from localbayes.encoding import Coded


@st.composite
def problems(draw):
    """A table in which every class occurs, and its classes."""
    m, r = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    sizes = np.array(draw(st.lists(st.integers(1, 5), min_size=m, max_size=m)), np.uint32)
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n = draw(st.integers(r, 80))
    codes = (rng.beta(0.6, 1.2, (n, m)) * sizes).astype(np.int64)
    classes = np.concatenate([np.arange(r), rng.integers(0, r, n - r)])
    return codes, sizes, classes, rng


# --- kappa large: naive Bayes ------------------------------------------------------------------------


@settings(max_examples=50)
@given(problem=problems(), alpha=st.sampled_from([1.0, 0.5, 2.0]))
def test_a_kappa_above_the_number_of_rows_is_naive_bayes(problem, alpha):
    """gamma = 1 in every class, all weights are one, and scikit-learn's CategoricalNB scores the same."""
    codes, sizes, classes, _ = problem
    n, r = len(codes), classes.max() + 1
    X = Coded(codes, sizes)
    model = LCWNB(n + 1, alpha=alpha).fit(X, classes)
    local = model.local_model(X)
    assert (local.gamma == 1).all()
    assert (local.weight_scale == 1).all()
    # scikit-learn does not smooth the prior; Laplace's is (alpha + n_y) / (alpha r + n).
    prior = (alpha + np.bincount(classes)) / (alpha * r + n)
    peer = CategoricalNB(alpha=alpha, min_categories=sizes.astype(int), class_prior=prior).fit(codes, classes)
    np.testing.assert_allclose(model.predict_log_joint(X), peer.predict_joint_log_proba(codes), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(codes), rtol=1e-11)


def test_the_largest_class_decides_when_all_gammas_are_one():
    """kappa equal to the size of the largest class is enough; a little less is not."""
    codes = np.array([[0], [0], [1], [1], [0]])
    X, y = Coded(codes, [2]), [0, 0, 1, 1, 1]
    assert (LCWNB(3).fit(X, y).local_model(X).gamma == 1).all()
    assert not (LCWNB(2.9).fit(X, y).local_model(X).gamma == 1).all()


# --- kappa small: the full multinomial model ---------------------------------------------------------


def cell_counts(codes, classes, query, r):
    same = (codes == query).all(axis=1)
    return np.bincount(classes[same], minlength=r)


@settings(max_examples=50)
@given(problem=problems())
def test_kappa_towards_zero_is_the_full_multinomial_model_on_observed_cells(problem):
    """There the unsmoothed posterior is the share of each class among the rows that equal the query."""
    codes, sizes, classes, _ = problem
    r = classes.max() + 1
    proba = LCWNB(1e-13, alpha=0).fit(Coded(codes, sizes), classes).predict_proba(Coded(codes, sizes))
    for query, given_ in zip(codes, proba, strict=True):
        counts = cell_counts(codes, classes, query, r)
        np.testing.assert_allclose(given_, counts / counts.sum(), atol=1e-11)


@settings(max_examples=50)
@given(problem=problems())
def test_kappa_towards_zero_predicts_the_most_frequent_class_of_the_cell(problem):
    """With Laplace's constants, too, the class with most rows equal to the query wins, the first if tied."""
    codes, sizes, classes, _ = problem
    r = classes.max() + 1
    predicted = LCWNB(1e-13).fit(Coded(codes, sizes), classes).predict(Coded(codes, sizes))
    expected = [cell_counts(codes, classes, query, r).argmax() for query in codes]
    assert predicted.tolist() == expected


def test_kappa_towards_zero_looks_at_the_nearest_rows_where_the_cell_is_empty():
    """The posterior of an unobserved cell has a limit, given by the nearest rows of each class."""
    X, y = [["a", "b"], ["b", "b"], ["a", "c"], ["a", "c"]], [0, 1, 1, 1]
    query = [["c", "c"]]
    limit = LCWNB(1e-9).fit(X, y).predict_proba(query)
    for kappa in (1e-12, 1e-30, 1e-100):
        np.testing.assert_allclose(LCWNB(kappa).fit(X, y).predict_proba(query), limit, rtol=1e-6)


# --- order and names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LCWNB(), LCWNB(5), LCWNB(0.7, alpha=0), LWNB(10), ICLNB(5)], ids=str)
@settings(max_examples=25)
@given(problem=problems())
def test_order_of_rows_columns_and_values_does_not_matter(model, problem):
    """Permuting rows, columns or the codes of values changes no probability beyond 1e-12."""
    codes, sizes, classes, rng = problem
    before = model.fit(Coded(codes, sizes), classes).predict_proba(Coded(codes, sizes))

    rows = rng.permutation(len(codes))
    after = model.fit(Coded(codes[rows], sizes), classes[rows]).predict_proba(Coded(codes, sizes))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)

    columns = rng.permutation(len(sizes))
    moved = Coded(codes[:, columns], sizes[columns])
    after = model.fit(moved, classes).predict_proba(moved)
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)

    renamed = Coded(np.column_stack([rng.permutation(q)[codes[:, i]] for i, q in enumerate(sizes)]), sizes)
    after = model.fit(renamed, classes).predict_proba(renamed)
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", [LCWNB(5), LWNB(10), ICLNB(5)], ids=str)
def test_the_order_of_classes_decides_ties_only(model):
    """Declaring the classes in another order permutes nothing: classes_ is sorted and so are columns."""
    rng = np.random.default_rng(3)
    X, y = Coded(rng.integers(0, 3, (60, 5)), np.full(5, 3)), rng.choice(list("abc"), 60)
    one = model.fit(X, pd.Categorical(y, categories=list("abc"))).predict_proba(X)
    other = model.fit(X, pd.Categorical(y, categories=list("cab"))).predict_proba(X)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
