"""docs/reliability.md names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_promise_names_tests_that_exist():
    """A promise whose test was renamed or removed is noticed."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 30
    for path, test in named:
        assert f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


def test_every_promise_has_a_test():
    """A line of a table of promises without a test is noticed."""
    tables = re.findall(r"^\| promise \| test \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert tables
    for line in "".join(tables).splitlines():
        assert "::test_" in line or "`make " in line or "benchmarks/" in line, line
