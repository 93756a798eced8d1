"""The compiled module refuses arrays that do not fit together instead of reading outside them."""

from __future__ import annotations

import localbayes.kernels._kernels as _kernels
import numpy as np
import pytest

SIZES = np.array([3, 40], np.uint32)


def packed(n: int = 100, may_miss: bool = False):
    """Words and class starts of n rows of two attributes and two classes, the second of several digits."""
    codes = np.random.default_rng(0).integers(0, SIZES, (n, 2)).astype(np.uint8)
    words = _kernels.pack(codes, np.arange(n), SIZES, may_miss)
    return words, np.array([0, n // 2, n])


def matches(words, start, sizes=SIZES, own=None, weights=None, n_classes=2):
    queries = np.zeros((2, len(sizes)), np.uint8)
    return _kernels.MatchCounts([(words, start, sizes, weights)], queries, n_classes, False, own, None)


@pytest.mark.parametrize("may_miss", [False, True])
@pytest.mark.parametrize("n", [0, 1, 64, 2048, 5000])
def test_rows_as_they_were_packed_are_accepted(n, may_miss):
    """What pack writes passes the check."""
    words, start = packed(n, may_miss)
    _kernels.check_rows(words, start, SIZES, may_miss)


def test_every_single_bit_too_many_is_refused():
    """A row of two values, a bit in the plane of zeros and a bit beyond the last row are all damage."""
    words, start = packed(70)
    for at in range(len(words)):
        for bit in (0, 5, 6, 63):
            damaged = words.copy()
            damaged[at] |= np.uint64(1) << np.uint64(bit)
            if (damaged != words).any():
                with pytest.raises(ValueError, match="damaged training rows"):
                    _kernels.check_rows(damaged, start, SIZES, False)


def test_a_code_beyond_the_last_value_is_refused():
    """Two digits in base 4 can spell 63; a column of 40 values has no such code."""
    words, start = packed(1)
    planes = words.reshape(-1, 32)
    planes[1:] = 0
    first = 1 + 3
    planes[[1, first + 3, first + 4 + 3, first + 8 + 2], 0] = 1  # 3 + 4 * 3 + 16 * 2 = 47
    with pytest.raises(ValueError, match="does not have one value of attribute 1"):
        _kernels.check_rows(words, start, SIZES, False)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ([1, 50, 100], "do not begin with row 0"),
        ([0, 60, 50], "class 1 ends before it begins"),
        ([0, 50, 2**62 + 2048], "do not fit"),
        ([0, 50, 2**63 - 1], "do not fit"),
        ([0, 50, 5000], "do not fit"),
        ([0, -1, 100], "class 0 ends before it begins"),
    ],
)
def test_class_starts_that_do_not_fit_are_refused(start, said):
    """No arithmetic on the starts wraps around."""
    words, _ = packed()
    with pytest.raises(ValueError, match=said):
        _kernels.check_rows(words, np.array(start), SIZES, False)
    with pytest.raises(ValueError, match="do not fit"):
        matches(words, np.array(start))


def test_words_that_wrap_around_are_refused():
    """Columns and rows whose product is a multiple of 2^64 words need more words than none."""
    sizes = np.full(17, 15, np.uint32)
    start = np.array([0, 2**62 + 2048])
    with pytest.raises(ValueError, match="do not fit"):
        _kernels.check_rows(np.zeros(8192, np.uint64), start, sizes, False)


def test_a_size_of_zero_is_refused():
    """An attribute has a value at least."""
    with pytest.raises(ValueError, match="attribute 1 has no values"):
        _kernels.check_rows(np.zeros(0, np.uint64), np.zeros(3, np.int64), np.array([3, 0], np.uint32), False)


@pytest.mark.parametrize("own", [[0, 2], [-1, 0], [0, 2**62]])
def test_the_class_of_an_own_row_must_be_a_class(own):
    """Leave-one-out takes a row out of the counts of a class that exists."""
    with pytest.raises(ValueError, match="own row is no class"):
        matches(*packed(), own=np.array(own))


def test_no_parts_and_no_classes_are_refused():
    """A batch needs rows, if only none, and a class."""
    with pytest.raises(ValueError, match="do not fit"):
        _kernels.MatchCounts([], np.zeros((1, 2), np.uint8), 2, False, None, None)
    with pytest.raises(ValueError, match="do not fit"):
        matches(np.zeros(0, np.uint64), np.zeros(1, np.int64), n_classes=0)


