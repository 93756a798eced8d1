"""What a report is made of: pictures and sections, described as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localbayes.study.svg import Drawing

if TYPE_CHECKING:
    from localbayes.study.findings import Findings

__all__ = ["Column", "Content", "Picture", "Section", "plain_table"]


@dataclass(frozen=True)
class Picture:
    """A figure of the report.

    Parameters
    ----------
    name : str
        Name of its file, without the ending.
    section : str
        Key of the section that shows it.
    drawing : Drawing
        The picture.
    caption : str
        What it shows.
    own_file : bool
        Whether it is also written as a file of its own.
    parts : tuple of Drawing
        The same in pieces that find room side by side or below each other; for the page.
    narrow : Drawing, optional
        What a narrow screen shows in its place.
    details : tuple of str
        Texts in a box that opens on request; the first is its title.
    """

    name: str
    section: str
    drawing: Drawing
    caption: str
    own_file: bool = True
    parts: tuple[Drawing, ...] = ()
    narrow: Drawing | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Content:
    """Everything that a page is made from."""

    findings: Findings
    pictures: Sequence[Picture]
    invocations: Sequence[dict[str, Any]]
    about: dict[str, str]


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    key : str
        Its anchor.
    name : str
        Its name in the navigation.
    template : str
        File in the folder ``templates``.
    values : callable
        Takes the `Content`, returns what the template needs; None leaves the section out.
    after : str
        Key of the section that it follows; for sections of a benchmark.
    """

    key: str
    name: str
    template: str
    values: Callable[[Content], dict[str, Any] | None]
    after: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a plain table on the page: its heading, the text of a row, its CSS class, what is bold."""

    heading: str
    text: Callable[[Any], str]
    css: str = ""
    bold: Callable[[Any], bool] = lambda row: False


def plain_table(columns: Sequence[Column], rows: Sequence[Any]) -> dict[str, Any]:
    """Return a table for the macro ``plain``: headings with their classes, and rows of texts.

    Examples
    --------
    >>> plain_table([Column("Name", str), Column("Twice", lambda n: str(2 * n), "num")], [3])["rows"]
    [[('3', '', False), ('6', 'num', False)]]
    """
    return {
        "heads": [(c.heading, "num" if c.css == "num" else "") for c in columns],
        "rows": [[(c.text(row), c.css, c.bold(row)) for c in columns] for row in rows],
    }
