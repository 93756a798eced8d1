"""Tables on the screen: fitted to a terminal, full width in a pipe; figures are never cut."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = ["ENDLESS", "add_row", "least_width", "make_table", "print_table", "stdout_console"]

# Wider than any table.
ENDLESS = 1_000_000
# Letters of a name on one line, at least.
_FEW = 8


def stdout_console() -> Console:
    """Rich's console without markup; a pipe or file has no limit on the width."""
    from rich.console import Console

    seen = sys.stdout is not None and sys.stdout.isatty()
    return Console(width=None if seen else ENDLESS, markup=False, highlight=False, emoji=False)


def make_table(kinds: dict[str, str]) -> Table:
    """Make a table without rows.

    Parameters
    ----------
    kinds : dict
        For each heading what is below it: a ``name``, which may go over several lines, or a ``number`` or
        ``figure``, which are printed whole; numbers stand to the right.

    Returns
    -------
    rich.table.Table
        The table.

    Examples
    --------
    >>> [column.no_wrap for column in make_table({"method": "name", "accuracy": "number"}).columns]
    [False, True]
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for heading, kind in kinds.items():
        # A heading may go over several lines where the figures below it may not.
        table.add_column(
            Text(heading, no_wrap=False, overflow="fold"),
            justify="right" if kind == "number" else "left",
            no_wrap=kind != "name",
            overflow="fold",
        )
    return table


def add_row(table: Table, *cells: object) -> None:
    """Add a row; what a terminal would not print is replaced."""
    from rich.text import Text

    table.add_row(*(Text("".join(c if c.isprintable() else "�" for c in str(cell))) for cell in cells))


def least_width(table: Table, letters: int = _FEW) -> int:
    """Columns of a terminal that the table needs.

    Parameters
    ----------
    table : rich.table.Table
        From `make_table`.
    letters : int
        How many letters of a name must fit on a line.

    Returns
    -------
    int
        The width.

    Examples
    --------
    >>> table = make_table({"method": "name", "accuracy": "number"})
    >>> add_row(table, "LCWNB(kappa=5)", "93.33 ± 5.44")
    >>> least_width(table)
    21
    """
    widths = [_figures(c) if c.no_wrap else min(_longest(c), letters) for c in table.columns]
    return sum(widths) + len(widths) - 1


def print_table(console: Console, table: Table) -> None:
    """Print a table from `make_table`.

    Where the terminal is too narrow for it, headings and names are continued on the next line. Where it is
    too narrow even for that, the terminal breaks the lines.
    """
    from rich.console import Console

    narrow = Console(width=ENDLESS).measure(table).maximum > console.width
    if narrow:
        table.show_edge, table.padding = False, 0
        for column in table.columns:
            column.width = _figures(column) if column.no_wrap else None
        console.print()
    console.print(table, width=max(console.width, least_width(table)))
    if narrow:  # other tables end in an empty line, too
        console.print()


def _longest(column: Any) -> int:
    """Width of the widest cell, including the heading."""
    return max(map(_cells, (column.header, *column.cells)))


def _figures(column: Any) -> int:
    """Width of the widest figure; of the heading, the longest word counts."""
    return max(map(_cells, (*column.header.split(" "), *column.cells)))


def _cells(text: Text) -> int:
    """Columns of a terminal that a text takes."""
    return text.cell_len
