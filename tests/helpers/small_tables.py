"""Small tables for the tests of the encoding."""

import pandas as pd
from hypothesis import strategies as st

from localbayes.encoding import TableEncoder

DATES = ["2020-01-01", "2021-06-30"]
finite = st.floats(allow_nan=False, allow_infinity=False)


def frame(**columns):
    return pd.DataFrame(columns)


def is_categorical(X, **options):
    return TableEncoder(**options).fit(X).forced


def one_column(values, **options):
    """Codes, size and encoder of a table of one column."""
    X = pd.DataFrame({"c": values})
    encoder = TableEncoder(**options).fit(X)
    return encoder.encode(X)[:, 0].tolist(), int(encoder.sizes[0]), encoder
