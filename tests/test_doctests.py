"""Every example in the documentation does what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import localbayes

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(localbayes.__path__, "localbayes.")
    if not module.name.endswith(("._kernels", ".__main__"))
)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


class MarkdownParser(doctest.DocTestParser):
    """The fence that closes a block is no output of the example above it."""

    def parse(self, string, name="<string>"):
        lines = ["" if line.startswith("```") else line for line in string.split("\n")]
        return super().parse("\n".join(lines), name)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    """What a docstring shows is what comes out."""
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_in_pages(page, tmp_path, monkeypatch):
    """What README and the pages of docs show is what comes out, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(
        str(page), module_relative=False, optionflags=OPTIONS, parser=MarkdownParser(), encoding="utf-8"
    )
    assert result.failed == 0


def test_there_are_examples():
    """The walk finds the modules and the pages, and they do have examples."""
    assert {"localbayes.classifiers.lcwnb", "localbayes.encoding.coded"} <= set(MODULES)
    assert "own-weighting.md" in {page.name for page in PAGES}
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = finder.find(importlib.import_module("localbayes.classifiers.lcwnb"))
    assert sum(len(test.examples) for test in tests) >= 3
