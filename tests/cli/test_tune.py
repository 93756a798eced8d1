"""`localbayes tune` shows the leave-one-out curve."""

import numpy as np
import pytest
from typer.testing import CliRunner

from localbayes import LCWNB
from localbayes.cli import app
from localbayes.datasets import embedded_path, load


def run(*arguments):
    return CliRunner().invoke(app, ["tune", *map(str, arguments)])


def test_the_table_holds_what_leaving_rows_out_gives():
    """Each line is a kappa with the accuracy and log loss that leave_one_out measures on all rows."""
    X, y = load("labor")
    result = run(embedded_path("labor"), "--target", "class")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines() if line.strip()[:1].isdigit()]
    kappas = [float(line[0]) for line in lines]
    expected = LCWNB(kappa=5).fit(X, y).leave_one_out(kappas)
    shown = [[float(v) for v in line if v not in "*–"] for line in lines]
    np.testing.assert_allclose([s[1] for s in shown], 100 * expected["accuracy"], atol=0.005)
    np.testing.assert_allclose([s[2] for s in shown], expected["log_loss"], atol=5e-5)
    assert sum("*" in line for line in lines) == 1
    np.testing.assert_allclose(sum(s[3] for s in shown if len(s) > 3), 1.0, atol=0.01)


def test_the_curve_is_drawn_once_and_not_over_another_file(tmp_path):
    """--plot writes a picture; an existing file stays unless --force is given."""
    picture = tmp_path / "curve.svg"
    assert run(embedded_path("labor"), "--target", "class", "--plot", picture).exit_code == 0
    assert b"<svg" in picture.read_bytes()
    again = run(embedded_path("labor"), "--target", "class", "--plot", picture)
    assert again.exit_code == 2
    assert "exists" in again.output
    assert run(embedded_path("labor"), "--target", "class", "--plot", picture, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plot", "curve.bmp"], "must end in .svg, .png or .pdf"),
        (["--param", "kappas=3"], "no parameter 'kappas'"),
        (["--param", "kappa=5"], "tune tries a grid of kappas of its own, got --param kappa=5"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(arguments, message):
    """One line that says what came, and exit code 2."""
    result = run(embedded_path("labor"), "--target", "class", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_one_class_leaves_nothing_to_tune(tmp_path):
    """A table of one class is refused with its name."""
    table = tmp_path / "one.csv"
    table.write_text("a,class\nx,yes\ny,yes\n")
    result = run(table, "--target", "class")
    assert result.exit_code == 2
    assert "one class only" in result.output
