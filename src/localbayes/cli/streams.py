"""Output streams that take every text: what their encoding lacks is written in other letters."""

from __future__ import annotations

import codecs
import re
import sys

__all__ = ["write_anything"]

_STAND_INS = {
    "±": "+-", "×": "x", "÷": "/", "–": "-", "—": "-", "−": "-", "…": "...", "·": "*", "∞": "inf",
    "≤": "<=", "≥": ">=", "○": "o", "●": "*", "│": "|", "─": "-",
}  # fmt: skip
_BARS = range(0x2580, 0x25A0)
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def write_anything() -> None:
    """Let standard output and standard error write any text, in whatever encoding they have."""
    codecs.register_error("localbayes", _stand_in)
    for stream in (sys.stdout, sys.stderr):
        # Streams that others put in place of these may lack the method.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="localbayes")


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda power: "^" + power[0].translate(_POWERS), text)
    return "".join(_replace(letter) for letter in text), error.end


def _replace(letter: str) -> str:
    if letter.isascii():
        return letter
    return _STAND_INS.get(letter, "#" if ord(letter) in _BARS else "?")
