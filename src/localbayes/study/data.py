"""A data set as the study uses it: found, filtered as in the paper, encoded once, cut into Weka's folds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localbayes.study.methods import Fold
from localbayes.study.table import SetInfo

if TYPE_CHECKING:
    import pandas as pd

    from localbayes.encoding import Coded

__all__ = ["SetSource", "StudySet", "find_sets", "prepare"]

_EMBEDDED = "embedded"
_SUFFIXES = (".arff", ".csv")


@dataclass(frozen=True, eq=False)
class StudySet:
    """A prepared data set: all columns categorical, with their declared values and classes."""

    info: SetInfo
    frame: pd.DataFrame
    coded: Coded
    y: Any
    _runs: dict[tuple[int, int], list[NDArray[np.intp]]] = field(default_factory=dict, repr=False)

    @cached_property
    def truth(self) -> NDArray[np.intp]:
        """Class of each row, as a position among the declared classes."""
        return np.asarray(self.y.codes, dtype=np.intp)

    @cached_property
    def classes(self) -> list[Any]:
        """All declared classes in declared order."""
        return list(self.y.categories)

    @cached_property
    def numbered(self) -> pd.DataFrame:
        """The table with every value replaced by its position among the declared values."""
        import pandas as pd

        columns = [
            pd.Categorical.from_codes(codes, categories=pd.RangeIndex(int(q)))
            for codes, q in zip(self.coded.codes.T.astype(np.int64), self.coded.sizes, strict=True)
        ]
        table = pd.DataFrame(dict(enumerate(columns)))
        table.columns = self.frame.columns.astype(str)
        return table

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the declared values, the codes and the classes."""
        seen = hashlib.sha256()
        for name in self.frame.columns:
            seen.update(repr((str(name), [str(v) for v in self.frame[name].cat.categories])).encode())
        seen.update(self.coded.codes.astype("<u4").tobytes())
        seen.update(repr([str(label) for label in self.classes]).encode())
        seen.update(self.truth.astype("<i8").tobytes())
        return seen.hexdigest()

    def fold(self, run: int, number: int, n_folds: int) -> Fold:
        """Return one fold of one run."""
        from localbayes.weka import split_run

        if (run, n_folds) not in self._runs:
            self._runs[run, n_folds] = split_run(self.truth, run, n_folds)
        test_rows = self._runs[run, n_folds][number]
        train = np.ones(len(self.truth), dtype=bool)
        train[test_rows] = False
        return Fold(self, run, number, np.flatnonzero(train), test_rows)


@dataclass(frozen=True)
class SetSource:
    """Where a data set comes from: one of the paper's by name, or a file of one's own."""

    name: str
    path: Path | None = None
    target: str | None = None
    data_dir: Path | None = None

    @property
    def size(self) -> float:
        """A rough number of cells, known without reading: large sets are worked on first."""
        from localbayes.datasets.registry import PAPER_SETS

        if self.path is not None:
            return self.path.stat().st_size / 4
        return float(PAPER_SETS[self.name].n * PAPER_SETS[self.name].m)

    def load(self) -> StudySet:
        """Read and prepare the data set."""
        from localbayes.datasets import EMBEDDED, load_paper_set
        from localbayes.datasets.reading import read_table, split_target
        from localbayes.datasets.registry import PAPER_SETS

        if self.path is None:
            # What comes with the package needs no network.
            X, y = load_paper_set(self.name, data_dir=self.data_dir, download=self.name not in EMBEDDED)
            known = PAPER_SETS[self.name]
            return prepare(SetInfo(self.name, known.n, known.m, known.r), X, y)
        X, y = split_target(read_table(self.path), self.target, self.path)
        X, y = _categories(X), y.astype("category")
        info = SetInfo(self.name, len(X), X.shape[1] + 1, len(y.cat.categories), paper=False)
        return prepare(info, X, y)


def prepare(info: SetInfo, X: pd.DataFrame, y: pd.Series[Any]) -> StudySet:
    """Filter a table as the paper does, on the whole, and encode it.

    Parameters
    ----------
    info : SetInfo
        Its name and constants.
    X : DataFrame
        Category columns declare their values; numeric columns are cut into ten bins.
    y : Series
        Categorical; it declares the classes.
    """
    from localbayes.encoding import Coded
    from localbayes.weka import apply_paper_filters

    if y.isna().any():
        raise ValueError(
            f"data set {info.name!r} has {int(y.isna().sum())} rows without a class: remove them"
        )
    frame = apply_paper_filters(X).reset_index(drop=True)
    sizes = np.array([len(frame[name].cat.categories) for name in frame.columns], dtype=np.int64)
    codes = np.column_stack([frame[name].cat.codes.to_numpy(dtype=np.int64) for name in frame.columns])
    return StudySet(info, frame, Coded(codes, sizes, [str(name) for name in frame.columns]), y.array)


def find_sets(
    names: list[str] | None = None, data_dir: Path | None = None, target: str | None = None
) -> list[SetSource]:
    """Turn names and paths into sources.

    Parameters
    ----------
    names : list of str, optional
        Names of the paper's sets, `paper` for all 36, `embedded` for the nine that come with the package, or
        paths of ARFF and CSV files. Default: the ARFF files of the paper's sets in `data_dir`, else the
        embedded ones.
    data_dir : path, optional
        Folder with ARFF files of the paper's sets.
    target : str, optional
        Class column of files of one's own; default the last.

    Examples
    --------
    >>> [source.name for source in find_sets(["iris", "vote"])]
    ['iris', 'vote']
    """
    from localbayes.datasets.registry import PAPER_SETS

    if data_dir is not None and not data_dir.is_dir():
        raise ValueError(f"the data folder {data_dir} does not exist: give one with ARFF files")
    if not names:
        present = {path.stem for path in data_dir.glob("*.arff")} if data_dir else set()
        names = [name for name in PAPER_SETS if name in present] if data_dir else [_EMBEDDED]
        if not names:
            raise ValueError(
                f"the data folder {data_dir} has none of the paper's 36 sets: name the sets to use"
            )
    sources: dict[str, SetSource] = {}
    for name in names:
        for source in _sources(name, data_dir, target):
            if sources.setdefault(source.name, source) != source:
                raise ValueError(f"two data sets are called {source.name!r}: rename one of the files")
    return list(sources.values())


def _sources(name: str, data_dir: Path | None, target: str | None) -> list[SetSource]:
    from localbayes.datasets.registry import PAPER_SETS

    if name == "paper":
        return [SetSource(known, data_dir=data_dir) for known in PAPER_SETS]
    if name == _EMBEDDED:
        from localbayes.datasets import EMBEDDED

        return [SetSource(known, data_dir=data_dir) for known in EMBEDDED]
    if name in PAPER_SETS:
        return [SetSource(name, data_dir=data_dir)]
    path = Path(name)
    if not path.is_file():
        raise ValueError(
            f"{name!r} is neither one of the paper's sets nor a file: see `localbayes data list`"
        )
    if path.suffix.lower() not in _SUFFIXES:
        raise ValueError(
            f"{name!r} ends in {path.suffix!r}: expected a data file in {' or '.join(_SUFFIXES)}"
        )
    # A file of one's own is never taken for the paper's set of that name.
    own = path.name if path.stem in PAPER_SETS else path.stem
    return [SetSource(own, path.resolve(), target)]


def _categories(table: pd.DataFrame) -> pd.DataFrame:
    """Everything that is not a number becomes a category."""
    others = [name for name in table.columns if table[name].dtype.kind not in "iuf"]
    return table.astype(dict.fromkeys(others, "category"))
