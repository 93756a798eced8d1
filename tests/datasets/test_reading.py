"""Tables from files: every row and cell that pandas reads, or a refusal that names the line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import random
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest

from localbayes.datasets._csv import _check_header
from localbayes.datasets.reading import Reading, read_table, split_target

TABLE = pd.DataFrame(
    {
        "town": ["Zürich", "Basel", None, "Genf"],
        "weight": [1.5, np.nan, -2.25, 1e-300],
        "age": [3, 5, 8, 13],
        "smokes": [True, False, True, True],
        "class": ["a", "b", "a", "b"],
    }
)


def read(folder: Path, content: str | bytes, name: str = "t.csv", **how: object) -> pd.DataFrame:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, how=Reading(**how))  # type: ignore[arg-type]


def assert_same(found: pd.DataFrame, expected: pd.DataFrame = TABLE) -> None:
    """Same names, kinds of types, gaps and cells."""
    assert found.columns.tolist() == expected.columns.tolist()
    for name in expected:
        assert (found[name].dtype.kind in "biuf") == (expected[name].dtype.kind in "biuf")
        gaps = expected[name].isna()
        assert found[name].isna().tolist() == gaps.tolist()
        assert found[name][~gaps].tolist() == expected[name][~gaps].tolist()


# --- what CSV says ----------------------------------------------------------------------------


def test_random_csv_is_read_as_pandas_reads_it_or_refused(tmp_path: Path) -> None:
    """No odd little file loses a row or moves a cell: pandas' table, or a line that says what is wrong."""
    rng = random.Random(17)
    words = ["a", "1", ",", ",", '"', "\r\n", "\r\n", "\n", "\r", " ", "\t", "\ufeff", "NA", "?", "07"]
    outcomes = {"read": 0, "refused": 0}
    for _ in range(1500):
        body = "".join(rng.choice(words) for _ in range(rng.randint(1, 12)))
        content = rng.choice(["x\r\n", "x,y\r\n", "x,y\n", "\ufeffx,y\n"]) + body
        text = content.removeprefix("\ufeff")
        try:
            found = read(tmp_path, content)
        except ValueError as error:
            outcomes["refused"] += str(error).startswith(str(tmp_path / "t.csv"))
            continue
        outcomes["read"] += 1
        expected = pd.read_csv(
            io.StringIO(text, newline=""), dtype=str, na_values=["?"], skipinitialspace=True, index_col=False
        )
        assert_same(found.isna(), expected.isna())
        if '"' not in text:  # then the plainest parser there is counts the rows
            lines = text.replace("\r\n", "\n").split("\n")[1:]
            assert len(found) == sum(bool(line.strip(" \t\r")) for line in lines)
    assert sum(outcomes.values()) == 1500
    assert min(outcomes.values()) > 200


@pytest.mark.parametrize("blank", ["", " ", "\t", " \t "])
def test_no_row_of_one_column_is_lost(tmp_path: Path, blank: str) -> None:
    """A line of blanks between values is refused by number; at the end of the file it is no row."""
    with pytest.raises(ValueError, match=r"line 3 is empty: write [?] there"):
        read(tmp_path, f"x\na\n{blank}\nb\n")
    assert read(tmp_path, f"x\na\nb\n{blank}\n")["x"].tolist() == ["a", "b"]
    assert read(tmp_path, 'x\na\n""\nb\n')["x"].isna().tolist() == [False, True, False]


def test_blank_lines_between_rows_of_several_columns_are_skipped(tmp_path: Path) -> None:
    """As pandas does; a line of tabs is a row of missing cells where tabs separate."""
    assert read(tmp_path, "x,y\na,b\n\n  \nc,d\n")["y"].tolist() == ["b", "d"]
    assert read(tmp_path, "x\ty\na\tb\n\t\nc\td\n", "t.tsv")["y"].isna().tolist() == [False, True, False]


