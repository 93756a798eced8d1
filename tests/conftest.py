"""What the tests share: reproducible hypothesis, the paper's data, a running Weka."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from weka_driver import WekaDriver, missing

ROOT = Path(__file__).resolve().parent.parent

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that asks for the running Weka, so that `-m weka` selects them all."""
    for item in items:
        if "weka" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.weka)


def _data_folder() -> Path:
    given = os.environ.get("LOCALBAYES_DATA")
    return Path(given) if given else ROOT.parent / "shared" / "data" / "arff"


def pytest_report_header() -> str:
    """Say at the top whether the paper's figures can be checked on all of its data sets."""
    found = len(list(_data_folder().glob("*.arff")))
    return f"data sets of the paper: {found} ARFF files in {_data_folder()}"


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """Return the folder with the ARFF files of the paper's 36 data sets."""
    folder = _data_folder()
    found = len(list(folder.glob("*.arff")))
    if found < 36 and os.environ.get("LOCALBAYES_REQUIRE_DATA") == "1":
        pytest.fail(f"expected the paper's 36 ARFF files in {folder}, got {found}")
    if not found:
        pytest.skip(f"no ARFF files in {folder}: set LOCALBAYES_DATA to a folder with the paper's 36 sets")
    return folder


@pytest.fixture(scope="session")
def weka() -> Iterator[WekaDriver]:
    """Return a running Weka."""
    lacking = missing()
    if lacking and os.environ.get("LOCALBAYES_REQUIRE_WEKA") == "1":
        pytest.fail(lacking)
    if lacking:
        pytest.skip(lacking)
    with WekaDriver(patience=600) as driver:
        yield driver
