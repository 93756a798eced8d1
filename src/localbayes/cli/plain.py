"""Help that looks the same in all versions of typer: flags take no value, arguments have no braces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["PlainApp", "PlainGroup"]

Command = TypeVar("Command", bound=Callable[..., Any])


class _PlainHelp:
    """Mixin for commands and groups; some versions of typer show ``--force <bool>`` and ``{DATA}``."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters; flags show no value."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Fill in the list of discretizers, which is too slow to import before help is asked for."""
        for param in self.get_params(ctx):
            if "{discretizers}" in (getattr(param, "help", None) or ""):
                param.help = param.help.replace("{discretizers}", _discretizers())
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Words of the usage line."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [piece.strip("{}") for piece in pieces]


class _PlainCommand(_PlainHelp, TyperCommand):
    pass


class PlainGroup(_PlainHelp, TyperGroup):
    """A group of commands with plain help."""


class PlainApp(typer.Typer):
    """Typer's collection of commands, each with plain help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": PlainGroup} | settings)

    def command(self, *args: Any, **settings: Any) -> Callable[[Command], Command]:
        """Register a command."""
        return super().command(*args, **{"cls": _PlainCommand} | settings)


def _discretizers() -> str:
    """List the ways to cut a numeric column."""
    from localbayes.encoding.discretize import DISCRETIZERS

    summaries = {name: way.summary.rstrip(".").replace("`", "") for name, way in DISCRETIZERS.items()}
    return ", ".join(f"discretize={name} ({text[:1].lower()}{text[1:]})" for name, text in summaries.items())
