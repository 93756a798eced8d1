"""A terminal for the tests."""

from __future__ import annotations

import os
import select


def read_terminal(terminal: int, patience: float) -> bytes:
    """Return what a program writes to a terminal until it ends; silence of so many seconds is an error."""
    shown = b""
    while True:
        assert select.select([terminal], [], [], patience)[0], f"nothing was written for {patience} s"
        # A terminal whose other side has closed answers with an error or with nothing.
        try:
            part = os.read(terminal, 65536)
        except OSError:
            return shown
        if not part:
            return shown
        shown += part
