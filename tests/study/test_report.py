"""The report: tables and a page from the store alone, whatever the names are."""

from __future__ import annotations

import csv
import json
import math
import re
import xml.etree.ElementTree as ET
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from localbayes.study import (
    FoldRow,
    Store,
    make_plan,
    measures,
    paper_table,
    read_table,
    run_study,
    write_report,
)
from localbayes.study.accuracy_table import SetInfo, Table, printed
from localbayes.study.findings import examine
from localbayes.study.report_sections import p_text
from localbayes.weka import corrected_paired_ttest
from study_support import Page, friedman_by_ranks, paper_store, small_plan

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def small_store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("small") / "s.db"
    run_study(small_plan(runs=3, folds=10), path)
    return path


def tex_rows(path: Path) -> dict[str, list[str]]:
    """Cells by the first cell of their row, over all parts of a LaTeX table."""
    rows: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if line.endswith(r" \\"):
            first, *cells = line.removesuffix(r" \\").split(" & ")
            rows.setdefault(first, []).extend(cells)
    return rows


def test_cells_by_hand(small_store):
    """Mean and deviation are those of the per-fold percentages, marks those of the corrected t-test."""
    with Store(small_store) as store:
        rows = list(store.rows())
        table = read_table(store)

    def per_cent(column):
        found = {
            (r.run, r.fold): 100 * r.correct / r.tested
            for r in rows
            if (r.dataset, r.method) == ("glass", column)
        }
        return np.array([found[key] for key in sorted(found)])

    ours, reference = per_cent("NB"), per_cent("LCWNB5")
    cell = table.cell("glass", "NB")
    assert (cell.mean, cell.sd, cell.folds) == (
        pytest.approx(ours.mean()),
        pytest.approx(ours.std(ddof=1)),
        30,
    )
    test = corrected_paired_ttest(ours, reference, 1 / 9)
    assert (cell.difference, cell.pvalue) == (pytest.approx(test.difference), pytest.approx(test.pvalue))
    assert cell.mark == ("" if test.pvalue >= 0.05 else "better" if test.difference > 0 else "worse")
    assert table.cell("glass", "LCWNB5").mark == ""
    assert cell.low <= cell.mean <= cell.high


def test_table_csv(paper_report):
    """table.csv has a row per cell, in the form of the paper's table as data."""
    rows = list(csv.DictReader((paper_report / "table.csv").open()))
    assert list(rows[0]) == ["dataset", "method", "mean", "sd", "mark"]
    assert len(rows) == 360
    paper = paper_table()
    assert all(float(row["mean"]) == paper.cells[row["dataset"], row["method"]].mean for row in rows)
    assert all(re.fullmatch(r"\d+\.\d\d", row["mean"]) for row in rows)
    assert {row["mark"] for row in rows} <= {"", "worse", "better"}


def test_table_tex(paper_report):
    """table.tex has a line per data set with all columns, and the paper's three rows under them."""
    rows = tex_rows(paper_report / "table.tex")
    assert len(rows) == 1 + 36 + 3
    assert {len(cells) for cells in rows.values()} == {10}
    paper = paper_table()
    assert rows["Mean rank"][0] == "4.4167"
    assert rows["Average, 36 sets"][paper.columns.index("NB")] == "82.34"
    for s in paper.sets:
        means = [cell.partition("$")[0] for cell in rows[s.name]]
        assert means == [f"{paper.cells[s.name, c].mean:.2f}" for c in paper.columns]


