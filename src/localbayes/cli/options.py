"""Options that commands share, and how they become a classifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.tables import TABLE_HELP

if TYPE_CHECKING:
    from collections.abc import Callable

    from localbayes.classifiers import BayesClassifier

__all__ = ["check_categorical", "make_model", "text_columns"]

DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help=TABLE_HELP, show_default=False)]
TargetOption = Annotated[
    str, typer.Option("--target", "-t", metavar="COL", help="Column with the class.", show_default=False)
]
MethodOption = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="Classifier; see `localbayes methods`.")
]
KappaOption = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|mixture|loo|switch",
        help="LCWNB: expected number of rows of a class that count, or how to choose it.",
    ),
]
AlphaOption = Annotated[float | None, typer.Option(metavar="NUMBER", help="Laplace's constant.")]
NeighboursOption = Annotated[
    int | None, typer.Option("--k", metavar="N", help="LWNB, ICLNB: number of neighbours.")
]
BinsOption = Annotated[
    int | None,
    typer.Option(
        "--n-bins",
        metavar="N",
        help="Bins of a numeric column: of equal width, or with -p discretize=quantile of equally many rows; "
        "-p discretize=mdl finds their number.",
    ),
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="Missing values: impute (mean, mode), category (a value of their own) or ignore.",
    ),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COL|all",
        help="A column of numbers that are categories; repeat for more. Columns of text always are.",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="NAME=VALUE", help="Any other parameter of the method."),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", help="Threads; -1 for all cores. The answer is the same.")
]
DaskOption = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Work on the Dask cluster of this scheduler."),
]
ForceOption = Annotated[bool, typer.Option("--force", "-f", help="Replace the output if it exists.")]


def make_model(method: str, param: list[str] | None = None, **given: Any) -> BayesClassifier:
    """Make a classifier from what was given on the command line.

    Parameters
    ----------
    method : str
        Name of a method, in any case.
    param : list of str, optional
        Further parameters as NAME=VALUE.
    **given
        Parameters by name; None where an option was not given.

    Returns
    -------
    BayesClassifier
        Not fitted yet.

    Examples
    --------
    >>> make_model("lcwnb", kappa="20", alpha=None)
    LCWNB(kappa=20)
    """
    from localbayes.classifiers import METHODS
    from localbayes.datasets.registry import no_such

    name = {known.lower(): known for known in METHODS}.get(method.lower())
    if name is None:
        raise ValueError(no_such("method is called", method, METHODS))
    chosen = {key: value for key, value in given.items() if value is not None}
    if "kappa" in chosen:
        chosen["kappa"] = _number_or_text(chosen["kappa"])
    for text in param or []:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--param must be NAME=VALUE, got {text!r}")
        chosen[key.strip()] = _number_or_text(value.strip())
    model = METHODS[name]()
    known = model.get_params()
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise ValueError(f"{name} has no parameter {unknown[0]!r}; it has {', '.join(known)}")
    model.set_params(**chosen)
    return model


def text_columns(categorical: list[str] | None, target: str) -> Callable[[str], bool]:
    """Say which columns to read as text because ``--categorical`` names them.

    Examples
    --------
    >>> is_text = text_columns(["zip"], "class")
    >>> is_text("zip"), is_text("age")
    (True, False)
    """
    listed = set(categorical or [])
    return lambda name: name != target and (name in listed or "all" in listed)


def check_categorical(categorical: list[str] | None, columns: list[str]) -> None:
    """Refuse ``--categorical`` for a column that the table lacks."""
    from localbayes.datasets.registry import no_such

    for name in categorical or []:
        if name != "all" and name not in columns:
            raise ValueError("--categorical: " + no_such("feature is called", name, columns))


def _number_or_text(text: str) -> Any:
    for read in (json.loads, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
