"""Output files: never over another one unasked, and complete or not there at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

__all__ = ["check_output", "place_atomically", "write_output"]


def check_output(path: str | os.PathLike[str], force: bool = False) -> Path:
    """Refuse a path that cannot be written, or must not be, before any work is done for it.

    Parameters
    ----------
    path : path
        Where something is to be written.
    force : bool, default=False
        Whether a file of that name may be replaced.

    Returns
    -------
    Path
        The file to write; where the path is a link, what it points to.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_output(pathlib.Path(folder, "model.skops")).name
    'model.skops'
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; expected the name of a file")
    if target.exists():
        if not target.is_file():
            # Renaming a file onto a device would take the device away.
            raise ValueError(f"{os.fspath(path)} is not a regular file; expected the name of one")
        if not force:
            raise FileExistsError(
                f"{os.fspath(path)} exists; choose another name, or force (--force) to replace it"
            )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {os.fspath(path)}: there is no folder {target.parent}; make it first"
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"cannot write {os.fspath(path)}: no permission to write in the folder {target.parent}"
        )
    return target


def write_output(path: str | os.PathLike[str], content: bytes, force: bool = False) -> None:
    """Write a file that appears complete or not at all.

    Parameters
    ----------
    path : path
        Where to write.
    content : bytes
        What to write.
    force : bool, default=False
        Whether a file of that name may be replaced.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_output(pathlib.Path(folder, "a"), b"text")
    ...     pathlib.Path(folder, "a").read_bytes()
    b'text'
    """
    target = check_output(path, force)
    try:
        place_atomically(target, content, replace=force)
    except OSError as error:
        raise OSError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from error


def place_atomically(target: Path, content: bytes, replace: bool = True) -> None:
    """Write beside the target, then rename: whatever happens, no half-written file takes its place.

    Parameters
    ----------
    target : Path
        The file.
    content : bytes
        What it is to hold.
    replace : bool, default=True
        Whether an existing file may be replaced. If not, a file that appears at the last moment stays too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place_atomically(Path(folder, "a"), b"text")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('a', b'text')]
    """
    # A name of its own for every call, also in threads. Only the owner could read a file of tempfile.
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
