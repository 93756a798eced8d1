"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["place_atomically"]


def place_atomically(target: Path, content: bytes) -> None:
    """Write beside the target, then rename: whatever happens, no half file stands in its place."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
