"""The paper's data sets from OpenML: cached, retried, resumed, refused unless they are as registered."""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import os
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from localbayes.datasets.arff import ArffError
from localbayes.datasets.registry import ContentError, PaperSet, find, read_checked
from localbayes.datasets.table import Table

__all__ = ["DownloadError", "cache_dir", "cached", "fetch"]

OPENML = "https://www.openml.org"
MAX_BYTES = 64 * 2**20
"""More than fifty times the largest of the 36 files: a server that sends on and on is cut off here."""

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_HOPELESS = (socket.gaierror, ssl.SSLCertVerificationError)
_NO_NETWORK = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_LONGEST_WAIT = 60.0

T = TypeVar("T")
Progress = Callable[[int, int | None], None]


class DownloadError(OSError):
    """A download that did not succeed; the message is one line that says why and what to do."""


class _Again(Exception):
    """An attempt failed in a way that another one may mend."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def cache_dir(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder for downloads: as given, ``$LOCALBAYES_CACHE``, or ``~/.cache/localbayes``.

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
    return Path(given) if given else Path.home() / ".cache" / "localbayes"


def cached(name: str, cache: str | os.PathLike[str] | None = None) -> Table | None:
    """Return a set from the cache, or None if it is not there or not whole.

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
        Seconds without a byte after which an attempt is given up.
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
        If it delivers something else; nothing is kept of that.
    """
    paper_set = find(name)
    folder = cache_dir(cache)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        table = cached(name, folder)
        if table is not None:
            return table
        client = _Client(timeout, attempts, sleep, progress or (lambda done, total: None))
        base = (base_url or os.environ.get("LOCALBAYES_OPENML") or OPENML).rstrip("/")
        return client.download(paper_set, base, folder / f"{name}.arff")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time write to the cache; the others wait and then find the file there."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover
        yield
        return
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class _Client:
    def __init__(
        self, timeout: float, attempts: int, sleep: Callable[[float], None], progress: Progress
    ) -> None:
        self.timeout = timeout
        self.attempts = attempts
        self.sleep = sleep
        self.progress = progress
        self.resumed = False

    def download(self, paper_set: PaperSet, base: str, target: Path) -> Table:
        part = target.with_name(target.name + ".part")
        url = self._file_url(paper_set, base)
        try:
            table = self._whole(url, part, paper_set)
        except ContentError:
            # Pieces of two versions of the file may be at fault: only one that came whole is judged.
            if not self.resumed:
                raise
            table = self._whole(url, part, paper_set)
        part.replace(target)
        return table

    def _whole(self, url: str, part: Path, paper_set: PaperSet) -> Table:
        self._retrying(url, lambda: self._transfer(url, part))
        try:
            return read_checked(part, paper_set)
        except (ContentError, ArffError) as error:
            part.unlink()
            raise ContentError(f"refused what {url} sent: {error}") from None

    def _file_url(self, paper_set: PaperSet, base: str) -> str:
        """Ask for the description of a data set, which says where its file is."""
        about = f"{base}/api/v1/json/data/{paper_set.openml_id}"
        answer = self._retrying(about, lambda: self._read(about))
        try:
            description: dict[str, Any] = json.loads(answer)["data_set_description"]
            url = str(description.get("url") or f"{base}/data/v1/download/{description['file_id']}")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DownloadError(
                f"{about} did not answer with the description of a data set: try again later"
            ) from None
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise DownloadError(f"{about} says the file is at {url!r}; expected an http address")
        return url

    def _read(self, url: str) -> bytes:
        with self._open(url) as response:
            answer: bytes = response.read(MAX_BYTES)
        return answer

    def _transfer(self, url: str, part: Path) -> None:
        """Append to `part` what is still missing of the file."""
        have = part.stat().st_size if part.exists() else 0
        self.resumed |= have > 0
        try:
            response = self._open(url, have)
        except urllib.error.HTTPError as error:
            if error.code == 416 and have:
                error.close()
                return  # Nothing follows what is here already; its content decides.
            raise
        with response:
            whole = response.status != 206
            if not whole and not str(response.headers["Content-Range"]).startswith(f"bytes {have}-"):
                part.unlink()
                raise _Again("it sent another piece of the file than it was asked for", 0.0)
            done = 0 if whole else have
            length = response.headers["Content-Length"]
            total = done + int(length) if length and length.isdigit() else None
            with part.open("wb" if whole else "ab") as file:
                while chunk := response.read1(2**16):
                    file.write(chunk)
                    done += len(chunk)
                    self.progress(done, total)
                    if done > MAX_BYTES:
                        file.truncate(0)
                        raise DownloadError(f"{url} sent more than {MAX_BYTES} bytes and was cut off")
        if total is not None and done < total:
            raise _Again(f"it ended after {done} of {total} bytes")

    def _open(self, url: str, start: int = 0) -> Any:
        from localbayes import __version__

        request = urllib.request.Request(url, headers={"User-Agent": f"localbayes/{__version__}"})
        if start:
            request.add_header("Range", f"bytes={start}-")
        return urllib.request.urlopen(request, timeout=self.timeout)

    def _retrying(self, url: str, action: Callable[[], T]) -> T:
        reason: object = "no attempt was allowed"
        for attempt in range(self.attempts):
            wait: float | None = None
            try:
                return action()
            except _Again as error:
                reason, wait = error, error.wait
            except urllib.error.HTTPError as error:
                error.close()
                reason, wait = f"it answered {error.code} {error.reason}", _retry_after(error)
                if error.code not in _PASSING:
                    raise DownloadError(f"cannot download {url}: {reason}") from None
            except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                if isinstance(reason, _HOPELESS) or getattr(reason, "errno", None) in _NO_NETWORK:
                    host = urllib.parse.urlsplit(url).netloc
                    raise DownloadError(
                        f"cannot reach {host} ({reason}): is this machine offline? "
                        "`localbayes study run --data DIR` takes a folder with the ARFF files instead, "
                        "and so does data_dir in Python"
                    ) from None
            if attempt + 1 < self.attempts:
                self.sleep(min(2.0**attempt if wait is None else wait, _LONGEST_WAIT))
        raise DownloadError(
            f"cannot download {url}: gave up after {self.attempts} attempts, at last because of: {reason}; "
            "try again later, it will go on where it stopped"
        )


def _retry_after(error: urllib.error.HTTPError) -> float | None:
    """Return the seconds that a server asks to wait, if it says so in seconds."""
    asked = error.headers.get("Retry-After", "")
    return float(asked) if asked.isdigit() else None
