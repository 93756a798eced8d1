"""Damaged data files: a table, as pandas reads it where that is CSV, or ValueError or OSError."""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from fuzz.bases import table
from fuzz.model_files import Rng, damaged_bytes, pick
from localbayes.datasets import embedded_path, read_arff
from localbayes.datasets.reading import read_table

KINDS = ("csv", "arff", "parquet", "jsonl", "csv.gz", "tsv", "csv.zip", "xlsx")
TOKENS = [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"?", b"NA", b" ", b"\t", b"0", b"01", b"1e999", b"\x00"]
TOKENS += [b"\xef\xbb\xbf", b"\xff", b"'", b"{", b"}", b"%", b"@data", b"@attribute x {a,b}", b"\\", b"inf"]
TOKENS += [b"True", b"9" * 30, b"-0", b"\xe2\x80\xa8", b"\x1a", b"\xc2\xa0", b"\x0c", b"\x0b", b"\x1c"]


@cache
def good(kind: str) -> bytes:
    """A good file of one kind."""
    frame, y, _ = table("ignore")
    frame = frame.assign(y=y)[:12]
    if kind == "arff":
        lines = embedded_path("labor").read_bytes().split(b"\n")
        return b"\n".join(lines[: next(k for k, line in enumerate(lines) if b"@data" in line.lower()) + 15])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t.{kind}")
        if kind == "parquet":
            frame.to_parquet(path)
        elif kind == "xlsx":
            frame.to_excel(path, index=False)
        elif kind == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        else:
            frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
        return path.read_bytes()


def made(rng: Rng, kind: str) -> bytes:
    """A file with bytes changed, or with the signs of its language in other places."""
    content = good(kind)
    if kind not in ("csv", "arff", "jsonl", "tsv") or rng.random() < 0.3:
        return damaged_bytes(rng, content)
    for _ in range(pick(rng, [1, 1, 2, 3, 6])):
        k = int(rng.integers(len(content) + 1))
        content = content[:k] + pick(rng, TOKENS) + content[k + int(rng.integers(0, 3)) :]
    if rng.random() < 0.2:
        lines = content.split(b"\n")
        lines.insert(int(rng.integers(len(lines))), pick(rng, lines))
        content = b"\n".join(lines)
    return content


def check(number: int) -> str:
    """Read the file of one case; the outcome, or an error where the promise is broken."""
    rng = np.random.default_rng([18, number])
    kind = KINDS[number % 8] if number % 3 else KINDS[number // 3 % 3]
    content = made(rng, kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t.{kind}")
        path.write_bytes(content)
        try:
            frame = read_table(path)
        except (ValueError, OSError):
            return f"{kind} refused"
        if kind == "arff":
            assert len(read_arff(path).names) == frame.shape[1]
    assert len(frame), "a table without rows"
    if kind == "csv":
        compare(content, frame)
    return f"{kind} read"


def compare(content: bytes, frame: pd.DataFrame) -> None:
    """Compare with what pandas makes of the text of every cell."""
    try:
        peer = pd.read_csv(
            io.BytesIO(content), dtype=str, na_values=["?"], skipinitialspace=True, index_col=False
        )
    except (ValueError, OSError):
        return
    unnamed = str(peer.columns[0]).startswith("Unnamed")
    peer = peer.iloc[:, 1:] if unnamed and peer.shape[1] == frame.shape[1] + 1 else peer
    assert peer.shape == frame.shape, f"shape {frame.shape}, pandas {peer.shape}"
    for k in range(peer.shape[1]):
        mine, theirs = frame.iloc[:, k], peer.iloc[:, k]
        assert (mine.isna() == theirs.isna()).all(), f"missing values of column {k} differ"
        if mine.dtype == object or isinstance(mine.dtype, pd.StringDtype):
            assert mine.dropna().astype(str).tolist() == theirs.dropna().tolist(), f"column {k} differs"
