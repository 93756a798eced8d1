"""Tables on the command line: which are read, and how they are written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_HELP", "check_table_name", "table_bytes"]

TABLE_HELP = "A table: .csv, .tsv, .arff (each also .gz) or .parquet."


def table_bytes(frame: pd.DataFrame, path: Path | None) -> bytes:
    """Write a table as CSV, or as Parquet if the name of the file says so.

    Parameters
    ----------
    frame : DataFrame
        The table.
    path : Path, optional
        Where it will go; without one it becomes CSV.

    Returns
    -------
    bytes
        Content of the file.

    Examples
    --------
    >>> import pandas as pd
    >>> table_bytes(pd.DataFrame({"p": [0.1]}), None)
    b'p\\n0.1\\n'
    """
    if path is not None and path.suffix.lower() == ".parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text.encode()


def check_table_name(path: Path) -> None:
    """Refuse the name of an output table whose format is not known."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise ValueError(f"{path}: expected a name that ends in .csv or .parquet")
