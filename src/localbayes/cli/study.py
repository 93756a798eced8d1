"""`localbayes study`: run a study, write its report, show its table."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.input_tables import counted
from localbayes.cli.layout import ENDLESS, stdout_console
from localbayes.cli.notices import one_line, say
from localbayes.cli.plain import PlainApp
from localbayes.cli.progress import progress_bars

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from localbayes.study.findings import Findings
    from localbayes.study.plan import Plan, Unit

__all__ = ["app"]

app = PlainApp(no_args_is_help=True, help="Compare classifiers under Weka's folds, filters and tests.")

StoreOption = Annotated[Path, typer.Option("--store", help="SQLite file with the results.")]
ReferenceOption = Annotated[
    str | None,
    typer.Option(
        "--reference",
        help="Column that the marks refer to [default: LCWNB5; LocalBayes or LCWNB on raw tables and where "
        "no data set is the paper's; else the first with results].",
    ),
]


@app.command("run")
def run(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="Folder with the paper's data sets as ARFF files, or with your own data files."
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--sets",
            help="Data sets, separated by commas: names of the paper's, `paper`, `embedded`, or ARFF, CSV, "
            "TSV and Parquet files [default: those in --data, else the embedded ones].",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            help="Columns, separated by commas: built-in names, `paper`, package.module:object or "
            "name=package.module:object [default: LocalBayes, LCWNB, the paper's ten and variants; with "
            "--raw LocalBayes, LCWNB, NB and three of scikit-learn's].",
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Runs of cross-validation.")] = 10,
    folds: Annotated[int, typer.Option("--folds", help="Folds in a run.")] = 10,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Processes [default: one per processor].")
    ] = None,
    store: StoreOption = Path("study.db"),
    target: Annotated[
        str | None, typer.Option("--target", help="Class column of your own files [default: the last].")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Give methods the tables as they are, without the paper's filters."),
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try failed folds again.")] = False,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Work on the Dask cluster of this scheduler."),
    ] = None,
) -> None:
    """Run a study, or go on with it: folds that the store has are not run again."""
    from joblib import cpu_count

    from localbayes.study import make_plan, run_study

    plan = make_plan(
        _split(sets), _split(methods), runs=runs, folds=folds, data_dir=data, target=target, raw=raw
    )
    _check_target(plan, target)
    if data is not None and not sets:
        _name_files_not_used(data)
    number = jobs if jobs is not None else cpu_count()
    threads = set(threading.enumerate())
    try:
        with _naming_the_store(store), _Bar() as bar:
            outcome = run_study(plan, store, jobs=number, retry=retry, progress=bar, dask=dask)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {store} keeps what is done, run again to go on", err=True)
        raise typer.Exit(130) from None
    troubles = list(outcome.refused)
    if outcome.failed_before:
        troubles.append(f"{counted(outcome.failed_before, 'fold')} failed earlier; --retry tries them again")
    if outcome.failed:
        troubles.append(f"{outcome.failed} failed, the first: {outcome.first_error}; --retry tries again")
    if outcome.rows:
        failed = f" and {counted(outcome.failed, 'failure')}" if outcome.failed else ""
        results = counted(outcome.rows - outcome.failed, "fold result")
        typer.echo(f"{store}: {results}{failed} in {outcome.seconds:.0f} s")
    elif troubles:
        typer.echo(f"{store}: nothing to do")
    else:
        number = len(plan.sources)
        complete = "the data set is" if number == 1 else f"all {number} data sets are"
        typer.echo(f"{store}: nothing to do, {complete} complete")
    for trouble in troubles:
        say(trouble)
    _end_if_threads_stay(threads, 1 if troubles else 0)
    if troubles:
        raise typer.Exit(1)


@app.command("report")
def report(
    store: StoreOption = Path("study.db"),
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the report; a report that is there is replaced.")
    ] = Path("study-report"),
    reference: ReferenceOption = None,
) -> None:
    """Write tables, figures and a page, from the store alone."""
    from localbayes.study import write_report

    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; expected a folder")
    with _naming_the_store(store):
        files = write_report(store, out, reference)
    typer.echo(f"{len(files)} files in {out}; open {files[-1]}")


@app.command("show")
def show(store: StoreOption = Path("study.db"), reference: ReferenceOption = None) -> None:
    """Print the table, in several blocks where the terminal is too narrow for it."""
    from localbayes.study.findings import examine
    from localbayes.study.given import given
    from localbayes.study.store import Store

    with _naming_the_store(store), Store(store, create=False) as opened:
        findings = examine(opened, reference)
    console = stdout_console()
    console.print(given(findings.summary.raw), markup=False, highlight=False, overflow="fold")
    blocks = _blocks(findings, console.width)
    for block in blocks:
        console.print(block)
    brief = blocks[0].row_count < _rich_table(findings).row_count
    for line in _legend(findings, brief):
        console.print(line, markup=False, highlight=False, overflow="fold")
    failed: dict[str, int] = {}
    for failure in findings.summary.failures:
        failed[failure.dataset] = failed.get(failure.dataset, 0) + failure.folds
    shown = {s.name for s in findings.table.sets}
    absent = [f"{name} ({counted(n, 'failed fold')})" for name, n in failed.items() if name not in shown]
    if absent:
        typer.echo(f"not shown: {one_line(', '.join(absent))}")


def _end_if_threads_stay(before: set[threading.Thread], code: int) -> None:
    """End the program at once if a method has left threads behind for which Python would wait."""
    left = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    if left:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _split(given: Sequence[str] | None) -> list[str]:
    """Take commas apart, except in the name of a file that exists."""
    # Unlike Path.exists, os.path.exists takes a list that is too long for a name.
    parts = (part for text in given or () for part in ([text] if os.path.exists(text) else text.split(",")))
    return [part.strip() for part in parts if part.strip()]


def _check_target(plan: Plan, target: str | None) -> None:
    """Refuse a target that a file lacks, or that is no class, before any fold fails of it."""
    from localbayes.datasets.reading import read_table, split_target

    for path in [source.path for source in plan.sources if source.path is not None and target is not None]:
        try:
            table = read_table(path)
        except (ValueError, OSError):
            continue  # Its folds will say what is wrong with the file.
        split_target(table, target, path)


@contextmanager
def _naming_the_store(store: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"the store {store} cannot be used: {error}") from error


def _blocks(findings: Findings, width: int) -> list[RichTable]:
    """Lay out the table for a terminal: whole if it fits, else brief, in blocks of as many columns as fit."""
    from rich.console import Console

    endless = Console(width=ENDLESS)
    whole = _rich_table(findings)
    if endless.measure(whole).maximum <= width:
        return [whole]
    blocks: list[list[str]] = []
    for column in findings.table.columns:
        more = [*blocks[-1], column] if blocks else [column]
        if blocks and endless.measure(_rich_table(findings, brief=True, columns=more)).maximum <= width:
            blocks[-1] = more
        else:
            blocks.append([column])
    return [_rich_table(findings, brief=True, columns=block) for block in blocks]


def _rich_table(findings: Findings, brief: bool = False, columns: Sequence[str] | None = None) -> RichTable:
    """Lay out the table, or some of its columns.

    The brief one has no deviations and counts, for a narrow terminal. What is too long for the terminal even
    so, such as the name of a column, is continued on the next line.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from localbayes.study.accuracy_table import shown
    from localbayes.study.report_sections import SYMBOL
    from localbayes.study.summary_rows import COUNTS, summary_rows

    table = findings.table
    columns = table.columns if columns is None else columns
    printed = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    printed.add_column("data set", overflow="fold")
    for column in columns:
        printed.add_column(Text(column), justify="right", overflow="fold")
    style = {"": "", "worse": "red", "better": "green"}
    for s in table.sets:
        cells = [table.cell(s.name, column) for column in columns]
        texts = [
            Text(f"{shown(c.mean) if brief else c}{SYMBOL[c.mark] or ' '}", style=style[c.mark])
            if c
            else Text("–")
            for c in cells
        ]
        printed.add_row(Text(s.name), *texts)
    printed.add_section()
    for row in summary_rows(findings):
        if not (brief and row.name == COUNTS):
            ours = [
                Text(f"{row.here[c]}{'●' if c in row.dots else ' '}" if c in row.here else "")
                for c in columns
            ]
            printed.add_row(Text(row.name), *ours)
    return printed


