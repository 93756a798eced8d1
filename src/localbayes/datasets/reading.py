"""Tables from files: CSV, ARFF, JSON lines, Excel and Parquet, by the ending of the file's name."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localbayes._warnings import warn
from localbayes.datasets._formats import content_of, format_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Reading", "read_table", "split_target"]


@dataclass(frozen=True)
class Reading:
    """How a file is written.

    Parameters
    ----------
    sep : str, optional
        What stands between two cells of a CSV file; default a comma, in ``.tsv`` a tab, and a semicolon where
        ``decimal`` is a comma.
    encoding : str, optional
        Encoding of a CSV or JSON file; default UTF-8.
    na : tuple of str
        Further words that mean a missing value, in CSV and Excel files.
    decimal : str
        Decimal point of a CSV file: ``.`` or ``,``.

    Examples
    --------
    >>> Reading(decimal=",").separator("csv")
    ';'
    """

    sep: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    decimal: str = "."

    def separator(self, kind: str) -> str:
        """Separator of a file of this kind, ``csv`` or ``tsv``."""
        if self.decimal not in (".", ","):
            raise ValueError(f"--decimal must be . or , got {self.decimal!r}")
        given = {"tab": "\t", "\\t": "\t"}.get(self.sep or "", self.sep)
        if given is not None and (len(given) != 1 or given in '"\r\n'):
            raise ValueError(f"--sep must be one character or the word tab, got {given!r}")
        chosen = given or ("\t" if kind == "tsv" else ";" if self.decimal == "," else ",")
        if chosen == self.decimal:
            raise ValueError(f"--sep and --decimal are both {chosen!r}; expected different characters")
        return chosen


def read_table(
    path: Path, is_text: Callable[[str], bool] = lambda name: False, how: Reading | None = None
) -> pd.DataFrame:
    """Read a table.

    CSV is read as ``pandas.read_csv`` does: a column of numbers is numeric, one of ``True`` and ``False`` is
    bool, anything else is text; empty cells, ``NA``, ``N/A``, ``None``, ``null`` and the like are missing. In
    addition ``?`` is missing, and whole numbers with leading zeros stay text. The other formats have types of
    their own; dates come as text, such as ``2020-01-31`` or ``2020-01-31 12:00:00``.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    is_text : callable
        Says of a column's name whether it is text, even if it looks like numbers.
    how : Reading, optional
        How the file is written.

    Returns
    -------
    DataFrame
        At least one row and one column; column names are unique.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "cars.csv")
    ...     _ = file.write_text("doors,colour\\n2,red\\n4,?\\n")
    ...     read_table(file)["doors"].tolist(), read_table(file, lambda name: True)["doors"].tolist()
    ([2, 4], ['2', '4'])
    """
    how = how or Reading()
    format_of(path)
    with _naming(path):
        import pandas as pd

        kind, content = content_of(path)
        frame = _parsed(path, kind, content, is_text, how)
        frame.columns = frame.columns.map(str)
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise ValueError(f"two columns are called {twice[0]!r}; expected different names")
        if not len(frame.columns):
            raise ValueError(f"{path} has no columns; expected at least one")
        if not len(frame):
            raise ValueError(f"{path} has no rows; expected at least one")
        if kind in ("csv", "tsv"):
            return frame
        return pd.DataFrame({name: _settle(frame[name], is_text(name)) for name in frame.columns})


def _parsed(
    path: Path, kind: str, content: bytes, is_text: Callable[[str], bool], how: Reading
) -> pd.DataFrame:
    import pandas as pd

    if kind == "arff":
        from localbayes.datasets.arff import read_arff
        from localbayes.datasets.table import to_frame

        return to_frame(read_arff(_Named(content, str(path))))
    if kind == "parquet":
        return pd.read_parquet(io.BytesIO(content))
    if kind == "xlsx":
        frame = pd.read_excel(io.BytesIO(content), na_values=["?", *how.na])
        if len(frame.columns) > 1 and frame.columns[0] == "Unnamed: 0":  # so pandas calls it
            warn(f"{path}: the first column has no name and is left out: it looks like an index")
            frame = frame.iloc[:, 1:]
        return frame
    if kind == "jsonl":
        return pd.DataFrame(_json_rows(content.decode(how.encoding or "utf-8-sig")))
    from localbayes.datasets._csv import read_csv

    return read_csv(str(path), content, how.separator(kind), is_text, how)


def _json_rows(text: str) -> list[dict[str, Any]]:
    """Read one JSON object a line."""
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number}: expected a JSON object ({error})") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number}: expected a JSON object, got {line.strip():.40}")
        rows.append(row)
    return rows


class _Named(io.BytesIO):
    """Bytes that know the name of the file they come from."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def split_target(
    frame: pd.DataFrame, target: str | None, path: Path, *, skip_unlabelled: bool = False
) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Separate the target from the features, and refuse a target that is not a class.

    Parameters
    ----------
    frame : DataFrame
        The table.
    target : str or None
        Name of the target column; the last column if not given.
    path : Path
        Where the table came from, for messages.
    skip_unlabelled : bool, default=False
        Whether rows without a class are left out; otherwise they are refused.

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
    from localbayes.datasets.registry import no_such

    name = frame.columns[-1] if target is None else target
    if name not in frame.columns:
        raise ValueError(f"{path}: {no_such('column is called', name, frame.columns)}")
    missing = frame[name].isna()
    n_missing = int(missing.sum())
    if n_missing and skip_unlabelled:
        frame = frame[~missing].reset_index(drop=True)
    elif n_missing:
        raise ValueError(
            f"{path}: {n_missing} of {len(frame)} rows have no value in the target {name!r}; remove them, "
            "give them a class, or leave them out with --skip-unlabelled"
        )
    if not len(frame):
        raise ValueError(f"{path}: no row has a value in the target {name!r}; expected at least one")
    y = frame[name].infer_objects()
    X = frame.drop(columns=name)
    if not len(X.columns):
        raise ValueError(f"{path} has no column beside the target {name!r}; expected features too")
    _refuse_fractions(y, path)
    return X, y.map(str) if y.dtype == object else y


