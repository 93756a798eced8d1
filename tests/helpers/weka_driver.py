"""A running Weka to compare with: starts tools/weka/Driver.java once and asks it questions."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

__all__ = [
    "AODE",
    "HNB",
    "LWL_NB",
    "NB",
    "TAN",
    "WAODE",
    "Timing",
    "WekaDriver",
    "WekaError",
    "find_jar",
    "missing",
]

SOURCE = Path(__file__).resolve().parents[2] / "tools" / "weka" / "Driver.java"
DEBIAN_JAR = Path("/usr/share/java/weka.jar")

NB = "weka.classifiers.bayes.NaiveBayes"
AODE = "weka.classifiers.bayes.AODE"
WAODE = "weka.classifiers.bayes.WAODE"
HNB = "weka.classifiers.bayes.HNB"
TAN = (
    "weka.classifiers.bayes.BayesNet -D -Q weka.classifiers.bayes.net.search.local.TAN -- -S BAYES "
    "-E weka.classifiers.bayes.net.estimate.SimpleEstimator -- -A 0.5"
)
LWL_NB = "weka.classifiers.lazy.LWL -K 50 -W weka.classifiers.bayes.NaiveBayes"


class WekaError(RuntimeError):
    """What the driver said when a command failed."""


class Timing(NamedTuple):
    """Seconds per training and seconds per query, one figure for each repeat."""

    training: np.ndarray
    per_query: np.ndarray


def find_jar() -> Path | None:
    """Return Weka's jar: $WEKA_JAR, or Debian's place for it; None where there is none."""
    jar = Path(os.environ.get("WEKA_JAR", DEBIAN_JAR))
    return jar if jar.is_file() else None


def missing() -> str | None:
    """Say what is missing to run Weka, or return None if nothing is."""
    lacking = [] if find_jar() else ["weka.jar"]
    lacking += [program for program in ("java", "javac") if shutil.which(program) is None]
    if not lacking:
        return None
    return f"needs {' and '.join(lacking)}: apt-get install weka default-jdk-headless (or set WEKA_JAR)"


class WekaDriver:
    """One Java process that answers commands until `close` is called.

    Paths are ARFF files whose last attribute is the class. A command that takes longer than `patience`
    seconds is an error, and the end of the process.
    """

    def __init__(self, memory: str = "4g", patience: float = 3600.0) -> None:
        jar = find_jar()
        if jar is None:
            raise WekaError(missing())
        self._patience = patience
        self._folder = tempfile.TemporaryDirectory(prefix="weka-driver-")
        self._log = (Path(self._folder.name) / "log").open("w+", encoding="utf-8")
        path = os.pathsep.join([str(jar), self._folder.name])
        compiling = ["javac", "-cp", path, "-d", self._folder.name, str(SOURCE)]
        subprocess.run(compiling, check=True, timeout=patience)
        self._java = subprocess.Popen(
            ["java", f"-Xmx{memory}", "-XX:+UseSerialGC", "-Djava.awt.headless=true", "-cp", path, "Driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            encoding="utf-8",
        )

    def __enter__(self) -> WekaDriver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the Java process end and remove what was compiled."""
        try:
            self._java.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self._java.kill()
            self._java.wait(60)
        self._log.close()
        self._folder.cleanup()

    def ask(self, *words: object) -> list[str]:
        """Send one command and return the lines of its answer."""
        end = threading.Timer(self._patience, self._java.kill)
        end.daemon = True
        end.start()
        try:
            return self._answer(words)
        finally:
            end.cancel()

    def _answer(self, words: Sequence[object]) -> list[str]:
        assert self._java.stdin is not None
        assert self._java.stdout is not None
        print(*words, sep="\t", file=self._java.stdin, flush=True)
        lines: list[str] = []
        for line in self._java.stdout:
            line = line.rstrip("\n")
            if line == "end":
                return lines
            if line.startswith("error: "):
                raise WekaError(line.removeprefix("error: "))
            lines.append(line)
        self._log.seek(0)
        raise WekaError(
            f"Java ended, or was ended after {self._patience:.0f} s, while it worked on {words[0]}: "
            f"{self._log.read()[-2000:]}"
        )

    def distributions(self, spec: str, train: Path, test: Path) -> np.ndarray:
        """Train a classifier; class probabilities of every test row, shape (rows, classes)."""
        return _table(self.ask("distributions", spec, train, test))

    def parents(self, spec: str, train: Path) -> list[list[int]]:
        """Train a BayesNet; for each attribute (the class too) the indices of its parents."""
        return [_integers(line).tolist() for line in self.ask("parents", spec, train)]

    def time(self, spec: str, train: Path, test: Path, repeats: int = 3) -> Timing:
        """Measure training and queries on one thread, after a warm-up of a second each."""
        return Timing(*map(_numbers, self.ask("time", spec, train, test, repeats)))

    def folds(self, data: Path, run: int, n_splits: int = 10) -> list[tuple[np.ndarray, np.ndarray]]:
        """(train, test) row numbers of each fold of one run, in the order the Experimenter has them."""
        rows = [_integers(line) for line in self.ask("folds", data, run, n_splits)]
        return list(zip(rows[::2], rows[1::2], strict=True))

    def filter(self, spec: str, source: Path, target: Path) -> None:
        """Filter an ARFF file into another one (Weka writes numbers with six decimals)."""
        self.ask("filter", spec, source, target)

    def cells(self, spec: str, source: Path) -> tuple[np.ndarray, np.ndarray]:
        """Filter an ARFF file; (declared values per attribute, 0 if numeric; cells with nothing rounded).

        A nominal cell is the index of its value; a missing cell is NaN.
        """
        sizes, *rows = self.ask("cells", spec, source)
        return _integers(sizes), _table(rows)

    def cuts(self, spec: str, source: Path) -> list[np.ndarray]:
        """Cut points of Discretize for each attribute (the class too); empty where there are none."""
        return [_numbers(line) for line in self.ask("cuts", spec, source)]

    def ttest(self, a: Sequence[float], b: Sequence[float], ratio: float) -> tuple[float, float, int]:
        """PairedStatsCorrected: mean difference, p-value, and 1, 0 or -1 for significant at 5 %."""
        (line,) = self.ask("ttest", " ".join(map(_java, a)), " ".join(map(_java, b)), _java(ratio))
        mean, pvalue, sign = _numbers(line)
        return float(mean), float(pvalue), int(sign)

    def random(self, seed: int, count: int, kind: int | str) -> list[float]:
        """Return `count` draws of java.util.Random: below a bound, or "int" or "double"."""
        lines = self.ask("random", seed, count, kind)
        return [float.fromhex(line) if kind == "double" else int(line) for line in lines]


def _java(number: float) -> str:
    return repr(float(number))


def _integers(line: str) -> np.ndarray:
    return np.array(line.split(), dtype=np.int64)


def _numbers(line: str) -> np.ndarray:
    return np.array([float.fromhex(word) for word in line.split()])


def _table(lines: list[str]) -> np.ndarray:
    return np.array([_numbers(line) for line in lines])
