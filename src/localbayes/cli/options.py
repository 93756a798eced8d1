"""Options that commands share, and how they become classifiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.input_tables import TABLE_HELP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localbayes.classifiers import BayesClassifier

__all__ = ["make_model", "make_models", "method_names"]

DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help=f"{TABLE_HELP} Or - for standard input, or the name of an embedded set such as vote.",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Column with the class.", show_default=False),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help="Classifier; see `localbayes methods`. [default: LocalBayesClassifier, or LCWNB with --kappa]",
    ),
]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAMES",
        help="Classifiers: NAME,NAME or all; see `localbayes methods`. "
        "[default: LocalBayesClassifier, or LCWNB with --kappa]",
    ),
]
KappaOption = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|HOW",
        help="LCWNB: expected number of rows of a class that count, or how to choose it: "
        "mixture (the default), loo or switch.",
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
        help="Bins of a numeric column. How to cut it, with -p: {discretizers}.",
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
        help="A column of numbers that are categories, or of ids that are to be used; repeat for more.",
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

# --- how the file is read -----------------------------------------------------------------------------

SepOption = Annotated[
    str | None,
    typer.Option("--sep", metavar="CHAR", help="CSV: what stands between cells, such as ; or tab."),
]
EncodingOption = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="CSV: encoding, such as latin-1.")
]
NaOption = Annotated[
    list[str] | None,
    typer.Option("--na", metavar="WORD", help="CSV: a further word for missing; repeat for more."),
]
DecimalOption = Annotated[
    str,
    typer.Option("--decimal", metavar="CHAR", help="CSV: decimal point; with a comma, ; separates cells."),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="A column to leave out; repeat for more."),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COL", help="A column to learn from, and no others; repeat for more."),
]
SkipOption = Annotated[bool, typer.Option("--skip-unlabelled", help="Leave out rows without a class.")]


def method_names(methods: Sequence[str] | None, kappa: Any = None) -> list[str]:
    """Names of classifiers, from what was given: repeated, with commas, in any case, or all.

    Without a name it is the classifier for raw tables, or LCWNB where a kappa was given.

    Examples
    --------
    >>> method_names(["lcwnb,NB", "AODE", "nb"])
    ['LCWNB', 'NB', 'AODE']
    """
    from localbayes.classifiers import CLASSIFIERS
    from localbayes.datasets.registry import no_such

    known = {name.lower(): name for name in CLASSIFIERS}
    chosen: dict[str, None] = {}
    for given in methods or ["LocalBayesClassifier" if kappa is None else "LCWNB"]:
        for word in given.split(","):
            if word.strip().lower() == "all":
                chosen |= dict.fromkeys(CLASSIFIERS)
            elif word.strip().lower() in known:
                chosen[known[word.strip().lower()]] = None
            else:
                raise ValueError(no_such("method is called", word.strip(), CLASSIFIERS))
    return list(chosen)


def make_model(
    methods: Sequence[str] | None, param: list[str] | None = None, **given: Any
) -> BayesClassifier:
    """Make the one classifier that was asked for.

    Parameters
    ----------
    methods : list of str or None
        What was given as ``--method``.
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
    >>> make_model(["lcwnb"], kappa="20", alpha=None)
    LCWNB(kappa=20)
    """
    names = method_names(methods, given.get("kappa"))
    if len(names) > 1:
        raise ValueError(f"--method must name one classifier here, got {', '.join(names)}")
    return make_models(names, param, **given)[0]


def make_models(names: Sequence[str], param: list[str] | None = None, **given: Any) -> list[BayesClassifier]:
    """Make classifiers, each with those of the given parameters that it has.

    Examples
    --------
    >>> make_models(["LCWNB", "NB"], kappa="20", alpha=0.5)
    [LCWNB(alpha=0.5, kappa=20), NB(alpha=0.5)]
    """
    from localbayes.classifiers import CLASSIFIERS

    chosen = {key: value for key, value in given.items() if value is not None}
    if "kappa" in chosen:
        chosen["kappa"] = _number_or_text(chosen["kappa"])
    for text in param or []:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--param must be NAME=VALUE, got {text!r}")
        chosen[key.strip()] = _number_or_text(value.strip())
    models = [CLASSIFIERS[name]() for name in names]
    known = [model.get_params() for model in models]
    unknown = sorted(key for key in chosen if not any(key in params for params in known))
    if unknown:
        raise ValueError(f"{names[0]} has no parameter {unknown[0]!r}; it has {', '.join(known[0])}")
    for model, params in zip(models, known, strict=True):
        model.set_params(**{key: value for key, value in chosen.items() if key in params})
    return models


def _number_or_text(text: str) -> Any:
    for read in (json.loads, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
