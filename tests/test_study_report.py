"""The report: the paper's figures where they belong, from the store alone, whatever the names are."""

from __future__ import annotations

import csv
import html.parser
import itertools
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from localbayes.study import FoldRow, Store, make_plan, paper_table, read_table, run_study, write_report
from localbayes.study import figures as drawn
from localbayes.study import page as page_module
from localbayes.study.findings import differences, examine
from localbayes.study.summary import Reliability
from localbayes.study.table import SetInfo, Table, printed
from localbayes.weka import corrected_paired_ttest
from study_support import friedman_by_ranks, paper_store, small_plan

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def small_store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("small") / "s.db"
    run_study(small_plan(runs=3, folds=10), path)
    return path


@pytest.fixture(scope="module")
def paper_report(tmp_path_factory) -> Path:
    """A report on a store whose means are the paper's."""
    folder = tmp_path_factory.mktemp("paper")
    write_report(paper_store(folder / "s.db"), folder / "out")
    return folder / "out"


class Page(html.parser.HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


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


def test_tests_json(paper_report):
    """Means that are the paper's give the paper's statistics on our side too."""
    found = json.loads((paper_report / "tests.json").read_text())
    assert all(test["paper"] == test["here"] for test in found["tests"])
    assert found["averages"]["paper"] == pytest.approx(found["averages"]["here"])
    assert found["mean_ranks"]["paper"] == pytest.approx(found["mean_ranks"]["here"])
    assert found["cells"]["compared"] == 360
    assert found["figure2"]["n"][0].startswith("LCWNB5 : 3 1 1 3 3 1 1 2")
    assert found["nemenyi"]["critical_difference"] == pytest.approx(3.164 * np.sqrt(110 / 216), rel=1e-3)
    assert found["figure1"]["average_bounds"][0] > found["averages"]["here"]["NB"]
    assert found["holm"]["NB"]["adjusted"] >= found["holm"]["NB"]["p"]


def test_table_tex(paper_report):
    """table.tex has a line per data set with all columns, and the paper's three rows under them."""
    text = (paper_report / "table.tex").read_text()
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 1 + 36 + 3
    assert {line.count("&") for line in lines} == {10}
    assert lines[-2].split(" & ")[1] == "4.4167"
    assert "82.34" in lines[-3]


@pytest.mark.parametrize("name", ["figure1", "figure2", "critical-difference"])
def test_figures_are_svg(paper_report, name):
    """Figures are well-formed SVG with a title and a description, and refer to nothing outside."""
    text = (paper_report / f"{name}.svg").read_text()
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.find("{http://www.w3.org/2000/svg}title").text
    assert "href" not in text
    assert "url(" not in text
    assert text.count("http") == 1


def test_figure_1_shows_both_measures(paper_report):
    """Figure 1 names every column with its average and mean rank, the best average on top."""
    words = list(ET.parse(paper_report / "figure1.svg").getroot().itertext())
    assert "4.3194" in words
    assert "82.34" in words
    columns = [word for word in words if word in paper_table().columns]
    averages = paper_table().averages(paper_table().columns)
    assert columns == sorted(columns, key=lambda c: -averages[c])


def test_figure_2_has_a_tile_per_rank(paper_report):
    """Figure 2 shows 3 panels of 3 x 36 ranks, none of which differs from the paper's."""
    text = (paper_report / "figure2.svg").read_text()
    assert len(re.findall(r'class="rank[123]"><title>', text)) == 3 * 3 * 36
    assert 'class="rank1 differs"' not in text
    assert "half" in text


def test_figure_2_marks_what_differs(tmp_path):
    """A rank that is not the paper's has a border of its own."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store, store.transaction():
        store._db.execute("UPDATE folds SET correct = 100 WHERE dataset = 'iris' AND method = 'LCWNB20'")
    with Store(path) as store:
        assert "differs" in drawn.figure2(read_table(store)).inline()


def test_groups_of_equals_in_the_diagram():
    """Bars join the largest stretches within the critical difference, and none lies inside another."""
    assert drawn._groups([1.0, 1.5, 2.4, 4.0], 1.0) == [(0, 1), (1, 2)]
    assert drawn._groups([1.0, 3.0], 1.0) == []


def test_the_page_is_self_contained(paper_report):
    """The page loads nothing, forbids itself to, and holds all 36 rows of ten cells."""
    text = (paper_report / "index.html").read_text()
    page = Page(text)
    assert not [
        a for _, a in page.tags if any((a.get(k) or "").startswith(("http", "//")) for k in ("src", "href"))
    ]
    assert not {"img", "iframe", "object", "embed"} & {tag for tag, _ in page.tags}
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    cells = [a for tag, a in page.tags if tag == "td" and "cell" in (a.get("class") or "") and a.get("title")]
    assert len(cells) == 360
    assert all("paper: " in a["title"] for a in cells)


def test_contradictions_in_the_printed_counts_are_told(paper_report):
    """With all 36 sets, the page names the two printed counts that the printed cells contradict."""
    text = " ".join((paper_report / "index.html").read_text().split())
    assert "WAODE [5/11/16/4], where the printed means and marks give [5/12/15/4]" in text
    assert "ICLNB [1/14/15/6], where the printed means and marks give [1/15/14/6]" in text


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
    tex = [line.split(" & ") for line in (tmp_path / "out" / "table.tex").read_text().splitlines()]
    rows = {cells[0]: cells[1:] for cells in tex}
    assert rows["Mean rank, paper's"][3] == "7.3611"
    assert rows["Mean rank, paper's"][-2] == "--"
    assert rows["Mean rank, all"][-2] == f"{rank:.4f}"


def test_ties_by_the_plain_rule_are_told_apart(tmp_path):
    """Columns of the plain rule are compared with the paper's, listed with their range, and not ranked."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    printed_mean = paper_table().cells["iris", "LWNB"].mean
    with Store(path) as store:
        store.add_methods([("LWNB-declared", "first class wins")])
        off = round(100 * printed_mean) + 20
        rows = [
            FoldRow("iris", "LWNB-declared", run, f, 10_000, off, off + 5, off - 30, None)
            for run in range(10)
            for f in range(10)
        ]
        store.add(rows)
        findings = examine(store)
    assert "LWNB-declared" not in findings.table.columns
    (difference,) = findings.plain_differences
    assert (difference.dataset, difference.column, difference.within_ties) == ("iris", "LWNB-declared", True)
    assert "equal scores" in difference.cause
    write_report(path, tmp_path / "out")
    assert "searched for until it gave the printed digits" in (tmp_path / "out" / "index.html").read_text()
    assert json.loads((tmp_path / "out" / "tests.json").read_text())[
        "cells_if_the_first_class_wins_ties"
    ] == {
        "compared": 1,
        "equal": 0,
        "different": [
            {
                "dataset": "iris",
                "method": "LWNB-declared",
                "paper": "93.93±6.07",
                "here": "94.13±0.00",
                "tie_range": [93.83, 94.18],
                "cause": difference.cause,
            }
        ],
    }


def test_causes_of_differences(tmp_path):
    """A cell that ties do not explain is said to be so, and one of fewer folds too."""
    path = paper_store(tmp_path / "s.db", ["iris"])
    with Store(path) as store:
        findings = examine(store)
    causes = {d.cause for d in findings.differences}
    assert causes == {"measured on 2 folds, the paper's on 100"}
    with Store(tmp_path / "t.db") as store:
        store.add_methods([("NB", "")])
        store.add_set(SetInfo("iris", 150, 5, 3), "x")
        store.add([FoldRow("iris", "NB", run, f, 15, 14, 14, 14) for run in range(10) for f in range(10)])
        (difference,) = examine(store).differences
    assert difference.cause.startswith("not explained by ties")


def test_ties_explain_nothing_on_other_folds(tmp_path):
    """A cell of fewer folds differs from the paper's by them, even if its ties reach the printed one."""
    mean = round(100 * paper_table().cells["glass", "LCWNB5"].mean)
    with Store(tmp_path / "s.db") as store:
        store.add_methods([("LCWNB5", "")])
        store.add_set(SetInfo("glass", 214, 10, 7), "x")
        off = mean - 60
        store.add([FoldRow("glass", "LCWNB5", 1, f, 10_000, off, mean + 9, off - 9) for f in range(10)])
        (difference,) = examine(store).differences
        assert difference.cause == "measured on 10 folds, the paper's on 100"
        write_report(tmp_path / "s.db", tmp_path / "few")
        more = [(run, f) for run in range(2, 11) for f in range(10)]
        store.add([FoldRow("glass", "LCWNB5", run, f, 10_000, off, mean + 9, off - 9) for run, f in more])
        (difference,) = examine(store).differences
        assert difference.cause.startswith("equal scores")
    write_report(tmp_path / "s.db", tmp_path / "all")
    for name, within in (("few", 0), ("all", 1)):
        text = (tmp_path / name / "index.html").read_text()
        assert f"<strong>{within} of 1</strong><span>other cells are explained by ties" in text


def test_own_columns_may_end_in_declared(tmp_path):
    """Only the two built-in repetitions are left out: NB-declared of one's own is a column like any other."""
    path = paper_store(tmp_path / "s.db", ["iris", "vote"])
    with Store(path) as store:
        store.add_methods([("NB-declared", "mine"), ("ICLNB-declared", "first class wins")])
        for column in ("NB-declared", "ICLNB-declared"):
            rows = [FoldRow(s, column, 1, f, 100, 77, 77, 77) for s in ("iris", "vote") for f in range(2)]
            store.add(rows)
        findings = examine(store)
    assert findings.table.columns == (*paper_table().columns, "NB-declared")
    assert findings.averages()["NB-declared"] == 77
    # The paper prints no such column, so there is nothing to compare it with.
    assert (findings.compared_cells, findings.plain_cells) == (2 * 10, 2)
    write_report(path, tmp_path / "out")
    assert "iris,NB-declared,77.00,0.00," in (tmp_path / "out" / "table.csv").read_text()
    assert '">NB-declared</button>' in (tmp_path / "out" / "index.html").read_text()


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


def extents(drawing: str) -> tuple[float, list[tuple[float, float, float]], list[tuple[float, float]]]:
    """Width of a picture, left, right and baseline of its texts in DejaVu Sans, and the paper's circles."""
    root = ET.fromstring(drawing)
    svg = "{http://www.w3.org/2000/svg}"
    texts = []
    for found in root.iter(f"{svg}text"):
        css, x = found.get("class").split(), float(found.get("x"))
        font = FontProperties(family="DejaVu Sans", weight="bold" if "bold" in css else "normal")
        # Two spaces are shown as one.
        word = " ".join(found.text.split())
        width = TextPath((0, 0), word, size=11 if "small" in css else 13, prop=font).get_extents().width
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[found.get("text-anchor")]
        texts.append((left, left + width, float(found.get("y"))))
    circles = [found for found in root.iter(f"{svg}circle") if found.get("class") == "paper"]
    return (
        float(root.get("width")),
        texts,
        [(float(found.get("cx")), float(found.get("cy"))) for found in circles],
    )


@pytest.mark.parametrize(("sets", "reference"), [(1, "LCWNB5"), (2, "HistGradientBoosting")])
def test_no_label_leaves_its_figure(tmp_path, sets, reference):
    """Every text of every figure lies inside it, however long the names and the critical difference are."""
    path = paper_store(tmp_path / "s.db", [s.name for s in paper_table().sets][:sets])
    more = ["HistGradientBoosting", "LogisticRegression", "a method of mine with a very long name", 12 * "W"]
    with Store(path) as store:
        store.add_methods([(column, "") for column in more])
        bins = "[" + "[1,0.5,1]," * 9 + "[1,0.9,1]]"
        for s in store.sets():
            for i, column in enumerate(more):
                right = 5000 + 1000 * i
                rows = [(1, f, 10_000, right, right, right, 0.5, bins) for f in range(2)]
                store.add([FoldRow(s.name, column, *row) for row in rows])
    write_report(path, tmp_path / "out", reference)
    drawings = re.findall(r"<svg .*?</svg>", (tmp_path / "out" / "index.html").read_text(), re.S)
    assert len(drawings) == 6
    for drawing in drawings:
        width, texts, _ = extents(drawing)
        assert min(left for left, _, _ in texts) >= 0
        assert max(right for _, right, _ in texts) <= width


def test_names_over_the_reliability_curves():
    """Long names of neighbouring curves do not run into each other."""
    found = [Reliability(16 * letter + " and more", 0.5, ((0.5, 0.5, 9),)) for letter in "ABCD"]
    _, texts, _ = extents(drawn.reliability_curves(found).inline())
    names = sorted(text for text in texts if text[2] == min(y for _, _, y in texts))
    assert len(names) == 4
    assert all(first[1] < second[0] for first, second in itertools.pairwise(names))


@pytest.mark.parametrize("seed", range(8))
def test_circles_and_figures_do_not_overlap(seed):
    """In Figure 1 no circle of the paper lies on a figure, wherever the two are."""
    paper = paper_table().only(["iris", "labor", "vote", "zoo", "glass"], paper_table().columns)
    shift = np.random.default_rng(seed).normal(0, 1, size=len(paper.columns))
    moved = dict(zip(paper.columns, shift, strict=True))
    cells = {(s, c): replace(cell, mean=cell.mean + moved[c]) for (s, c), cell in paper.cells.items()}
    table = replace(paper, cells=cells)
    width, texts, circles = extents(drawn.figure1(table, table.columns, paper).inline())
    assert len(circles) == 2 * len(table.columns) + 1
    assert all(left >= 0 and right <= width for left, right, _ in texts)
    for x, y in circles:
        beside = [text for text in texts if abs(text[2] - 4 - y) < 8]
        assert not [text for text in beside if text[0] < x + 3.5 and x - 3.5 < text[1]]


def test_the_defect_of_the_printed_column(tmp_path):
    """Where both columns are there, the report shows LWNB as printed and with equal weights side by side."""
    path = paper_store(tmp_path / "s.db", ["hypothyroid", "sick"])
    with Store(path) as store:
        store.add_methods([("LWNB-proper", "equal weights")])
        for name in ("hypothyroid", "sick"):
            store.add([FoldRow(name, "LWNB-proper", 1, f, 100, 93, 93, 93) for f in range(2)])
    write_report(path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    assert "A defect in the printed LWNB column" in text
    assert re.search(r"90\.90±1\.28.*90\.90±0\.00.*93\.00±0\.00", text, re.S)


def test_a_study_without_the_papers_columns(tmp_path):
    """One method on one data set of one's own makes a report too, with notes in place of figures."""
    (tmp_path / "mine.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    plan = make_plan([str(tmp_path / "mine.csv")], ["only=sklearn.dummy:DummyClassifier"], runs=1)
    run_study(plan, tmp_path / "s.db")
    write_report(tmp_path / "s.db", tmp_path / "out")
    assert "Needs the columns LCWNB5" in (tmp_path / "out" / "figure2.svg").read_text()
    assert "Needs at least two columns" in (tmp_path / "out" / "figure1.svg").read_text()
    assert "Needs at least two columns" in (tmp_path / "out" / "critical-difference.svg").read_text()
    text = (tmp_path / "out" / "index.html").read_text()
    assert "Paper and here" not in text
    assert json.loads((tmp_path / "out" / "tests.json").read_text())["figure2"] is None


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
    assert friedman.here == friedman.paper == pytest.approx(expected)
    write_report(path, tmp_path / "out")
    assert "Needs at least" not in (tmp_path / "out" / "figure1.svg").read_text()


def test_marks_against_another_reference_are_not_the_papers(tmp_path):
    """Printed marks and counts refer to LCWNB5: against NB only means and deviations are compared."""
    paper = paper_table()
    turned = {"": "better", "better": "worse", "worse": ""}
    cells = {
        key: replace(cell, mark=turned[cell.mark], low=cell.mean, high=cell.mean)
        for key, cell in paper.cells.items()
    }
    assert differences(replace(paper, cells=cells, reference="NB"), paper) == ([], 360, 0)
    assert len(differences(replace(paper, cells=cells), paper)[0]) == 360
    path = paper_store(tmp_path / "s.db")
    write_report(path, tmp_path / "out", "NB")
    found = json.loads((tmp_path / "out" / "tests.json").read_text())
    assert found["marks_equal"] is None
    assert {counts["printed"] for counts in found["counts"].values()} == {None}
    text = (tmp_path / "out" / "index.html").read_text()
    assert "cells equal the printed ones, mean and ±<" in text
    assert "significance marks equal" not in text
    assert "[2/14.5/13.5/6]" not in text
    tips = [a["title"] for tag, a in Page(text).tags if tag == "td" and a.get("title")]
    assert not any("●" in tip or "○" in tip for tip in tips)


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
        store.add_set(SetInfo("mine", 20, 3, 2, paper=False), "x")
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
    assert page_module._p(value) == text


def test_summaries_of_nothing():
    """A table without data sets has no averages, ranks or counts."""
    empty = Table((), ("LCWNB5", "NB"), {})
    assert empty.averages(["NB"]) == empty.mean_ranks(["LCWNB5", "NB"]) == {}
    assert (empty.counts("NB").sets, empty.counts("NB").dot) == (0, False)


def test_halves_are_rounded_up():
    """Figures are rounded as printed: halves up, whatever binary fractions make of them."""
    assert [printed(x) for x in (1.005, 2.675, 85.195, 0.004999)] == [1.01, 2.68, 85.2, 0.0]
