"""`methods`, `info`, `--help` and the progress bar."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import localbayes
from command_line import ok, refused, run
from localbayes import kernels
from localbayes.classifiers import CLASSIFIERS
from localbayes.cli.progress import progress_bar


def test_methods_are_listed_a_line_each() -> None:
    """There is a line for every registered method, with what its documentation begins with."""
    lines = ok("methods").splitlines()
    assert [line.split()[0] for line in lines] == list(CLASSIFIERS)
    assert all(len(line) > 20 for line in lines)


def test_info_tells_versions_and_instruction_sets() -> None:
    """Versions are those of the imported packages, instruction sets those of the kernel."""
    told = dict(re.split(r"  +", line, maxsplit=1) for line in ok("info").splitlines())
    assert told["localbayes"] == localbayes.__version__
    assert told["numpy"] == np.__version__
    assert told["pandas"] == pd.__version__
    assert told["instruction set"] == f"{kernels.isa()} (available: {', '.join(kernels.isas())})"
    assert ok("--version") == f"localbayes {localbayes.__version__}\n"


def test_info_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not there is listed with what it would be good for."""
    import importlib.metadata

    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "dask":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert re.search(r"^dask +not installed \(clusters\)$", ok("info"), re.MULTILINE)


def test_help_is_there_for_every_command() -> None:
    """Every command explains itself, and so does the program without arguments."""
    whole = run("--help").output
    for command in ("fit", "predict", "evaluate", "methods", "info", "data"):
        assert command in whole
        assert "Usage" in run(command, "-h").output
        # Flags take no value, and arguments stand in the usage as they are.
        assert not re.search(r"<bool>|\{|\[\[", run(command, "-h").output)
    shown = run("predict", "--help", env={"COLUMNS": "100"}).output
    assert "predict [OPTIONS] MODEL DATA" in shown
    assert re.search(r"--force +-f +Replace", shown)
    assert re.search(r"--help +-h +Show", shown)
    assert re.search(
        r"download \[OPTIONS\] \[names\]\.\.\. ", run("data", "download", "-h").output, re.IGNORECASE
    )
    assert "discretize=quantile" in run("fit", "--help").output
    assert "replaced" in run("study", "report", "--help").output
    bare = run()
    assert bare.exit_code == 2
    assert "Usage" in bare.output


def test_progress_is_drawn_where_there_is_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar names the work and counts its steps."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("counting sheep", 7) as advance:
        advance(7)
    assert "counting sheep" in terminal.getvalue()
    assert "7/7" in terminal.getvalue()


def test_fit_says_what_became_of_the_columns(cars: Path, tmp_path: Path) -> None:
    """Classes with their rows, nominal columns with values, numeric ones with bins, and what was dropped."""
    options = ["-m", "LCWNB", "--drop", "model"]
    told = ok("fit", cars, "-t", "class", *options, "-o", tmp_path / "m.skops").splitlines()
    assert told[:-1] == [
        "classes  bad (3), good (2)",
        "nominal  zip (2 values), colour (2)",
        "numeric  weight (10 bins)",
        "dropped  model",
    ]
    assert told[-1] == f"{tmp_path / 'm.skops'}: LCWNB(), 5 rows, 3 columns, 2 classes, 2 missing cells"
    shown = ok("info", tmp_path / "m.skops").splitlines()
    assert shown == [f"{tmp_path / 'm.skops'}: LCWNB()", "classes  bad, good", *told[1:3]]


def test_what_fit_says_fits_80_columns(tmp_path: Path) -> None:
    """Of many columns the first ones are named and the others counted."""
    names = [f"a-column-with-a-long-name-{k}" for k in range(300)]
    (tmp_path / "t.csv").write_text(
        ",".join([*names, "class"]) + "\n" + ("x," * 300 + "a\n" + "y," * 300 + "b\n") * 2
    )
    told = ok("fit", tmp_path / "t.csv", "-t", "class", "-m", "NB", "-o", tmp_path / "m")
    assert max(map(len, told.splitlines()[:-1])) <= 80
    assert "and 280 more" in " ".join(told.split())


def test_a_method_is_described_with_its_parameters() -> None:
    """Every parameter and its default stand in the first lines, its meaning below."""
    for name, cls in CLASSIFIERS.items():
        told = ok("methods", name.lower())
        for parameter, default in cls().get_params().items():
            assert f"{parameter}={default!r}" in " ".join(told.split())
        assert "Parameters\n----------" in told
        assert "Examples" not in told
    assert "no method is called 'LCNB'; did you mean 'LCWNB'" in refused("methods", "LCNB")


def test_shells_complete_commands() -> None:
    """Bash asks the program itself."""
    env = {"_LOCALBAYES_COMPLETE": "complete_bash", "COMP_WORDS": "localbayes ev", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "from localbayes.cli import main; main()"],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["evaluate"]


@pytest.mark.parametrize("command", ["fit", "predict", "explain", "evaluate", "tune", "methods", "info"])
def test_every_help_has_an_example(command: str) -> None:
    """It can be typed as it stands."""
    shown = " ".join(run(command, "--help", env={"COLUMNS": "200"}).output.split())
    assert f"Example: localbayes {command} " in shown


def test_without_a_method_raw_tables_get_the_classifier_for_them(cars: Path, tmp_path: Path) -> None:
    """LocalBayesClassifier by default; LCWNB where a kappa is given."""
    assert "LocalBayesClassifier()" in ok("fit", cars, "-t", "class", "-o", tmp_path / "a.skops")
    assert "LCWNB(kappa=5)" in ok("fit", cars, "-t", "class", "--kappa", "5", "-o", tmp_path / "b.skops")
