"""ARFF: what Weka and liac-arff read, we read; what we write reads back to the bit."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.externals import _arff as liac

from localbayes.datasets import EMBEDDED, embedded_path
from localbayes.datasets.arff import ArffError, Attribute, Table, read_arff, write_arff
from weka_driver import WekaDriver

HEADER = "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@data\n"


def read(text: str) -> Table:
    return read_arff(io.StringIO(text))


def written(table: Table, comment: str | None = None) -> str:
    out = io.StringIO()
    write_arff(out, table, comment)
    return out.getvalue()


def cells(table: Table) -> list[tuple[object, ...]]:
    """Rows as Python values: text for nominal cells, None for missing."""
    columns = []
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        if attribute.kind == "nominal":
            columns.append([attribute.values[code] if code >= 0 else None for code in column])
        else:
            columns.append([None if cell is None or cell != cell else cell for cell in column.tolist()])
    return list(zip(*columns, strict=True))


def assert_same(left: Table, right: Table) -> None:
    assert left.relation == right.relation
    assert left.attributes == right.attributes
    for one, other in zip(left.columns, right.columns, strict=True):
        assert one.dtype == other.dtype
        assert len(one) == len(other)
        if one.dtype == np.float64:
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
        else:
            assert one.tolist() == other.tolist()


# Reading


def test_plain_file_reads_as_written() -> None:
    """A file in the style of Weka's book reads as its author meant it."""
    table = read(
        "% a comment\n@relation weather\n\n@attribute outlook {sunny, overcast, rainy}\n"
        "@attribute temperature real\n@attribute note string\n@data\n"
        "rainy,70,fine\n?,?,?\nsunny,-1.5e2,'a b'\n"
    )
    assert table.relation == "weather"
    assert table.names == ["outlook", "temperature", "note"]
    assert table.attributes[0].values == ("sunny", "overcast", "rainy")
    assert cells(table) == [("rainy", 70.0, "fine"), (None, None, None), ("sunny", -150.0, "a b")]


def test_quoted_question_mark_is_a_value() -> None:
    """In anneal.arff '?' in quotes is a declared value while a bare ? is a missing cell."""
    table = read("@relation r\n@attribute a {'?',b}\n@attribute s string\n@data\n'?',\"?\"\n?,?\n")
    assert cells(table) == [("?", "?"), (None, None)]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (r"'it\'s'", "it's"),
        (r'"say \"x\""', 'say "x"'),
        ("'a,b'", "a,b"),
        ("'50%'", "50%"),
        ("'{}'", "{}"),
        (r"'a\\b'", "a\\b"),
        (r"'tab\there'", "tab\there"),
        (r"'line\nend'", "line\nend"),
        (r"'\101\7\400\18'", "A\x07\x200\x018"),
        (r"'\q\u0041'", "qu0041"),
        ("''", ""),
        (r"back\slash", r"back\slash"),
        ("caf\u00e9\u00a0\u2028x", "caf\u00e9\u00a0\u2028x"),
    ],
)
def test_quoting_and_escapes(raw: str, text: str) -> None:
    """Quotes and escapes mean what they mean to Weka's tokenizer (its answers stand on the right)."""
    assert cells(read(f"@relation r\n@attribute s string\n@data\n{raw}\n")) == [(text,)]


