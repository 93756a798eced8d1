"""PairCounts: exact, additive, bounded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from eager_tables import tables
from localbayes.classifiers.waode import mutual_information
from localbayes.counts import PairCounts, ValueCounts
from oracle_eager import Table as Rows


def counted(table, rows=slice(None), weights=None, kind=PairCounts):
    counts = kind(table.sizes, table.r)
    counts.add(table.codes[rows].astype(np.uint8), table.classes[rows], weights)
    return counts


def everything(counts):
    return {name: array for name, array in vars(counts).items() if name.endswith("_counts")}


def assert_same(a, b):
    for name, array in everything(a).items():
        np.testing.assert_array_equal(array, everything(b)[name], err_msg=name)


@given(tables(most_columns=5, most_values=5, most_classes=4, most_rows=40, unseen=True))
def test_every_count_is_the_number_of_rows(table):
    """Class, value and pair counts are what looking at every row gives; unseen values are in none."""
    counts, rows = counted(table), Rows(table.codes, table.classes, table.sizes, table.r)
    for y in range(table.r):
        assert counts.class_counts[y] == rows.count(y)
        for i, q in enumerate(table.sizes):
            values = counts.value_counts[counts.first_slot[i] : counts.first_slot[i + 1], y]
            assert values.tolist() == [rows.count(y, {i: v}) for v in range(q)] + [0]
            for j in set(range(len(table.sizes))) - {i}:
                block = counts.block(i, j)[:, :, y]
                assert block.shape == (q + 1, table.sizes[j] + 1)
                expected = [[rows.count(y, {i: v, j: u}) for u in range(table.sizes[j])] for v in range(q)]
                assert block[:-1, :-1].tolist() == expected
                assert not block[-1].any()
                assert not block[:, -1].any()
    assert_same(counted(table, kind=ValueCounts), counts)


@given(tables(unseen=True), st.integers(1, 5))
def test_counts_add_up_over_parts_of_the_rows(table, n_parts):
    """The sum over any parts, empty ones too, and rows added part by part are the counts of all rows."""
    whole = counted(table)
    parts = np.array_split(np.arange(len(table.codes)), n_parts)
    total = counted(table, parts[0])
    for part in parts[1:]:
        total = total + counted(table, part)
    assert_same(total, whole)
    step = PairCounts(table.sizes, table.r)
    for part in parts:
        step.add(table.codes[part].astype(np.uint32), table.classes[part])
    assert_same(step, whole)
    assert step.n_rows == len(table.codes)


@pytest.mark.parametrize("kind", [ValueCounts, PairCounts])
@given(table=tables(unseen=True), data=st.data())
def test_growing_is_having_known_the_domains_before(kind, table, data):
    """Counts that grow and then learn equal counts that started with the larger domains."""
    wider = [q + data.draw(st.integers(0, 3)) for q in table.sizes]
    n = len(table.codes) // 2
    grown = counted(table, slice(n), kind=kind).grown(wider)
    grown.add(table.codes[n:].astype(np.uint8), table.classes[n:])
    known = kind(wider, table.r)
    # Before it grew, a value outside the smaller domain was not counted.
    first = np.where(table.codes[:n] < table.sizes, table.codes[:n], 255)
    known.add(first.astype(np.uint8), table.classes[:n])
    known.add(table.codes[n:].astype(np.uint8), table.classes[n:])
    assert_same(grown, known)


@given(tables(unseen=True), st.integers(0, 2**32 - 1))
def test_a_weight_is_so_many_rows(table, seed):
    """Weight 2 is the row twice, weight 0 its absence, also when rows without weights came first."""
    weights = np.random.default_rng(seed).integers(0, 4, len(table.codes))
    weighted = counted(table, weights=weights.astype(float))
    repeated = counted(table, np.repeat(np.arange(len(weights)), weights))
    assert weighted.pair_counts.dtype == np.float64
    assert_same(weighted, repeated)
    both = counted(table)
    both.add(table.codes.astype(np.uint8), table.classes, weights.astype(float))
    assert_same(both, counted(table) + weighted)
    assert_same(weighted.grown(table.sizes), weighted)


@settings(max_examples=40)
@given(tables(most_columns=4))
def test_information_is_that_of_scikit_learn(table):
    """Mutual information, with the class and between attributes given it, as mutual_info_score has it."""
    counts, n = counted(table), len(table.codes)
    columns = table.codes.T
    with_class = [mutual_info_score(column, table.classes) / np.log(2) for column in columns]
    np.testing.assert_allclose(mutual_information(counts), with_class, atol=1e-12)
    given_class = np.zeros((len(columns), len(columns)))
    for rows in (table.classes == y for y in np.unique(table.classes)):
        given_class += [
            [rows.sum() / n * mutual_info_score(a[rows], b[rows]) / np.log(2) for b in columns]
            for a in columns
        ]
    np.fill_diagonal(given_class, 0)
    np.testing.assert_allclose(counts.conditional_information(), given_class, atol=1e-12)


@pytest.mark.parametrize("times", [1, 3, 7, 1000])
def test_information_of_independent_attributes_is_exactly_zero(times):
    """All combinations equally often: no rounding error passes for dependence."""
    grid = np.array(np.meshgrid(range(3), range(5), range(7), indexing="ij")).reshape(3, -1).T
    rows = np.repeat(grid, times, axis=0).astype(np.uint8)
    counts = PairCounts([5, 7], 3)
    counts.add(rows[:, 1:], rows[:, 0])
    assert not mutual_information(counts).any()
    assert not counts.conditional_information().any()


def test_the_memory_is_what_the_documentation_says():
    """16 attributes of ten values and 26 classes: 1.5 MB of pairs; 8 bytes for every slot and class."""
    counts = PairCounts([10] * 16, 26)
    assert counts.pair_counts.nbytes == 4 * 26 * 120 * 11 * 11 == 1_510_080
    assert counts.value_counts.nbytes == 8 * 26 * 176
    assert counts.nbytes == 1_510_080 + 8 * 26 * 177


@pytest.mark.parametrize(
    ("sizes", "names", "message"),
    [
        (
            [5, 70_000, 60_000],
            ["age", "town", "street"],
            r"would take 15.6 GiB, more than max_table_bytes = 2.0 GiB; column 'town' has the most values "
            r"\(70000\): bin, group or drop it, or allow a larger table",
        ),
        ([5, 60_000, 70_000], None, r"column 2 has the most values \(70000\)"),
        ([2**32 - 2] * 2, None, r"column 0 has the most values \(4294967294\)"),
    ],
)
def test_a_table_beyond_the_limit_is_refused(sizes, names, message):
    """The message names the widest column, both sizes and the ways out, before any memory is taken."""
    with pytest.raises(ValueError, match=message):
        PairCounts(sizes, 1, names=names)


def test_the_limit_can_be_moved():
    """The same table passes at its size and not a byte below; weights and growth count too."""
    needed = 4 * 3 * (6 * 5)
    counts = PairCounts([4, 5], 3, max_table_bytes=needed)
    with pytest.raises(ValueError, match=r"would take 360.0 bytes, more than max_table_bytes = 359.0 bytes"):
        PairCounts([4, 5], 3, max_table_bytes=needed - 1)
    with pytest.raises(ValueError, match=r"would take 420.0 bytes.*column 1 has the most values \(6\)"):
        counts.grown([4, 6])
    with pytest.raises(ValueError, match=r"would take 720\.0 bytes"):
        counts.add(np.zeros((1, 2), np.uint8), np.zeros(1, int), np.ones(1))
    assert counts.n_rows == 0


def test_a_wide_column_among_narrow_ones_fits():
    """70,000 values beside a flag need a narrow table, which is well below the limit."""
    counts = PairCounts([2, 70_000], 2)
    counts.add(np.array([[1, 69_999]], np.uint32), np.array([1]))
    assert counts.block(1, 0)[69_999, 1].tolist() == [0, 1]
    assert counts.nbytes < 6_000_000


def test_more_rows_than_a_count_can_hold_are_refused():
    """Counts of pairs are 32-bit; the sum that would overflow one is an error, not a wrong number."""
    counts = PairCounts([2, 2], 1)
    counts.class_counts[0] = 2**31 - 2
    counts.add(np.zeros((1, 2), np.uint8), np.zeros(1, int))
    with pytest.raises(ValueError, match="at most 2147483647 rows, got 1 more than 2147483647"):
        counts.add(np.zeros((1, 2), np.uint8), np.zeros(1, int))
    with pytest.raises(ValueError, match="at most 2147483647 rows"):
        counts + counts


def test_misuse_is_refused():
    """Wrong class codes, shrinking domains and counts of other domains are errors that say so."""
    counts = ValueCounts([2, 3], 2)
    for wrong in ([2], [-1]):
        with pytest.raises(ValueError, match="class codes must be from 0 to 1, got"):
            counts.add(np.zeros((1, 2), np.uint8), np.array(wrong))
    with pytest.raises(ValueError, match=r"can only grow: sizes were \[2, 3\], got \[2, 2\]"):
        counts.grown([2, 2])
    for other in (ValueCounts([2, 4], 2), ValueCounts([2, 3], 3)):
        with pytest.raises(ValueError, match="the same domains and classes"):
            counts + other
