"""`localbayes methods` and `localbayes info`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["info", "methods"]

_WIDTH = 80
_NEEDED = ("numpy", "scipy", "scikit-learn", "skops")
_OPTIONAL = {
    "pandas": "tables",
    "pyarrow": "Parquet",
    "openpyxl": "Excel files",
    "polars": "polars tables",
    "matplotlib": "plots",
    "jinja2": "pages of the study and of explanations",
    "dask": "clusters",
    "distributed": "clusters",
}


def methods(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Describe this one with its parameters.", show_default=False),
    ] = None,
) -> None:
    """List the classifiers, a line each, or describe one with its parameters.

    Example: `localbayes methods LCWNB`
    """
    from localbayes.classifiers import CLASSIFIERS
    from localbayes.cli.layout import stdout_console
    from localbayes.cli.options import method_names

    if name is not None:
        (chosen, *_) = method_names([name])
        typer.echo(_method_text(CLASSIFIERS[chosen]))
        return
    width = max(map(len, CLASSIFIERS))
    seen = stdout_console().width  # endless in a pipe
    for known, cls in CLASSIFIERS.items():
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        indent = " " * (width + 2)
        typer.echo(textwrap.fill(f"{known:{width}}  {summary}", seen, subsequent_indent=indent))


def _method_text(cls: type) -> str:
    """Docstring of a classifier up to its parameters, and how the parameters are set by default."""
    import inspect

    defaults = [str(p) for p in inspect.signature(cls).parameters.values()]
    plain = [re.sub(r": .* = ", "=", text) for text in defaults]
    head = textwrap.fill(f"{cls.__name__}({', '.join(plain)})", _WIDTH, subsequent_indent="    ")
    text = inspect.cleandoc(cls.__doc__ or "")
    end = re.search(r"^(Attributes|Notes|References|See Also|Examples)\n-+$", text, re.MULTILINE)
    return f"{head}\n\n{_for_a_terminal(text[: end.start() if end else None].rstrip())}"


def _for_a_terminal(text: str) -> str:
    """A docstring in lines of at most 80 characters, without the marks of Sphinx.

    Examples
    --------
    >>> print(_for_a_terminal("As in :class:`LCWNB`. The score is::\\n\\n    a + b"))
    As in LCWNB. The score is:
    <BLANKLINE>
        a + b
    """
    text = re.sub(r":[a-z]+:`~?([^`]+)`|``([^`]+)``|`([^`]+)`", r"\1\2\3", text).replace("::\n", ":\n")
    parts = re.split(r"(?=^Parameters\n-)", text, maxsplit=1, flags=re.MULTILINE)
    return "".join("\n".join(_filled(part, described=k > 0)) for k, part in enumerate(parts))


def _filled(text: str, described: bool) -> Iterator[str]:
    """Lines of prose filled up: those that begin at the margin, or below the names that they describe."""

    def indent_of(line: str) -> int:
        return len(line) - len(line.lstrip())

    for indent, run in groupby(text.split("\n"), key=lambda line: indent_of(line) if line else None):
        lines, margin = list(run), " " * (indent or 0)
        if indent is not None and (indent > 0) == described:
            lines = [margin + " ".join(line.strip() for line in lines)]
        for line in lines:
            yield textwrap.fill(line, _WIDTH, subsequent_indent=margin or " " * 4 * described)


def info(
    model_file: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="Show what this model file holds.", show_default=False),
    ] = None,
) -> None:
    """Show versions, the instruction set in use and the packages found; or what a model file holds.

    Example: `localbayes info votes.skops`
    """
    if model_file is not None:
        from localbayes.cli.describe import describe_model
        from localbayes.persistence import load_classifier

        model = load_classifier(model_file)
        typer.echo(f"{model_file}: {model}\n{describe_model(model)}")
        return
    import os
    import platform

    from localbayes import __version__, counts

    lines = [
        ("localbayes", __version__),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("cores", str(os.cpu_count())),
        ("instruction set", f"{counts.isa()} (available: {', '.join(counts.isas())})"),
        *((name, _version(name) or "not installed") for name in _NEEDED),
        *((name, _version(name) or f"not installed ({purpose})") for name, purpose in _OPTIONAL.items()),
    ]
    for name, value in lines:
        typer.echo(f"{name:15}  {value}")


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
