"""Write tables, figures and a page from a store alone."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

from localbayes.datasets._files import place_atomically
from localbayes.study import figures, tests
from localbayes.study.comparison import KAPPAS, PRINTED_COUNTS, rank_panel
from localbayes.study.findings import Difference, Findings, examine
from localbayes.study.page import render
from localbayes.study.store import Store
from localbayes.study.table import Table, printed, shown

__all__ = ["table_csv", "table_tex", "write_report"]

_TEX_MARK = {"": "", "worse": r" $\bullet$", "better": r" $\circ$"}
_TEX_ESCAPES = {c: "\\" + c for c in "&%$#_{}"} | {"~": r"\~{}", "^": r"\^{}", "\\": r"\textbackslash{}"}
_TEX_ESCAPES |= {"<": r"\textless{}", ">": r"\textgreater{}"}


def write_report(path: str | Path, out: str | Path, reference: str | None = None) -> list[Path]:
    """Write the report of a store into a folder, each file complete or not at all.

    Parameters
    ----------
    path : path
        The store.
    out : path
        The folder; made if it does not exist.
    reference : str, optional
        Column that marks refer to; default LCWNB5, or the first with results if it has none.

    Returns
    -------
    list of Path
        The files: `table.csv`, `table.tex`, `tests.json`, three figures and `index.html`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from localbayes.study import make_plan, run_study
    >>> with TemporaryDirectory() as folder:
    ...     _ = run_study(make_plan(["iris"], ["LCWNB5", "NB"], runs=1), f"{folder}/study.db")
    ...     files = write_report(f"{folder}/study.db", f"{folder}/report")
    >>> [file.name for file in files if file.suffix in (".html", ".csv")]
    ['table.csv', 'index.html']
    """
    with Store(path, create=False) as store:
        findings = examine(store, reference)
        invocations, about = store.invocations(), dict(store.methods())
    table, ranked = findings.table, findings.ranked
    drawings = {
        "figure1": figures.figure1(table, ranked, findings.paper_side()),
        "figure2": figures.figure2(table),
        "critical-difference": figures.critical_difference(table, ranked),
    }
    files = {
        "table.csv": table_csv(table),
        "table.tex": table_tex(findings),
        "tests.json": json.dumps(_tests(findings), indent=1, allow_nan=False) + "\n",
        **{f"{name}.svg": drawing.standalone() for name, drawing in drawings.items()},
        "index.html": render(findings, drawings, invocations, about),
    }
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        place_atomically(folder / name, content.encode())
    return [folder / name for name in files]


def table_csv(table: Table) -> str:
    """Return the table as CSV: dataset, method, mean, sd, mark."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "method", "mean", "sd", "mark"])
    for s in table.sets:
        for column in table.columns:
            cell = table.cell(s.name, column)
            if cell is not None:
                row = [s.name, column, shown(cell.mean), shown(cell.sd), cell.mark]
                writer.writerow(row)
    return text.getvalue()


def table_tex(findings: Findings) -> str:
    """Return the table as LaTeX, laid out like the paper's."""
    table = findings.table

    def row(first: str, cells: list[str]) -> str:
        return " & ".join([first, *cells]) + r" \\"

    lines = [r"\begin{tabular}{l" + "r" * len(table.columns) + "}", r"\hline"]
    lines += [row("Data set", [_tex(c) for c in table.columns]), r"\hline"]
    for s in table.sets:
        cells = [table.cell(s.name, c) for c in table.columns]
        texts = [f"{shown(c.mean)}$\\pm${shown(c.sd)}{_TEX_MARK[c.mark]}" if c else "--" for c in cells]
        lines.append(row(_tex(s.name), texts))
    averages = findings.averages()
    lines += [r"\hline", row("Average", [_number(averages.get(c), 2) for c in table.columns])]
    for name, ranks in findings.rank_rows().items():
        lines.append(row(name.capitalize(), [_number(ranks.get(c), 4) for c in table.columns]))
    counts = [
        "" if c == table.reference else str(n) + (r"$\bullet$" if n.dot else "")
        for c, n in ((c, table.counts(c)) for c in table.columns)
    ]
    lines += [row("{[}s.w./m.w./m.b./s.b.{]}", counts), r"\hline"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"


def _tex(text: str) -> str:
    return "".join(_TEX_ESCAPES.get(c, c) for c in text)


def _number(value: float | None, digits: int) -> str:
    return "--" if value is None else shown(value, digits)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _tests(findings: Findings) -> dict[str, Any]:
    table, ranked, base = findings.table, findings.ranked, findings.base
    theirs = findings.paper_side()
    enough = len(ranked) > 1 and bool(base)
    printed_counts = PRINTED_COUNTS if findings.papers_reference else {}
    means = table.means(ranked)
    return {
        "sets": [s.name for s in table.sets],
        "columns": list(table.columns),
        "reference": table.reference,
        "cells": {
            "compared": findings.compared_cells,
            "equal": findings.compared_cells - len(findings.differences),
            "different": [_difference(d) for d in findings.differences],
            "note": "ties of LWNB and ICLNB are broken by an arithmetic fitted to the printed table",
        },
        "cells_if_the_first_class_wins_ties": {
            "compared": findings.plain_cells,
            "equal": findings.plain_cells - len(findings.plain_differences),
            "different": [_difference(d) for d in findings.plain_differences],
        },
        "marks_equal": findings.equal_marks if findings.papers_reference else None,
        "averages": {"paper": theirs.averages(ranked) if theirs else None, "here": findings.averages()},
        "mean_ranks": {
            "paper": theirs.mean_ranks(ranked) if theirs else None,
            "here": findings.mean_ranks(ranked),
            "all_columns": findings.mean_ranks(findings.covering),
        },
        "counts": {
            c: {"printed": printed_counts.get(c), "here": str(n), "dot": n.dot}
            for c, n in ((c, table.counts(c)) for c in table.columns if c != table.reference)
        },
        "tests": [
            {
                key: _finite(value) if isinstance(value, float) else value
                for key, value in test.as_dict().items()
            }
            for test in findings.comparisons
        ],
        "holm": {c: {"p": p, "adjusted": q} for c, (p, q) in findings.holm.items()},
        "nemenyi": {
            "columns": ranked,
            "critical_difference": tests.nemenyi_critical_difference(len(ranked), len(base))
            if enough
            else None,
        },
        "figure1": {
            "average_bounds": list(tests.permutation_bounds(means)) if enough else None,
            "mean_rank_bounds": list(tests.permutation_bounds(tests.ranks(means))) if enough else None,
        },
        "figure2": {k: rank_panel(table, k)[0] for k in ("n", "m", "r")} if table.has(*KAPPAS) else None,
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        "dataset": found.dataset,
        "method": found.column,
        "paper": str(found.paper),
        "here": str(found.here),
        "tie_range": [printed(found.here.low), printed(found.here.high)],
        "cause": found.cause,
    }