@pytest.mark.parametrize(
    "row", ["x,1", " x , 1 ", "x\t1", "x 1", "x,1 % why", "x,1%why", "'x',\"1\"", "x ,\t+1."]
)
def test_separators_and_comments(row: str) -> None:
    """Commas, spaces and tabs separate values, and a comment may end a row."""
    assert cells(read(HEADER + row + "\n  \n%\n\t% blank\n")) == [("x", 1.0)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    """Unix, Windows and old Macintosh files hold the same table, with and without a last line end."""
    text = HEADER + "x,1\ny,2\n"
    for variant in (text, text.rstrip()):
        assert_same(read_arff(io.BytesIO(variant.replace("\n", end).encode())), read(text))


def test_keywords_in_any_case_and_numeric_synonyms() -> None:
    """Keywords and types have no case; real, integer and numeric are one type, with or without a range."""
    table = read(
        "@RELATION r\n@Attribute 'a b' REAL\n@ATTRIBUTE c Integer [1,10]\n@attribute d{x}\n"
        "@attribute e STRING\n@attribute f Date\n@attribute g date 'yyyy'\n@DATA\n1,2,x,t,?,1999\n"
    )
    kinds = [attribute.kind for attribute in table.attributes]
    assert kinds == ["numeric", "numeric", "nominal", "string", "date", "date"]
    assert table.attributes[5].date_format == "yyyy"
    assert cells(table) == [(1.0, 2.0, "x", "t", None, "1999")]


def test_sparse_rows() -> None:
    """A cell left out of a sparse row is 0 or the value declared first, as the format defines it."""
    table = read(HEADER + "{1 3}\n{0 y}\n{}\n{0 ?, 1 ?}\n{1 5 , 0 'y'} % end\ny,7\n")
    assert cells(table) == [("x", 3.0), ("y", 0.0), ("x", 0.0), (None, None), ("y", 5.0), ("y", 7.0)]
    first_is_question_mark = read("@relation r\n@attribute a {'?',y}\n@attribute b numeric\n@data\n{1 1}\n")
    assert cells(first_is_question_mark) == [("?", 1.0)]


def test_encodings(tmp_path: Path) -> None:
    """UTF-8, UTF-8 with a byte order mark and Latin-1 files hold the same text."""
    text = "@relation r\n@attribute s {m\u00fcller,x}\n@data\nm\u00fcller\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        path = tmp_path / f"{encoding}.arff"
        path.write_bytes(text.encode(encoding))
        assert cells(read_arff(path)) == [("m\u00fcller",)]
        assert cells(read_arff(str(path))) == [("m\u00fcller",)]


@pytest.mark.parametrize("name", EMBEDDED)
def test_agrees_with_liac_arff(name: str) -> None:
    """An independent reader sees the same declarations and cells in the embedded files."""
    with embedded_path(name).open() as file:
        peer = liac.load(file)
    table = read_arff(embedded_path(name))
    assert table.relation == peer["relation"]
    for attribute, (peer_name, peer_type) in zip(table.attributes, peer["attributes"], strict=True):
        assert attribute.name == peer_name
        assert list(attribute.values) == (peer_type if isinstance(peer_type, list) else [])
    assert cells(table) == [tuple(row) for row in peer["data"]]


def assert_weka_agrees(weka: WekaDriver, path: Path) -> None:
    sizes, numbers = weka.cells("weka.filters.AllFilter", path)
    table = read_arff(path)
    assert [len(attribute.values) for attribute in table.attributes] == sizes.tolist()
    for column, peer in zip(table.columns, numbers.T, strict=True):
        ours = np.where(column == -1, np.nan, column) if column.dtype == np.int32 else column
        np.testing.assert_array_equal(ours, peer)


@pytest.mark.parametrize("name", EMBEDDED)
def test_weka_reads_the_embedded_files_alike(weka: WekaDriver, name: str) -> None:
    """Weka finds the same domain sizes, codes and numbers in what our writer wrote."""
    assert_weka_agrees(weka, embedded_path(name))


@pytest.mark.parametrize(
    "name", ["anneal", "autos", "breast-w", "colic.ORIG", "primary-tumor", "sick", "vowel"]
)
def test_weka_reads_the_paper_files_alike(weka: WekaDriver, paper_data: Path, name: str) -> None:
    """Weka finds the same domain sizes, codes and numbers in its own files, odd ones chosen."""
    assert_weka_agrees(weka, paper_data / f"{name}.arff")


# Errors


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no @data"),
        ("@relation r\n@attribute a real\n", 3, "no @data"),
        ("@attribute a real\n@data\n", 1, "expected @relation"),
        ("hello\n", 1, "expected @relation"),
        ("@relation r\n@relation s\n", 2, "second @relation"),
        ("@relation a b\n", 1, "one name after @relation"),
        ("@relation\n", 1, "got nothing"),
        ("@relation r\n@data\n", 2, "at least one @attribute"),
        ("@relation r\n@attribute a real\n@data 1\n", 3, "new line after @data"),
        ("@relation r\nfoo\n", 2, "expected @attribute or @data, got 'foo'"),
        ("@relation r\n@attribute\n", 2, "a name after @attribute"),
        ("@relation r\n@attribute a\n", 2, "no type"),
        ("@relation r\n@attribute a complex\n", 2, "type 'complex'"),
        ("@relation r\n@attribute a relational\n", 2, "type 'relational'"),
        ("@relation r\n@attribute a real\n@attribute a {x}\n", 3, "'a' is declared twice"),
        ("@relation r\n@attribute a {x,y\n", 2, "must end with }"),
        ("@relation r\n@attribute a {x,\ny}\n", 2, "must end with }"),
        ("@relation r\n@attribute a {x,y} z\n", 2, "after }, got 'z'"),
        ("@relation r\n@attribute a {x,{y}\n", 2, "unquoted {"),
        ("@relation r\n@attribute a {x,y,x}\n", 2, "value 'x' twice"),
        ("@relation r\n@attribute 'a real\n", 2, "not closed"),
        ("@relation r\n@attribute a {'x'y}\n", 2, "quote inside a value"),
        (HEADER + "x\n", 5, "expected 2 values, got 1"),
        (HEADER + "\nx,1,2\n", 6, "expected 2 values, got 3"),
        (HEADER + "x,,1\n", 5, "empty value"),
        (HEADER + "x,1,\n", 5, "empty value"),
        (HEADER + "z,1\n", 5, "'a' declares no value 'z'; expected one of 'x', 'y' or ?"),
        (HEADER + "X,1\n", 5, "no value 'X'"),
        (HEADER + "x,1\nx,one\n", 6, "'b' is numeric; expected a finite number or ? for missing, got 'one'"),
        (HEADER + "x,1_0\n", 5, "got '1_0'"),
        (HEADER + "x,\u0661\n", 5, "finite number"),
        (HEADER + "x,nan\n", 5, "got 'nan'"),
        (HEADER + "x,1e999\n", 5, "got '1e999'"),
        (HEADER + "x,0x10\n", 5, "got '0x10'"),
        (HEADER + "x,''\n", 5, "got ''"),
        (HEADER + "x,'?'\n", 5, "got '?'"),
        (HEADER + "z,1\nx,one\n", 5, "no value 'z'"),
        (HEADER + "x,one\nz,1\n", 5, "got 'one'"),
        (HEADER + "don't,1\n", 5, "quote"),
        (HEADER + "x,1,{2.5}\n", 5, "row weights"),
        (HEADER + "{0 x},{2}\n", 5, "row weights"),
        (HEADER + "{0 x\n", 5, "one pair of braces"),
        (HEADER + "{0}\n", 5, "pairs of index and value"),
        (HEADER + "{2 x}\n", 5, "from 0 to 1 as index in a sparse row, got '2'"),
        (HEADER + "{-1 x}\n", 5, "got '-1'"),
        (HEADER + "{1 1, 1 2}\n", 5, "index 1 occurs twice"),
        ("@relation r\n@attribute s string\n@attribute b real\n@data\n{1 1}\n", 5, "must give a value"),
        (HEADER + "x,1\ny", 6, "is it truncated?"),
    ],
)
def test_errors_name_file_line_and_expectation(tmp_path: Path, text: str, line: int, words: str) -> None:
    """A user can find and mend what is wrong from the message alone, which is one line."""
    path = tmp_path / "bad.arff"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ArffError) as caught:
        read_arff(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: ")
    assert words in message
    assert "\n" not in message


def test_long_domains_and_values_are_shortened() -> None:
    """A message stays readable when a domain has hundreds of values and a value hundreds of letters."""
    values = ",".join(f"v{i}" for i in range(300))
    with pytest.raises(ArffError, match=r"\(300 in all\)") as caught:
        read(f"@relation r\n@attribute a {{{values}}}\n@data\n{'z' * 500}\n")
    assert len(str(caught.value)) < 300


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    """Binary files, UTF-16 files and files cut inside a character get a message, not a wrong table."""
    path = tmp_path / "x.arff"
    path.write_bytes((HEADER + "x,1\n").encode("utf-16"))
    with pytest.raises(ArffError, match=r"line 1: expected text .* zero byte"):
        read_arff(path)
    path.write_bytes((HEADER + "x,1 % \u00e9").encode()[:-1])
    with pytest.raises(ArffError, match="line 5: the file ends inside a UTF-8 character"):
        read_arff(path)
    with pytest.raises(FileNotFoundError):
        read_arff(tmp_path / "absent.arff")


# Fuzzing

SMALL = (
    "% caf\u00e9\r\n@relation 'small one'\n@ATTRIBUTE \"a b\" {'p q', r\\s,'\u00fc'}\n@attribute n real\n"
    "@attribute class {yes,no}\n@data\n"
    "'p q',1.25,yes\n% between\n?,-3e1,no\n{0 '\u00fc', 2 no}\nr\\s 7 yes % x\n"
)


def table_or_message(content: bytes | str) -> Table | str:
    stream = io.StringIO(content) if isinstance(content, str) else io.BytesIO(content)
    try:
        return read_arff(stream)
    except ArffError as error:
        return str(error)


def test_truncation_at_every_byte() -> None:
    """A file cut anywhere is refused or gives its first rows unharmed, never wrong rows."""
    content = SMALL.encode()
    whole = read_arff(io.BytesIO(content))
    outcomes = set()
    for cut in range(len(content)):
        table = table_or_message(content[:cut])
        if isinstance(table, str):
            assert "\n" not in table
            outcomes.add("refused")
        else:
            assert table.attributes == whole.attributes
            assert cells(table) == cells(whole)[: len(table)]
            outcomes.add(len(table))
    assert outcomes == {"refused", 0, 1, 2, 3, 4}


@given(st.lists(st.tuples(st.integers(0, len(SMALL)), st.integers(0, 3), st.binary(max_size=3)), max_size=4))
def test_damaged_files_are_refused_or_read(edits: list[tuple[int, int, bytes]]) -> None:
    """Whatever bytes are replaced, lost or added, the outcome is a table or an ArffError."""
    content = SMALL.encode()
    for position, lost, added in edits:
        content = content[:position] + added + content[position + lost :]
    table = table_or_message(content)
    if isinstance(table, str):
        assert ", line " in table
    else:
        assert_same(read(written(table)), table)


@given(st.text(alphabet="@relationdtu {}%'\"\\,?x1\n\r\t\x00\u00e9", max_size=80))
def test_any_text_is_refused_or_read(text: str) -> None:
    """No text at all makes the reader fail in another way than ArffError."""
    for content in (text, "@relation r\n@attribute a {x}\n@attribute t string\n@data\n" + text):
        table = table_or_message(content)
        assert isinstance(table, Table) or ", line " in table


# Writing

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
awkward = st.sampled_from(
    ["?", "", " ", "'", '"', "\\", "%", "{", "}", ",", "a b", "@data", "\n", "\x00", "1"]
)


@st.composite
def tables(draw: st.DrawFn, words: st.SearchStrategy[str] = texts | awkward) -> Table:
    rows = draw(st.integers(0, 6))
    names = draw(st.lists(words, min_size=1, max_size=5, unique=True))
    attributes, columns = [], []
    for name in names:
        kind = draw(st.sampled_from(["nominal", "numeric", "string", "date"]))
        values: tuple[str, ...] = ()
        if kind == "nominal":
            values = tuple(draw(st.lists(words, max_size=5, unique=True)))
            codes = st.integers(-1, len(values) - 1)
            column = np.array(draw(st.lists(codes, min_size=rows, max_size=rows)), dtype=np.int32)
        elif kind == "numeric":
            numbers = st.floats(allow_infinity=False) | st.integers(-(10**18), 10**18).map(float)
            column = np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)), dtype=np.float64)
            column[np.isnan(column)] = np.nan
        else:
            column = np.empty(rows, dtype=object)
            column[:] = draw(st.lists(words | st.none(), min_size=rows, max_size=rows))
        attributes.append(Attribute(name, kind, values, draw(words) if kind == "date" else None))
        columns.append(column)
    return Table(draw(words), tuple(attributes), tuple(columns))


