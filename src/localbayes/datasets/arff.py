"""Read and write ARFF files: attribute-relation tables with declared domains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from localbayes._files import place_atomically
from localbayes.datasets._lexing import quote, shorten
from localbayes.datasets._parsing import ArffError, parse
from localbayes.datasets.table import Attribute, Table

__all__ = ["ArffError", "Attribute", "Table", "read_arff", "write_arff"]


def read_arff(source: str | os.PathLike[str] | IO[str] | IO[bytes]) -> Table:
    """Read an ARFF file.

    Dense and sparse rows, single and double quotes with backslash escapes, comments, keywords in any case,
    any line ends; UTF-8, or Latin-1 where the bytes are no UTF-8. An unquoted ``?`` is a missing cell, a
    quoted one a value. Relational attributes and row weights are refused.

    Parameters
    ----------
    source : path or file object
        What to read.

    Returns
    -------
    Table
        Declarations and columns, rows in file order.

    Raises
    ------
    ArffError
        If the content is not valid ARFF; the message names file, line, what came and what was expected.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import io
    >>> table = read_arff(io.StringIO('''@relation weather
    ... @attribute outlook {sunny, rainy}
    ... @attribute degrees numeric
    ... @data
    ... rainy, 12
    ... ?, 20.5
    ... '''))
    >>> table.attributes[0].values, table.columns[0].tolist(), table.columns[1].tolist()
    (('sunny', 'rainy'), [1, -1], [12.0, 20.5])
    """
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        content: str | bytes = Path(source).read_bytes()
    else:
        name = str(getattr(source, "name", "<stream>"))
        content = source.read()
    return parse(content if isinstance(content, str) else _decode(content, name), name)


def _decode(content: bytes, name: str) -> str:
    zero = content.find(b"\0")
    if zero >= 0:
        line = content.count(b"\n", 0, zero) + 1
        raise ArffError(f"{name}, line {line}: expected text in UTF-8 or Latin-1, got a zero byte")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            line = content.count(b"\n") + 1
            raise ArffError(
                f"{name}, line {line}: the file ends inside a UTF-8 character: is it truncated?"
            ) from None
        return content.decode("latin-1")


def write_arff(target: str | os.PathLike[str] | IO[str], table: Table, comment: str | None = None) -> None:
    """Write a table as ARFF, such that reading it gives the same table.

    Numbers are written in the shortest form that reads back to the same bits, whole numbers without a
    decimal point. A file appears complete or not at all: it is written beside its place and then renamed.

    Parameters
    ----------
    target : path or text file object
        Where to write. A file that exists is replaced.
    table : Table
        What to write.
    comment : str, optional
        Text for the top of the file.

    Examples
    --------
    >>> import io, sys
    >>> import numpy as np
    >>> size = Attribute("size", "nominal", ("small", "very large"))
    >>> table = Table("t", (size,), (np.array([1, -1], dtype=np.int32),))
    >>> write_arff(sys.stdout, table, comment="two rows")
    % two rows
    <BLANKLINE>
    @relation t
    <BLANKLINE>
    @attribute size {small,'very large'}
    <BLANKLINE>
    @data
    'very large'
    ?
    """
    text = "\n".join(_lines(table, comment)) + "\n"
    if isinstance(target, (str, os.PathLike)):
        place_atomically(Path(target), text.encode("utf-8"))
    else:
        target.write(text)


def _lines(table: Table, comment: str | None) -> Iterator[str]:
    if comment:
        yield from (f"% {line}".rstrip() for line in comment.splitlines())
        yield ""
    yield f"@relation {quote(table.relation)}"
    yield ""
    for attribute in table.attributes:
        yield f"@attribute {quote(attribute.name)} {_declaration(attribute)}"
    yield ""
    yield "@data"
    columns = [_words(*pair) for pair in zip(table.attributes, table.columns, strict=True)]
    yield from map(",".join, zip(*columns, strict=True))


def _declaration(attribute: Attribute) -> str:
    if attribute.kind == "nominal":
        return "{" + ",".join(map(quote, attribute.values)) + "}"
    if attribute.kind == "date" and attribute.date_format is not None:
        return f"date {quote(attribute.date_format)}"
    return attribute.kind


def _words(attribute: Attribute, column: NDArray[Any]) -> list[str]:
    if attribute.kind == "nominal":
        if len(column) and not -1 <= column.min() <= column.max() < len(attribute.values):
            raise ValueError(
                f"codes of attribute {shorten(attribute.name)} must lie in -1..{len(attribute.values) - 1}, "
                f"got {column.min()}..{column.max()}"
            )
        # The last word serves the code -1.
        words = [*map(quote, attribute.values), "?"]
        return [words[code] for code in column.tolist()]
    if attribute.kind == "numeric":
        if np.isinf(column).any():
            raise ValueError(f"attribute {shorten(attribute.name)} has an infinite value, which ARFF lacks")
        return [_number(number) for number in column.tolist()]
    return ["?" if text is None else quote(text) for text in column.tolist()]


def _number(number: float) -> str:
    return repr(number).removesuffix(".0") if number == number else "?"
