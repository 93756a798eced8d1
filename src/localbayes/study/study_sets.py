"""The data sets of a study: found by name or file, filtered and encoded or raw, cut into Weka's folds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localbayes.study.accuracy_table import SetInfo
from localbayes.study.benchmark import current
from localbayes.study.methods import Fold
from localbayes.study.store_file import storable

if TYPE_CHECKING:
    import pandas as pd

    from localbayes.encoding import Coded

__all__ = ["SetSource", "StudySet", "files_not_used", "find_sets", "prepare"]

_SUFFIXES = (".arff", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True, eq=False)
class StudySet:
    """A data set as methods get it.

    Filtered, all columns of `frame` are categories, and `coded` has their codes. In a study of raw tables
    `frame` is the table as it is, and `coded` is None.
    """

    info: SetInfo
    frame: pd.DataFrame
    coded: Coded | None
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

    def rows(self, numbers: NDArray[np.intp]) -> Coded | pd.DataFrame:
        """Return rows as classifiers of localbayes take them: codes, or raw rows."""
        return self.frame.iloc[numbers] if self.coded is None else self.coded[numbers]

    @cached_property
    def numbered(self) -> pd.DataFrame:
        """The filtered table with every value replaced by its position among the declared values."""
        import pandas as pd

        if self.coded is None:
            raise ValueError(f"data set {self.info.name!r} is raw, so it has no codes: use the table")
        columns = [
            pd.Categorical.from_codes(codes, categories=pd.RangeIndex(int(q)))
            for codes, q in zip(self.coded.codes.T.astype(np.int64), self.coded.sizes, strict=True)
        ]
        table = pd.DataFrame(dict(enumerate(columns)))
        table.columns = self.frame.columns.astype(str)
        return table

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the declared values, the codes or cells, and the classes."""
        seen = hashlib.sha256()
        for name in self.frame.columns:
            column = self.frame[name]
            declared = column.cat.categories if hasattr(column, "cat") else ()
            seen.update(repr((str(name), [str(v) for v in declared])).encode())
            if self.coded is None:
                seen.update(repr((str(column.dtype), column.tolist())).encode())
        if self.coded is not None:
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
    """Where a data set comes from: the benchmark's catalogue, by name, or a file of one's own."""

    name: str
    path: Path | None = None
    target: str | None = None
    data_dir: Path | None = None
    raw: bool = False

    @property
    def size(self) -> float:
        """A rough number of cells, known without reading the data: large sets are worked on first."""
        if self.path is not None:
            return self.path.stat().st_size / 4
        known = current().catalogue.sets[self.name]
        return float(known.n * known.m)

    def load(self) -> StudySet:
        """Read and prepare the data set."""
        from localbayes.datasets.reading import read_table, split_target

        if self.path is None:
            catalogue = current().catalogue
            info = catalogue.sets[self.name]
            X, y = catalogue.load(self.name, self.data_dir)
        else:
            X, y = split_target(read_table(self.path), self.target, self.path)
            y = y.astype("category")
            info = SetInfo(self.name, len(X), X.shape[1] + 1, len(y.cat.categories), published=False)
        if self.raw:
            return _as_it_is(info, X, y)
        return prepare(info, X if self.path is None else _categories(X), y)


