"""Tables that are not frames of pandas or polars: Arrow tables, sparse matrices, rows, masked arrays."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

__all__ = ["array_of_rows", "as_frame", "dense", "unmasked"]

# Most cells of a sparse matrix: 1 GiB as an array of floats.
_MOST_CELLS = 1 << 27


def as_frame(X: Any, order: Sequence[str] = ()) -> Any:
    """Turn frames of other libraries, and rows that are dicts, into a pandas frame; leave the rest as it is.

    Parameters
    ----------
    X : object
        A table that narwhals knows (of Arrow, Modin, cuDF), or a dict (one row), or a list of dicts with the
        same keys.
    order : sequence of str
        Names in the order that columns have if they come from dicts; other names follow.

    Examples
    --------
    >>> as_frame({"colour": "red", "size": 3}, order=["size", "colour"]).columns.tolist()
    ['size', 'colour']
    """
    if nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_polars_dataframe(X):
        return X
    if hasattr(X, "column_names") and hasattr(X, "to_pandas"):  # an Arrow table, or a batch of its rows
        names = list(X.column_names)
        frame = X.rename_columns([str(k) for k in range(len(names))]).to_pandas()
        frame.columns = names  # pandas would lose one of two columns of the same name
        return frame
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True).to_pandas()
    rows = [X] if isinstance(X, dict) and not hasattr(X, "tocsr") else X  # some sparse matrices are dicts
    if not isinstance(rows, list | tuple) or not rows or not all(isinstance(row, dict) for row in rows):
        return X
    import pandas as pd

    keys = set(rows[0])
    for k, row in enumerate(rows):
        if row.keys() != keys:
            name = next(iter(keys ^ row.keys()))
            holder = k if name in row else 0
            raise ValueError(
                f"row {holder} of X has {name!r} and row {k if holder == 0 else 0} has not; "
                "give None where a value is missing"
            )
    names = [name for name in order if name in keys]
    names += [name for name in rows[0] if name not in set(names)]
    # Column by column, so that each gets the type that it would have in a frame.
    return pd.DataFrame({name: [row[name] for row in rows] for name in names})


def array_of_rows(rows: Sequence[Any]) -> npt.NDArray[Any]:
    """Rows as an array of objects: left to NumPy, [1.0, "a"] would become the strings "1.0" and "a"."""
    lengths = sorted({len(row) for row in rows if isinstance(row, list | tuple)})
    if len(lengths) > 1:
        raise ValueError(f"X has rows of different lengths, from {lengths[0]} to {lengths[-1]}")
    return np.array(rows, dtype=object)


def unmasked(X: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[Any]:
    """A masked array with NaN or None where it is masked."""
    masked, kind = np.ma.getmaskarray(X), X.dtype.kind
    # Whole numbers beyond 2**53 become objects: a float would change them.
    known = X.filled(0) if kind in "iu" else np.zeros(0)
    short = kind in "iu" and max(int(known.max(initial=0)), -int(known.min(initial=0))) <= 1 << 53
    array: npt.NDArray[Any] = X.data.astype(np.float64 if short else X.dtype if kind in "fmM" else object)
    array[masked] = np.nan if short or kind == "f" else None
    return array


def dense(X: Any) -> npt.NDArray[Any]:
    """A sparse matrix as an array; one of more than 2**27 cells is refused.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> dense(csr_array([[0, 3], [0, 0]])).tolist()
    [[0, 3], [0, 0]]
    """
    if len(X.shape) == 2 and X.shape[0] * X.shape[1] > _MOST_CELLS:
        raise ValueError(
            f"X is a sparse matrix of {X.shape[0]:,} x {X.shape[1]:,} cells, which count one by one, zeros "
            f"too: expected at most {_MOST_CELLS:,}; choose fewer columns, or pass the rows in parts"
        )
    array: npt.NDArray[Any] = X.toarray()
    return array
