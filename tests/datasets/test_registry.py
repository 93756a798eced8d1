"""The registry describes the paper's 36 files, and the digest sees content only."""

from __future__ import annotations

import csv
import hashlib
import io
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.externals import _arff as liac

from localbayes.datasets import EMBEDDED, Attribute, Table, digest, embedded_path, read_arff, write_arff
from localbayes.datasets.registry import PAPER_SETS, find, verify
from weka_driver import WekaDriver


def digest_by_definition(path: Path) -> str:
    """Compute the digest from liac-arff's reading with the standard library alone."""
    with path.open() as file:
        peer = liac.load(file)
    total = hashlib.sha256(b"localbayes table 1\n")
    total.update(struct.pack("<QQ", len(peer["data"]), len(peer["attributes"])))
    for (_, kind), column in zip(peer["attributes"], zip(*peer["data"], strict=True), strict=True):
        if isinstance(kind, list):
            total.update(b"nominal\n" + struct.pack("<Q", len(kind)))
            for value in kind:
                total.update(struct.pack("<Q", len(value.encode())) + value.encode())
            for cell in column:
                total.update(struct.pack("<i", -1 if cell is None else kind.index(cell)))
        else:
            total.update(b"numeric\n")
            for cell in column:
                total.update(struct.pack("<d", float("nan") if cell is None else cell + 0.0))
    return total.hexdigest()


def test_there_are_36_sets_with_distinct_ids() -> None:
    """The paper has 36 data sets, and no two share an OpenML number or a digest."""
    sets = PAPER_SETS.values()
    assert len(PAPER_SETS) == 36
    assert len({paper_set.openml_id for paper_set in sets}) == 36
    assert len({paper_set.digest for paper_set in sets}) == 36
    assert set(EMBEDDED) < set(PAPER_SETS)
    assert find("iris").openml_id == 61


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_files_have_the_registered_digest(name: str) -> None:
    """The digest follows from its definition and an independent reader's view of the file."""
    assert digest_by_definition(embedded_path(name)) == PAPER_SETS[name].digest


def test_sizes_are_those_of_the_files(paper_data: Path) -> None:
    """n, m and r are what the files hold; primary-tumor declares 22 classes of which 21 occur."""
    for name, paper_set in PAPER_SETS.items():
        table = read_arff(paper_data / f"{name}.arff")
        codes = table.columns[-1]
        declared = len(table.attributes[-1].values)
        assert (len(table), len(table.attributes)) == (paper_set.n, paper_set.m)
        assert declared == (22 if name == "primary-tumor" else paper_set.r)
        if name == "primary-tumor":
            assert len(np.unique(codes[codes >= 0])) == paper_set.r == 21
        assert set(paper_set.dropped) <= set(table.names)


def test_sizes_are_the_printed_ones(paper_data: Path) -> None:
    """n, m and r are those of the paper's table of data sets, in its order."""
    printed = paper_data.parent.parent / "paper" / "datasets.csv"
    if not printed.exists():
        pytest.skip(f"no {printed}: the paper's table of data sets is not beside the data")
    with printed.open() as file:
        rows = [(row["dataset"], int(row["n"]), int(row["m"]), int(row["r"])) for row in csv.DictReader(file)]
    assert [(each.name, each.n, each.m, each.r) for each in PAPER_SETS.values()] == rows


def test_the_papers_files_verify(paper_data: Path) -> None:
    """Weka's copies of all 36 sets hold the registered content."""
    assert verify(paper_data) == dict.fromkeys(PAPER_SETS)


