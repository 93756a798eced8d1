"""Measure how far a reader walks through the source to follow one call.

For `LCWNB().fit(X, y)`, `predict(X)`, `explain(X[:2])` and one fold of the study, list the named functions
of the package in the order in which they are first called. Count the functions, their files, and how often
the next function is in another file, or in another package. Comprehensions and lambdas are not counted.
Packages are the folders of the source; the modules at its top count as one.

    python tools/walk.py                    # the figures of docs/architecture.md
    python tools/walk.py --walk predict     # the functions themselves
    PYTHONPATH=OTHER python tools/walk.py   # another version of the package
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import localbayes
from localbayes import LCWNB
from localbayes.datasets import load
from localbayes.study import make_plan, run_study

PACKAGE = os.path.dirname(os.path.abspath(localbayes.__file__)) + os.sep


class Call(NamedTuple):
    """A function of the package that was called."""

    file: str
    name: str
    line: int

    @property
    def package(self) -> str:
        """Folder of the file inside the package."""
        return os.path.dirname(self.file)


def calls_of(function: Callable[[], Any], inside: str | None = None) -> list[Call]:
    """Named functions of the package that a call of a function calls, in order.

    With `inside`, only the first call of the function of that name is recorded; of a generator, all up to the
    first value that it yields.
    """
    found: list[Call] = []
    recording, finished = inside is None, False

    def note(frame: Any, event: str, _: Any) -> None:
        nonlocal recording, finished
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_name == inside:
            recording, finished = event == "call" and not finished, finished or event == "return"
        if event == "call" and recording and not code.co_name.startswith("<"):
            file = code.co_filename.removeprefix(PACKAGE)
            found.append(Call(file, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def changes(places: list[str]) -> int:
    """How often one place is followed by another one."""
    return sum(here != there for here, there in pairwise(places))


def main() -> None:
    """Print the figures, or one walk."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="vote", help="an embedded data set")
    parser.add_argument("--walk", choices=("fit", "predict", "explain", "fold"), help="list the functions")
    options = parser.parse_args()
    X, y = load(options.set)
    model = LCWNB().fit(X, y)
    model.explain(X[:2])  # so that what is loaded at the first call is not counted
    with tempfile.TemporaryDirectory() as folder:
        plan = make_plan([options.set], ["LCWNB-mix"], runs=1, folds=2)
        run_study(plan, Path(folder, "warm-up.db"))
        walks = {
            "fit": calls_of(lambda: LCWNB().fit(X, y)),
            "predict": calls_of(lambda: model.predict(X)),
            "explain": calls_of(lambda: model.explain(X[:2])),
            "fold": calls_of(lambda: run_study(plan, Path(folder, "study.db")), inside="run_unit"),
        }
    if options.walk:
        here = ""
        for call in dict.fromkeys(walks[options.walk]):
            print(f"{call.file if call.file != here else '':34}{call.name}")
            here = call.file
        return
    print(
        f"{'':10}{'functions':>10}{'files':>7}{'changes of file':>17}{'changes of package':>20}{'calls':>8}"
    )
    for name, calls in walks.items():
        first = list(dict.fromkeys(calls))
        files = [call.file for call in first]
        print(
            f"{name:10}{len(first):10}{len(set(files)):7}{changes(files):17}"
            f"{changes([call.package for call in first]):20}{len(calls):8}"
        )
    names = [call.name.rpartition(".")[2] for call in walks["explain"]]
    reads, texts = names.count("read_columns"), names.count("labels")
    print(f"explain reads X {reads} times and calls labels() {texts} times")


if __name__ == "__main__":
    main()