def test_a_carriage_return_alone_moves_no_cell(tmp_path: Path) -> None:
    """It is refused by line among other line ends, kept inside quotes, and ends lines if all lines end so."""
    with pytest.raises(ValueError, match=r"t.csv: line 2: a carriage return without a line feed"):
        read(tmp_path, "x,y\r\n\r,b\r\nc,d\r\n")
    assert read(tmp_path, 'x,y\r\n"a\rb",c\r\n')["x"].tolist() == ["a\rb"]
    assert read(tmp_path, "x,y\r,b\rc,d\r")["y"].tolist() == ["b", "d"]


def test_byte_order_marks(tmp_path: Path) -> None:
    """One is no part of the first name, two are refused."""
    assert read(tmp_path, "\ufeffx,y\n1,2\n").columns.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="line 1: the file begins with two byte-order marks"):
        read(tmp_path, "\ufeff\ufeffx,y\n1,2\n")


def test_the_header_is_checked_in_one_pass() -> None:
    """Ten thousand names are compared some times each, not ten thousand times."""
    compared = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    _check_header([Name(f"column {k}") for k in range(10_000)], ",")
    assert compared < 100_000


def test_numbers_have_the_bits_that_pandas_gives_them(tmp_path: Path) -> None:
    """Whatever is written, `pandas.read_csv` and this reader agree to the last bit, and on the type."""
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(2000) * 10.0 ** rng.integers(-300, 300, 2000)
    whole = rng.integers(-(2**62), 2**62, 2000)
    text = "\n".join(["x,n", *(f"{x!r},{n}" for x, n in zip(numbers.tolist(), whole.tolist(), strict=True))])
    pd.testing.assert_frame_equal(read(tmp_path, text), pd.read_csv(io.StringIO(text)))


def test_whole_numbers_with_leading_zeros_stay_text(tmp_path: Path) -> None:
    """Zip codes do; 0, 0.5 and 00.5 are numbers."""
    found = read(tmp_path, 'zip,quoted,x,class\n00701,"012",0,a\n12345,"12",0.5,b\n,"",00.5,b\n')
    assert found["zip"].tolist()[:2] == ["00701", "12345"]
    assert found["quoted"].tolist()[:2] == ["012", "12"]
    assert found["zip"].isna().tolist() == [False, False, True]
    assert found["x"].tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("name", ["", '""', " "])
def test_an_unnamed_first_column_is_left_out_aloud(tmp_path: Path, name: str) -> None:
    """What `DataFrame.to_csv` writes has its index first, without a name."""
    with pytest.warns(UserWarning, match=r"t.csv: the first column has no name and is left out"):
        found = read(tmp_path, f"{name},index,class\n0,5,a\n1,6,b\n")
    assert found.to_dict("list") == {"index": [5, 6], "class": ["a", "b"]}
    found.to_excel(tmp_path / "t.xlsx")
    with pytest.warns(UserWarning, match=r"t.xlsx: the first column has no name and is left out"):
        assert read_table(tmp_path / "t.xlsx").to_dict("list") == found.to_dict("list")


# --- how CSV is written -----------------------------------------------------------------------


