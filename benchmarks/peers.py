"""Other programs that answer such questions, on the codes that our classifiers use."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.tables import Split, write_coded_arff
from localbayes.encoding import Coded

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

import weka_driver

__all__ = ["LESS", "Weka", "faiss_search", "neighbours"]

LESS = "faiss finds the 50 nearest rows and classifies nothing"


def faiss_search(train: Coded, queries: Coded) -> Callable[[], object]:
    """Search for the 50 nearest rows by Hamming distance of one-hot bits, on one thread."""
    import faiss

    faiss.omp_set_num_threads(1)
    bits = -(-int(train.sizes.sum()) // 8) * 8
    index = faiss.IndexBinaryFlat(bits)
    step = 1 << 18
    for begin in range(0, len(train), step):
        index.add(one_hot(train.codes[begin : begin + step], train.sizes, bits))
    asked = one_hot(queries.codes, queries.sizes, bits)
    return lambda: index.search(asked, 50)


def one_hot(codes: np.ndarray, sizes: np.ndarray, bits: int) -> np.ndarray:
    """One bit per value, packed; a value never seen has none."""
    first = (np.cumsum(sizes) - sizes).astype(np.int64)
    table = np.zeros((len(codes), bits), dtype=np.uint8)
    for i, size in enumerate(sizes):
        seen = np.flatnonzero(codes[:, i] < size)
        table[seen, first[i] + codes[seen, i]] = 1
    return np.packbits(table, axis=1)


def neighbours(train: Coded, class_codes: np.ndarray, queries: Coded) -> Callable[[], object]:
    """scikit-learn's brute-force k-NN classifier with Hamming distance."""
    model = KNeighborsClassifier(10, metric="hamming", algorithm="brute")
    model.fit(train.codes.astype(np.float64), class_codes)
    asked = queries.codes.astype(np.float64)
    return lambda: model.predict(asked)


class Weka:
    """Weka's classifiers on the codes of a split, one thread each; asks the test rows.

    Use as a context. `missing` says what to install where it cannot run.
    """

    missing = staticmethod(weka_driver.missing)

    @staticmethod
    def version() -> str:
        """Version of the jar, or "absent"."""
        jar = weka_driver.find_jar()
        if jar is None:
            return "absent"
        with zipfile.ZipFile(jar) as archive:
            return archive.read("weka/core/version.txt").decode().strip()

    def __init__(self, split: Split) -> None:
        self._split = split

    def __enter__(self) -> Weka:
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        folder = Path(self._folder.name)
        split = self._split
        self.train, self.test, self.few = folder / "train.arff", folder / "test.arff", folder / "few.arff"
        write_coded_arff(self.train, split.train_codes, split.class_codes, split.n_classes)
        absent = np.zeros(len(split.test_codes), dtype=np.int64)
        write_coded_arff(self.test, split.test_codes, absent, split.n_classes)
        write_coded_arff(self.few, split.test_codes[:100], absent[:100], split.n_classes)
        self._driver = weka_driver.WekaDriver()
        return self

    def __exit__(self, *error: Any) -> None:
        self._driver.close()
        self._folder.cleanup()

    def time(self, name: str, repeats: int) -> tuple[float, float]:
        """Best seconds of one training and of one query."""
        spec = getattr(weka_driver, name)
        slow = name == "LWL_NB"
        timing = self._driver.time(spec, self.train, self.few if slow else self.test, repeats)
        return float(timing.training.min()), float(timing.per_query.min())
