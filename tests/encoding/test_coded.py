"""Tables that are codes already."""

import re

import numpy as np
import pytest
from sklearn.base import clone

from localbayes.classifiers import LCWNB, NB, LocalBayesClassifier
from localbayes.encoding import Coded


def test_a_coded_table_can_be_cut():
    """Slices, index arrays, masks and single rows give a Coded with the same domains."""
    table = Coded([[0, 1], [1, 2], [0, 0]], sizes=[2, 3], names=["a", "b"])
    assert table.shape == (3, 2)
    assert len(table) == 3
    for rows in (slice(1, None), [1, 2], np.array([False, True, True])):
        assert table[rows].codes.tolist() == [[1, 2], [0, 0]]
        assert table[rows].names == ["a", "b"]
        assert table[rows].codes.flags.c_contiguous
    assert table[1].codes.tolist() == [[1, 2]]
    assert table.codes.dtype == np.uint8
    assert Coded([[299]], [300]).codes.dtype == np.uint16
    assert Coded([[70_000]], [2]).codes.dtype == np.uint32


@pytest.mark.parametrize(
    ("codes", "sizes", "names", "message"),
    [
        ([0, 1], [2], None, "codes must have a column per size: got shape (2,) and 1 sizes"),
        ([[0, 1]], [2], None, "codes must have a column per size: got shape (1, 2) and 1 sizes"),
        ([[0, -1]], [2, 2], None, "codes must not be negative, got -1"),
        ([[0.5]], [2], None, "codes must be whole numbers, got dtype float64"),
        ([["a"]], [2], None, "codes must be whole numbers, got dtype <U1"),
        ([[0]], [0], None, "sizes must be whole numbers >= 1, one per column, got [0]"),
        ([[0]], [1.5], None, "sizes must be whole numbers >= 1, one per column, got [1.5]"),
        ([[0]], 1, None, "sizes must be whole numbers >= 1, one per column, got 1"),
        ([[0]], [2**33], None, "a column may have at most 2**32 - 2 values, got 8589934592"),
        ([[0]], [1], ["a", "b"], "every column needs a name: got 2 for 1 columns"),
    ],
)
def test_codes_that_make_no_sense_are_refused(codes, sizes, names, message):
    """The message says what came and what was expected."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Coded(codes, sizes, names)


def test_codes_of_a_smaller_domain_keep_what_they_lack():
    """What a table calls missing or unseen is so for a model that knows more values than the table."""
    rng = np.random.default_rng(1)
    model = LCWNB(5, missing="ignore").fit(Coded(rng.integers(0, 300, (500, 2)), [300, 300]), [0, 1] * 250)
    holes = [[False, True], [False, False]]
    narrow, wide = (Coded([[0, 5], [0, code]], [n, n], missing=holes) for n, code in ((10, 12), (300, 999)))
    assert narrow.codes.dtype != wide.codes.dtype
    np.testing.assert_array_equal(model.predict_proba(narrow), model.predict_proba(wide))


def test_names_of_codes_are_compared():
    """Codes in another order of columns are refused, those without names are taken as they are."""
    table = Coded([[0, 2], [1, 0]], [2, 3], names=["sex", "size"])
    model = LCWNB(1).fit(table, ["x", "y"])
    assert model.explain(Coded([[0, 2]], [2, 3])).names == ("sex", "size")
    with pytest.raises(ValueError, match="column 0 of the codes is called 'size', but 'sex' in fit"):
        model.predict(Coded([[2, 0]], [3, 2], names=["size", "sex"]))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int64])
@pytest.mark.parametrize("missing", ["ignore", "impute"])
def test_without_a_mask_no_code_is_missing(dtype, missing):
    """A code outside the domain is a value never seen, also the one that a mask would have put there."""
    rows = np.array([[0, 1], [1, 2], [0, 0], [1, 1]])
    model = NB(missing=missing).fit(Coded(rows.astype(dtype), [2, 3]), ["n", "y", "n", "y"])
    largest = int(np.iinfo(dtype).max) if np.dtype(dtype).kind == "u" else 2**31
    unseen = model.predict_proba(Coded([[0, 7]], [2, 3]))
    for code in (200, 253, 254, 255, largest - 1, largest):
        asked = Coded(np.array([[0, code]], dtype=np.uint64).astype(dtype), [2, 3])
        np.testing.assert_array_equal(model.predict_proba(asked), unseen)


def test_the_reserved_code_is_a_value_where_the_domain_has_it():
    """A domain of 256 values uses all codes of a byte; other columns are not affected."""
    rows = np.array([[k, k % 2] for k in range(256)])
    wide, narrow = (Coded(rows.astype(dtype), [256, 2]) for dtype in (np.int64, np.uint8))
    model = NB(missing="ignore").fit(wide, [0, 1] * 128)
    np.testing.assert_array_equal(model.predict_proba(narrow), model.predict_proba(wide))


@pytest.mark.parametrize(
    "model", [LCWNB(distance="ordered"), LocalBayesClassifier()], ids=["LCWNB", "LocalBayesClassifier"]
)
def test_a_training_value_outside_an_ordered_domain_is_refused_in_fit(model):
    """Its distance from the bins is not known; in a nominal column it differs from all values."""
    codes = np.random.default_rng(0).integers(0, 3, (40, 3))
    y = codes[:, 0] > 1
    codes[5, 1] = 7
    with pytest.raises(ValueError, match=r"column 1, from 0, .* outside its 3 values; declare more values"):
        model.fit(Coded(codes, [3, 3, 3], ordered=[True] * 3), y)
    nominal = Coded(codes, [3, 3, 3], ordered=[True, False, True])
    assert np.isfinite(model.fit(nominal, y).predict_proba(nominal)).all()
    holes = Coded(codes, [3, 3, 3], missing=codes > 2, ordered=[True] * 3)
    assert np.isfinite(clone(model).set_params(missing="ignore").fit(holes, y).predict_proba(holes)).all()
