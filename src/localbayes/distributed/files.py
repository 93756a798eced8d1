"""Learning from Parquet files larger than memory, on one machine and without a cluster.

The files are read in batches, twice: once for domains and bins, once for the rows. The counts of NB, TAN,
AODE, WAODE and HNB fit in memory. The lazy classifiers keep rows: these are packed, part by part, into files
that are mapped into memory. Nothing here needs Dask.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from localbayes.classifiers import BayesClassifier
from localbayes.distributed.domains import set_domains
from localbayes.distributed.model_folder import (
    check_folder,
    is_known,
    load_folder,
    new_folder,
    write_description,
)
from localbayes.distributed.part_learning import (
    LabelledRows,
    encode_part,
    rows_that_count,
    some_rows,
    summarise_part,
)
from localbayes.distributed.row_files import RowFile, mapped_index, write_rows
from localbayes.fields import Fields

__all__ = ["fit_files", "load_folder"]

# Memory of a batch of rows as they are read, of 8 bytes a cell, and of a part of packed rows.
_BATCH_BYTES, _PART_BYTES = 32 << 20, 64 << 20
_MOST_BATCH, _MOST_PART = 1 << 16, 1 << 20

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def fit_files(
    estimator: BayesClassifier,
    paths: Paths,
    *,
    target: str,
    folder: str | os.PathLike[str] | None = None,
    sample_weight: str | None = None,
    batch_rows: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> BayesClassifier:
    """Learn from Parquet files that need not fit in memory.

    Parameters
    ----------
    estimator : classifier
        One of the library's classifiers; it stays as it is.
    paths : path or list of paths
        Parquet files, a folder of them, or a pattern such as ``"data/*.parquet"``. Rows are taken in the
        order of the names.
    target : str
        Name of the class column.
    folder : path, optional
        A new folder for the fitted classifier, which :func:`load_folder` reads. The lazy classifiers need it
        for their rows, and it must stay as long as the classifier is used. That of a class of your own cannot
        be loaded.
    sample_weight : str, optional
        Name of a column of weights, which is not learned from.
    batch_rows : int, optional
        Rows to read at a time; by default as many as take 32 MB.
    progress : callable, optional
        Called with the name of a stage, the number of rows done and their number.

    Returns
    -------
    BayesClassifier
        The fitted classifier; it predicts what one fitted on all rows in memory does.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from localbayes import LCWNB
    >>> table = pd.DataFrame({"colour": ["red", "green"], "fruit": ["apple", "pear"]})
    >>> with tempfile.TemporaryDirectory() as there:
    ...     file, folder = Path(there, "fruit.parquet"), Path(there, "model")
    ...     table.to_parquet(file)
    ...     model = fit_files(LCWNB(kappa=1), file, target="fruit", folder=folder)
    ...     again = load_folder(folder)
    ...     model.predict(table[["colour"]]).tolist(), again.predict(table[["colour"]]).tolist()
    (['apple', 'pear'], ['apple', 'pear'])
    """
    if not isinstance(estimator, BayesClassifier):
        raise TypeError(f"estimator must be a classifier of localbayes, got {estimator!r:.80}")
    if any(find_spec(module) is None for module in ("pandas", "pyarrow")):
        raise ImportError("fit_files needs pandas and pyarrow: install the extra 'pandas'")
    if estimator.keeps_rows and folder is None:
        raise ValueError(f"{type(estimator).__name__} keeps its rows in files: name a new folder for them")
    if folder is not None:
        check_folder(folder)
    model: BayesClassifier = clone(estimator)
    model.check_parameters()
    table = ParquetTable(_files(paths), target, sample_weight, batch_rows)
    validate_data(model, table.sample(), reset=True, skip_check_array=True)
    encoder = model.new_encoder().start([str(name) for name in table.columns])
    summary = None
    for part in table.batches("summarise columns", progress):
        own = summarise_part(encoder, part)
        summary = own if summary is None else summary + own
    if summary is None:
        raise ValueError("the Parquet files have no rows; check the path")
    set_domains(model, encoder.names, summary, partial(_some_rows, table, progress))
    rows = (encode_part(model, part, summary.weighted) for part in table.batches("count rows", progress))
    if not model.keeps_rows:
        statistic = model.empty_statistic(model.sizes_, len(model.labels_))
        for batch in rows:
            statistic.add(*batch)
        model.adopt(statistic)
    if folder is None:
        return model
    with new_folder(folder) as beside:
        parts = _write_parts(model, rows, beside) if model.keeps_rows else []
        if model.keeps_rows:
            index: Any = model.empty_statistic(model.sizes_, len(model.labels_))
            index.restore(Fields(mapped_index(parts, beside), "statistic"))
            if index.n_rows != summary.n_rows:
                raise ValueError(
                    f"the files had {summary.n_rows} rows when they were first read and {index.n_rows} the "
                    "second time; leave them as they are until the end"
                )
            model.adopt(index)
        if is_known(model):
            write_description(beside, model, parts)
    return model


def _some_rows(
    table: "ParquetTable", progress: Callable[[str, int, int], None] | None, numbers: npt.NDArray[np.int64]
) -> list[tuple[Any, Any, Any]]:
    """Rows by number, counted over all batches without rows of weight zero."""
    found, first = [], 0
    for part in table.batches("read rows", progress):
        n = rows_that_count(part)
        inside = numbers[(numbers >= first) & (numbers < first + n)]
        if len(inside):
            found.append(some_rows(part, inside - first))
        first += n
    return found


def _write_parts(model: Any, rows: Iterator[tuple[Any, ...]], folder: Path) -> list[RowFile]:
    """Pack rows into parts, each as large as memory allows, and write them."""
    parts: list[RowFile] = []
    waiting: list[tuple[Any, ...]] = []
    n_waiting = 0

    def write() -> None:
        nonlocal waiting, n_waiting
        columns = list(zip(*waiting, strict=True))
        weights = None if columns[2][0] is None else np.concatenate(columns[2])
        index = model.empty_statistic(model.sizes_, len(model.labels_))
        index.add(np.concatenate(columns[0]), np.concatenate(columns[1]), weights)
        parts.append(write_rows(folder, len(parts), index))
        waiting, n_waiting = [], 0

    most = _part_rows(model)
    for batch in rows:
        if n_waiting and n_waiting + len(batch[0]) > most:
            write()
        waiting.append(batch)
        n_waiting += len(batch[0])
    write()
    return parts


def _part_rows(model: Any) -> int:
    """Rows of a part: few enough that their codes and bit planes are small beside the memory of a machine."""
    bytes_a_row = max(4 * len(model.sizes_), int(model.sizes_.sum()) // 8 + 1)
    return max(1, min(_MOST_PART, _PART_BYTES // bytes_a_row))


@dataclass
class ParquetTable:
    """Parquet files that are read batch by batch.

    Attributes
    ----------
    files : list of str
        The files, in order.
    target : str
        Name of the class column.
    weight : str or None
        Name of the column of weights.
    batch_rows : int or None
        Rows to read at a time; None for as many as take 32 MB.
    """

    files: list[str]
    target: str
    weight: str | None
    batch_rows: int | None

    def __post_init__(self) -> None:
        names = _columns_of(self.files[0])
        for name, what in ((self.target, "target"), (self.weight, "sample_weight")):
            if name is not None and name not in names:
                raise ValueError(
                    f"{what} names the column {name!r}, which {self.files[0]} lacks: {names[:10]}"
                )
        if self.weight == self.target:
            raise ValueError(f"sample_weight and target both name the column {self.weight!r}")
        self.columns = [name for name in names if name not in (self.target, self.weight)]
        if not self.columns:
            raise ValueError(
                f"the Parquet files have no column to learn from besides the class, {self.target!r}"
            )
        if self.batch_rows is not None and self.batch_rows < 1:
            raise ValueError(f"batch_rows must be at least 1, got {self.batch_rows}")

    def sample(self) -> Any:
        """A table without rows and the columns to learn from."""
        import pandas as pd

        return pd.DataFrame({name: [] for name in self.columns})

    def batches(self, stage: str, progress: Callable[[str, int, int], None] | None) -> Iterator[LabelledRows]:
        """Yield table, classes and perhaps weights of some rows at a time."""
        opened = [(file, _open(file)) for file in self.files] if progress is not None else []
        total = sum(one.metadata.num_rows for _, one in opened)
        del opened
        extra = [self.target] if self.weight is None else [self.target, self.weight]
        step = self.batch_rows or max(1, min(_MOST_BATCH, _BATCH_BYTES // (8 * (len(self.columns) + 1))))
        done = 0
        for file in self.files:
            lacking = [name for name in [*self.columns, *extra] if name not in _columns_of(file)]
            if lacking:
                raise ValueError(f"the column {lacking[0]!r} is missing here ({file})")
            for table in _read(file, [*self.columns, *extra], step):
                yield table[self.columns], *(table[name] for name in extra)
                done += len(table)
                if progress is not None:
                    progress(stage, done, total)


def _read(file: str, columns: list[str], step: int) -> Iterator[Any]:
    import pyarrow as pa

    try:
        for batch in _open(file).iter_batches(batch_size=step, columns=columns):
            yield batch.to_pandas()
    except MemoryError as error:
        raise MemoryError(
            f"{file}: {step} rows at a time take too much memory; set batch_rows lower"
        ) from error
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def _open(file: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: Exception) -> ValueError:
    reason = " ".join(str(error).split())
    return ValueError(f"cannot read {file} as Parquet ({reason:.200}); write it again, or leave it out")


def _columns_of(file: str) -> list[str]:
    """Names of the columns, without those that pandas keeps as the index of its rows."""
    schema = _open(file).schema_arrow
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _files(paths: Paths) -> list[str]:
    """Files of a path, a folder, a pattern or a list of these, in order."""
    found: list[str] = []
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        name = os.fspath(path)
        if os.path.isdir(name):
            inside = sorted(
                str(p) for ending in ("parquet", "parq", "pq") for p in Path(name).glob(f"*.{ending}")
            )
        else:
            inside = [name] if os.path.exists(name) else sorted(glob(name))
        if not inside:
            raise FileNotFoundError(f"no Parquet files at {name!r}")
        found += inside
    if not found:
        raise FileNotFoundError("no Parquet files: the list of paths is empty")
    return found
