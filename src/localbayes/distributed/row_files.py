"""Packed training rows as files, one for each part, that are mapped into memory rather than read."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.counts import MatchIndex
from localbayes.fields import Fields

__all__ = ["RowFile", "described", "mapped_index", "row_files", "write_rows"]

_CLASS_TYPES = {np.dtype(kind).name: np.dtype(kind) for kind in (np.uint8, np.uint16, np.uint32)}
# Fields of packed rows that a file holds or its description gives part by part.
_OWN_FIELDS = {"words", "class_start", "sizes", "row_classes", "first_row", "weights"}


@dataclass(frozen=True)
class RowFile:
    """What is to be known of the file of one part beside its content.

    Attributes
    ----------
    number : int
        Number of the part, by which its file is named.
    n_words : int
        Words of its bit planes.
    class_start : array of shape (n_classes + 1,)
        Where the rows of each class begin and end.
    sizes, room : arrays of shape (m,)
        Number of codes of every attribute that the bit planes have room for, here and in the whole index.
    class_type : str
        Type of the classes of rows.
    weighted : bool
        Whether rows have weights.
    layout : dict
        What else an index keeps of its packed rows, by name; the same for all parts.
    """

    number: int
    n_words: int
    class_start: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.uint32]
    room: npt.NDArray[np.uint32]
    class_type: str
    weighted: bool
    layout: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the file."""
        return f"part-{self.number:05}.npy"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.class_start[-1])

    def mapped(self, folder: Path, first_row: int) -> dict[str, Any]:
        """Fields of the rows, as :meth:`MatchIndex.restore` takes them, mapped from the file.

        What does not fit is refused here or by ``restore``, which checks the rows themselves.
        """
        content, kind = _mapped(folder / self.name), _CLASS_TYPES[self.class_type]
        n, n_weights = self.n_rows, self.n_rows if self.weighted else 0
        if n < 0 or self.n_words < 0:
            raise ValueError(f"{self.name} must have rows, got {n} in {self.n_words} words")
        if len(content) != self.n_words + n_weights + -(-n * kind.itemsize // 8):
            raise ValueError(f"{self.name} has {len(content)} words, which is not what its {n} rows take")
        weights = content[self.n_words : self.n_words + n_weights].view(np.float64) if n_weights else None
        return {
            **self.layout,
            "words": content[: self.n_words],
            "class_start": self.class_start,
            "sizes": self.sizes,
            "row_classes": content[self.n_words + n_weights :].view(kind)[:n],
            "first_row": first_row,
            "weights": weights,
        }


def write_rows(folder: Path, number: int, index: MatchIndex) -> RowFile:
    """Write the rows of one part to a folder.

    A file holds 64-bit words: the bit planes, then the weights if there are any, then the class of every row
    as it came. A part without rows has no file.

    Parameters
    ----------
    folder : Path
        Where.
    number : int
        Number of the part.
    index : MatchIndex
        The rows, which were added at once.
    """
    fields = index.fields(plain=True)
    segments = [s for s in fields["segments"] if s["class_start"][-1]]
    if not segments:
        nothing = np.zeros(index.n_classes + 1, np.int64)
        return RowFile(number, 0, nothing, fields["room"], fields["room"], "uint8", False, {})
    if len(segments) > 1:
        raise ValueError(f"a part must be one segment of rows, got {len(segments)}; add its rows at once")
    (segment,) = segments
    words, weights, classes = segment["words"], segment["weights"], segment["row_classes"]
    padding = np.zeros(-classes.nbytes % 8, dtype=np.uint8)
    pieces = [words, np.concatenate([classes.view(np.uint8), padding]).view(np.uint64)]
    if weights is not None:
        pieces.insert(1, weights.view(np.uint64))
    found = RowFile(
        number,
        len(words),
        segment["class_start"],
        segment["sizes"],
        fields["room"],
        classes.dtype.name,
        weights is not None,
        {name: value for name, value in segment.items() if name not in _OWN_FIELDS},
    )
    # Under a name of its own, since a task that is run again may find what another worker began.
    beside = folder / f".{secrets.token_hex(8)}.part"
    with beside.open("xb") as file:
        header = {"descr": "<u8", "fortran_order": False, "shape": (sum(map(len, pieces)),)}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces:
            file.write(np.ascontiguousarray(piece).data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / found.name)
    return found


def described(files: Sequence[RowFile]) -> dict[str, Any]:
    """Named arrays that describe the files of all parts, in order."""
    some = [file for file in files if file.n_rows]
    return {
        "room": np.maximum.reduce([file.room for file in files]),
        "number": np.array([file.number for file in some], dtype=np.int64),
        "n_words": np.array([file.n_words for file in some], dtype=np.int64),
        "class_start": np.array([file.class_start for file in some], dtype=np.int64),
        "sizes": np.array([file.sizes for file in some], dtype=np.uint32),
        "class_type": some[0].class_type,
        "weighted": some[0].weighted,
        "layout": some[0].layout,
    }


def row_files(fields: Fields) -> list[RowFile]:
    """The files of all parts from what :func:`described` gave; what does not fit is refused."""
    room = fields.array("room", "u", 1).astype(np.uint32)
    columns = [fields.array(name, "i", 1) for name in ("number", "n_words")]
    start, sizes = fields.array("class_start", "i", 2), fields.array("sizes", "u", 2)
    kind, weighted = fields.get("class_type", str), fields.get("weighted", bool)
    layout = fields.get("layout", dict)
    if kind not in _CLASS_TYPES:
        raise ValueError(f"class_type must be one of {', '.join(_CLASS_TYPES)}, got {kind!r:.40}")
    n = len(start)
    if not n or not start.shape[1] or any(len(column) != n for column in (*columns, sizes)):
        raise ValueError("the description of the files of rows has arrays of different lengths, or none")
    if len(np.unique(columns[0])) != n or columns[0].min() < 0:
        raise ValueError("the files of rows must have different numbers, 0 or more")
    numbers, n_words = (column.tolist() for column in columns)
    rest = room, kind, weighted, layout
    return [RowFile(numbers[k], n_words[k], start[k], sizes[k], *rest) for k in range(n)]


def mapped_index(files: Sequence[RowFile], folder: Path) -> dict[str, Any]:
    """Fields of the index of all parts, as :meth:`MatchIndex.restore` takes them."""
    some = [file for file in files if file.n_rows]
    first = np.cumsum([0, *(file.n_rows for file in some)]).tolist()
    room = np.maximum.reduce([file.room for file in files])
    segments = [file.mapped(folder, begin) for file, begin in zip(some, first, strict=False)]
    return {"room": room, "segments": segments}


def _mapped(path: Path) -> npt.NDArray[np.uint64]:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise ValueError(f"{path} is missing") from None
    except (ValueError, OSError, EOFError, SyntaxError, TypeError, MemoryError) as error:
        raise ValueError(f"{path} is damaged ({error})") from error
    if array.dtype != np.dtype("<u8") or array.ndim != 1:
        raise ValueError(f"{path} must hold words of 64 bits, got {array.dtype} of shape {array.shape}")
    # A view that is a plain array; the file stays mapped as long as it is used.
    return np.asarray(array)
