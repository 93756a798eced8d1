"""What the tests of the report share."""

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
