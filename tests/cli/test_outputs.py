"""Output files are complete or not there, and never replace another file unasked."""

from __future__ import annotations

import os
from pathlib import Path

from command_line import IRIS, ok, refused, rows


def test_no_command_writes_over_what_it_reads(tmp_path: Path) -> None:
    """Not with --force, nor under another name of the file; it is refused before the file is read."""
    model, data = tmp_path / "m.html", tmp_path / "t.csv"
    ok("fit", IRIS, "-t", "class", "-o", model)
    data.write_text("no table")
    (tmp_path / "link.svg").symlink_to(data)
    (tmp_path / "link.html").hardlink_to(data)
    before = model.read_bytes()
    for words in (
        ["fit", data, "-t", "class", "-o", data],
        ["fit", data, "-t", "class", "-o", tmp_path / "link.svg"],
        ["predict", model, data, "-o", data],
        ["explain", model, data, "--html", tmp_path / "link.html"],
        ["explain", model, data, "--html", model],
        ["tune", data, "-t", "class", "--plot", tmp_path / "link.svg"],
    ):
        assert refused(*words, "--force") == (
            f"error: {words[-1]} is what this command reads; choose another name for the output"
        )
    assert (data.read_text(), model.read_bytes()) == ("no table", before)


def test_a_page_has_the_ending_of_one(tmp_path: Path) -> None:
    """--html why.txt is refused before anything is read."""
    line = refused("explain", "absent.skops", IRIS, "--html", tmp_path / "why.txt")
    assert line == f"error: --html must end in .html or .htm, got {tmp_path / 'why.txt'}"


def test_outputs_are_safe(tmp_path: Path) -> None:
    """Outputs are refused before any work if they exist or cannot be; nothing half-written stays."""
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    model.write_text("precious")
    assert "m.skops exists; choose another name" in refused("fit", "absent.arff", "-t", "class", "-o", model)
    assert model.read_text() == "precious"
    ok("fit", IRIS, "-t", "class", "-o", model, "--force")
    out.write_text("precious")
    assert "out.csv exists" in refused("predict", model, IRIS, "-o", out)
    assert "ends in .csv or .parquet" in refused("predict", model, IRIS, "-o", tmp_path / "out.txt")
    assert "cannot write /proc/out.csv" in refused("predict", model, IRIS, "-o", "/proc/out.csv")
    assert "there is no folder" in refused("fit", IRIS, "-t", "class", "-o", tmp_path / "no" / "m.skops")
    assert out.read_text() == "precious"
    ok("predict", model, IRIS, "-o", out, "--force")
    assert len(rows(out.read_text())) == 150
    assert sorted(os.listdir(tmp_path)) == ["m.skops", "out.csv"]
