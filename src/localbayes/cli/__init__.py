"""The command line: parse, call, print.

``errors.py`` turns whatever goes wrong into one line; ``tables.py`` reads and writes tables;
``options.py`` holds the options that commands share; every other file holds commands. What is slow to
import is imported by the command that needs it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from localbayes.cli import about, evaluate, explain, models, tune
from localbayes.cli.errors import OneLineErrors

__all__ = ["app", "main"]

app = typer.Typer(
    name="localbayes",
    cls=OneLineErrors,
    help="Local Bayesian classifiers for categorical data.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from localbayes import __version__

        typer.echo(f"localbayes {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


for _command in (
    models.fit,
    models.predict,
    explain.explain,
    evaluate.evaluate,
    tune.tune,
    about.methods,
    about.info,
):
    app.command()(_command)
for _group in ("data", "study"):
    if find_spec(f"{__name__}.{_group}"):
        app.add_typer(import_module(f"{__name__}.{_group}").app, name=_group)


def main() -> None:
    """Run the command line."""
    app(prog_name="localbayes")
