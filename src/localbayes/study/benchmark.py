"""What a study may be compared with: a published study, as plain data that the engine reads.

The engine runs and reports any study. A `Benchmark` adds data sets and columns known by name, a table of
published figures, tests, figures and sections of the report. One benchmark is in use at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from localbayes.study.accuracy_table import SetInfo, Table
    from localbayes.study.comparison import Answer
    from localbayes.study.findings import Findings
    from localbayes.study.methods import Method
    from localbayes.study.report_parts import Picture, Section

__all__ = ["Benchmark", "Catalogue", "current", "use"]


def _nothing(*_: Any) -> tuple[()]:
    return ()


def _no_table() -> Table:
    from localbayes.study.accuracy_table import Table

    return Table((), (), {}, "")


def _no_set(name: str, folder: Path | None) -> Any:
    raise ValueError(f"no data set is called {name!r}")


@dataclass(frozen=True)
class Catalogue:
    """Data sets that are known by name.

    Parameters
    ----------
    sets : mapping of str to SetInfo
        The sets, in the order in which they are run.
    groups : mapping of str to sequence of str
        Names that stand for several sets.
    default : str
        Set or group that is used where no set is named.
    load : callable
        Takes a name and a folder with data files, or None; returns attributes and classes.
    """

    sets: Mapping[str, SetInfo] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    default: str = ""
    load: Callable[[str, Path | None], tuple[pd.DataFrame, pd.Series[Any]]] = _no_set


@dataclass(frozen=True)
class Benchmark:
    """A published study: what it ran, what it printed and what a report says about it.

    Parameters
    ----------
    label : str
        One word for the published side: heading of its figures, and key in ``tests.json``.
    possessive : str
        The same in a sentence, such as "Smith's".
    citation : tuple of two str
        Title and authors.
    catalogue : Catalogue
        Its data sets.
    columns : tuple of str
        Its columns, in their order.
    reference : str
        The column that its marks refer to.
    default_columns : tuple of str
        Columns of a study that names none.
    groups : mapping of str to tuple of str
        Names that stand for several columns.
    methods : callable
        Returns the methods that fill its columns, where these are not the engine's own.
    table : callable
        Returns the published table.
    counts : mapping of str to str
        The published row of counts.
    repeats : mapping of str to str
        Columns that repeat a published one with another rule for ties. They are compared with it, and not
        shown beside it.
    answers : callable
        Takes a table of its sets and columns; returns the tests on it. Called with the published table and
        with the measured one.
    answers_on_more : callable
        Takes the whole measured table; returns tests of further columns.
    tests_note : str
        A sentence above the tests.
    facts : callable
        Takes the findings; returns pairs of a figure and what it counts.
    pictures : callable
        Takes the findings; returns further figures.
    sections : tuple of Section
        Further sections of the page.
    templates : str
        Package whose folder ``templates`` has the templates of these sections.
    data : callable
        Takes the findings; returns further entries of ``tests.json``.
    """

    label: str = "published"
    possessive: str = "the published"
    citation: tuple[str, str] = ("", "")
    catalogue: Catalogue = field(default_factory=Catalogue)
    columns: tuple[str, ...] = ()
    reference: str = ""
    default_columns: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    methods: Callable[[], Sequence[Method]] = _nothing
    table: Callable[[], Table] = _no_table
    counts: Mapping[str, str] = field(default_factory=dict)
    repeats: Mapping[str, str] = field(default_factory=dict)
    answers: Callable[[Table], Iterable[Answer]] = _nothing
    answers_on_more: Callable[[Table], Iterable[Answer]] = _nothing
    tests_note: str = ""
    facts: Callable[[Findings], Sequence[tuple[str, str]]] = _nothing
    pictures: Callable[[Findings], Sequence[Picture]] = _nothing
    sections: tuple[Section, ...] = ()
    templates: str = ""
    data: Callable[[Findings], Mapping[str, Any]] = lambda findings: {}


_in_use = [Benchmark()]


def current() -> Benchmark:
    """Return the benchmark in use.

    Examples
    --------
    >>> current().reference in current().columns
    True
    """
    return _in_use[0]


def use(benchmark: Benchmark) -> Benchmark:
    """Put a benchmark into use and return the one before it.

    Examples
    --------
    >>> before = use(Benchmark(label="mine"))
    >>> use(before).label
    'mine'
    """
    before, _in_use[0] = _in_use[0], benchmark
    return before