def test_no_kappas_have_no_sums_and_no_scores():
    """Of two queries, classes and attributes."""
    counts, none = matches(*packed()), np.zeros(0)
    assert [sums.shape for sums in counts.cell_sums(none)] == [(0, 2, 2), (0, 2), (0, 2, 2), (0, 2, 2, 2)]
    assert counts.cell_log_joint(none, SIZES.astype(float), 1.0, np.inf).shape == (0, 2, 2)


def test_some_parts_with_weights_are_refused():
    """All parts have weights or none has."""
    words, start = packed()
    parts = [(words, start, SIZES, np.ones(100)), (words, start, SIZES, None)]
    with pytest.raises(ValueError, match="do not fit"):
        _kernels.MatchCounts(parts, np.zeros((1, 2), np.uint8), 2, False, None, None)


@pytest.mark.parametrize("row", [-1, 2048, 2**63 - 1])
def test_rows_that_are_not_there_are_not_unpacked(row):
    """A block has 2,048 rows."""
    with pytest.raises(ValueError, match="no such training row"):
        _kernels.unpack(packed()[0], SIZES, False, np.array([row]))


class TestPairs:
    """Two attributes of one and two values, each with a slot for unseen ones, and two classes: 6 cells."""

    counts = np.zeros((6, 2), np.int32)
    first = np.array([0, 2, 5])
    row = np.array([[0, 0, 0, 4, 8]])
    column = np.array([[0, 2, 4, 6, 8]])

    def arcs(self, **changes):
        arrays = {
            "counts": self.counts,
            "row": self.row,
            "column": self.column,
            "first": self.first,
            "kind": np.array([0, 1]),
            "own": np.zeros((5, 2)),
            "totals": np.zeros((2, 6, 2)),
            "empty": np.zeros((2, 2)),
            "table": np.zeros(3),
            "table_size": 3,
            "alpha": 1.0,
            "out": np.zeros((2, 2)),
        } | changes
        _kernels.arc_scores(*arrays.values())

    def test_good_tables_are_accepted(self):
        """Numbers may come as numbers or as arrays of one."""
        self.arcs()
        self.arcs(table_size=np.array([3]), alpha=np.array([1.0]))

    @pytest.mark.parametrize(
        "changes",
        [
            {"counts": np.full((6, 2), -1, np.int32)},
            {"first": np.array([0, 6, 5])},
            {"first": np.array([0, 2, 2])},
            {"first": np.array([-1, 2, 5])},
            {"kind": np.array([0, 2])},
            {"kind": np.array([0, -1])},
            {"table_size": 4},
            {"table_size": -1},
            {"own": np.zeros((4, 2))},
            {"row": np.array([[0, 0, 0, 4, 12]])},
            {"row": np.array([[0, 0, -4, 0, 4]])},
            {"column": np.array([[0, 2, 4, 6, 2**61]])},
            {"out": np.zeros((1, 2))},
        ],
        ids=str,
    )
    def test_arrays_that_do_not_fit_are_refused(self, changes):
        """No slot, kind or count points outside its table."""
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own message)
            self.arcs(**changes)

    @pytest.mark.parametrize(
        ("row", "column", "classes"),
        [
            ([[0, 12]], [[0, 4]], [0]),
            ([[0, -4]], [[0, 4]], [0]),
            ([[0, 0]], [[-2, 4]], [0]),
            ([[0, 0]], [[0, 4]], [2]),
            ([[0, 0]], [[0, 4]], [-1]),
            ([[0, 0]], [[0, 4]], [0, 1]),
        ],
    )
    def test_rows_outside_the_table_are_not_counted(self, row, column, classes):
        """The cell of every pair and class must be in the table."""
        counts = self.counts.copy()
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own message)
            _kernels.count_pairs(
                counts, np.array(row), np.array(column), np.array(classes), np.ones(1, np.int32)
            )
        assert not counts.any()

    @pytest.mark.parametrize(("kernel", "dtype"), [("count_pairs", np.int32), ("count_values", np.int64)])
    def test_counts_that_would_overflow_stay_as_they_were(self, kernel, dtype):
        """The largest count takes no further row, and the rows before it are taken out again."""
        counts = np.full((6, 2), np.iinfo(dtype).max - 1, dtype)
        before = counts.copy()
        rows = np.array([[0, 0], [0, 0]]), np.array([[0, 4], [0, 4]])
        with pytest.raises(ValueError, match="nothing was added"):
            getattr(_kernels, kernel)(counts, *rows, np.zeros(2, np.int64), np.ones(2, dtype))
        np.testing.assert_array_equal(counts, before)
