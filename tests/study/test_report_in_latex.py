"""The table of a report set by LaTeX: it compiles, and nothing is wider than the page."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from localbayes.study import FoldRow, Store, write_report
from study_support import paper_store

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,longtable}
\begin{document}
\input{table.tex}
\end{document}
"""
NAMES = [
    r"100% of $x_1^2$ & \frac{a}{b} #1 ~tilde~ <b>",
    "[option] *star",
    "*",
    "W" * 60,
    "many words in a name that goes on and on until it is far wider than a column of a table may be",
    "caf\u00e9 \u65e5\u672c \U0001f600 \u00d0 \u2019quoted\u2019 -- '' ``",
    "a\tb\nc \\\\ \\end{longtable} %",
    "HistGradientBoosting",
]


def typeset(program: str, folder: Path) -> str:
    """Set the table in the given folder on pages of the class article; return what LaTeX has to say."""
    (folder / "page.tex").write_text(DOCUMENT)
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    for _ in range(2):  # the second time it knows the widths of tables that go over pages
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
        log = (folder / "page.log").read_text(encoding="latin-1")
        assert done.returncode == 0, log[-2000:]
    return log


@pytest.mark.parametrize("columns", [[], NAMES], ids=["paper", "hostile"])
def test_the_table_fits_a_page(pdflatex, tmp_path, columns):
    """Ten columns and 36 sets, and eight more of dangerous or endless names, in parts of a page's width."""
    path = paper_store(
        tmp_path / "s.db", rename=dict(zip(("zoo", "vote", "iris"), columns[:3], strict=False))
    )
    with Store(path) as store:
        store.add_methods([(f"{name}", "") for name in columns])
        rows = [("letter", name, 1, fold, 10_000, 9000, 9100, 8900) for name in columns for fold in range(2)]
        store.add([FoldRow(*row) for row in rows])
    write_report(path, tmp_path)
    log = typeset(pdflatex, tmp_path)
    assert "Overfull" not in log
    assert "Missing character" not in log
    assert (tmp_path / "table.tex").read_text().count(r"\toprule") > 1
