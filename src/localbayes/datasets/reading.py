"""Tables from files: CSV, ARFF and Parquet, by the ending of the file's name."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_text", "read_table", "split_target"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_MISSING = ["", "?", "NA", "NaN", "nan", "null", "NULL"]


def read_table(path: Path, is_text: Callable[[str], bool] = lambda name: False) -> pd.DataFrame:
    """Read a table.

    In CSV a column is numeric if all its values are numbers, and text otherwise. Missing are empty cells,
    ``?``, ``NA``, ``NaN``, ``nan``, ``null`` and ``NULL``, and nothing else: ``None``, ``n/a`` and ``-`` are
    text. ARFF and Parquet keep the types that the file declares; what is neither number, truth value nor
    category (dates, say) comes as text.

    Parameters
    ----------
    path : Path
        The file.
    is_text : callable
        Says of a column's name whether it is text, even if it looks like numbers.

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
    ending = _ending(path)
    with _naming(path):
        import pandas as pd

        if ending == ".arff":
            frame = _read_arff(path)
        elif ending == ".parquet":
            with path.open("rb") as file:
                frame = pd.read_parquet(file)
        else:
            frame = _read_csv(path, _SEPARATORS[ending])
    frame.columns = frame.columns.map(str)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path}: two columns are called {twice[0]!r}; expected different names")
    if not len(frame.columns):
        raise ValueError(f"{path} has no columns; expected at least one")
    if not len(frame):
        raise ValueError(f"{path} has no rows; expected at least one")
    settle = _settle_csv if ending in _SEPARATORS else _settle
    with _naming(path):
        return pd.DataFrame({name: settle(frame[name], is_text(name)) for name in frame.columns})


def split_target(frame: pd.DataFrame, target: str | None, path: Path) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Take the target out of a table, and refuse one that is no class.

    Parameters
    ----------
    frame : DataFrame
        The table.
    target : str or None
        Name of the target column; the last column if not given.
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
    from localbayes.datasets.registry import no_such

    name = frame.columns[-1] if target is None else target
    if name not in frame.columns:
        raise ValueError(f"{path}: {no_such('column is called', name, frame.columns)}")
    y = frame[name]
    X = frame.drop(columns=name)
    if not len(X.columns):
        raise ValueError(f"{path} has no column beside the target {name!r}; expected features too")
    missing = int(y.isna().sum())
    if missing:
        raise ValueError(
            f"{path}: {missing} of {len(y)} rows have no value in the target {name!r}; "
            "remove them or give them a class"
        )
    _refuse_fractions(y, path)
    return X, y.map(str) if y.dtype == object else y


def _ending(path: Path) -> str:
    name = path.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in (*_SEPARATORS, ".arff") or (ending == ".parquet" and not name.endswith(".gz")):
        return ending
    raise ValueError(
        f"{path}: expected a name that ends in .csv, .tsv, .arff (each also with .gz behind) or .parquet"
    )


def _refuse_fractions(y: pd.Series, path: Path) -> None:
    """Refuse a target of measured numbers, of which nearly every one would be a class of its own."""
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
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(
            f"{path}: expected text in UTF-8, got the byte 0x{byte:02x}; convert the file"
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: damaged or truncated compressed file ({error})") from error
    except ImportError as error:
        raise ImportError(
            f"{path}: reading tables needs pandas and pyarrow: install the extra 'pandas' ({error})"
        ) from error
    except (ValueError, csv.Error) as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    except OSError as error:
        # Readers of Parquet raise errors that name no file.
        if error.filename is not None:
            raise
        raise OSError(f"{path}: {error}") from error


def _open(path: Path) -> IO[bytes]:
    packed = path.suffix.lower() == ".gz"
    return cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb")


def _read_arff(path: Path) -> pd.DataFrame:
    from localbayes.datasets.arff import read_arff
    from localbayes.datasets.table import to_frame

    with _open(path) as file:
        return to_frame(read_arff(file))


def _read_csv(path: Path, separator: str) -> pd.DataFrame:
    import pandas as pd

    with _open(path) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        last = _check_rows(csv.reader(text, delimiter=separator, skipinitialspace=True))
    with _open(path) as file:
        try:
            return pd.read_csv(
                file,
                sep=separator,
                dtype=str,
                na_values=_MISSING,
                keep_default_na=False,
                index_col=False,
                encoding="utf-8-sig",
                skipinitialspace=True,
            )
        except pd.errors.ParserError as error:
            if "EOF inside string" in str(error):
                raise ValueError(f"line {last}: a quote is opened there and not closed") from error
            raise


def _check_rows(rows: Any) -> int:
    """Refuse ragged rows: pandas would fill a short one, as at the end of a truncated file.

    Returns the line on which the last row begins.
    """
    numbered = _numbered(rows)
    begin, header = next(((begin, row) for begin, row in numbered if row), (0, []))
    _check_header(header)
    blank = 0
    for begin, row in numbered:
        if row and blank and len(header) == 1:
            raise ValueError(
                f"line {blank} is empty: write ? there if its value is missing, or remove the line"
            )
        blank = blank if row else begin
        if row and len(row) != len(header):
            values = f"{len(header)} value{'s' * (len(header) != 1)}"
            raise ValueError(f"line {begin}: expected {values}, got {len(row)}{_unclosed(begin, rows)}")
    return begin


def _numbered(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Give rows with the line on which each begins."""
    while True:
        begin = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise ValueError(f"line {begin}: {error}{_unclosed(begin, rows)}") from error
        if row is None:
            return
        yield begin, row


def _unclosed(begin: int, rows: Any) -> str:
    """Ask about a quote, where a row that is wrong is longer than a line."""
    if rows.line_num == begin:
        return ""
    return (
        f" in the row that goes on to line {rows.line_num}; is a quote opened on line {begin} and not closed?"
    )


def _check_header(header: list[str]) -> None:
    if not header:
        raise ValueError("the file is empty; expected a line with column names")
    nameless = [k for k, name in enumerate(header, 1) if not name.strip()]
    if nameless:
        raise ValueError(f"column {nameless[0]} has no name; name it or remove it")
    twice = [name for k, name in enumerate(header) if name in header[:k]]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}; expected different names")
    if len(header) == 1 and (other := next((c for c in ";\t|" if c in header[0]), None)):
        raise ValueError(
            f"the first line has {other!r} between its words; expected commas in .csv, tabs in .tsv files"
        )


def _settle_csv(column: pd.Series, is_text: bool) -> pd.Series:
    """Numbers if all values are, else text."""
    import pandas as pd

    if is_text:
        return column
    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError):
        return column


def _settle(column: pd.Series, is_text: bool) -> pd.Series:
    """Give a column one of few types: numbers, truth values, categories or text."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    kinds = pd.api.types
    if kinds.is_numeric_dtype(column.dtype) and not is_text:  # truth values are among the numbers
        return column
    texts = [None if absent else as_text(value) for value, absent in zip(column, column.isna(), strict=True)]
    return pd.Series(texts, index=column.index, dtype=object)


def as_text(value: Any) -> str:
    """Text of a value; a whole number reads the same whether it is stored as 3 or as 3.0."""
    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        raise ValueError(f"a cell holds a {type(value).__name__}; expected single values")
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