def test_names_are_escaped_everywhere(tmp_path):
    """A data set and a method called <script> are text in every file, and run nowhere."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote", "zoo"], {"zoo": EVIL, "NB": f"{EVIL}&_%"})
    with Store(path) as store:
        store.add([FoldRow(EVIL, "TAN", 9, 0, 0, error=f"RuntimeError: {EVIL}", version=EVIL)])
        store.begin_invocation({EVIL: EVIL})
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    assert EVIL not in text
    page = Page(text)
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert any(EVIL in word for word in page.words)
    for name in ("figure1.svg", "figure2.svg", "critical-difference.svg"):
        assert "<script" not in (tmp_path / "out" / name).read_text()
        ET.parse(tmp_path / "out" / name)
    tex = (tmp_path / "out" / "table.tex").read_text()
    assert r"\textless{}script\textgreater{}" in tex
    assert r"\&\_\%" in tex
    rows = list(csv.DictReader((tmp_path / "out" / "table.csv").open()))
    assert EVIL in {row["dataset"] for row in rows}
    json.loads((tmp_path / "out" / "tests.json").read_text())


def test_other_columns_beside_the_papers(tmp_path, small_store):
    """Columns beyond the paper's ten have averages and ranks of their own, and move none of the paper's."""
    path = paper_store(tmp_path / "s.db")
    with Store(path) as store:
        store.add_methods([("Forest", "many trees"), ("Partial", "few sets")])
        for s in store.sets():
            best = [FoldRow(s.name, "Forest", 1, fold, 10_000, 9999, 9999, 9999, None) for fold in range(2)]
            store.add(best)
        store.add([FoldRow("iris", "Partial", 1, 0, 10_000, 9000, 9000, 9000, None)])
        findings = examine(store)
    assert findings.covering == [*paper_table().columns, "Forest"]
    assert findings.mean_ranks(findings.ranked)["NB"] == pytest.approx(7.3611, abs=1e-4)
    # Some printed means exceed 99.99, and some are equal to it.
    means = paper_table().means(paper_table().columns)
    rank = 1 + np.mean((means > 99.99).sum(axis=1) + (means == 99.99).sum(axis=1) / 2)
    assert findings.mean_ranks(findings.covering)["Forest"] == pytest.approx(rank)
    assert findings.averages()["Forest"] == pytest.approx(99.99)
    assert any(test.key == "mean-rank-Forest" and test.here < 1e-6 for test in findings.comparisons)
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    assert "Measured in part: " in text
    assert "Partial (1 of 36 sets, 1 of 2 folds)" in text
    assert "The same for every column" in text
    rows = tex_rows(tmp_path / "out" / "table.tex")
    assert rows["Mean rank, paper's"][3] == "7.3611"
    assert rows["Mean rank, paper's"][-2] == "--"
    assert rows["Mean rank, all"][-2] == f"{rank:.4f}"


def sign_rule(sets: int) -> str | None:
    """Find the fewest wins of so many that are as rare as the paper's 23 of 36, by counting."""
    for wins in range(sets + 1):
        ways = sum(math.comb(sets, k) for k in range(wins, sets + 1))
        if ways / 2**sets < 0.0663:
            percent = (Decimal(100 * ways) / 2**sets).quantize(Decimal("0.01"), ROUND_HALF_UP)
            return f"{wins} of {sets} (level {percent} %)"
    return None


@pytest.mark.parametrize("sets", [36, 20, 5, 3])
def test_the_level_of_the_dots(tmp_path, sets):
    """The page gives the level of the sign test for the data sets at hand, or nothing where there is none."""
    names = [s.name for s in paper_table().sets][:sets]
    path = paper_store(tmp_path / "s.db", names)
    with Store(path) as store:
        store.add_methods([("Partial", "four sets")])
        store.add([FoldRow(s, "Partial", 1, 0, 100, 50, 50, 50) for s in names[:4]])
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    rules = [rule for rule in (sign_rule(sets), sign_rule(min(sets, 4))) if rule]
    if rules:
        assert f"calls the method worse: on at least {' or '.join(rules)}.</p>" in text
    else:
        assert "sign test" not in text
    assert ("6.62 %" in text) == (sets == 36)


