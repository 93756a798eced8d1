"""`localbayes data`: list, export, verify and download data sets."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from localbayes.cli.input_tables import check_table_name, counted, table_bytes
from localbayes.cli.layout import add_row, make_table, print_table, stdout_console
from localbayes.cli.options import ForceOption
from localbayes.cli.plain import PlainApp
from localbayes.cli.progress import progress_bars
from localbayes.datasets import EMBEDDED, PAPER_SETS
from localbayes.datasets.registry import find, verify

__all__ = ["app"]

app = PlainApp(no_args_is_help=True, help="List, export, verify and download data sets.")

CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache", help="Folder for downloads [default: $LOCALBAYES_CACHE or the user's cache folder]."
    ),
]


@app.command("list")
def list_sets(cache: CacheOption = None) -> None:
    """List the paper's 36 data sets and where each is available."""
    from localbayes.datasets.download import cache_dir

    folder = cache_dir(cache)
    sizes = dict.fromkeys("nmr", "number")
    table = make_table({"name": "name", **sizes, "left out": "name", "available": "name"})
    for paper_set in PAPER_SETS.values():
        places = ["embedded"] * (paper_set.name in EMBEDDED)
        places += ["cache"] * (folder / f"{paper_set.name}.arff").is_file()
        add_row(
            table,
            paper_set.name,
            paper_set.n,
            paper_set.m,
            paper_set.r,
            ", ".join(paper_set.dropped),
            ", ".join(places) or f"OpenML {paper_set.openml_id}",
        )
    print_table(stdout_console(), table)


@app.command("export")
def export_set(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An embedded set, such as vote.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A .csv or .parquet file; without it CSV goes to standard output.",
            show_default=False,
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write a data set that comes with the package as a table; the class is the last column.

    Example: `localbayes data export vote -o vote.csv`
    """
    from localbayes._files import write_output
    from localbayes.datasets import load

    X, y = load(name)
    table = X.assign(**{str(y.name): y})
    if output is None:
        typer.echo(table_bytes(table, None), nl=False)
        return
    check_table_name(output)
    write_output(output, table_bytes(table, output), force)
    typer.echo(f"{output}: {counted(len(table), 'row')}, the class is {y.name!r}")


@app.command("verify")
def verify_folder(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with files named like iris.arff.")],
) -> None:
    """Compare the ARFF files in a folder with the registered content; exit 1 if one differs."""
    verdicts = verify(folder)
    if not verdicts:
        raise ValueError(f"no ARFF file of the paper's sets in {folder}; expected files named like iris.arff")
    for name in PAPER_SETS:
        if name not in verdicts:
            typer.echo(f"missing  {name}")
        elif verdicts[name] is None:
            typer.echo(f"ok       {name}")
        else:
            typer.echo(f"differs  {name}: {verdicts[name]}")
    right = list(verdicts.values()).count(None)
    wrong = len(verdicts) - right
    typer.echo(f"{right} ok, {len(PAPER_SETS) - len(verdicts)} missing, {wrong} differ")
    if wrong:
        raise typer.Exit(1)


@app.command("download")
def download_sets(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets [default: all 36].")] = None,
    cache: CacheOption = None,
) -> None:
    """Download data sets from OpenML into the cache; each is checked against its registered content."""
    from localbayes.datasets import ContentError
    from localbayes.datasets.download import cached, fetch

    refused = False
    wanted = [find(name).name for name in names or PAPER_SETS]
    for name in wanted:
        if cached(name, cache) is not None:
            typer.echo(f"cached      {name}")
            continue
        try:
            with _bar(name) as show:
                fetch(name, cache, progress=show)
            typer.echo(f"downloaded  {name}")
        except ContentError as error:
            refused = True
            typer.echo(f"refused     {name}: {error}", err=True)
    if refused:
        raise typer.Exit(2)


@contextlib.contextmanager
def _bar(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show the progress of one download."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn

    with progress_bars(TextColumn("{task.description}"), BarColumn(), DownloadColumn()) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
