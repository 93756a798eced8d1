"""The page of a report: one self-contained HTML file."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from localbayes.study import figures
from localbayes.study.comparison import KAPPAS, PRINTED_COUNTS, rank_panel
from localbayes.study.findings import Findings
from localbayes.study.svg import CSS, DARK, LIGHT, Drawing
from localbayes.study.table import Cell, SetInfo, Table, printed, shown

__all__ = ["SYMBOL", "render"]

SYMBOL = {"": "", "worse": "●", "better": "○"}
_MINUS = "−"


def render(
    findings: Findings,
    drawings: dict[str, Drawing],
    invocations: Sequence[dict[str, Any]],
    about: dict[str, str],
) -> str:
    """Return the page; every name that came from outside is escaped by the template."""
    try:
        from jinja2 import Environment, PackageLoader
    except ImportError as error:
        raise ImportError("the report's page needs jinja2: install the extra 'study'") from error
    environment = Environment(
        loader=PackageLoader("localbayes.study"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    table = findings.table
    more = [c for c in findings.covering if c not in findings.ranked]
    pictures = {name: drawing.inline() for name, drawing in drawings.items()}
    if more:
        every = findings.covering
        pictures["figure1-all"] = figures.figure1(table, every).inline()
        pictures["critical-difference-all"] = figures.critical_difference(table, every).inline()
    curves = [curve for curve in findings.summary.reliability if curve.column in table.columns]
    pictures["reliability"] = figures.reliability_curves(curves).inline()
    return environment.get_template("index.html.j2").render(
        findings=findings,
        table=table,
        about=about,
        css={"figures": CSS, "light": LIGHT, "dark": DARK},
        pictures=pictures,
        rows=[_row(s, findings) for s in table.sets],
        foot=_foot(findings),
        facts=_facts(findings),
        defect=_defect(table, findings.paper),
        counts=_contradictions(findings),
        tests=[_test(test) for test in findings.comparisons],
        holm=[(c, _p(p), _p(q), q < 0.05) for c, (p, q) in findings.holm.items()],
        panels=[(k, "\n".join(rank_panel(table, k)[0])) for k in ("n", "m", "r")]
        if table.has(*KAPPAS)
        else [],
        timings=_timings(table),
        runs=[_invocation(run) for run in invocations],
        partial=_partial(table),
    )


def _row(s: SetInfo, findings: Findings) -> dict[str, Any]:
    table = findings.table
    cells = [table.cell(s.name, c) for c in table.columns]
    best = max((printed(c.mean) for c in cells if c), default=math.nan)
    views = [
        _cell(s, column, cell, findings, best) for column, cell in zip(table.columns, cells, strict=True)
    ]
    return {"set": s, "cells": views}


def _cell(
    s: SetInfo, column: str, cell: Cell | None, findings: Findings, best: float
) -> dict[str, Any] | None:
    if cell is None:
        return None
    theirs = findings.paper.cell(s.name, column) if s.paper else None
    printed_cell = ""
    if theirs:
        mark = SYMBOL[theirs.mark] if findings.papers_reference else ""
        printed_cell = f"{theirs} {mark}".rstrip()
    return {
        "mean": shown(cell.mean),
        "sd": shown(cell.sd),
        "mark": cell.mark,
        "symbol": SYMBOL[cell.mark],
        "sort": cell.mean,
        "best": printed(cell.mean) == best,
        "paper": printed_cell,
        "differs": any(d.dataset == s.name and d.column == column for d in findings.differences),
        "tip": _tip(s, column, cell, printed_cell, findings.table.reference),
    }


def _tip(s: SetInfo, column: str, cell: Cell, theirs: str, reference: str) -> str:
    lines = [f"{column} on {s.name}: {cell.mean:.3f} ± {cell.sd:.3f} % over {cell.folds} folds"]
    if not math.isnan(cell.pvalue):
        lines.append(
            f"against {reference}: {_signed(cell.difference)} points, t = {_signed(cell.statistic)}, "
            f"p = {_p(cell.pvalue)} (corrected paired t-test)"
        )
    if cell.high > cell.low:
        lines.append(f"ties could make it {cell.low:.3f} to {cell.high:.3f}")
    if not math.isnan(cell.log_loss):
        lines.append(f"log loss {cell.log_loss:.4f}")
    if theirs:
        lines.append(f"paper: {theirs}")
    return "\n".join(lines)


def _foot(findings: Findings) -> list[dict[str, Any]]:
    table, paper = findings.table, findings.paper_side()
    averages = findings.averages()
    ranks, *every = findings.rank_rows().items()
    their_averages = paper.averages(findings.ranked) if paper else {}
    their_ranks = paper.mean_ranks(findings.ranked) if paper else {}
    whole = findings.papers_reference and paper is not None and len(paper.sets) == len(findings.paper.sets)
    counts = {c: table.counts(c) for c in table.columns if c != table.reference}
    counted = {c: f"{n}{' ●' if n.dot else ''}" for c, n in counts.items() if n.sets}
    their_counts = {c: PRINTED_COUNTS.get(c, "") for c in counted} if whole else {}
    rows = [
        ("Average", _texts(averages, 2), _texts(their_averages, 2)),
        (ranks[0].capitalize(), _texts(ranks[1], 4), _texts(their_ranks, 4)),
        *((name.capitalize(), _texts(values, 4), {}) for name, values in every),
        ("s.w. / m.w. / m.b. / s.b.", counted, their_counts),
    ]
    return [
        {"name": name, "cells": [(ours.get(c, ""), theirs.get(c, "")) for c in table.columns]}
        for name, ours, theirs in rows
        if ours
    ]


def _facts(findings: Findings) -> list[tuple[str, str]]:
    """Return what to see first: a figure and what it counts."""
    table, found = findings.table, []
    if findings.compared_cells:
        equal = findings.compared_cells - len(findings.differences)
        marked = findings.compared_cells - sum(
            1 for s in table.sets if s.paper and table.cell(s.name, table.reference)
        )
        within = sum(d.within_ties for d in findings.differences)
        parts = "mean, ± and mark" if findings.papers_reference else "mean and ±"
        found.append((f"{equal} of {findings.compared_cells}", f"cells equal the printed ones, {parts}"))
        if findings.differences:
            found.append((f"{within} of {len(findings.differences)}", "other cells are explained by ties"))
        if findings.papers_reference:
            found.append((f"{findings.equal_marks} of {marked}", "significance marks equal the printed ones"))
    if findings.plain_cells:
        equal = findings.plain_cells - len(findings.plain_differences)
        found.append(
            (
                f"{equal} of {findings.plain_cells}",
                "of LWNB and ICLNB also if ties are not fitted to the paper",
            )
        )
    averages = findings.averages()
    if averages:
        best = max(averages, key=lambda c: averages[c])
        found.append(
            (best, f"has the best average, {shown(averages[best])} % over {len(findings.base)} sets")
        )
    failed = sum(f.folds for f in findings.summary.failures)
    if failed:
        found.append((str(failed), "folds failed"))
    return found


def _defect(table: Table, paper: Table) -> list[dict[str, str]]:
    """Return the data sets on which the published LWNB goes wrong, handled as published and properly."""
    rows = []
    for name in ("hypothyroid", "sick"):
        published, proper = table.cell(name, "LWNB"), table.cell(name, "LWNB-proper")
        theirs = paper.cell(name, "LWNB")
        if published and proper and theirs:
            cells = {"paper": theirs, "published": published, "proper": proper}
            rows.append({"name": name} | {key: str(c) for key, c in cells.items()})
    return rows


def _contradictions(findings: Findings) -> list[tuple[str, str, str]]:
    """Return the printed counts that do not follow from the printed cells, and what does follow."""
    if not findings.papers_reference or len(findings.base) < len(findings.paper.sets):
        return []
    counts = {c: str(findings.paper.counts(c)) for c in PRINTED_COUNTS if findings.table.has(c)}
    return [(c, PRINTED_COUNTS[c], count) for c, count in counts.items() if count != PRINTED_COUNTS[c]]


def _test(test: Any) -> dict[str, Any]:
    same = test.paper is not None and test.here is not None and _p(test.paper) == _p(test.here)
    return {
        "question": test.question,
        "detail": test.detail,
        "paper": _p(test.paper),
        "here": _p(test.here),
        "statistic": ""
        if test.here_statistic is None
        else f"{test.here_statistic:.4f}".rstrip("0").rstrip("."),
        "same": same,
        "both": test.paper is not None and test.here is not None,
    }


def _timings(table: Table) -> list[dict[str, Any]]:
    rows = []
    for column in table.columns:
        cells = [(s, cell) for s in table.sets if (cell := table.cell(s.name, column))]
        if not cells:
            continue
        fit, predict = sum(c.fit_seconds for _, c in cells), sum(c.predict_seconds for _, c in cells)
        slowest, _ = max(cells, key=lambda pair: pair[1].fit_seconds + pair[1].predict_seconds)
        folds = sum(c.folds for _, c in cells)
        rows.append(
            {
                "column": column,
                "fit": f"{fit:.1f}",
                "predict": f"{predict:.1f}",
                "per_fold": f"{1000 * (fit + predict) / folds:.2f}",
                "slowest": slowest.name,
            }
        )
    return rows


def _invocation(run: dict[str, Any]) -> dict[str, Any]:
    begun = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.pop("started")))
    seconds, folds = run.pop("seconds"), run.pop("folds")
    lasted = f"{seconds:.0f} s, {folds} rows" if seconds is not None else "was cut short"
    return {"begun": begun, "lasted": lasted, "about": [f"{key} {value}" for key, value in run.items()]}


def _partial(table: Table) -> list[tuple[str, str]]:
    """Return the columns that were measured on fewer folds than others, or on fewer data sets."""
    most = max(cell.folds for cell in table.cells.values())
    found = []
    for column in table.columns:
        cells = [cell for s in table.sets if (cell := table.cell(s.name, column))]
        fewest = min((cell.folds for cell in cells), default=0)
        if fewest < most or len(cells) < len(table.sets):
            found.append((column, f"{len(cells)} of {len(table.sets)} sets, {fewest} of {most} folds"))
    return found


def _texts(values: dict[str, float], digits: int) -> dict[str, str]:
    return {c: shown(value, digits) for c, value in values.items()}


def _signed(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    return f"{value:+.2f}".replace("-", _MINUS)


def _p(value: float | None) -> str:
    """Write a p-value with four digits, as the paper does."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if value >= 0.00095:
        return f"{value:.4f}" if value >= 0.1 else f"{value:.4g}"
    return f"{value:.2e}".replace("e-0", "e-").replace("-", _MINUS)
