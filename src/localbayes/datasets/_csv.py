"""CSV as pandas reads it, except that nothing is lost, moved or guessed: what is doubtful is refused."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from localbayes._warnings import warn

if TYPE_CHECKING:
    import pandas as pd

    from localbayes.datasets.reading import Reading

__all__ = ["read_csv"]

_BOM = "\ufeff"
# Cells by which text is taken for numbers with another decimal point.
_FIRST = 100


def read_csv(
    name: str, content: bytes, separator: str, is_text: Callable[[str], bool], how: Reading
) -> pd.DataFrame:
    """Read the bytes of a CSV file; ``name`` is what messages call it.

    Types of columns and missing values are those of ``pandas.read_csv``, so that a table means the same here
    and in a program; ``?`` is missing too. Whole numbers with leading zeros, such as zip codes, stay text.
    """
    import pandas as pd

    text = _decoded(content, how.encoding)
    rows = _Rows(text, separator)
    rows.check()
    names = rows.header
    text_columns = {name: str for name in names if is_text(name)}

    def parsed(dtype: dict[str, type[str]], columns: list[str]) -> pd.DataFrame:
        return pd.read_csv(
            io.StringIO(text, newline=""),
            sep=separator,
            decimal=how.decimal,
            na_values=["?", *how.na],
            dtype=dtype,
            usecols=columns,
            index_col=False,
            skipinitialspace=True,
            low_memory=False,
        )

    try:
        kept = names if names[0].strip() else names[1:]
        if not names[0].strip():
            text = _named_first(text, names)
            warn(f"{name}: the first column has no name and is left out: it looks like an index")
        frame = parsed(text_columns, kept)
        zeros = _with_leading_zeros(frame, text, separator, parsed)
    except pd.errors.ParserError as error:
        if "EOF inside string" in str(error):
            raise ValueError(f"line {rows.last}: a quote is opened there and not closed") from error
        raise
    if len(frame) != rows.count:
        raise ValueError(
            f"the file has {rows.count} rows, of which {len(frame)} could be read; is a line odd?"
        )
    frame[zeros.columns] = zeros
    _ask_about_decimals(name, frame, separator, how.decimal)
    return frame


def _ask_about_decimals(file: str, frame: pd.DataFrame, separator: str, decimal: str) -> None:
    """Warn where a column of text would be one of numbers with another decimal point."""
    other = "," if decimal == "." else "."
    cure = f"write them with {decimal!r}" if separator == other else f"say --decimal {other}"
    number = re.compile(rf"[+-]?\d+\{other}\d+")
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        texts = frame[name].dropna().head(_FIRST)
        if len(texts) and all(isinstance(text, str) and number.fullmatch(text) for text in texts):
            warn(
                f"{file}: the column {name!r} holds text such as {texts.iloc[0]!r}; "
                f"if these are numbers, {cure}"
            )


def _decoded(content: bytes, encoding: str | None) -> str:
    try:
        text = content.decode(encoding or "utf-8")
    except LookupError:
        raise ValueError(
            f"no encoding is called {encoding!r}; expected utf-8, latin-1, cp1252, ..."
        ) from None
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        line = content.count(b"\n", 0, at) + 1
        byte = content[at : at + 1]
        wanted = "UTF-8" if encoding is None else encoding
        raise ValueError(
            f"line {line}: expected text in {wanted}, got the byte 0x{byte.hex()}; convert the file, or say "
            "what encoding it has (--encoding, for example latin-1)"
        ) from None
    text = text.removeprefix(_BOM)
    if text.startswith(_BOM):
        raise ValueError("line 1: the file begins with two byte-order marks; expected one or none")
    # Lines may end in a carriage return, but then all of them do.
    return text if "\n" in text else text.replace("\r", "\n")


def _named_first(text: str, names: list[str]) -> str:
    """Give the first column a name that no other column has, so that pandas can be told to leave it out."""
    name = "index"
    while name in names:
        name += "_"
    begin = len(text) - len(text.lstrip("\n\r"))
    quoted = re.compile(r'[ \t]*(?:"[ \t]*")?').match(text, begin)
    return text[:begin] + name + text[quoted.end() if quoted else begin :]


def _with_leading_zeros(
    frame: pd.DataFrame,
    text: str,
    separator: str,
    parsed: Callable[[dict[str, type[str]], list[str]], pd.DataFrame],
) -> pd.DataFrame:
    """Return, as text, the columns of numbers in which some are written with leading zeros."""
    numeric = [name for name in frame.columns if frame[name].dtype.kind in "iuf"]
    if not numeric or not re.search(rf'(?:^|[{re.escape(separator)}"])[ \t]*0[0-9]', text, re.MULTILINE):
        return frame[[]]
    written = parsed(dict.fromkeys(numeric, str), numeric)
    zeros = [name for name in numeric if written[name].str.fullmatch("0[0-9]+", na=False).any()]
    return written[zeros]


class _Rows:
    """Rows of a CSV file as the csv module sees them: their number, and what is wrong with them."""

    def __init__(self, text: str, separator: str) -> None:
        self.separator = separator
        self.line = ""
        # Only line feeds end lines here: the csv module complains of a lone carriage return by itself.
        self.reader = csv.reader(
            self._lines(io.StringIO(text, newline="\n")), delimiter=separator, skipinitialspace=True
        )
        self.header: list[str] = []
        self.count = 0
        self.last = 0

    def _lines(self, lines: Any) -> Iterator[str]:
        for self.line in lines:
            yield self.line

    def check(self) -> None:
        """Refuse ragged rows (pandas fills up short ones) and empty lines in a table of one column."""
        rows = self._numbered()
        self.last, self.header = next(((begin, row) for begin, row in rows if row), (0, []))
        _check_header(self.header, self.separator)
        width, blank = len(self.header), 0
        for begin, row in rows:
            if not row:
                blank = begin
                continue
            if blank and width == 1:
                raise ValueError(
                    f"line {blank} is empty: write ? there if its value is missing, or remove the line"
                )
            if len(row) != width:
                values = f"{width} value{'s' * (width != 1)}"
                raise ValueError(f"line {begin}: expected {values}, got {len(row)}{self._unclosed(begin)}")
            self.last = begin
            self.count += 1

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        """Give rows with the line on which each begins; a line of blanks is a row without cells."""
        while True:
            begin = self.reader.line_num + 1
            try:
                row = next(self.reader, None)
            except csv.Error as error:
                if "new-line character" in str(error):
                    raise ValueError(
                        f"line {begin}: a carriage return without a line feed; end all lines alike, or put "
                        "the cell in quotes"
                    ) from error
                raise ValueError(f"line {begin}: {error}{self._unclosed(begin)}") from error
            if row is None:
                return
            yield begin, [] if len(row) <= 1 and not self.line.strip() else row

    def _unclosed(self, begin: int) -> str:
        """Ask about a quote, where a row that is wrong is longer than a line."""
        if self.reader.line_num == begin:
            return ""
        return (
            f" in the row that goes on to line {self.reader.line_num}; "
            f"is a quote opened on line {begin} and not closed?"
        )


def _check_header(header: list[str], separator: str) -> None:
    if not header:
        raise ValueError("the file is empty; expected a line with column names")
    nameless = [k for k, name in enumerate(header, 1) if not name.strip()]
    if nameless and (nameless != [1] or len(header) == 1):
        raise ValueError(f"column {nameless[-1]} has no name; name it or remove it")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise ValueError(f"two columns are called {name!r}; expected different names")
        seen.add(name)
    others = [c for c in ",;\t|" if c != separator]
    if len(header) == 1 and (other := next((c for c in others if c in header[0]), None)):
        expected = {",": "commas", "\t": "tabs"}.get(separator, f"{separator!r}")
        raise ValueError(
            f"the first line has {other!r} between its words; expected {expected}: say --sep {other!r}"
        )
