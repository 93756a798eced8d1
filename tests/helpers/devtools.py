"""A browser for the tests: headless Chromium, spoken to over a pipe."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CANDIDATES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# A page that takes so many seconds to answer will not.
PATIENCE = 120
PATIENCE_AT_END = 30


def find_chromium() -> str | None:
    """Return the browser's path, None if there is none."""
    return next((path for name in CANDIDATES if (path := shutil.which(name))), None)


def need_chromium() -> None:
    """Skip a test where there is no browser, or let it fail where one must be."""
    if find_chromium() is None:
        lacking = "no chromium on the path: install the Debian package chromium"
        if os.environ.get("LOCALBAYES_REQUIRE_CHROMIUM") == "1":
            pytest.fail(lacking)
        pytest.skip(lacking)


class Browser:
    """One page in a new profile. Commands and events are those of the DevTools protocol."""

    def __init__(self, profile: Path) -> None:
        path = find_chromium()
        assert path is not None
        its_in, self._out = os.pipe()
        self._in, its_out = os.pipe()
        # The protocol's pipes are the descriptors 3 and 4 of the browser.
        command = f'exec 3<&{its_in} 4>&{its_out}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", path, *FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(its_in, its_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(its_in)
        os.close(its_out)
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise

    def _start(self) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        try:
            self._process.wait(PATIENCE_AT_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(PATIENCE_AT_END)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser said nothing for {PATIENCE} s")
            part = os.read(self._in, 1 << 16)
            if not part:
                raise RuntimeError(f"the browser ended with exit code {self._process.wait(PATIENCE)}")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in ("Inspector.targetCrashed", "Target.targetCrashed"):
            raise RuntimeError("the page has crashed, and will not answer")
        return message

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; events on the way are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url: str) -> None:
        """Open a page and wait until it is loaded."""
        self.events.clear()
        self.send("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key."""
        codes = {
            "Tab": 9,
            "ArrowRight": 39,
            "ArrowDown": 40,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "Enter": 13,
            "Escape": 27,
        }
        for kind in ("rawKeyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "rawKeyDown" else {}
            event = "keyDown" if text else kind
            self.send(
                "Input.dispatchKeyEvent",
                type=event,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                **text,
            )

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        """Give the page the size of a window or a phone."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def prefer(self, scheme: str) -> None:
        """Let the system prefer light or dark colours."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Keep a picture of the page, what is seen of it or the whole."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def requests(self) -> list[str]:
        """Addresses that the page has asked for."""
        sent = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self) -> list[str]:
        """Errors and dialogs that the page has raised, and what it or the browser has logged."""
        loud = (
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Page.javascriptDialogOpening",
        )
        return [json.dumps(event) for event in self.events if event["method"] in loud]