def test_verify_tells_files_apart(tmp_path: Path) -> None:
    """A right file passes, a changed and a broken one are told, an absent one is left out."""
    for name in ("iris", "vote", "glass"):
        (tmp_path / f"{name}.arff").write_bytes(embedded_path(name).read_bytes())
    (tmp_path / "vote.arff").write_text(embedded_path("vote").read_text().replace("{n,y}", "{y,n}", 1))
    (tmp_path / "glass.arff").write_bytes(embedded_path("glass").read_bytes()[:9000])
    (tmp_path / "labor.arff").mkdir()
    verdicts = verify(tmp_path)
    assert set(verdicts) == {"iris", "vote", "glass", "labor"}
    assert verdicts["iris"] is None
    assert "is not the paper's vote" in str(verdicts["vote"])
    assert "truncated" in str(verdicts["glass"])
    assert "directory" in str(verdicts["labor"]).lower()
    with pytest.raises(ValueError, match="is not a folder"):
        verify(tmp_path / "absent")


@pytest.mark.parametrize("name", ["breast-cancer", "iris", "soybean", "vote"])
def test_digest_survives_wekas_spelling(weka: WekaDriver, tmp_path: Path, name: str) -> None:
    """A file that Weka writes in its own way, under another relation name, has the same digest."""
    weka.filter("weka.filters.AllFilter", embedded_path(name), tmp_path / "theirs.arff")
    assert (tmp_path / "theirs.arff").read_bytes() != embedded_path(name).read_bytes()
    assert digest(read_arff(tmp_path / "theirs.arff")) == PAPER_SETS[name].digest


def test_digest_ignores_spelling() -> None:
    """Comments, names, quoting, sparse rows and the spelling of numbers do not count."""
    spellings = [
        "@relation a\n@attribute x {p,q}\n@attribute y real\n@data\np,1\nq,0\n?,?\n",
        "%c\n@RELATION 'b c'\n@attribute z {'p',\"q\"}\n@attribute w integer [0,1]\n@data\n"
        "'p' 1.00e0\n\nq,-0.0 % d\n?\t?\n",
        "@relation a\r\n@attribute x{p q}\r\n@attribute y numeric\r\n@data\r\n{1 +1}\r\n{0 q}\r\n{0 ?,1 ?}",
    ]
    assert len({digest(read_arff(io.StringIO(text))) for text in spellings}) == 1


numbers = st.lists(st.sampled_from([0.0, 1.0, 0.5, float("nan")]), min_size=3, max_size=3)
codes = st.lists(st.integers(-1, 2), min_size=3, max_size=3)
small = st.tuples(st.permutations(["p", "q", "pq"]), codes, numbers)


def small_table(values: list[str], codes: list[int], numbers: list[float]) -> Table:
    attributes = (Attribute("x", "nominal", tuple(values)), Attribute("y", "numeric"))
    return Table("r", attributes, (np.array(codes, dtype=np.int32), np.array(numbers)))


@given(small, small)
def test_digest_tells_contents_apart(
    left: tuple[list[str], list[int], list[float]], right: tuple[list[str], list[int], list[float]]
) -> None:
    """Digests agree exactly when declared values, cells and row order agree."""
    same = repr(left) == repr(right)
    assert (digest(small_table(*left)) == digest(small_table(*right))) == same


def test_digest_tells_kinds_and_texts_apart() -> None:
    """Kind, column order and where one text ends and the next begins all count."""

    def texts(*cells: str | None) -> np.ndarray:
        column = np.empty(len(cells), dtype=object)
        column[:] = cells
        return column

    string = Attribute("s", "string")
    number = Attribute("n", "numeric")
    one = np.ones(2)
    tables = [
        Table("r", (string,), (texts("ab", "c"),)),
        Table("r", (string,), (texts("a", "bc"),)),
        Table("r", (string,), (texts("a", None),)),
        Table("r", (string,), (texts("a", "?"),)),
        Table("r", (replace(string, kind="date"),), (texts("a", "?"),)),
        Table("r", (string, number), (texts("a", "?"), one)),
        Table("r", (number, string), (one, texts("a", "?"))),
    ]
    assert len({digest(table) for table in tables}) == len(tables)
    out = io.StringIO()
    write_arff(out, tables[3])
    assert digest(read_arff(io.StringIO(out.getvalue()))) == digest(tables[3])
