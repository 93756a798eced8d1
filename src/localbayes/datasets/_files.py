"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

__all__ = ["place_atomically"]


def place_atomically(target: Path, content: bytes, replace: bool = True) -> None:
    """Write beside the target, then rename: whatever happens, no half file stands in its place.

    Parameters
    ----------
    target : Path
        The file.
    content : bytes
        What it is to hold.
    replace : bool, default=True
        Whether a file that is there may be replaced; if not, also one that appears at the last moment stays.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place_atomically(Path(folder, "a"), b"text")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('a', b'text')]
    """
    # A name of its own for every call, also in threads. A file of tempfile's could be read by nobody else.
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            beside.replace(target)
        else:
            _place_new(beside, target)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def _place_new(beside: Path, target: Path) -> None:
    """Rename a file, but not over another one."""
    try:
        os.link(beside, target)  # which, unlike renaming, never replaces
    except FileExistsError:
        raise
    except (OSError, AttributeError):  # not on this file system
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        beside.replace(target)
