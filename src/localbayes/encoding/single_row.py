"""Cells of frames of one row, without a look at every column."""

import sys
from typing import Any

import numpy as np

__all__ = ["cells_of_row"]


def cells_of_row(X: Any) -> list[Any] | None:
    """Cells of a pandas or polars frame that has one row, as Python objects; None for any other table.

    Pandas takes longer for a column that it gives out than for a cell.

    Examples
    --------
    >>> import pandas as pd
    >>> cells_of_row(pd.DataFrame({"colour": ["red"], "size": [1.5]}))
    ['red', 1.5]
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame) and len(X) == 1:
        # Cell by cell: for a whole row pandas looks for a type that columns of categories have in common.
        at = X.iat
        cells = [at[0, i] for i in range(X.shape[1])]
        return [cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
    if polars is not None and isinstance(X, polars.DataFrame) and len(X) == 1:
        return list(X.row(0))
    return None
