"""Whole numbers that number the rows are told from those that measure something."""

import warnings

import numpy as np
import pandas as pd
import pytest

from localbayes import LCWNB, NB, TAN, LocalBayesClassifier, load_model, save_model
from localbayes.encoding import TableEncoder
from localbayes.encoding.row_numbers import add_marks, number_rows, whole_number_marks

RANDOM = np.random.default_rng(0)
N = 200
IDS = {
    "row": np.arange(N),
    "shuffled": RANDOM.permutation(N) + 5000,
    "gaps": RANDOM.choice(1000, N, replace=False),
    "customer_id": RANDOM.choice(900_000, N, replace=False) + 100_000,
    "CustomerID": RANDOM.choice(900_000, N, replace=False) + 100_000,
}
MEASURED = {
    "digits": RANDOM.choice(900_000, N, replace=False) + 100_000,
    "amount": np.exp(RANDOM.normal(8, 1, N)).round(),
    "second": np.sort(RANDOM.integers(1_600_000_000, 1_600_100_000, N)),
    "day": 20240101 + np.arange(N),
    "age": RANDOM.integers(18, 90, N),
    "weight": RANDOM.permutation(N) / 2,
    "idle": np.exp(RANDOM.normal(8, 1, N)).round(),
}


@pytest.mark.parametrize("name", [*IDS, *MEASURED])
def test_numbers_that_number_the_rows_are_ids(name):
    """Row numbers in any order, with gaps, or named so, are left out; amounts, times and ages are not."""
    values = IDS[name] if name in IDS else MEASURED[name]
    X = pd.DataFrame({"size": RANDOM.normal(size=N), name: values})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = TableEncoder().fit(X)
    assert (encoder.roles[1].kind == "id") == (name in IDS) == (not encoder.roles[1].used)
    assert [str(warning.message)[:15] for warning in caught] == ["left out column"] * (name in IDS)


@pytest.mark.parametrize("cut", [0, 1, 700, 2999])
def test_marks_of_parts_are_those_of_the_whole(cut):
    """So that a cluster leaves out the columns that one machine does."""
    for numbers in (np.arange(3000.0), RANDOM.integers(0, 900, 3000).astype(float)):
        parts = add_marks(whole_number_marks(numbers[:cut]), whole_number_marks(numbers[cut:]))
        np.testing.assert_array_equal(parts, whole_number_marks(numbers))


def test_a_row_of_weight_two_repeats_its_number():
    """As the row twice does, which is no id then."""
    numbers = np.arange(100.0)
    assert number_rows("x", whole_number_marks(numbers, np.ones(100)), 0.0, 99.0)
    assert not number_rows("x", whole_number_marks(numbers, np.full(100, 2.0)), 0.0, 99.0)
    assert not number_rows("x", whole_number_marks(np.repeat(numbers, 2)), 0.0, 99.0)


def test_a_column_can_be_forced_in(tmp_path):
    """As a number or as a category, by name, in all classifiers, and in a model that was saved."""
    X = pd.DataFrame({"row": np.arange(N), "size": RANDOM.normal(size=N)})
    y = np.arange(N) < 90
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in (NB, TAN, LCWNB, LocalBayesClassifier):
            model = method(categorical_features={"row": False}).fit(X, y)
            assert (model.predict(X) == y).mean() > 0.9
            assert model.encoder_.roles[0].kind == "number"
        nominal = NB(categorical_features={"row": True}).fit(X, y)
    assert nominal.sizes_[0] == N
    save_model(model, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").get_params() == model.get_params()


@pytest.mark.parametrize("wrong", [{"rows": True}, {"row": 1}])
def test_a_dict_of_kinds_is_checked(wrong):
    """A column that the table lacks, or a kind that is none, is named in one line."""
    with pytest.raises(
        ValueError, match=r"categorical_features is a dict with .*; use names of columns and bools"
    ):
        NB(categorical_features=wrong).fit(pd.DataFrame({"row": [1, 2]}), [0, 1])


def test_tables_of_nothing_but_ids():
    """Text says nothing, so that shares of classes are learned; numbers are in order, and are used."""
    texts, y = pd.DataFrame({"id": [f"C{k}" for k in range(N)], "k": 1}), np.arange(N) < 150
    with pytest.warns(
        UserWarning, match=r"left out column 'id'.*only shares of classes are learned"
    ) as caught:
        model = LocalBayesClassifier().fit(texts, y)
    assert len(caught) == 1
    np.testing.assert_allclose(model.predict_proba(texts[:1])[0], [0.25, 0.75], atol=0.02)
    with pytest.warns(UserWarning, match="column 'row' only numbers the rows"):
        model = LocalBayesClassifier().fit(pd.DataFrame({"row": np.arange(N)}), y)
    assert (model.predict(pd.DataFrame({"row": np.arange(N)})) == y).mean() > 0.95


def test_row_numbers_beside_other_ids_are_said_to_be_used():
    """What is used for lack of others is not said to be left out, nor that nothing is learned."""
    ids = pd.DataFrame({"id": [f"C{k}" for k in range(N)], "row": np.arange(N), "again": np.arange(N) + 9})
    with pytest.warns(UserWarning, match="column") as caught:
        LocalBayesClassifier().fit(ids, np.arange(N) < 150)
    used, left_out = (str(warning.message) for warning in caught)
    assert used.startswith("columns 'row', 'again' only number the rows, and are used for lack of others")
    assert left_out.startswith("left out column 'id'")
    assert "shares" not in left_out