@given(tables(), st.none() | texts)
def test_round_trip(table: Table, comment: str | None) -> None:
    """A written table reads back with every name, value, text and bit in place."""
    assert_same(read(written(table, comment)), table)
    assert_same(read_arff(io.BytesIO(written(table, comment).encode())), table)


ascii_words = st.text(
    st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\t\r"), max_size=6
)


@settings(max_examples=60)
@given(table=tables(ascii_words))
def test_weka_reads_what_we_write(
    weka: WekaDriver, tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    """Weka sees the codes and numbers that we wrote, and what Weka writes of the texts we read back."""
    kept = [i for i, attribute in enumerate(table.attributes) if attribute.kind != "date"]
    attributes = (*(table.attributes[i] for i in kept), Attribute("the class", "nominal", ("c",)))
    columns = (*(table.columns[i] for i in kept), np.zeros(len(table), dtype=np.int32))
    table = Table(table.relation, attributes, columns)
    folder = tmp_path_factory.mktemp("weka")
    write_arff(folder / "ours.arff", table)
    sizes, numbers = weka.cells("weka.filters.AllFilter", folder / "ours.arff")
    weka.filter("weka.filters.AllFilter", folder / "ours.arff", folder / "theirs.arff")
    theirs = read_arff(folder / "theirs.arff")
    for i, attribute in enumerate(attributes):
        assert theirs.attributes[i].name == attribute.name
        assert theirs.attributes[i].values == attribute.values
        if attribute.kind == "numeric":
            np.testing.assert_array_equal(numbers[:, i] if len(table) else [], columns[i])
        else:
            assert theirs.columns[i].tolist() == columns[i].tolist()
        if attribute.kind == "nominal":
            assert sizes[i] == len(attribute.values)


def test_numbers_are_written_short() -> None:
    """Whole numbers stay whole, 0.1 stays 0.1, and a missing number is a question mark."""
    numbers = np.array([1.0, -0.0, 0.1, 1e22, 2.0**53, np.nan, -250.0])
    lines = written(Table("r", (Attribute("n", "numeric"),), (numbers,))).splitlines()
    assert lines[lines.index("@data") + 1 :] == ["1", "-0", "0.1", "1e+22", "9007199254740992", "?", "-250"]


def test_comment_lines_cannot_break_out() -> None:
    """Every line of a comment is a comment, whatever characters it has."""
    table = read(HEADER + "x,1\n")
    assert_same(read(written(table, "one\ntwo\r\n@data\u2028@data\x0bx")), table)


def test_files_appear_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails leaves the old file as it was and nothing beside it."""
    path = tmp_path / "t.arff"
    table = read(HEADER + "x,1\n")
    write_arff(path, table, comment="old")
    old = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_arff(path, table, comment="new")
    wrong = Table("r", table.attributes, (np.array([2], dtype=np.int32), np.array([1.0])))
    with pytest.raises(ValueError, match=r"codes of attribute 'a' must lie in -1..1, got 2..2"):
        write_arff(path, wrong)
    infinite = Table("r", table.attributes, (np.array([0], dtype=np.int32), np.array([np.inf])))
    with pytest.raises(ValueError, match="infinite"):
        write_arff(path, infinite)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    write_arff(path, table, comment="new")
    assert path.read_text().startswith("% new\n")


def test_a_table_is_consistent() -> None:
    """A table without columns, with ragged columns or with a name twice cannot be made."""
    number = Attribute("n", "numeric")
    with pytest.raises(ValueError, match="one column per attribute"):
        Table("r", (), ())
    with pytest.raises(ValueError, match="one column per attribute"):
        Table("r", (number,), ())
    with pytest.raises(ValueError, match=r"equally long, got lengths \[1, 2\]"):
        Table("r", (number, Attribute("k", "numeric")), (np.zeros(1), np.zeros(2)))
    with pytest.raises(ValueError, match="unique"):
        Table("r", (number, number), (np.zeros(1), np.zeros(1)))
