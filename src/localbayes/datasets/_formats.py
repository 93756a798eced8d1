"""Files of tables: which format a name stands for, and the bytes behind it, decompressed."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zipfile
import zlib
from pathlib import Path

__all__ = ["FORMATS", "PACKED", "content_of", "format_of"]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".arff": "arff",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
}
"""Formats by the ending of a file's name."""

PACKED = (".gz", ".bz2", ".zst", ".zip")
"""Endings of compressed files; they follow the ending of the format."""

_BARE = ("xlsx", "parquet")  # compressed inside


def format_of(path: Path) -> str:
    """Return the format that a name stands for; ``-``, standard input, is CSV until its bytes are known.

    Examples
    --------
    >>> format_of(Path("cars.csv.gz")), format_of(Path("-"))
    ('csv', 'csv')
    """
    if str(path) == "-":
        return "csv"
    name = Path(path.name.lower())
    packed = name.suffix in PACKED
    kind = FORMATS.get(Path(name.stem).suffix if packed else name.suffix)
    if kind is None or (packed and kind in _BARE):
        raise ValueError(
            f"{path}: expected a name that ends in .csv, .tsv, .arff, .jsonl (each also with .gz, .bz2, .zst "
            "or .zip behind), .xlsx or .parquet"
        )
    return kind


def content_of(path: Path) -> tuple[str, bytes]:
    """Return format and content of a file, decompressed; of standard input, the bytes tell the format."""
    kind = format_of(path)
    if str(path) == "-":
        content = sys.stdin.buffer.read()
        return _sniffed(content), content
    content = path.read_bytes()
    packed = path.suffix.lower()
    return (kind, _unpacked(content, packed)) if packed in PACKED else (kind, content)


def _sniffed(content: bytes) -> str:
    """Tell the format by the first bytes."""
    start = content[:4096].lstrip().lower()
    if start.startswith(b"par1"):
        return "parquet"
    if start.startswith(b"pk\x03\x04"):
        return "xlsx"
    if start.startswith((b"%", b"@relation")):
        return "arff"
    return "jsonl" if start.startswith(b'{"') else "csv"


def _unpacked(content: bytes, ending: str) -> bytes:
    try:
        if ending == ".gz":
            return gzip.decompress(content)
        if ending == ".bz2":
            return bz2.decompress(content)
        if ending == ".zst":
            import pyarrow

            stream = pyarrow.CompressedInputStream(pyarrow.BufferReader(content), "zstd")
            return bytes(stream.read())
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if len(names) == 1:
                return archive.read(names[0])
    except (ValueError, EOFError, OSError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise ValueError(f"damaged or truncated compressed file ({error})") from error
    raise ValueError(f"expected one file in the archive, got {len(names)}; unpack it")
