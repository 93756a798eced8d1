"""What a report says about the paper: printed figures where they belong, and why others differ."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from localbayes.study import FoldRow, Store, paper_table, read_table, write_report
from localbayes.study.accuracy_table import SetInfo
from localbayes.study.findings import differences, examine
from localbayes.study.paper.kappa_ranks import figure2
from study_support import Page, paper_store


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
        assert "differs" in figure2(read_table(store)).inline()


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
