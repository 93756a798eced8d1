"""The big table as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence

from localbayes.study.accuracy_table import Cell, Table, shown
from localbayes.study.findings import Findings
from localbayes.study.summary_rows import COUNTS, SummaryRow, summary_rows

__all__ = ["table_csv", "table_tex"]

_TEX_MARK = {"": "", "worse": r" $\bullet$", "better": r" $\circ$"}
_TEX_ESCAPES = {c: "\\" + c for c in "&%$#_{}"} | {"~": r"\~{}", "^": r"\^{}", "\\": r"\textbackslash{}"}
_TEX_ESCAPES |= {"<": r"\textless{}", ">": r"\textgreater{}"}
# Points: the width of a page's text in the class article, of a gap between columns, and the most that a name
# may take before it goes on in a second line.
_TEXT_WIDTH = 345
_GAP = 7
_NAME_WIDTH = 160
# Points of a character of Computer Modern in \footnotesize: most, capital letters, and the widest.
_CHARACTER, _CAPITAL = 4.3, 6.7
_WIDE = dict.fromkeys("MW", 8.8) | dict.fromkeys("mw@%&<>#+=~^\\", 7.2)
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def table_csv(table: Table) -> str:
    """Return the table as CSV: dataset, method, mean, sd, mark.

    A name that a spreadsheet would take for a formula has an apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "method", "mean", "sd", "mark"])
    for s in table.sets:
        for column in table.columns:
            cell = table.cell(s.name, column)
            if cell is not None:
                names = [f"'{name}" if name.startswith(_FORMULA) else name for name in (s.name, column)]
                writer.writerow([*names, shown(cell.mean), shown(cell.sd), cell.mark])
    return text.getvalue()


def table_tex(findings: Findings) -> str:
    r"""Return the table as LaTeX, for ``\usepackage{booktabs,longtable}``.

    Columns that do not fit on a page beside each other come in several tables; each may go over pages.
    """
    rows = summary_rows(findings)
    lines = [r"% Needs \usepackage{booktabs,longtable}.", r"\begingroup", r"\footnotesize"]
    lines.append(r"\setlength{\tabcolsep}{3pt}")
    for block in _blocks(findings.table, rows):
        lines += _block(findings.table, rows, block)
    return "\n".join([*lines, r"\endgroup"]) + "\n"


def _block(table: Table, rows: Sequence[SummaryRow], columns: Sequence[str]) -> list[str]:
    lines = [r"\begin{longtable}{@{}l" + "r" * len(columns) + "@{}}", r"\toprule"]
    lines += [_line("Data set", [_tex(c) for c in columns]), r"\midrule", r"\endhead"]
    for s in table.sets:
        lines.append(_line(_tex(s.name), [_cell(table.cell(s.name, c)) for c in columns]))
    lines.append(r"\midrule")
    lines += [_summary_line(row, columns) for row in rows]
    return [*lines, r"\bottomrule", r"\end{longtable}"]


def _blocks(table: Table, rows: Sequence[SummaryRow]) -> list[list[str]]:
    """Divide the columns so that every part fits the width of a page."""
    names = [s.name for s in table.sets] + [row.title for row in rows]
    first = _width(names)
    blocks: list[list[str]] = []
    used = 0.0
    for column in table.columns:
        cells = [c for s in table.sets if (c := table.cell(s.name, column))]
        texts = [column, *(f"{cell} *" for cell in cells), *(f"{row.here.get(column, '')} " for row in rows)]
        width = _width(texts)
        if blocks and used + width <= _TEXT_WIDTH:
            blocks[-1].append(column)
            used += width
        else:
            blocks.append([column])
            used = first + width
    return blocks


def _width(texts: Sequence[str]) -> float:
    return max((sum(map(_points, part)) for text in texts for part in _parts(text)), default=0) + _GAP


def _points(character: str) -> float:
    return _WIDE.get(character, _CAPITAL if character.isupper() else _CHARACTER)


def _parts(text: str) -> list[str]:
    """Divide a text into lines that are not too wide for a column."""
    parts, used = [""], 0.0
    for character in _settable(text):
        used += _points(character)
        if used > _NAME_WIDTH and parts[-1]:
            parts.append("")
            used = _points(character)
        parts[-1] += character
    return parts


def _settable(text: str) -> str:
    """Return a text of characters that every LaTeX can set; others become their numbers.

    Line ends and control characters become spaces.
    """
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return "".join(c if c.isascii() or _is_accented(c) else f"[U+{ord(c):04X}]" for c in plain)


def _is_accented(character: str) -> bool:
    """Whether a character is of the alphabet, with an accent that LaTeX knows without further packages."""
    first, *accents = list(unicodedata.normalize("NFD", character))
    return first.isascii() and 0xC0 <= ord(character) <= 0xFF and len(accents) == 1


def _cell(cell: Cell | None) -> str:
    return f"{shown(cell.mean)}$\\pm${shown(cell.sd)}{_TEX_MARK[cell.mark]}" if cell else "--"


def _summary_line(row: SummaryRow, columns: Sequence[str]) -> str:
    name = f"{{[}}{row.title}{{]}}" if row.name == COUNTS else row.title
    cells = [row.here.get(c, row.empty) + (r"$\bullet$" if c in row.dots else "") for c in columns]
    return _line(name, cells)


def _line(first: str, cells: list[str]) -> str:
    return " & ".join([first, *cells]) + r" \\"


def _tex(text: str) -> str:
    """Escape a text; one that is too wide for a column comes in several lines."""
    lines = ["".join(_TEX_ESCAPES.get(c, c) for c in part) for part in _parts(text)]
    if len(lines) > 1:
        return r"\shortstack[l]{" + r" \\ ".join(f"{{{line}}}" for line in lines) + "}"
    # After the end of a row, a bracket or a star would be taken for an option of it.
    return f"{{{lines[0][0]}}}{lines[0][1:]}" if lines[0].startswith(("[", "*")) else lines[0]
