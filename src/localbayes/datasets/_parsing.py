"""From the text of an ARFF file to a table: header, rows, typed columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from localbayes.datasets._lexing import CELL, ROW, LexingError, lex, quote, shorten, unquote
from localbayes.datasets.table import Attribute, Table

__all__ = ["ArffError", "parse"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMERIC = ("numeric", "real", "integer")
_WEKA_DATE_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"


class ArffError(ValueError):
    """An ARFF file that cannot be read: the message names file, line, what came and what was expected."""


class _BadCell(Exception):
    """A cell that its attribute does not allow."""


class _Codes(dict[str, int]):
    """Codes of the words of a nominal column; each spelling is looked up once."""

    def __init__(self, attribute: Attribute) -> None:
        super().__init__({"?": -1})
        self.attribute = attribute
        self.index = {value: code for code, value in enumerate(attribute.values)}

    def __missing__(self, raw: str) -> int:
        code = self.index.get(unquote(raw))
        if code is None:
            raise _BadCell(raw)
        self[raw] = code
        return code


def parse(text: str, name: str) -> Table:
    """Parse the text of an ARFF file; `name` is what messages call the file."""
    return _Parser(text, name).table()


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        # str.splitlines would also split at characters that may stand inside a value.
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.relation: str | None = None
        self.attributes: list[Attribute] = []
        self.names: set[str] = set()

    def table(self) -> Table:
        start = self._header()
        rows, numbers = self._rows(start)
        columns: Iterable[Sequence[str]] = zip(*rows, strict=True) if rows else [()] * len(self.attributes)
        odd = any("_" in line or not line.isascii() for line in self.lines[start:])
        arrays: list[NDArray[Any]] = []
        bad: list[tuple[int, str]] = []
        for attribute, column in zip(self.attributes, columns, strict=True):
            try:
                arrays.append(_array(attribute, column, strict=odd))
            except _BadCell as error:
                raw = str(error)
                bad.append((numbers[column.index(raw)], _complaint(attribute, unquote(raw))))
        if bad:
            self._fail(*min(bad))
        return Table(self.relation or "", tuple(self.attributes), tuple(arrays))

    def _fail(self, number: int, message: str) -> NoReturn:
        cut = number == len(self.lines) and self.lines[-1].strip()
        hint = " (the file ends inside this line: is it truncated?)" if cut else ""
        raise ArffError(f"{self.name}, line {number}: {message}{hint}")

    def _lex(self, number: int, line: str) -> list[str]:
        try:
            return lex(line)
        except LexingError as error:
            self._fail(number, str(error))

    def _header(self) -> int:
        """Read up to @data; return how many lines that took."""
        for number, line in enumerate(self.lines, 1):
            tokens = self._lex(number, line) if line.lstrip()[:1] != "%" else []
            if not tokens:
                continue
            keyword = tokens[0].lower()
            if self.relation is None and keyword != "@relation":
                self._fail(number, f"expected @relation before anything else, got {shorten(tokens[0])}")
            if keyword == "@relation":
                self._relation(number, tokens[1:])
            elif keyword == "@attribute":
                self._attribute(number, tokens[1:])
            elif keyword == "@data":
                if not self.attributes:
                    self._fail(number, "expected at least one @attribute before @data")
                if len(tokens) > 1:
                    self._fail(number, f"expected a new line after @data, got {shorten(tokens[1])}")
                return number
            else:
                self._fail(number, f"expected @attribute or @data, got {shorten(tokens[0])}")
        raise ArffError(
            f"{self.name}, line {len(self.lines)}: the file ends and there was no @data: "
            "it is truncated or not ARFF"
        )

    def _relation(self, number: int, words: list[str]) -> None:
        if self.relation is not None:
            self._fail(number, "a second @relation; expected one per file")
        if len(words) != 1 or words[0] in ",{}":
            got = shorten(" ".join(words)) if words else "nothing"
            self._fail(number, f"expected one name after @relation, in quotes if it has spaces; got {got}")
        self.relation = unquote(words[0])

    def _attribute(self, number: int, words: list[str]) -> None:
        if not words or words[0] in ",{}":
            self._fail(number, "expected a name after @attribute")
        name = unquote(words[0])
        if name in self.names:
            self._fail(number, f"attribute {shorten(name)} is declared twice; expected different names")
        if len(words) == 1:
            self._fail(number, f"attribute {shorten(name)} has no type")
        kind = unquote(words[1]).lower()
        if words[1] == "{":
            attribute = Attribute(name, "nominal", self._values(number, name, words[2:]))
        elif kind in _NUMERIC:
            attribute = Attribute(name, "numeric")
        elif kind == "string":
            attribute = Attribute(name, "string")
        elif kind == "date":
            attribute = Attribute(name, "date", (), unquote(words[2]) if words[2:] else _WEKA_DATE_FORMAT)
        else:
            self._fail(
                number,
                f"attribute {shorten(name)} has type {shorten(words[1])}; expected numeric, real, integer, "
                "string, date or a list of values in braces",
            )
        self.attributes.append(attribute)
        self.names.add(name)

    def _values(self, number: int, name: str, words: list[str]) -> tuple[str, ...]:
        if "}" not in words:
            self._fail(number, f"the values of attribute {shorten(name)} must end with }} on the same line")
        end = words.index("}")
        if words[end + 1 :]:
            self._fail(number, f"expected a new line after }}, got {shorten(words[end + 1])}")
        if "{" in words:
            self._fail(number, f"an unquoted {{ among the values of attribute {shorten(name)}")
        values = [unquote(word) for word in words[:end] if word != ","]
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            self._fail(number, f"attribute {shorten(name)} declares the value {shorten(twice)} twice")
        return tuple(values)

    def _rows(self, start: int) -> tuple[list[list[str]], list[int]]:
        """Split the lines after @data into raw words; return the rows and their line numbers."""
        rows: list[list[str]] = []
        numbers: list[int] = []
        expected = len(self.attributes)
        for number, line in enumerate(self.lines[start:], start + 1):
            if not line or line[0] == "%":
                continue
            match = ROW.fullmatch(line)
            cells = CELL.findall(match[1]) if match else self._unusual(number, line)
            if len(cells) == expected:
                rows.append(cells)
                numbers.append(number)
            elif cells:
                self._fail(number, f"expected {expected} values, got {len(cells)}")
        return rows, numbers

    def _unusual(self, number: int, line: str) -> list[str]:
        """Read a line that is not a plain row: blank, a comment, sparse, or wrong."""
        tokens = self._lex(number, line)
        if not tokens:
            return []
        if tokens[0] == "{":
            return self._sparse(number, tokens)
        if "{" in tokens or "}" in tokens:
            self._fail(
                number, "an unquoted brace; put a value with braces in quotes (row weights are not supported)"
            )
        self._fail(number, "an empty value beside a comma; expected ? for a missing value, '' for no text")

    def _sparse(self, number: int, tokens: list[str]) -> list[str]:
        if tokens.count("}") != 1 or tokens.count("{") != 1 or tokens[-1] != "}":
            self._fail(
                number, "expected a sparse row to be one pair of braces (row weights are not supported)"
            )
        words = [token for token in tokens[1:-1] if token != ","]
        if len(words) % 2:
            self._fail(number, f"expected pairs of index and value in a sparse row, got {len(words)} words")
        given: dict[int, str] = {}
        for index, raw in zip(words[::2], words[1::2], strict=True):
            if not (index.isascii() and index.isdigit()) or int(index) >= len(self.attributes):
                expected = f"a whole number from 0 to {len(self.attributes) - 1}"
                self._fail(number, f"expected {expected} as index in a sparse row, got {shorten(index)}")
            if int(index) in given:
                self._fail(number, f"index {index} occurs twice in a sparse row")
            given[int(index)] = raw
        return [
            given[i] if i in given else self._omitted(number, attribute)
            for i, attribute in enumerate(self.attributes)
        ]

    def _omitted(self, number: int, attribute: Attribute) -> str:
        """Return what a cell left out of a sparse row stands for: 0, or the value declared first."""
        if attribute.kind == "numeric":
            return "0"
        if not attribute.values:
            self._fail(number, f"a sparse row must give a value for attribute {shorten(attribute.name)}")
        return quote(attribute.values[0])


def _array(attribute: Attribute, column: Sequence[str], *, strict: bool) -> NDArray[Any]:
    if attribute.kind == "nominal":
        return np.fromiter(map(_Codes(attribute).__getitem__, column), np.int32, len(column))
    if attribute.kind == "numeric":
        return _numbers(column, strict=strict)
    texts = np.empty(len(column), dtype=object)
    texts[:] = [None if raw == "?" else unquote(raw) for raw in column]
    return texts


def _numbers(column: Sequence[str], *, strict: bool) -> NDArray[np.float64]:
    """Convert words to numbers; `strict` where float() might accept what ARFF does not."""
    if not strict:
        try:
            numbers = np.array([math.nan if raw == "?" else float(raw) for raw in column], dtype=np.float64)
        except ValueError:
            return _numbers(column, strict=True)
        # float() also reads nan, inf and numbers that overflow.
        if int(np.isfinite(numbers).sum()) + column.count("?") == len(column):
            return numbers
    return np.array([math.nan if raw == "?" else _number(raw) for raw in column], dtype=np.float64)


def _number(raw: str) -> float:
    text = unquote(raw)
    if not _NUMBER.fullmatch(text) or math.isinf(float(text)):
        raise _BadCell(raw)
    return float(text)


def _complaint(attribute: Attribute, text: str) -> str:
    name = shorten(attribute.name)
    if attribute.kind == "numeric":
        return f"attribute {name} is numeric; expected a finite number or ? for missing, got {shorten(text)}"
    shown = ", ".join(shorten(value) for value in attribute.values[:8])
    more = f", ... ({len(attribute.values)} in all)" if len(attribute.values) > 8 else ""
    return (
        f"attribute {name} declares no value {shorten(text)}; expected one of {shown}{more} or ? for missing"
    )
