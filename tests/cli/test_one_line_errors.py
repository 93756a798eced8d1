"""Whatever goes wrong, one line says what came and what was expected; the exit code is 2."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import skops.io

from command_line import IRIS, ok, refused, run
from localbayes import LCWNB
from localbayes.cli.errors import describe
from localbayes.encoding import Coded
from localbayes.persistence import save_model


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "klass"], "iris.arff: no column is called 'klass'; did you mean 'class'?"),
        (["--target", "petallength"], "the target 'petallength' holds numbers such as 1.4; expected classes"),
        (["--target", "class", "--method", "LCNB"], "no method is called 'LCNB'; did you mean 'LCWNB'"),
        (["--target", "class", "--kappa", "-1"], "kappa must be a number > 0, got -1"),
        (["--target", "class", "--kappa", "NaN"], "kappa must be a number > 0, got nan"),
        (
            ["--target", "class", "--kappa", "five"],
            "kappa must be a number > 0, 'mixture', 'loo' or 'switch', got 'five'",
        ),
        (["--target", "class", "--alpha", "much"], "--alpha"),
        (["--target", "class", "-m", "LCWNB", "--k", "3"], "LCWNB has no parameter 'k'; it has alpha, "),
        (["--target", "class", "-p", "k:3"], "--param must be NAME=VALUE, got 'k:3'"),
        (["--target", "class", "--missing", "drop"], "missing must be "),
        (["--target", "class", "--n-bins", "0"], "n_bins must be a whole number >= 1, got 0"),
        (["--target", "class", "--categorical", "petal"], "--categorical: no feature is called 'petal'"),
        ([], "Missing option '--target'"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_bad_options_get_one_line(command: str, options: list[str], words: str, tmp_path: Path) -> None:
    """Whatever is wrong with an option, one line says what came and what was expected."""
    output = ["-o", tmp_path / "m.skops"] if command == "fit" else []
    assert words in refused(command, IRIS, *options, *output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["fitt"], "No such command 'fitt'"),
        (["fit"], "Try: localbayes fit --help"),
        (["--colour"], "No such option: --colour"),
        (["evaluate", IRIS, "-t", "class", "--folds", "1"], "--folds"),
        (["evaluate", IRIS, "-t", "class", "--folds", "151"], "150 rows, too few for --folds 151"),
        (["evaluate", IRIS, "-t", "class", "--jobs", "0"], "n_jobs"),
        (["predict", "absent.skops", IRIS], "absent.skops: No such file or directory"),
        (["predict", IRIS, IRIS], "is damaged or no model file"),
        (["data", "verify", "/absent"], "/absent"),
    ],
)
def test_bad_usage_gets_one_line(args: list[str], words: str) -> None:
    """Errors of usage are told like any other, in sub-commands too."""
    assert words in refused(*args)


def test_wrong_columns_are_named(cars: Path, tmp_path: Path) -> None:
    """A column that the model needs and the table lacks is named, with a likely misspelling."""
    model = tmp_path / "m.skops"
    ok("fit", cars, "--target", "class", "-o", model)
    (tmp_path / "one.csv").write_text("zip,color,weight,model\n1,red,2,3\n")
    for command in ("predict", "explain"):
        assert refused(command, model, tmp_path / "one.csv") == (
            f"error: {tmp_path / 'one.csv'} lacks the column 'colour', with which {model} was fitted; "
            "did you mean 'color'?"
        )
    (tmp_path / "two.csv").write_text("colour,model\nred,3\n")
    assert "2 of the model's 4 columns are missing" in refused("predict", model, tmp_path / "two.csv")
    (tmp_path / "text.csv").write_text("zip,colour,weight,model\n1,red,heavy,3\n")
    assert "column 'weight'" in refused("predict", model, tmp_path / "text.csv")


def test_models_that_the_command_line_cannot_use(tmp_path: Path) -> None:
    """A model of codes, and one with a foreign type, are refused by name."""
    save_model(LCWNB().fit(Coded([[0], [1]], [2]), ["a", "b"]), tmp_path / "codes.skops")
    assert "was fitted on codes" in refused("predict", tmp_path / "codes.skops", IRIS)
    model = LCWNB().fit([["a"], ["b"]], ["x", "y"])
    model.extra_ = Path()
    skops.io.dump(model, tmp_path / "foreign.skops")
    line = refused("predict", tmp_path / "foreign.skops", IRIS)
    assert "foreign.skops is refused" in line
    assert "pathlib" in line
    with zipfile.ZipFile(tmp_path / "empty.skops", "w"):
        pass
    assert "damaged or no model file" in refused("predict", tmp_path / "empty.skops", IRIS)


def test_debugging_shows_where(tmp_path: Path) -> None:
    """With LOCALBAYES_DEBUG=1 the traceback comes before the line; the exit code stays."""
    result = run("evaluate", "absent.csv", "--target", "x", env={"LOCALBAYES_DEBUG": "1"})
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1] == "error: absent.csv: No such file or directory"


def test_what_was_not_foreseen_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect of the program gives one line, which says that it is one; a warning is one line as well."""

    def fails(*_: object) -> None:
        raise KeyError("an\nold key")

    monkeypatch.setattr("localbayes.cli.inputs.read_table", fails)
    assert "unexpected KeyError: 'an\\nold key'" in refused("evaluate", IRIS, "--target", "class")
    assert describe(MemoryError("for 3 GB")) == "not enough memory for 3 GB"
    assert describe(ValueError("\x1b[31mred")) == "\\x1b[31mred"

    def warns(*_: object) -> None:
        import warnings

        warnings.warn("careful\nthere", UserWarning, stacklevel=1)
        raise ValueError("stop")

    monkeypatch.setattr("localbayes.cli.inputs.read_table", warns)
    assert run("evaluate", IRIS, "--target", "class").stderr == "warning: careful there\nerror: stop\n"


def test_an_interrupt_has_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt anywhere in a command is one line and code 130."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("localbayes.cli.inputs.read_table", interrupted)
    result = run("evaluate", IRIS, "--target", "class")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")
