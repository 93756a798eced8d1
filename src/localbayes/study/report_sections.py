"""The sections of a report's page, each with the values that its template needs.

To add a section, add an entry to `SECTIONS` and a template. To add a column to one of the plain tables (Holm,
timings, failures, runs), add a `Column` to its list.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any, NamedTuple

from localbayes.study.accuracy_table import Cell, SetInfo, printed, shown
from localbayes.study.benchmark import current
from localbayes.study.comparison import Comparison, counted
from localbayes.study.findings import Findings
from localbayes.study.measures import MEASURES, Measure
from localbayes.study.report_parts import Column, Content, Section, plain_table
from localbayes.study.summary_rows import COUNTS, summary_rows

__all__ = ["SECTIONS", "SYMBOL", "facts", "p_text"]

SYMBOL = {"": "", "worse": "●", "better": "○"}
_MINUS = "−"


def facts(findings: Findings) -> list[tuple[str, str]]:
    """Return what to see first: a figure and what it counts."""
    table, found = findings.table, []
    if findings.compared_cells:
        equal = findings.compared_cells - len(findings.differences)
        marked = findings.compared_cells - sum(
            1 for s in table.sets if s.published and table.cell(s.name, table.reference)
        )
        within = sum(d.within_ties for d in findings.differences)
        parts = "mean, ± and mark" if findings.published_reference else "mean and ±"
        found.append((f"{equal} of {findings.compared_cells}", f"cells equal the printed ones, {parts}"))
        if findings.differences:
            found.append((f"{within} of {len(findings.differences)}", "other cells are explained by ties"))
        if findings.published_reference:
            found.append((f"{findings.equal_marks} of {marked}", "significance marks equal the printed ones"))
    found.extend(current().facts(findings))
    # A column of fewer folds or sets than the others is never called the best.
    averages = {c: value for c, value in findings.averages().items() if c not in findings.partial}
    if averages:
        best = max(averages, key=lambda c: averages[c])
        found.append((best, f"has the best average, {shown(averages[best])} % over {counted(findings.base)}"))
    failed = sum(f.folds for f in findings.summary.failures)
    if failed:
        found.append((str(failed), "folds failed"))
    return found


# --- accuracy ---------------------


def _accuracy(content: Content) -> dict[str, Any]:
    findings = content.findings
    table = findings.table
    foot = [
        {
            "name": row.title.replace("/", " / ") if row.name == COUNTS else row.title,
            "cells": [
                (row.here.get(c, "") + (" ●" if c in row.dots else ""), row.published.get(c, ""))
                for c in table.columns
            ],
        }
        for row in summary_rows(findings)
        if row.here
    ]
    return {
        "rows": [_row(s, findings) for s in table.sets],
        "foot": foot,
        "partial": list(findings.partial.items()),
        "failures": plain_table(_FAILURES, findings.summary.failures),
    }


_FAILURES = (
    Column("Data set", lambda f: f.dataset),
    Column("Method", lambda f: f.column),
    Column("Folds", lambda f: str(f.folds), "num"),
    Column("Error", lambda f: f.error, "wrap"),
)


def _row(s: SetInfo, findings: Findings) -> dict[str, Any]:
    table = findings.table
    cells = [table.cell(s.name, c) for c in table.columns]
    most = max((c.folds for c in cells if c), default=0)
    best = max((printed(c.mean) for c in cells if c and c.folds == most), default=math.nan)
    views = [
        _cell(s, column, cell, findings, best, most)
        for column, cell in zip(table.columns, cells, strict=True)
    ]
    return {"set": s, "cells": views}


def _cell(
    s: SetInfo, column: str, cell: Cell | None, findings: Findings, best: float, most: int
) -> dict[str, Any] | None:
    if cell is None:
        return None
    theirs = findings.published.cell(s.name, column) if s.published else None
    published = ""
    if theirs:
        mark = SYMBOL[theirs.mark] if findings.published_reference else ""
        published = f"{theirs} {mark}".rstrip()
    return {
        "mean": shown(cell.mean),
        "sd": shown(cell.sd),
        "mark": cell.mark,
        "symbol": SYMBOL[cell.mark],
        "sort": cell.mean,
        "best": printed(cell.mean) == best and cell.folds == most,
        "published": published,
        "differs": any(d.dataset == s.name and d.column == column for d in findings.differences),
        "tip": _tip(s, column, cell, published, findings.table.reference),
    }


def _tip(s: SetInfo, column: str, cell: Cell, published: str, reference: str) -> str:
    lines = [f"{column} on {s.name}: {cell.mean:.3f} ± {cell.sd:.3f} % over {cell.folds} folds"]
    if not math.isnan(cell.pvalue):
        lines.append(
            f"against {reference}: {_signed(cell.difference)} points, t = {_signed(cell.statistic)}, "
            f"p = {p_text(cell.pvalue)} (corrected paired t-test)"
        )
    if cell.high > cell.low:
        lines.append(f"ties could make it {cell.low:.3f} to {cell.high:.3f}")
    values = [(measure, cell.measure(measure.name)) for measure in MEASURES]
    lines += [f"{m.heading} {value:.{m.digits}f}" for m, value in values if not math.isnan(value)]
    if published:
        lines.append(f"{current().label}: {published}")
    return "\n".join(lines)


# --- figures and tests ---------------------


def _pictures(key: str) -> Any:
    return lambda content: {"pictures": [p for p in content.pictures if p.section == key]}


def _probabilities(content: Content) -> dict[str, Any]:
    findings = content.findings
    measured = [curve.column for curve in findings.summary.reliability]
    rows = [c for c in findings.table.columns if c in measured]
    columns = [Column("Method", str)]
    for measure in MEASURES:
        text = partial(_mean_measure, findings, measure)
        columns.append(Column(measure.heading, text, "num"))
    pictures = [p for p in content.pictures if p.section == "probabilities"]
    return {"pictures": pictures, "measures": plain_table(columns, rows)}


def _mean_measure(findings: Findings, measure: Measure, column: str) -> str:
    """Write the mean of a measure over the data sets of a column; a dash if one of them lacks it."""
    cells = [cell for (_, c), cell in findings.table.cells.items() if c == column]
    mean = sum(cell.measure(measure.name) for cell in cells) / len(cells)
    return "–" if math.isnan(mean) else f"{mean:.{measure.digits}f}"


def _tests(content: Content) -> dict[str, Any]:
    found = content.findings
    holm = [(c, p, adjusted) for c, (p, adjusted) in found.holm.items()]
    return {
        "tests": [_test(test) for test in found.comparisons],
        "compared": any(test.published is not None for test in found.comparisons),
        "holm": plain_table(_HOLM, holm),
    }


_HOLM = (
    Column("Method", lambda row: row[0]),
    Column("p", lambda row: p_text(row[1]), "num"),
    Column("adjusted", lambda row: p_text(row[2]), "num", bold=lambda row: row[2] < 0.05),
)


def _test(test: Comparison) -> dict[str, Any]:
    both = test.published is not None and test.here is not None
    statistic = test.here_statistic
    return {
        "question": test.question,
        "detail": test.detail,
        "published": p_text(test.published),
        "here": p_text(test.here),
        "statistic": "" if statistic is None else f"{statistic:.4f}".rstrip("0").rstrip("."),
        "same": both and p_text(test.published) == p_text(test.here),
        "both": both,
    }


# --- timings and provenance ---------------------


class _Timing(NamedTuple):
    column: str
    fit: float
    predict: float
    folds: int
    slowest: str


_TIMINGS = (
    Column("Method", lambda t: t.column),
    Column("training, s", lambda t: f"{t.fit:.1f}", "num"),
    Column("predicting, s", lambda t: f"{t.predict:.1f}", "num"),
    Column("per fold, ms", lambda t: f"{1000 * (t.fit + t.predict) / t.folds:.2f}", "num"),
    Column("longest on", lambda t: t.slowest),
)


def _timings(content: Content) -> dict[str, Any]:
    table, rows = content.findings.table, []
    for column in table.columns:
        cells = [(s, cell) for s in table.sets if (cell := table.cell(s.name, column))]
        if cells:
            fit, predict = sum(c.fit_seconds for _, c in cells), sum(c.predict_seconds for _, c in cells)
            slowest, _ = max(cells, key=lambda pair: pair[1].fit_seconds + pair[1].predict_seconds)
            rows.append(_Timing(column, fit, predict, sum(c.folds for _, c in cells), slowest.name))
    return {"timings": plain_table(_TIMINGS, rows)}


_OF_A_RUN = ("started", "seconds", "folds")
_RUNS = (
    Column("Begun", lambda run: time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run["started"]))),
    Column("Took", lambda run: _lasted(run["seconds"], run["folds"])),
    Column("With", lambda run: ", ".join(f"{k} {v}" for k, v in run.items() if k not in _OF_A_RUN), "wrap"),
)


def _lasted(seconds: float | None, folds: int | None) -> str:
    return f"{seconds:.0f} s, {folds} rows" if seconds is not None else "was cut short"


def _provenance(content: Content) -> dict[str, Any]:
    return {"runs": plain_table(_RUNS, content.invocations)}


SECTIONS = (
    Section("table", "Table", "accuracy.html.j2", _accuracy),
    Section("figures", "Figures", "figures.html.j2", _pictures("figures")),
    Section("tests", "Tests", "tests.html.j2", _tests),
    Section("ranks", "Ranks", "figures.html.j2", _pictures("ranks")),
    Section("probabilities", "Probabilities", "figures.html.j2", _probabilities),
    Section("timings", "Timings", "timings.html.j2", _timings),
    Section("provenance", "Provenance", "provenance.html.j2", _provenance),
)


def _signed(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    return f"{value:+.2f}".replace("-", _MINUS)


def p_text(value: float | None) -> str:
    """Write a p-value with four digits, or with an exponent where it is very small.

    Examples
    --------
    >>> p_text(0.23664), p_text(3.81e-7), p_text(None)
    ('0.2366', '3.81e−7', '–')
    """
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if value >= 0.00095:
        return f"{value:.4f}" if value >= 0.1 else f"{value:.4g}"
    return f"{value:.2e}".replace("e-0", "e-").replace("-", _MINUS)
