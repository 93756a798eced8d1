"""Tables on the command line: their target, and how they are written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_HELP", "check_table_name", "split_target", "table_bytes"]

TABLE_HELP = "A table: .csv, .tsv, .arff (each also .gz) or .parquet."


def split_target(frame: pd.DataFrame, target: str, path: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Take the target out of a table, and refuse one that is no class.

    Parameters
    ----------
    frame : DataFrame
        The table.
    target : str
        Name of the target column.
    path : Path
        Where the table came from, for messages.

    Returns
    -------
    X, y : DataFrame, Series
        Features and target.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = split_target(pd.DataFrame({"x": [1.5], "y": ["a"]}), "y", Path("t.csv"))
    >>> list(X), y.tolist()
    (['x'], ['a'])
    """
    from localbayes.datasets.reading import refuse_fractions
    from localbayes.datasets.registry import no_such

    if target not in frame.columns:
        raise ValueError(f"{path}: {no_such('column is called', target, frame.columns)}")
    y = frame[target]
    X = frame.drop(columns=target)
    if not len(X.columns):
        raise ValueError(f"{path} has no column beside the target {target!r}; expected features too")
    missing = int(y.isna().sum())
    if missing:
        raise ValueError(
            f"{path}: {missing} of {len(y)} rows have no value in the target {target!r}; "
            "remove them or give them a class"
        )
    refuse_fractions(y, path)
    return X, y.map(str) if y.dtype == object else y


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
