"""A table that cannot be used is refused by name, with the line number where there is one."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from command_line import IRIS, ok, refused, run
from localbayes.persistence import load_model

ARFF = "@relation t\n@attribute x {a,b}\n@attribute class {yes,no}\n@data\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.arff", b"", "t.arff, line 1: the file ends and there was no @data"),
        ("t.arff", ARFF.encode(), "t.arff has no rows; expected at least one"),
        ("t.arff", (ARFF + "a,yes\nb\n").encode(), "t.arff, line 6: expected 2 values, got 1"),
        ("t.arff", (ARFF + "a,yes\nc,no\n").encode(), "t.arff, line 6: attribute 'x' declares no value 'c'"),
        ("t.arff", (ARFF + "a,y").encode(), "is it truncated?"),
        ("t.arff", b"@relation t\n@attribute class {a,b}\n@data\na\n", "no column beside the target"),
        ("t.arff", (ARFF + "a,?\nb,no\n").encode(), "1 of 2 rows have no value in the target 'class'"),
        ("t.csv", b"", "t.csv: the file is empty; expected a line with column names"),
        ("t.csv", b"x,class\n", "t.csv has no rows; expected at least one"),
        ("t.csv", b"x,class\na,yes\nb\n", "t.csv: line 3: expected 2 values, got 1"),
        ("t.csv", b"x,class\na,yes,b\n", "t.csv: line 2: expected 2 values, got 3"),
        ("t.csv", b"x\na,b\n", "t.csv: line 2: expected 1 value, got 2"),
        ("t.csv", b"x,x,class\na,b,yes\n", "two columns are called 'x'"),
        ("t.csv", b"x,y,class,\na,b,yes,\n", "t.csv: column 4 has no name; name it or remove it"),
        ("t.csv", b",x,,class\n0,a,b,yes\n", "t.csv: column 3 has no name; name it or remove it"),
        ("t.csv", b"class\nyes\n \t\nno\n", "t.csv: line 3 is empty: write ? there if its value is missing"),
        ("t.csv", b"x,class\r\na,yes\r\nb\r,no\r\n", "t.csv: line 3: a carriage return without a line feed"),
        ("t.csv", b"\xef\xbb\xbf\xef\xbb\xbfx,class\na,yes\n", "line 1: the file begins with two byte-order"),
        ("t.csv", b"x;class\na;yes\n", "t.csv: the first line has ';' between its words; expected commas"),
        ("t.csv", b"class\nyes\n\nno\n\n", "t.csv: line 3 is empty: write ? there if its value is missing"),
        ("t.csv", b"x,class\n\xff\xfea,yes\n", "expected text in UTF-8, got the byte 0xff"),
        ("t.csv", b"x,class\na," + b"y" * 200_000 + b"\n", "field larger than field limit"),
        (
            "t.csv",
            b'x,class\na,yes\n"b,no\nc,yes\nd,no\n',
            "t.csv: line 3: expected 2 values, got 1 in the row that goes on to line 5; is a quote opened on "
            "line 3 and not closed?",
        ),
        ("t.csv", b'x,class\na,yes\nb,"no\nc,yes\n', "t.csv: line 3: a quote is opened there and not closed"),
        ("t.csv", b'x,class\n"a,yes\n' + b"b,no\n" * 50_000, "is a quote opened on line 2 and not closed?"),
        ("t.csv", b"x,class\ninf,yes\n1,no\n", "column 'x' contains infinity"),
        ("t.csv.gz", gzip.compress(b"x,class\na,yes\n", mtime=0)[:-9], "damaged or truncated"),
        ("t.csv.gz", b"x,class\na,yes\n", "damaged or truncated compressed file"),
        ("t.parquet", b"PAR1 or not", "t.parquet"),
        ("t.parquet", b"", "t.parquet"),
        ("t.xls", b"", "t.xls: expected a name that ends in .csv, .tsv, .arff"),
        ("t.xlsx", b"", "t.xlsx: "),
        ("t.jsonl", b"not json", "t.jsonl: "),
        ("t.csv.bz2", b"x,class\na,yes\n", "damaged or truncated compressed file"),
        ("t.csv.zst", b"x,class\na,yes\n", "damaged or truncated compressed file"),
        ("t.csv.zip", b"x,class\na,yes\n", "damaged or truncated compressed file"),
        ("t.parquet.gz", b"", "expected a name that ends in"),
        ("t", b"", "expected a name that ends in"),
    ],
)
def test_bad_tables_get_one_line(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    """A table that cannot be used is named, with the line where there is one."""
    (tmp_path / name).write_bytes(content)
    line = refused("fit", tmp_path / name, "--target", "class", "-o", tmp_path / "m.skops")
    assert words in line
    assert str(tmp_path / name) in line or "infinity" in line
    assert os.listdir(tmp_path) == [name]


def test_odd_and_damaged_parquet_files(tmp_path: Path) -> None:
    """Parquet files can hold lists in cells, no columns, a name twice, or damage inside: each is told."""
    pd.DataFrame({"x": [[1], [2]], "class": ["a", "b"]}).to_parquet(tmp_path / "t.parquet")
    line = refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    assert "a cell holds a ndarray; expected single values" in line
    pd.DataFrame(index=range(3)).to_parquet(tmp_path / "t.parquet")
    assert "has no columns" in refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    twice = pyarrow.table([["a"], ["b"], ["c"]], names=["x", "x", "class"])
    pyarrow.parquet.write_table(twice, tmp_path / "t.parquet")
    assert "t.parquet" in refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    pd.DataFrame({"x": ["a", "b"] * 50, "class": ["a", "b"] * 50}).to_parquet(tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[:4] + b"\0" * 60 + content[64:])
    assert "t.parquet: " in refused("evaluate", tmp_path / "t.parquet", "--target", "class")
    assert (
        refused("evaluate", "absent.parquet", "-t", "x") == "error: absent.parquet: No such file or directory"
    )


def test_no_pandas_is_told_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas, one line says what to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "install the extra 'pandas'" in refused("evaluate", IRIS, "--target", "class")


def test_what_is_missing_in_csv(tmp_path: Path) -> None:
    """Missing is what pandas takes for missing, and the question mark; every other word is a category."""
    candidates = [
        "NA",
        "NaN",
        "nan",
        "null",
        "NULL",
        "None",
        "n/a",
        "N/A",
        "<NA>",
        "#N/A",
        "-nan",
        "none",
        "-",
        "0x",
    ]
    table = "x\n" + "\n".join(candidates)
    absent = pd.read_csv(io.StringIO(table))["x"].isna().tolist()
    missing = ["", "?", *(word for word, gap in zip(candidates, absent, strict=True) if gap)]
    words = [word for word, gap in zip(candidates, absent, strict=True) if not gap]
    assert {"N/A", "None"} <= set(missing)
    assert {"none", "-"} <= set(words)
    lines = [f"{cell},1,?,{'ab'[k % 2]}" for k, cell in enumerate(missing + words)]
    (tmp_path / "t.csv").write_text("\n".join(["x,number,nothing,class", *lines, ""]))
    told = ok("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m.skops")
    cells = len(missing) + len(lines)
    assert f"{len(lines)} rows, 3 columns, 2 classes, {cells} missing cells" in told
    assert "(nothing is known in the column 'nothing')" in told
    column = load_model(tmp_path / "m.skops").encoder_.columns[0]
    assert sorted(column.values) == sorted(words)
    shown = run("fit", "--help", env={"COLUMNS": "200"}).output
    assert all(spelling in shown for spelling in ["empty cells", "?", "NA", "N/A", "NaN", "null", "None"])


def test_one_is_singular(tmp_path: Path) -> None:
    """A table of one row, one column and one class is called that."""
    (tmp_path / "t.csv").write_text("x,class\na,yes\n")
    told = ok("fit", tmp_path / "t.csv", "-t", "class", "-o", tmp_path / "m.skops", "-m", "NB")
    assert told.endswith("1 row, 1 column, 1 class\n")
    told = ok("predict", tmp_path / "m.skops", tmp_path / "t.csv", "-o", tmp_path / "o.csv")
    assert told.endswith(": 1 prediction\n")
    assert "has 1 row, too few" in refused("evaluate", tmp_path / "t.csv", "-t", "class")
