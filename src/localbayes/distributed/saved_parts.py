"""Parts of the training rows, written and read where they are: what a worker does for a saved model."""

from pathlib import Path

import numpy as np

from localbayes.classifiers import LazyClassifier
from localbayes.counts import Floats
from localbayes.distributed.left_out_work import rows_of_part
from localbayes.distributed.part_work import Part
from localbayes.distributed.row_files import RowFile, mapped_index, write_rows
from localbayes.fields import Fields

__all__ = ["check_totals", "class_totals", "read_part", "write_part"]


def write_part(part: Part, folder: str, number: int, mark: str) -> RowFile | None:
    """Write a part to a folder; None if that folder, known by a mark in it, is not seen here."""
    if not Path(folder, mark).exists():
        return None
    return write_rows(Path(folder), number, part.index)


def read_part(estimator: LazyClassifier, folder: str, file: RowFile) -> Part:
    """A part whose rows are mapped from its file; what does not fit is refused."""
    index = estimator.empty_statistic(estimator.sizes_, len(estimator.labels_))
    index.restore(Fields(mapped_index([file], Path(folder))))
    return Part(index, rows_of_part(index, np.empty(0, np.int64), 0))


def class_totals(part: Part) -> Floats:
    """Rows of each class in one part, or their weight."""
    return part.index.class_totals


def check_totals(estimator: LazyClassifier, totals: Floats) -> None:
    """Refuse rows that are not those that the description counts."""
    if not np.allclose(totals, estimator.class_count, rtol=1e-9, atol=0):
        raise ValueError("the rows counted are not those of the classes")
