"""One browser for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devtools import Browser, need_chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium."""
    need_chromium()
    with Browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened
