"""Cells of frames of one row, without a look at every column."""

import sys
from typing import Any

import numpy as np

__all__ = ["cells_of_row"]


def cells_of_row(X: Any) -> list[Any] | None:
    """Cells of a pandas or polars frame that has one row, as Python objects; None for any other table.

    Pandas takes some microseconds for every column that it gives out, but not for a cell of a row.

    Examples
    --------
    >>> import pandas as pd
    >>> cells_of_row(pd.DataFrame({"colour": ["red"], "size": [1.5]}))
    ['red', 1.5]
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame) and len(X) == 1:
        # A row of several types holds the numbers of NumPy.
        return [cell.item() if isinstance(cell, np.generic) else cell for cell in X.iloc[0].tolist()]
    if polars is not None and isinstance(X, polars.DataFrame) and len(X) == 1:
        return list(X.row(0))
    return None