def test_separator_decimal_point_and_words_for_missing(tmp_path: Path) -> None:
    """Semicolons and decimal commas, as spreadsheets write them in much of Europe; -- for missing."""
    text = "x;y;class\n1,5;--;a\n2,5;u;b\n"
    for how in ({"decimal": ","}, {"decimal": ",", "sep": ";"}):
        found = read(tmp_path, text, na=("--",), **how)
        assert found["x"].tolist() == [1.5, 2.5]
        assert found["y"].isna().tolist() == [True, False]
    assert read(tmp_path, "x|y\n1|2\n", sep="|").to_dict("list") == {"x": [1], "y": [2]}
    assert read(tmp_path, "x\ty\n1\t2\n", sep="tab").to_dict("list") == {"x": [1], "y": [2]}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"sep": ",,"}, "--sep must be one character or the word tab, got ',,'"),
        ({"sep": ",", "decimal": ","}, "--sep and --decimal are both ','"),
        ({"decimal": "x"}, "--decimal must be . or , got 'x'"),
        ({"encoding": "klingon"}, "no encoding is called 'klingon'"),
        ({"encoding": "ascii"}, "line 2: expected text in ascii, got the byte 0xc3"),
        ({"sep": ";"}, "the first line has ',' between its words; expected ';'"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, how: dict[str, str], message: str) -> None:
    """One line says what came and what was expected."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read(tmp_path, "x,y\nü,1\n", **how)
    assert message in str(caught.value)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    """What is written in an encoding is read in it."""
    content = TABLE.to_csv(index=False).encode(encoding)
    assert_same(read(tmp_path, content, encoding=encoding))


def test_a_wrong_byte_is_named_with_its_line(tmp_path: Path) -> None:
    """The message says what to do about it."""
    with pytest.raises(ValueError, match=r"line 2: expected text in UTF-8, got the byte 0xfc.*--encoding"):
        read(tmp_path, "x,y\nü,1\n".encode("latin-1"))


# --- formats ----------------------------------------------------------------------------------


def packed(content: bytes, ending: str) -> bytes:
    if ending == "zip":
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("any name", content)
        return archive.getvalue()
    if ending == "zst":
        return pyarrow.Codec("zstd").compress(content, asbytes=True)
    return {"gz": gzip.compress, "bz2": bz2.compress}[ending](content)


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst", "zip"])
def test_compressed_files(tmp_path: Path, ending: str) -> None:
    """Each compression gives back the table; a file cut short is refused."""
    content = packed(TABLE.to_csv(index=False).encode(), ending)
    assert_same(read(tmp_path, content, f"t.csv.{ending}"))
    with pytest.raises(ValueError, match="damaged or truncated compressed file"):
        read(tmp_path, content[: len(content) // 2], f"t.csv.{ending}")


def test_an_archive_holds_one_file(tmp_path: Path) -> None:
    """Which of two is meant cannot be known."""
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as file:
        file.writestr("a.csv", "x\n1\n")
        file.writestr("b.csv", "x\n2\n")
    with pytest.raises(ValueError, match="expected one file in the archive, got 2"):
        read_table(tmp_path / "t.csv.zip")


def test_typed_files_keep_types(tmp_path: Path) -> None:
    """Excel, JSON lines and Parquet hold the same table as CSV."""
    TABLE.to_excel(tmp_path / "t.xlsx", index=False)
    TABLE.to_json(tmp_path / "t.jsonl", orient="records", lines=True, double_precision=15)
    TABLE.to_parquet(tmp_path / "t.parquet")
    records = [{k: None if pd.isna(v) else v for k, v in row.items()} for row in TABLE.to_dict("records")]
    (tmp_path / "t.ndjson").write_text("\n".join(map(json.dumps, records)))
    for name in ("t.xlsx", "t.parquet", "t.ndjson"):
        assert_same(read_table(tmp_path / name))
    assert read_table(tmp_path / "t.jsonl")["smokes"].tolist() == TABLE["smokes"].tolist()


@pytest.mark.parametrize("kind", ["csv", "parquet", "arff", "jsonl"])
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Its first bytes tell what it is."""
    text = {
        "csv": b"x,y\n1,2\n",
        "arff": b"% comment\n@RELATION t\n@attribute x real\n@attribute y real\n@data\n1,2\n",
        "jsonl": b'{"x": 1, "y": 2}\n',
    }
    if kind == "parquet":
        pd.DataFrame({"x": [1], "y": [2]}).to_parquet(tmp_path / "t.parquet")
        text["parquet"] = (tmp_path / "t.parquet").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text[kind])))
    assert read_table(Path("-")).to_dict("list") == {"x": [1], "y": [2]}


def test_rows_without_a_label(tmp_path: Path) -> None:
    """They are refused, or left out where that is asked for; the rest keeps its type."""
    frame = read(tmp_path, "x,class\n1,True\n2,\n3,False\n")
    with pytest.raises(ValueError, match=r"1 of 3 rows have no value in the target.*--skip-unlabelled"):
        split_target(frame, "class", Path("t.csv"))
    X, y = split_target(frame, "class", Path("t.csv"), skip_unlabelled=True)
    assert (X["x"].tolist(), y.tolist(), y.dtype.kind) == ([1, 3], [True, False], "b")
    with pytest.raises(ValueError, match="no row has a value in the target"):
        split_target(frame[1:2], "class", Path("t.csv"), skip_unlabelled=True)
