"""How many rows have each value: the same from every statistic."""

import numpy as np
import pytest
from hypothesis import given, settings

from eager_tables import tables
from localbayes.classifiers import CLASSIFIERS


@pytest.mark.parametrize("name", CLASSIFIERS)
@settings(max_examples=15)
@given(table=tables(most_columns=5, most_values=5, most_classes=3, most_rows=30, queries=1, unseen=True))
def test_totals_are_those_of_a_count_of_the_column(name, table):
    """Values outside their domain are in no total."""
    totals = table.fit(CLASSIFIERS[name]).statistic.value_totals()
    for total, column, q in zip(totals, table.codes.T, table.sizes, strict=True):
        np.testing.assert_array_equal(total, np.bincount(column[column < q], minlength=q))
