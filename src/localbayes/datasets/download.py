"""The paper's data sets from OpenML: kept in a cache, refused unless they are as registered."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import threading
import time
import urllib.parse
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from localbayes.datasets._transfer import DownloadError, Progress, Transfer
from localbayes.datasets.arff import ArffError
from localbayes.datasets.registry import ContentError, PaperSet, find, read_checked
from localbayes.datasets.table import Table

__all__ = ["DownloadError", "cache_dir", "cached", "fetch"]

OPENML = "https://www.openml.org"

# A part that was not written to for so many seconds belongs to a process that died.
_IDLE = 600.0

_locks: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


def cache_dir(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder for downloads: as given, ``$LOCALBAYES_CACHE``, or the user's cache folder.

    Parameters
    ----------
    cache : path, optional
        The folder, where the caller knows it.

    Returns
    -------
    Path
        The folder; it need not exist.

    Examples
    --------
    >>> cache_dir("downloads").name
    'downloads'
    """
    if cache is not None:
        return Path(cache)
    given = os.environ.get("LOCALBAYES_CACHE")
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("localbayes", appauthor=False)


def cached(name: str, cache: str | os.PathLike[str] | None = None) -> Table | None:
    """Return a set from the cache, or None if it is not there or damaged.

    Parameters
    ----------
    name : str
        Name of one of the paper's sets.
    cache : path, optional
        See `cache_dir`.

    Returns
    -------
    Table or None
        The table, checked.

    Examples
    --------
    >>> cached("zoo", "a-folder-that-is-not-there") is None
    True
    """
    try:
        return read_checked(cache_dir(cache) / f"{name}.arff", find(name))
    except (OSError, ArffError, ContentError):
        return None


def fetch(
    name: str,
    cache: str | os.PathLike[str] | None = None,
    *,
    base_url: str | None = None,
    timeout: float = 30.0,
    attempts: int = 5,
    progress: Progress | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Table:
    """Return one of the paper's sets from the cache, downloading it from OpenML if need be.

    Parameters
    ----------
    name : str
        Name of the set.
    cache : path, optional
        See `cache_dir`.
    base_url : str, optional
        Server to ask; default ``$LOCALBAYES_OPENML`` or OpenML itself.
    timeout : float
        Seconds after which an attempt is given up if the server is silent or sends next to nothing.
    attempts : int
        How often each request is tried. An interrupted transfer goes on where it stopped.
    progress : callable, optional
        Called with bytes so far and bytes in all (None if unknown).
    sleep : callable
        How to wait between attempts.

    Returns
    -------
    Table
        The table, whose digest is the registered one.

    Raises
    ------
    DownloadError
        If the server cannot be reached or does not deliver.
    ContentError
        If it delivers something else; nothing of that is kept.
    """
    paper_set = find(name)
    folder = cache_dir(cache)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.arff"
    # Threads take turns. Processes need not: each writes a file of its own and renames it at the end.
    with _locks[Path(os.path.abspath(target))]:
        table = cached(name, folder)
        if table is not None:
            return table
        transfer = Transfer(timeout, attempts, sleep, progress or (lambda done, total: None))
        base = (base_url or os.environ.get("LOCALBAYES_OPENML") or OPENML).rstrip("/")
        url = _file_url(transfer, paper_set, base)
        with _part_of(target) as (path, file):
            table = _checked(transfer, url, path, file, paper_set)
            file.close()
            path.replace(target)
            return table


def _file_url(transfer: Transfer, paper_set: PaperSet, base: str) -> str:
    """Ask for the description of a data set, which says where its file is."""
    about = f"{base}/api/v1/json/data/{paper_set.openml_id}"
    try:
        description = transfer.description(about)["data_set_description"]
        url = str(description.get("url") or f"{base}/data/v1/download/{description['file_id']}")
    except (KeyError, TypeError, AttributeError):
        raise DownloadError(
            f"{about} did not answer with the description of a data set: try again later"
        ) from None
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise DownloadError(f"{about} says the file is at {url!r}; expected an http address")
    return url


def _checked(transfer: Transfer, url: str, path: Path, file: IO[bytes], paper_set: PaperSet) -> Table:
    """Complete the file and check its content, once more from the beginning if pieces do not fit."""
    while True:
        transfer.resumed = False
        transfer.append(url, file)
        file.flush()
        try:
            return read_checked(path, paper_set)
        except (ContentError, ArffError) as error:
            file.truncate(0)
            # Pieces of two versions of the file may have been joined: only one that came whole is judged.
            if not transfer.resumed:
                raise ContentError(f"refused what {url} sent: {error}") from None


@contextlib.contextmanager
def _part_of(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Open a file of one's own beside the target, with what an earlier download left.

    The file has a name that no other process uses, so neither a lock nor a link in its place can harm. If
    the download stops, what has come is kept under the name that the next one looks for.
    """
    left = target.with_name(f"{target.name}.part")
    own = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
    for found in (left, *_orphans(target)):
        # Renaming takes the name itself, also of a link, and only one process succeeds.
        with contextlib.suppress(FileNotFoundError, PermissionError):
            found.replace(own)
            break
    _remove_unless_plain(own)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(own, flags, 0o666), "a+b")
    try:
        yield own, file
    finally:
        file.close()
        with contextlib.suppress(FileNotFoundError):
            if own.stat().st_size:
                own.replace(left)
            else:
                own.unlink()


def _orphans(target: Path) -> list[Path]:
    """Parts of processes that were killed, the largest first."""
    sizes = {}
    for path in target.parent.glob(f"{target.name}.*.part"):
        with contextlib.suppress(OSError):
            about = path.lstat()
            if time.time() - about.st_mtime > _IDLE:
                sizes[path] = about.st_size
    return sorted(sizes, key=lambda path: -sizes[path])


def _remove_unless_plain(path: Path) -> None:
    """Remove a link, a pipe or a file that has other names too; a regular file stays."""
    with contextlib.suppress(FileNotFoundError):
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
            path.unlink()
