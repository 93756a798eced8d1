"""A server on this machine that answers like OpenML, and can also stall, truncate and lie."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from localbayes.datasets import embedded_path

IRIS = embedded_path("iris").read_bytes()
VOTE = embedded_path("vote").read_bytes()

Behaviour = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers like OpenML, unless the server was told to misbehave."""

    server: Server

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers.get("Range")))
        if self.path.startswith("/api/v1/json/data/"):
            behaviour = self.server.descriptions.pop(0) if self.server.descriptions else describe
        else:
            behaviour = self.server.files.pop(0) if self.server.files else deliver
        behaviour(self)

    def answer(self, status: int, content: bytes, **headers: object) -> None:
        self.send_response(status)
        headers.setdefault("Content_Length", len(content))
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(content)

    @property
    def start(self) -> int:
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    """A stand-in for OpenML that serves one file and follows a script, one behaviour per request."""

    daemon_threads = True

    def __init__(self, content: bytes = IRIS) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.descriptions: list[Behaviour] = []
        self.files: list[Behaviour] = []
        self.requests: list[tuple[str, str | None]] = []
        self.closing = threading.Event()

    def __enter__(self) -> Server:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def ranges(self) -> list[str | None]:
        """The Range header of each request for the file."""
        return [asked for path, asked in self.requests if path.startswith("/data/")]


def describe(handler: Handler) -> None:
    number = handler.path.rsplit("/", 1)[1]
    url = f"{handler.server.url}/data/v1/download/{number}/set.arff"
    about = {"data_set_description": {"id": number, "format": "ARFF", "url": url, "file_id": number}}
    handler.answer(200, json.dumps(about).encode(), Content_Type="application/json")


def deliver(handler: Handler) -> None:
    content, start = handler.server.content, handler.start
    if start >= max(len(content), 1):
        handler.answer(416, b"", Content_Range=f"bytes */{len(content)}")
    elif start:
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        handler.answer(206, content[start:], Content_Range=span)
    else:
        handler.answer(200, content)


def saying(content: bytes, status: int = 200, **headers: object) -> Behaviour:
    return lambda handler: handler.answer(status, content, **headers)


def truncating(size: int) -> Behaviour:
    """Promise the whole rest of the file, send `size` bytes of it and hang up."""

    def behave(handler: Handler) -> None:
        rest = handler.server.content[handler.start :]
        span = f"bytes {handler.start}-{len(handler.server.content) - 1}/{len(handler.server.content)}"
        handler.answer(
            206 if handler.start else 200, rest[:size], Content_Length=len(rest), Content_Range=span
        )

    return behave


def stalling(size: int) -> Behaviour:
    """Send `size` bytes and then nothing, with the line kept open."""

    def behave(handler: Handler) -> None:
        truncating(size)(handler)
        handler.wfile.flush()
        handler.server.closing.wait()

    return behave


def dripping(content: bytes, head: bool = False) -> Behaviour:
    """Send one byte at a time, with pauses far below any time-out, of the answer's head or of its body."""

    def behave(handler: Handler) -> None:
        if head:
            content_sent = b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 10_000
        else:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            content_sent = content
        with contextlib.suppress(OSError):
            for byte in content_sent:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                if handler.server.closing.wait(0.02):
                    return

    return behave
