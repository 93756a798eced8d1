"""The tables that are timed: three of the paper's sets, and made-up ones of any length."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from localbayes import LCWNB
from localbayes.datasets import load_paper_set
from localbayes.encoding import Coded

__all__ = ["MadeUp", "Split", "data_folder", "make_codes", "split_set", "write_coded_arff"]


@dataclass(frozen=True)
class Split:
    """A set cut into nine tenths to learn from and a tenth to ask, as it came and as codes.

    Codes are those that LCWNB uses, so that peers work on the same numbers.
    """

    name: str
    train: Any
    test: Any
    y_train: Any
    train_codes: Coded
    test_codes: Coded
    class_codes: np.ndarray
    n_classes: int

    def queries(self, n: int) -> tuple[Any, Coded]:
        """Return n rows to ask: the test rows, again and again."""
        rows = np.arange(n) % len(self.test_codes)
        return self.test.iloc[rows].reset_index(drop=True), self.test_codes[rows]


def data_folder(given: str | None = None) -> Path:
    """Folder with the ARFF files of the paper's sets."""
    folder = given or os.environ.get("LOCALBAYES_DATA")
    return Path(folder) if folder else Path(__file__).resolve().parents[2] / "shared" / "data" / "arff"


def split_set(name: str, folder: Path) -> Split:
    """Load one of the paper's sets and cut it by a fixed shuffle."""
    X, y = load_paper_set(name, folder)
    order = np.random.default_rng(1).permutation(len(X))
    cut = len(X) * 9 // 10
    train, test = X.iloc[order[:cut]], X.iloc[order[cut:]]
    y_train = y.iloc[order[:cut]]
    model = LCWNB(5, discretize="width").fit(train, y_train)
    sizes = model.sizes_
    return Split(
        name,
        train.reset_index(drop=True),
        test.reset_index(drop=True),
        y_train.reset_index(drop=True),
        Coded(model.encoder_.encode(train), sizes),
        Coded(model.encoder_.encode(test), sizes),
        y_train.cat.codes.to_numpy().astype(np.int64),
        len(y.cat.categories),
    )


class MadeUp:
    """A table of m attributes with q values and two classes; three cells in ten follow the class."""

    def __init__(self, n: int, m: int = 20, q: int = 8, n_queries: int = 256) -> None:
        self.sizes = np.full(m, q)
        codes, self.class_codes = make_codes(n, m, q, seed=1)
        self.train = Coded(codes, self.sizes)
        self.queries = Coded(make_codes(n_queries, m, q, seed=2)[0], self.sizes)


def make_codes(n: int, m: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and classes of a made-up table."""
    random = np.random.default_rng(seed)
    classes = random.integers(0, 2, n)
    codes = random.integers(0, q, (n, m), dtype=np.uint8 if q < 255 else np.uint32)
    step = 1 << 20
    for begin in range(0, n, step):
        part = codes[begin : begin + step]
        follows = random.random(part.shape, dtype=np.float32) < 0.3
        favoured = (np.arange(m) + classes[begin : begin + step, None] * (q // 2)) % q
        part[follows] = favoured.astype(codes.dtype)[follows]
    return codes, classes


def write_coded_arff(path: Path, table: Coded, class_codes: np.ndarray, n_classes: int) -> None:
    """Write codes as nominal values, for Weka to read."""
    lines = ["@relation codes"]
    for i, size in enumerate(table.sizes):
        lines.append(f"@attribute a{i} {{{','.join(map(str, range(size)))}}}")
    lines.append(f"@attribute class {{{','.join(map(str, range(n_classes)))}}}")
    lines.append("@data")
    for row, y in zip(table.codes.tolist(), class_codes.tolist(), strict=True):
        lines.append(",".join(map(str, [*row, y])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
