"""Output files: never over another one unasked, and complete or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

from localbayes.datasets._files import place_atomically

__all__ = ["check_output", "write_output"]


def check_output(path: str | os.PathLike[str], force: bool = False) -> Path:
    """Refuse a path that cannot or must not be written, before any work is done for it.

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
