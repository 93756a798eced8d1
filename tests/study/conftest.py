"""What the tests of the report share."""

import os
import shutil
from pathlib import Path

import pytest

from localbayes.study import write_report
from study_support import paper_store


@pytest.fixture(scope="module")
def paper_report(tmp_path_factory) -> Path:
    """A report on a store whose means are the paper's."""
    folder = tmp_path_factory.mktemp("paper")
    write_report(paper_store(folder / "s.db"), folder / "out")
    return folder / "out"


@pytest.fixture(scope="session")
def pdflatex() -> str:
    """Return the program that sets LaTeX."""
    found = shutil.which("pdflatex")
    if found is None and os.environ.get("LOCALBAYES_REQUIRE_PDFLATEX") == "1":
        pytest.fail("pdflatex is not installed")
    if found is None:
        pytest.skip("needs pdflatex: install texlive-latex-base and texlive-latex-recommended")
    return found
