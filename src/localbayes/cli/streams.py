"""Output streams that accept every text: characters that the encoding lacks are replaced."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["writing_anything"]

_STAND_INS = {
    "±": "+-", "×": "x", "÷": "/", "–": "-", "—": "-", "−": "-", "…": "...", "·": "*", "∞": "inf",
    "≤": "<=", "≥": ">=", "○": "o", "●": "*", "│": "|", "─": "-",
}  # fmt: skip
_BARS = range(0x2580, 0x25A0)
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@contextmanager
def writing_anything() -> Iterator[None]:
    """Let standard output accept any text in any encoding; standard error does so by default."""
    codecs.register_error("localbayes", _stand_in)
    stream: Any = sys.stdout
    # A stream that a caller put in its place may lack the method.
    if not hasattr(stream, "reconfigure"):
        yield
        return
    before = stream.errors
    stream.reconfigure(errors="localbayes")
    try:
        yield
    finally:
        with suppress(OSError, ValueError):  # the reader may have gone
            stream.reconfigure(errors=before)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda power: "^" + power[0].translate(_POWERS), text)
    return "".join(_replace(letter) for letter in text), error.end


def _replace(letter: str) -> str:
    if letter.isascii():
        return letter
    # Escapes keep different names different.
    return _STAND_INS.get(letter) or ("#" if ord(letter) in _BARS else ascii(letter)[1:-1])
