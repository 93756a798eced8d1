"""Tables that the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    """Return a CSV file with text, numbers, codes that look like numbers, and missing values."""
    path = tmp_path / "cars.csv"
    path.write_text(
        "zip,colour,weight,model,class\n"
        "007,red,1.5,3,good\n007,blue,?,5,bad\n12,red,2.5,X,good\n12,,0.5,3,bad\n12,blue,1.0,X,bad\n"
    )
    return path