def test_a_study_without_the_papers_columns(tmp_path):
    """One method on one data set of one's own makes a report too, which does not speak of the paper."""
    (tmp_path / "mine.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    plan = make_plan([str(tmp_path / "mine.csv")], ["only=sklearn.dummy:DummyClassifier"], runs=1)
    run_study(plan, tmp_path / "s.db")
    write_report(tmp_path / "s.db", tmp_path / "out")
    assert "Needs at least two columns" in (tmp_path / "out" / "figure1.svg").read_text()
    assert "Needs at least two columns" in (tmp_path / "out" / "critical-difference.svg").read_text()
    assert not (tmp_path / "out" / "figure2.svg").exists()
    for name in ("index.html", "tests.json", "table.tex", "figure1.svg"):
        assert "paper" not in (tmp_path / "out" / name).read_text().lower()
    assert "figure2" not in json.loads((tmp_path / "out" / "tests.json").read_text())


def test_methods_without_probabilities(tmp_path):
    """Without any probabilities the reliability section says so."""
    run_study(make_plan(["labor"], ["svm=sklearn.svm:LinearSVC"], runs=1, folds=3), tmp_path / "s.db")
    write_report(tmp_path / "s.db", tmp_path / "out")
    assert "No column gives probabilities." in (tmp_path / "out" / "index.html").read_text()


def test_a_method_that_always_fails(tmp_path):
    """A column without any result is listed with its errors, and has no timings."""
    path = paper_store(tmp_path / "s.db", ["iris"])
    with Store(path) as store:
        store.add_methods([("Broken", "never works")])
        store.add([FoldRow("iris", "Broken", 1, fold, 0, error="ValueError: no") for fold in range(2)])
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    assert '<td>Broken</td><td class="num">2</td><td class="wrap">ValueError: no</td>' in text
    assert "Broken (0 of 1 sets, 0 of 2 folds)" in text


def test_a_column_without_results_empties_no_other(tmp_path):
    """If NB of the paper's ten has failed throughout, averages, ranks and tests are those of the others."""
    path = paper_store(tmp_path / "s.db")
    with Store(path) as store, store.transaction():
        store._db.execute("UPDATE folds SET error = 'ValueError: no' WHERE method = 'NB'")
    with Store(path) as store:
        findings = examine(store)
    others = [c for c in paper_table().columns if c != "NB"]
    assert findings.averages() == pytest.approx(paper_table().averages(others))
    assert findings.mean_ranks(findings.ranked) == pytest.approx(paper_table().mean_ranks(others))
    friedman = {test.key: test for test in findings.comparisons}["friedman-all"]
    _, expected = friedman_by_ranks(paper_table().means(others))
    assert friedman.here == friedman.published == pytest.approx(expected)
    write_report(path, tmp_path / "out")
    assert "Needs at least" not in (tmp_path / "out" / "figure1.svg").read_text()


def test_references_that_have_no_results(tmp_path):
    """An unknown reference is refused with the columns there are; the first stands in for LCWNB5."""
    path = paper_store(tmp_path / "s.db", ["iris"])
    columns = ", ".join(paper_table().columns)
    with (
        Store(path) as store,
        pytest.raises(ValueError, match=f"column 'nope': the reference can be {columns}"),
    ):
        examine(store, "nope")
    with Store(path) as store:
        with store.transaction():
            store._db.execute("DELETE FROM folds WHERE method = 'LCWNB5'")
        with pytest.warns(UserWarning, match="LCWNB5 has no results in .*, so marks refer to LCWNB10"):
            assert examine(store).table.reference == "LCWNB10"
        with pytest.raises(ValueError, match="no results of the column 'LCWNB5'"):
            examine(store, "LCWNB5")


def test_certain_differences(tmp_path):
    """Differences without any spread have an infinite t, p = 0, and a mark."""
    with Store(tmp_path / "s.db") as store:
        store.add_methods([("LCWNB5", ""), ("NB", "")])
        store.add_set(SetInfo("mine", 20, 3, 2, published=False), "x")
        for column, right in (("LCWNB5", 9), ("NB", 7)):
            store.add([FoldRow("mine", column, 1, f, 10, right, right, right) for f in range(10)])
    write_report(tmp_path / "s.db", tmp_path / "out")
    assert "t = −∞, p = 0 (corrected" in (tmp_path / "out" / "index.html").read_text()
    assert "mine,NB,70.00,0.00,worse" in (tmp_path / "out" / "table.csv").read_text()


def test_reports_replace_files_whole(tmp_path, small_store, monkeypatch):
    """A report that fails half-way leaves the old files as they were, and nothing else."""
    out = tmp_path / "out"
    write_report(small_store, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr("localbayes.study.report.render", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(small_store, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_reports_need_results(tmp_path):
    """An empty store makes no report, nor one in which all folds failed."""
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(ValueError, match="has no results yet"):
            write_report(tmp_path / "s.db", tmp_path / "out")
        store.add([FoldRow("a", "NB", 1, 0, 0, error="too few rows")])
    with pytest.raises(ValueError, match=r"all folds in the store .* failed, the first: too few rows"):
        write_report(tmp_path / "s.db", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_page_needs_jinja(small_store, tmp_path, monkeypatch):
    """Without jinja2 the error says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match="install the extra 'study'"):
        write_report(small_store, tmp_path / "out")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (0.2366, "0.2366"), (0.05855, "0.05855"), (3.81e-7, "3.81e−7")],
)
def test_p_values_are_written_as_the_paper_does(value, text):
    """Four digits, or an exponent where they are very small."""
    assert p_text(value) == text


def test_summaries_of_nothing():
    """A table without data sets has no averages, ranks or counts."""
    empty = Table((), ("LCWNB5", "NB"), {})
    assert empty.averages(["NB"]) == empty.mean_ranks(["LCWNB5", "NB"]) == {}
    assert (empty.counts("NB").sets, empty.counts("NB").dot) == (0, False)


def test_halves_are_rounded_up():
    """Figures are rounded as printed: halves up, whatever binary fractions make of them."""
    assert [printed(x) for x in (1.005, 2.675, 85.195, 0.004999)] == [1.01, 2.68, 85.2, 0.0]


ODD = ["[x]", "*y", "two\nlines", "bell\x07", "=1+1", "+2", "-3", "@sum", "tab\t", "\ufffe"]


def test_odd_names_in_tables_and_figures(tmp_path):
    """Brackets, stars, line ends and control characters break no LaTeX and no SVG; no cell is a formula."""
    sets = ["iris", "vote", "zoo", "glass", "labor"]
    renamed = dict(zip(sets, ODD[:5], strict=True)) | dict(
        zip(["NB", "TAN", "HNB", "LCWNB5", "LCWNB10"], ODD[5:], strict=True)
    )
    path = paper_store(tmp_path / "s.db", sets, renamed)
    with pytest.warns(UserWarning, match="marks refer to"):
        write_report(path, tmp_path / "out")
    for name in ("figure1.svg", "critical-difference.svg"):
        ET.parse(tmp_path / "out" / name)
    for drawing in re.findall(r"<svg .*?</svg>", (tmp_path / "out" / "index.html").read_text(), re.DOTALL):
        ET.fromstring(drawing)
    rows = tex_rows(tmp_path / "out" / "table.tex")
    assert {"{[}x]", "{*}y", "two lines", "bell", "=1+1"} <= rows.keys()
    assert not [name for name in rows if name.startswith(("[", "*"))]
    assert len({len(cells) for cells in rows.values()}) == 1
    with (tmp_path / "out" / "table.csv").open(newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert {"'=1+1", "'+2", "'-3", "'@sum", "[x]", "two\nlines"} <= cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_figure_2_of_odd_names(tmp_path):
    """Tiles name their data sets: control characters in the names break nothing."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"], {"iris": "bell\x07\x00", "vote": "\uffff"})
    write_report(path, tmp_path / "out")
    words = list(ET.parse(tmp_path / "out" / "figure2.svg").getroot().itertext())
    assert any(word.startswith("bell\N{REPLACEMENT CHARACTER}") for word in words)


def test_latex_tables_fit_a_page(tmp_path):
    """Every part of the table is narrow enough for a page, also with many columns and long names."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"], {"iris": "a data set with a rather long name"})
    with Store(path) as store:
        more = [f"another method {i}" for i in range(9)]
        store.add_methods([(c, "") for c in more])
        store.add([FoldRow(s.name, c, 1, f, 9, 9, 9, 9) for s in store.sets() for c in more for f in (0, 1)])
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "table.tex").read_text()
    parts = re.findall(r"\\begin{longtable}.*?\\end{longtable}", text, re.DOTALL)
    assert len(parts) > 3
    # Computer Modern, LaTeX's own font, at the size of a footnote.
    font = FontProperties(family="cmr10", size=8)

    def width(cell: str) -> float:
        shown = re.sub(r"\$\\\w+\$", "+", cell).translate(str.maketrans("", "", "{}"))
        return TextPath((0, 0), shown, prop=font).get_extents().width if shown else 0.0

    for part in parts:
        lines = [line.removesuffix(r" \\").split(" & ") for line in part.splitlines() if line.endswith(r"\\")]
        widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
        assert sum(widths) + 6 * (len(widths) - 1) <= 345, part
    assert [part.count(r"\toprule") for part in parts] == [1] * len(parts)


def test_only_whole_columns_are_called_the_best(tmp_path):
    """A column of fewer folds is named as such, and neither bold nor said to have the best average."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store:
        store.add_methods([("Lucky", "one fold")])
        store.add([FoldRow(s.name, "Lucky", 1, 0, 100, 100, 100, 100) for s in store.sets()])
        assert examine(store).partial == {"Lucky": "2 of 2 sets, 1 of 2 folds"}
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    assert not re.search(r"<strong>Lucky</strong>", text)
    assert '<span class="mean best">100.00</span>' not in text
    assert "Lucky (2 of 2 sets, 1 of 2 folds)" in text
    ours = paper_table().only(["iris", "vote"], paper_table().columns)
    averages = ours.averages(ours.columns)
    best = max(averages, key=lambda c: averages[c])
    assert f"<strong>{best}</strong><span>has the best average" in text


def test_a_study_of_ones_own_data_speaks_of_itself(tmp_path):
    """The paper's columns on one's own tables: one row of ranks, no printed side, LCWNB leads."""
    for name in ("one", "two"):
        rows = "".join(f"{i % 3},{'xyz'[i % 3]},{'pq'[i % 2]}\n" for i in range(30))
        (tmp_path / f"{name}.csv").write_text("a,b,c\n" + rows)
    files = [str(tmp_path / f"{name}.csv") for name in ("one", "two")]
    run_study(make_plan(files, ["NB", "LCWNB", "TAN", "LCWNB5"], runs=1, folds=3), tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        findings = examine(store)
    assert (findings.table.columns[0], findings.table.reference) == ("LCWNB", "LCWNB")
    assert list(findings.rank_rows()) == ["mean rank"]
    assert findings.ranked == list(findings.table.columns)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "figure2.svg").write_text("of an older report")
    write_report(tmp_path / "s.db", tmp_path / "out")
    assert not (tmp_path / "out" / "figure2.svg").exists()
    for name in ("index.html", "tests.json", "table.tex"):
        assert "paper" not in (tmp_path / "out" / name).read_text().lower()
    assert "Average, 2 sets" in (tmp_path / "out" / "index.html").read_text()


def test_measures_are_columns(tmp_path, monkeypatch):
    """A measure that is described in one place is stored, averaged and shown; older rows go without it."""

    def missed(scored) -> float:
        return float((scored.chosen != scored.truth).mean())

    monkeypatch.setattr(
        measures, "MEASURES", (*measures.MEASURES, measures.Measure("missed", "misses", missed))
    )
    for module in ("summary", "report_sections"):
        monkeypatch.setattr(f"localbayes.study.{module}.MEASURES", measures.MEASURES)
    run_study(make_plan(["labor"], ["NB", "TAN"], runs=1, folds=4), tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        rows = [row for row in store.rows() if row.method == "NB"]
        cell = read_table(store, "NB").cells["labor", "NB"]
    assert cell.measure("missed") == pytest.approx(np.mean([1 - row.correct / row.tested for row in rows]))
    write_report(tmp_path / "s.db", tmp_path / "out", "NB")
    text = (tmp_path / "out" / "index.html").read_text()
    assert '<th class="num">log loss</th><th class="num">misses</th>' in text
    losses = np.mean([row.log_loss for row in rows])
    shown = f'<td class="num">{losses:.4f}</td><td class="num">{cell.measure("missed"):.4f}</td>'
    assert f"<td>NB</td>{shown}" in text
    with Store(tmp_path / "s.db") as store, store.transaction():
        store._db.execute("UPDATE folds SET measures = NULL WHERE method = 'NB' AND fold = 0")
    write_report(tmp_path / "s.db", tmp_path / "out", "NB")
    text = (tmp_path / "out" / "index.html").read_text()
    assert f'<td>NB</td><td class="num">{losses:.4f}</td><td class="num">–</td>' in text
