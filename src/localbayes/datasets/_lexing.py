"""The words of an ARFF line: quoting, escapes, separators, comments.

White space and commas separate words, ``%`` outside quotes starts a comment, and a word in quotes may hold
anything, with backslash escapes. That is how Weka reads ARFF; where Weka guesses (an empty value between two
commas, a quote inside a word, a quote that never ends) a `LexingError` says what is wrong instead.
"""

from __future__ import annotations

import re

__all__ = ["CELL", "ROW", "LexingError", "lex", "quote", "shorten", "unquote"]

_SPACE = r"[\x00-\x20]"
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_CELL = rf"(?:{_QUOTED}|[^\x00-\x20,%{{}}'\"]++)"

CELL = re.compile(_CELL)
"""One word as it stands in the file, quotes included."""

ROW = re.compile(rf"{_SPACE}*+({_CELL}(?:(?:{_SPACE}*+,{_SPACE}*+|{_SPACE}++){_CELL})*+){_SPACE}*+(?:%.*)?")
"""A whole line of separated words; group 1 leaves out the margins and a comment."""

_TOKEN = re.compile(rf"{_SPACE}*+(?:(%.*)|([,{{}}])|({_CELL}))")
_BLANK = re.compile(rf"{_SPACE}*+$")
_BARE = re.compile(r"[A-Za-z0-9_.+*/<>=:;&()\[\]$#!~^|-]+")
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\']")
_LETTERS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}


class LexingError(ValueError):
    """What is wrong with a line, without file and line number."""


def quote(text: str) -> str:
    """Write text as one word, in quotes if it needs them."""
    if _BARE.fullmatch(text):
        return text
    return "'" + _UNSAFE.sub(_escape, text) + "'"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _LETTERS.get(character) or f"\\{ord(character):03o}"


def unquote(raw: str) -> str:
    """Read the text of a word, with or without quotes."""
    if raw[0] not in "'\"":
        return raw
    inner = raw[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPED.get(code, code)


def lex(line: str) -> list[str]:
    """Split a line into words (quotes kept), commas and braces."""
    tokens: list[str] = []
    position = 0
    touching = False
    while not _BLANK.match(line, position):
        match = _TOKEN.match(line, position)
        if match is None:
            raise LexingError(f"a quote is opened and not closed: {shorten(line[position:].strip())}")
        if match[1] is not None:
            break
        if touching and match[3] is not None and match.start(3) == position:
            raise LexingError(
                f"a quote inside a value, near {shorten(tokens[-1] + match[3])}; "
                "put such a value in quotes and write \\' for a quote in it"
            )
        touching = match[3] is not None
        tokens.append(match[2] or match[3])
        position = match.end()
    return tokens


def shorten(text: str, width: int = 60) -> str:
    """Show text inside a message: as Python would print it, not longer than `width`."""
    return repr(text if len(text) <= width else text[: width - 3] + "...")