def _legend(findings: Findings, brief: bool) -> list[str]:
    """Say what marks and rows mean, and which columns have fewer results than others."""
    reference = findings.table.reference
    lines = [f"● significantly worse than {reference}, ○ significantly better (corrected paired t-test, 5 %)"]
    if not brief and len(findings.table.columns) > 1:
        lines.append(
            f"s.w./m.w./m.b./s.b.: on how many sets {reference} is significantly worse, marginally worse, "
            "marginally better, significantly better than the column; ● if a sign test calls the column worse"
        )
    if findings.partial:
        parts = "; ".join(f"{column} ({words})" for column, words in findings.partial.items())
        lines.append(f"measured in part: {one_line(parts)}")
    return lines


def _name_files_not_used(data: Path) -> None:
    from localbayes.study.study_sets import files_not_used

    left = files_not_used(data)
    if left:
        say(f"not used of {data}: {one_line(', '.join(left))}; --sets takes files by name")


class _Bar:
    """Progress of a study."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

        description = TextColumn("{task.description}", markup=False)
        self._progress = progress_bars(BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), description)
        self._task: Any = None

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, todo: Sequence[tuple[Unit, int]]) -> None:
        """Show the bar."""
        total = sum(rows * _weight(unit) for unit, rows in todo)
        self._task = self._progress.add_task("starting", total=total)

    def advance(self, unit: Unit, rows: int) -> None:
        """Move the bar."""
        name, method, number = unit.key
        description = f"{name} · {method} · run {number}"
        self._progress.update(self._task, advance=rows * _weight(unit), description=description)

    def waiting(self, units: int) -> None:
        """Say that another run has the rest."""
        self._progress.update(
            self._task, description=f"waiting for another run that has the last {units} units"
        )


def _weight(unit: Unit) -> float:
    """How long a fold takes, roughly: between linear in the cells, for the eager methods, and quadratic."""
    return float(unit.source.size**1.5)
