"""All commands in one program."""

from __future__ import annotations

from typing import Annotated

import typer

from localbayes.cli import (
    about,
    audit_command,
    data_commands,
    evaluate,
    explain_command,
    models,
    study,
    tune,
    what_if_command,
)
from localbayes.cli.errors import OneLineErrors
from localbayes.cli.plain import PlainApp

__all__ = ["app"]

app = PlainApp(
    name="localbayes",
    cls=OneLineErrors,
    help="Classification of tables with local Bayesian models.",
    no_args_is_help=True,
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
    explain_command.explain,
    what_if_command.what_if,
    evaluate.evaluate,
    audit_command.inspect,
    audit_command.audit,
    tune.tune,
    about.methods,
    about.info,
):
    app.command()(_command)
app.add_typer(data_commands.app, name="data")
app.add_typer(study.app, name="study")
