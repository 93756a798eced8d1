"""An audit in words: text for a terminal, and a page."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from localbayes.auditing.column_profile import ColumnProfile
from localbayes.explain.page import page_environment

if TYPE_CHECKING:
    from localbayes.auditing.audit_report import AuditReport

__all__ = ["audit_page", "audit_text", "columns_text", "findings"]

_WIDTH = 80
# Widest name or label in a table.
_NAME = 24
_TOP = 10
_TELLS = (
    "tells: share of the rows whose class this column finds alone, each row left out; "
    "compare it with the share of the most frequent class"
)


def findings(report: "AuditReport") -> list[str]:
    """What was found, a sentence each."""
    n = report.n_rows
    lines = [
        f"{_counted(n, 'row')}, {_counted(len(report.classes), 'class', 'classes')}; the most frequent one, "
        f"{_short(next(iter(report.classes)))}, has {max(report.classes.values()) / n:.1%}.",
        f"{_counted(len(report.suspects), 'label')} of {n} are contradicted by the other rows "
        f"({len(report.suspects) / n:.1%}).",
    ]
    if report.conflicts:
        rows = sum(len(conflict.rows) for conflict in report.conflicts)
        lines.append(
            f"{rows} rows are identical to rows with another label, in "
            f"{_counted(len(report.conflicts), 'group')}: "
            f"no classifier can be right on more than {report.best_accuracy:.1%} of these rows."
        )
    else:
        lines.append("No identical rows have different labels.")
    lines.append(
        f"{_counted(len(report.repeated), 'row')} repeat an earlier row with the same label."
        if len(report.repeated)
        else "No row repeats another one."
    )
    if report.shared is not None:
        share = len(report.shared) / max(report.n_other, 1)
        lines.append(
            f"{len(report.shared)} of {report.n_other} rows of the other table are in this one ({share:.1%})"
            + (": what is measured on them is too good." if report.shared else ".")
        )
    return lines


def audit_text(report: "AuditReport", top: int = _TOP) -> str:
    """The findings, the columns and the first suspects, at most 80 characters a line."""
    parts = [
        "\n".join(textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in findings(report)),
        columns_text(report.columns),
    ]
    if report.suspects:
        rows = [("row", "label", "p", "likely", "p")]
        rows += [
            (str(s.row), _short(s.given), _p(s.p_given), _short(s.likely), _p(s.p_likely))
            for s in report.suspects[:top]
        ]
        heading = f"Labels that the other rows contradict, by {report.method}:"
        parts.append(
            textwrap.fill(heading, _WIDTH, subsequent_indent="  ")
            + "\n"
            + _table(rows, "><><>")
            + _more(len(report.suspects), top)
        )
    if report.conflicts:
        shown = [
            f"  rows {_list(conflict.rows)}: "
            + ", ".join(f"{_short(label)} {count}" for label, count in conflict.labels.items())
            for conflict in report.conflicts[:top]
        ]
        text = "\n".join(textwrap.shorten(line.strip(), _WIDTH - 2, placeholder=" ...") for line in shown)
        parts.append(
            "Identical rows with different labels:\n"
            + textwrap.indent(text, "  ")
            + _more(len(report.conflicts), top)
        )
    return "\n\n".join(parts)


def columns_text(columns: list[ColumnProfile]) -> str:
    """A line for every column, and below it the advice."""
    rows = [("column", "kind", "values", "missing", "commonest", "tells")]
    rows += [
        (
            _short(column.name),
            column.kind + ("" if column.used else ", left out"),
            str(column.n_distinct),
            f"{column.missing:.0%}",
            f"{column.commonest:.0%}",
            "" if column.tells != column.tells else f"{column.tells:.0%}",
        )
        for column in columns
    ]
    text = _table(rows, "<<>>>>")
    if any(column.tells == column.tells for column in columns):
        text += "\n\n" + textwrap.fill(_TELLS, _WIDTH, subsequent_indent="  ")
    advised: dict[str, list[str]] = {}
    for column in columns:
        if column.advice:
            advised.setdefault(column.advice, []).append(_short(column.name))
    if advised:
        notes = [
            textwrap.fill(f"{', '.join(names)}: {what}", _WIDTH, subsequent_indent="  ")
            for what, names in advised.items()
        ]
        text += "\n\n" + "\n".join(notes)
    return text


def audit_page(report: "AuditReport", title: str, top: int) -> str:
    """A page of its own."""
    environment = page_environment("localbayes.auditing")
    return environment.get_template("audit.html.j2").render(
        title=title, report=report, findings=findings(report), top=top, short=_short, p=_p, list=_list
    )


def _table(rows: Sequence[tuple[str, ...]], sides: str) -> str:
    """Columns as wide as their widest cell; ``sides`` says where each stands."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True))
        for row in rows
    ]
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def _short(value: Any) -> str:
    """A name or label that fits into a table; what a terminal would not print is replaced."""
    text = "".join(c if c.isprintable() else "�" for c in str(value))
    return text if len(text) <= _NAME else text[: _NAME - 3] + "..."


def _p(probability: float) -> str:
    return f"{probability:.3f}"


def _list(rows: tuple[int, ...]) -> str:
    return ", ".join(map(str, rows[:6])) + (", ..." if len(rows) > 6 else "")


def _more(n: int, shown: int) -> str:
    return f"\n  and {n - shown} more" if n > shown else ""


def _counted(n: int, what: str, several: str | None = None) -> str:
    return f"{n} {what if n == 1 else several or what + 's'}"
