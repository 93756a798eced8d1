"""Output tables of the command line, and text about the size of tables."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "TABLE_HELP",
    "check_page_name",
    "check_place",
    "check_table_name",
    "counted",
    "filled",
    "size_text",
    "table_bytes",
]

TABLE_HELP = "A table: .csv, .tsv, .arff, .jsonl (each also .gz, .bz2, .zst, .zip), .xlsx or .parquet."


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


def size_text(X: pd.DataFrame, classes: int) -> str:
    """Say how large a table is, and how many cells are missing.

    Parameters
    ----------
    X : DataFrame
        Features.
    classes : int
        Number of classes.

    Returns
    -------
    str
        Words for a line.

    Examples
    --------
    >>> import pandas as pd
    >>> size_text(pd.DataFrame({"colour": ["red", None], "weight": [None, None]}), 2)
    "2 rows, 2 columns, 2 classes, 3 missing cells (nothing is known in the column 'weight')"
    """
    words = [counted(len(X), "row"), counted(X.shape[1], "column"), counted(classes, "class")]
    absent = X.isna()
    missing = int(absent.to_numpy().sum())
    if missing:
        words.append(counted(missing, "missing cell"))
    unknown = [str(name) for name in X.columns[absent.all().to_numpy()]]
    more = f" and {len(unknown) - 1} more" if unknown[1:] else ""
    note = f" (nothing is known in the column {unknown[0]!r}{more})" if unknown else ""
    return ", ".join(words) + note


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "class")
    ('1 row', '2 classes')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}{'es' if thing.endswith('s') else 's'}"


def filled(text: str) -> str:
    """Text broken between words where a terminal would break it anywhere; a pipe gets one line."""
    from localbayes.cli.layout import stdout_console

    return textwrap.fill(text, stdout_console().width, break_long_words=False, break_on_hyphens=False)


def check_place(output: Path, force: bool, *inputs: Path) -> None:
    """Refuse an output that cannot be written, or that is one of the files that are read.

    Parameters
    ----------
    output : Path
        Where something is to be written.
    force : bool
        Whether a file of that name may be replaced.
    *inputs : Path
        Files that the command reads.
    """
    from localbayes._files import check_output

    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise ValueError(f"{output} is what this command reads; choose another name for the output")
    check_output(output, force)


def check_page_name(option: str, path: Path) -> None:
    """Refuse the name of a page that a browser would not open as one."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{option} must end in .html or .htm, got {path}")


def check_table_name(path: Path) -> None:
    """Refuse the name of an output table whose format is not known."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise ValueError(f"{path}: expected a name that ends in .csv or .parquet")
