"""One file over HTTP: retried, resumed, and cut off where the server is too slow or sends too much."""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeVar

__all__ = ["DownloadError", "Progress", "Transfer"]

MAX_BYTES = 64 * 2**20
"""More than fifty times the largest of the 36 files; a server that sends more is cut off."""

LEAST_BYTES = 1024
"""Bytes that must arrive each second, on average over the time-out."""

_DESCRIPTION_BYTES = 2**20
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_HOPELESS = (socket.gaierror, ssl.SSLCertVerificationError)
_NO_NETWORK = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_LONGEST_WAIT = 60.0
_WHOLE_NUMBER = re.compile("[0-9]{1,18}")

T = TypeVar("T")
Progress = Callable[[int, int | None], None]


class DownloadError(OSError):
    """A download that did not succeed; the message is one line that says why and what to do."""


class _Again(Exception):
    """An attempt failed, but another one may succeed."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Transfer:
    """Requests with time-outs and retries.

    Parameters
    ----------
    timeout : float
        Seconds for the head of an answer, and without a sufficient number of bytes of its body.
    attempts : int
        How often a request is tried.
    sleep : callable
        How to wait between attempts.
    progress : callable
        Called with bytes so far and bytes in all (None if unknown).
    """

    def __init__(
        self, timeout: float, attempts: int, sleep: Callable[[float], None], progress: Progress
    ) -> None:
        self.timeout = timeout
        self.attempts = attempts
        self.sleep = sleep
        self.progress = progress
        self.resumed = False
        self._connection: http.client.HTTPConnection | None = None
        self._opener = urllib.request.build_opener(_Http(self._remember), _Https(self._remember))

    def description(self, url: str) -> dict[str, Any]:
        """Ask for a JSON object; what is no JSON object counts as an empty one."""

        def read() -> bytes:
            with self._open(url) as response:
                return b"".join(self._chunks(response, _DESCRIPTION_BYTES, url))

        try:
            answer = json.loads(self._retrying(url, read))
        except (ValueError, RecursionError):
            return {}
        return answer if isinstance(answer, dict) else {}

    def append(self, url: str, file: IO[bytes]) -> None:
        """Append to a file what it still lacks of the content behind an address."""
        self._retrying(url, lambda: self._append(url, file))

    def _append(self, url: str, file: IO[bytes]) -> None:
        have = file.seek(0, 2)
        self.resumed |= have > 0
        try:
            response = self._open(url, have)
        except urllib.error.HTTPError as error:
            if error.code == 416 and have:
                error.close()
                return  # The file is complete, or wrong; its content decides.
            raise
        with response:
            whole = response.status != 206
            if not whole and not str(response.headers["Content-Range"]).startswith(f"bytes {have}-"):
                file.truncate(0)
                raise _Again("it sent another piece of the file than it was asked for", 0.0)
            if whole:
                file.truncate(0)
            done = file.seek(0, 2)
            length = _number(response.headers["Content-Length"])
            total = None if length is None else done + length
            for chunk in self._chunks(response, MAX_BYTES - done, url):
                file.write(chunk)
                done += len(chunk)
                self.progress(done, total)
        if total is not None and done < total:
            raise _Again(f"it ended after {done} of {total} bytes")

    def _chunks(self, response: Any, most: int, url: str) -> Iterator[bytes]:
        """Read an answer piece by piece; too little in a time-out, or too much in all, ends it."""
        begin, got, done = time.monotonic(), 0, 0
        while chunk := response.read1(2**16):
            done += len(chunk)
            got += len(chunk)
            if done > most:
                raise DownloadError(f"{url} sent more than {most} bytes and was cut off")
            yield chunk
            if time.monotonic() - begin > self.timeout:
                if got < LEAST_BYTES * self.timeout:
                    raise _Again(f"it sent only {got} bytes in {self.timeout:g} seconds")
                begin, got = time.monotonic(), 0

    def _remember(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def _open(self, url: str, start: int = 0) -> Any:
        from localbayes import __version__

        request = urllib.request.Request(url, headers={"User-Agent": f"localbayes/{__version__}"})
        if start:
            request.add_header("Range", f"bytes={start}-")
        # The time-out of a socket begins anew with every byte; the head as a whole has one too.
        late = threading.Event()
        watch = threading.Timer(self.timeout, self._hang_up, [late])
        watch.daemon = True
        watch.start()
        try:
            response = self._opener.open(request, timeout=self.timeout)
        finally:
            watch.cancel()
        if late.is_set():  # then what came of the head may look complete
            response.close()
            raise _Again(f"the head of its answer took more than {self.timeout:g} seconds")
        return response

    def _hang_up(self, late: threading.Event) -> None:
        late.set()
        sock: Any = None if self._connection is None else self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

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
                reason, wait = (
                    f"it answered {error.code} {error.reason}",
                    _number(error.headers["Retry-After"]),
                )
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


class _Http(urllib.request.HTTPHandler):
    """Urllib's handler, which tells of its connections."""

    def __init__(self, remember: Callable[[http.client.HTTPConnection], None]) -> None:
        super().__init__()
        self.remember = remember

    def http_open(self, req: urllib.request.Request) -> Any:
        """Open a connection."""
        return self.do_open(_told(http.client.HTTPConnection, self.remember), req)


class _Https(urllib.request.HTTPSHandler):
    """The same for encrypted connections."""

    def __init__(self, remember: Callable[[http.client.HTTPConnection], None]) -> None:
        super().__init__()
        self.remember = remember

    def https_open(self, req: urllib.request.Request) -> Any:
        """Open a connection."""
        return self.do_open(_told(http.client.HTTPSConnection, self.remember), req)


def _told(kind: Any, remember: Callable[[http.client.HTTPConnection], None]) -> Any:
    def make(*args: Any, **settings: Any) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection = kind(*args, **settings)
        remember(connection)
        return connection

    return make


def _number(text: str | None) -> int | None:
    """Read a header that should hold a whole number; None for anything else."""
    return int(text) if text is not None and _WHOLE_NUMBER.fullmatch(text) else None