def prepare(info: SetInfo, X: pd.DataFrame, y: pd.Series[Any]) -> StudySet:
    """Filter a table as a whole, before it is cut into folds, and encode it.

    Missing values become the mean or the most frequent value; numbers are cut into ten bins of equal width.

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
    from localbayes.weka import Discretize, ReplaceMissingValues

    _refuse_rows_without_class(info, y)
    complete = ReplaceMissingValues().fit_transform(X)
    frame = Discretize(bins=10).fit_transform(complete).reset_index(drop=True)
    sizes = np.array([len(frame[name].cat.categories) for name in frame.columns], dtype=np.int64)
    codes = np.column_stack([frame[name].cat.codes.to_numpy(dtype=np.int64) for name in frame.columns])
    # Bins are in order, which some methods know how to use.
    ordered = np.array([X[name].dtype.kind in "iuf" for name in X.columns], dtype=bool)
    coded = Coded(codes, sizes, [str(name) for name in frame.columns], ordered=ordered)
    return StudySet(info, frame, coded, y.array)


def _as_it_is(info: SetInfo, X: pd.DataFrame, y: pd.Series[Any]) -> StudySet:
    """A raw table. Published figures are of filtered ones, so it is no set to compare with them."""
    _refuse_rows_without_class(info, y)
    return StudySet(replace(info, published=False), X.reset_index(drop=True), None, y.array)


def _refuse_rows_without_class(info: SetInfo, y: pd.Series[Any]) -> None:
    if y.isna().any():
        raise ValueError(
            f"data set {info.name!r} has {int(y.isna().sum())} rows without a class: remove them"
        )


def find_sets(
    names: list[str] | None = None,
    data_dir: Path | None = None,
    target: str | None = None,
    *,
    raw: bool = False,
) -> list[SetSource]:
    """Turn names and paths into sources.

    Parameters
    ----------
    names : list of str, optional
        Names of the benchmark's sets and groups of them, or paths of ARFF, CSV, TSV and Parquet files.
        Default: what `data_dir` has, else the benchmark's default.
    data_dir : path, optional
        Folder with ARFF files of the benchmark's sets, or with data files of one's own; see
        `files_not_used`.
    target : str, optional
        Class column of files of one's own; default the last.
    raw : bool
        Whether methods get the tables as they are, without filters.

    Examples
    --------
    >>> [source.name for source in find_sets(["iris", "vote"])]
    ['iris', 'vote']
    """
    catalogue = current().catalogue
    if data_dir is not None and not data_dir.is_dir():
        raise ValueError(f"the data folder {data_dir} does not exist: give one with data files")
    if not names:
        names = _names_in(data_dir) if data_dir else [catalogue.default]
        if not names:
            raise ValueError(
                f"the data folder {data_dir} has none of {current().possessive} {len(catalogue.sets)} sets "
                f"and no other file in {', '.join(_SUFFIXES)}: name the sets to use"
            )
    sources: dict[str, SetSource] = {}
    for name in names:
        for source in _sources(name, data_dir, target):
            if sources.setdefault(source.name, source) != source:
                raise ValueError(f"two data sets are called {source.name!r}: rename one of the files")
    return [replace(source, raw=raw) for source in sources.values()]


def files_not_used(data_dir: Path) -> list[str]:
    """Return the names of the files in a data folder that a study of this folder leaves out.

    Where the folder has ARFF files of the benchmark's sets, these alone are used; else every data file.
    """
    used = set(_names_in(data_dir))
    files = [path for path in sorted(data_dir.iterdir()) if path.is_file() and path.name[0] != "."]
    return [
        storable(path.name)
        for path in files
        if str(path) not in used and not (path.suffix == ".arff" and path.stem in used)
    ]


def _names_in(folder: Path) -> list[str]:
    present = {path.stem for path in folder.glob("*.arff")}
    known = [name for name in current().catalogue.sets if name in present]
    return known or [str(path) for path in sorted(folder.iterdir()) if path.suffix.lower() in _SUFFIXES]


def _sources(name: str, data_dir: Path | None, target: str | None) -> list[SetSource]:
    catalogue = current().catalogue
    if name in catalogue.sets or name in catalogue.groups:
        return [SetSource(known, data_dir=data_dir) for known in catalogue.groups.get(name, (name,))]
    path = Path(name)
    if not path.is_file():
        raise ValueError(
            f"{name!r} is neither one of {current().possessive} sets nor a file: see `localbayes data list`"
        )
    if path.suffix.lower() not in _SUFFIXES:
        raise ValueError(
            f"{name!r} ends in {path.suffix!r}: expected a data file in {' or '.join(_SUFFIXES)}"
        )
    # A file of one's own is never taken for the benchmark's set of that name.
    own = storable(path.name if path.stem in catalogue.sets else path.stem)
    return [SetSource(own, path.resolve(), target)]


def _categories(table: pd.DataFrame) -> pd.DataFrame:
    """Turn every column that does not hold numbers into categories."""
    others = [name for name in table.columns if table[name].dtype.kind not in "iuf"]
    return table.astype(dict.fromkeys(others, "category"))
