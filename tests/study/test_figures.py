"""The figures of a report: well-formed, complete, and nothing runs into anything else."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from localbayes.study import FoldRow, Store, paper_table, write_report
from localbayes.study import figures as drawn
from localbayes.study.summary import Reliability
from study_support import paper_store


@pytest.fixture(scope="module")
def paper_report(tmp_path_factory) -> Path:
    """A report on a store whose means are the paper's."""
    folder = tmp_path_factory.mktemp("paper")
    write_report(paper_store(folder / "s.db"), folder / "out")
    return folder / "out"


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


def test_groups_of_equals_in_the_diagram():
    """Bars join the largest stretches within the critical difference, and none lies inside another."""
    assert drawn._groups([1.0, 1.5, 2.4, 4.0], 1.0) == [(0, 1), (1, 2)]
    assert drawn._groups([1.0, 3.0], 1.0) == []


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
    circles = [found for found in root.iter(f"{svg}circle") if found.get("class") == "published"]
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
    # Averages and ranks twice, Figure 2 and two diagrams with narrow forms, and a curve for every column.
    assert len(drawings) == 2 * 2 + 2 + 2 * 2 + 14
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
    width, texts, circles = extents(drawn.averages_and_ranks(table, table.columns, paper).inline())
    assert len(circles) == 2 * len(table.columns) + 1
    assert all(left >= 0 and right <= width for left, right, _ in texts)
    for x, y in circles:
        beside = [text for text in texts if abs(text[2] - 4 - y) < 8]
        assert not [text for text in beside if text[0] < x + 3.5 and x - 3.5 < text[1]]