def _refuse_fractions(y: pd.Series, path: Path) -> None:
    """Refuse a target of measured numbers: nearly every number would be a class of its own."""
    import pandas as pd

    if pd.api.types.is_float_dtype(y.dtype):
        known = y.dropna()
        fractions = known[known % 1 != 0]
        if len(fractions):
            raise ValueError(
                f"{path}: the target {y.name!r} holds numbers such as {fractions.iloc[0]:g}; "
                "expected classes: text or whole numbers"
            )


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Make errors name the file and say what is wrong with it in the user's words."""
    try:
        yield
    except ImportError as error:
        needed = "openpyxl" if "openpyxl" in str(error) else "pandas and pyarrow"
        extra = "excel" if needed == "openpyxl" else "pandas"
        raise ImportError(f"{path}: this needs {needed}: install the extra {extra!r} ({error})") from error
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    except OSError as error:
        # Readers of Parquet raise errors that name no file.
        if error.filename is not None:
            raise
        raise OSError(f"{path}: {error}") from error
    except MemoryError:
        raise
    except Exception as error:
        # Readers of Excel and Parquet raise whatever a damaged file leads them to.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path}: the file is damaged ({reason:.200})") from error


def _settle(column: pd.Series, is_text: bool) -> pd.Series:
    """Give a column of a typed file one of few types: numbers, bools, categories or text."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    if pd.api.types.is_numeric_dtype(column.dtype) and not is_text:  # bools count as numbers
        return column
    absent = column.isna()
    if not is_text and all(isinstance(value, bool) for value in column[~absent]):
        return column
    texts = [None if gap else _as_text(value) for value, gap in zip(column, absent, strict=True)]
    return pd.Series(texts, index=column.index, dtype=object)


def _as_text(value: Any) -> str:
    """Text of a value as a CSV file would have it: 3.0 is 3, and midnight is its date."""
    from localbayes.encoding.columns import value_text

    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        raise ValueError(f"a cell holds a {type(value).__name__}; expected single values")
    return str(value).removesuffix(".0") if isinstance(value, float) else value_text(value)
