"""`localbayes tune`: the leave-one-out curve of kappa."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.input_tables import check_place, size_text
from localbayes.cli.inputs import Columns, data_path, input_name, read_labelled, reading
from localbayes.cli.layout import add_row, make_table, print_table, stdout_console
from localbayes.cli.options import (
    AlphaOption,
    BinsOption,
    CategoricalOption,
    DataArgument,
    DecimalOption,
    DropOption,
    EncodingOption,
    ForceOption,
    JobsOption,
    KeepOption,
    MissingOption,
    NaOption,
    ParamOption,
    SepOption,
    SkipOption,
    TargetOption,
    make_model,
)
from localbayes.cli.waiting import sign_of_life

if TYPE_CHECKING:
    from rich.table import Table

    from localbayes.classifiers import LCWNB

__all__ = ["tune"]


def tune(
    data: DataArgument,
    target: TargetOption = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the curve: .svg, .png or .pdf.", show_default=False
        ),
    ] = None,
    alpha: AlphaOption = None,
    n_bins: BinsOption = None,
    missing: MissingOption = None,
    categorical: CategoricalOption = None,
    param: ParamOption = None,
    drop: DropOption = None,
    keep: KeepOption = None,
    skip_unlabelled: SkipOption = False,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    jobs: JobsOption = 1,
    force: ForceOption = False,
) -> None:
    """Show how well LCWNB does on training rows left out, for every kappa of its grid.

    The table gives accuracy and log loss and the weight that kappa="mixture", the default of `fit`, gives
    to each kappa; a star marks the one that kappa="loo" takes.

    Example: `localbayes tune votes.csv --target party --plot kappa.svg`
    """
    from localbayes._files import write_output

    model: Any = make_model(["LCWNB"], param, kappa="mixture", alpha=alpha, n_bins=n_bins, missing=missing)
    if model.kappa != "mixture":
        raise ValueError(
            f"tune tries a grid of kappas of its own, got --param kappa={model.kappa}; leave it out"
        )
    model.n_jobs = jobs
    if plot is not None:
        if plot.suffix.lower() not in (".svg", ".png", ".pdf"):
            raise ValueError(f"--plot must end in .svg, .png or .pdf, got {plot}")
        check_place(plot, force, data_path(data))
    columns, how = Columns(categorical, drop, keep), reading(sep, encoding, na, decimal)
    X, y = read_labelled(data, target, columns, how, skip_unlabelled)
    with sign_of_life("leaving rows out"):
        model.fit(X, y)
    if model.loo_ is None:
        raise ValueError(f"{data} has one class only; there is nothing to tune")
    typer.echo(f"{input_name(data_path(data))}: {size_text(X, len(model.classes_))}")
    print_table(stdout_console(), _table(model))
    if plot is not None:
        figure = model.plot_loo().figure
        picture = io.BytesIO()
        figure.savefig(picture, format=plot.suffix.lower()[1:])
        write_output(plot, picture.getvalue(), force)
        typer.echo(f"curve in {plot}")


def _table(model: LCWNB) -> Table:
    from localbayes.classifiers.kappa import least

    assert model.loo_ is not None
    headings = ("kappa", "accuracy in %", "log loss", "weight in the mixture")
    table = make_table(dict.fromkeys(headings, "number"))
    weight = dict(zip(model.kappas_.tolist(), model.kappa_weights_.tolist(), strict=True))
    best = least(model.loo_["accuracy"], model.loo_["log_loss"])
    for k, kappa in enumerate(model.loo_["kappa"].tolist()):
        add_row(
            table,
            f"{kappa:g}{' *' if k == best else '  '}",
            f"{100 * model.loo_['accuracy'][k]:.2f}",
            f"{model.loo_['log_loss'][k]:.4f}",
            f"{weight[kappa]:.3f}" if kappa in weight else "–",
        )
    return table
