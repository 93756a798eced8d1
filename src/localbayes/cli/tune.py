"""`localbayes tune`: the leave-one-out curve of kappa."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localbayes.cli.layout import add_row, make_table, print_table, stdout_console
from localbayes.cli.options import (
    AlphaOption,
    BinsOption,
    CategoricalOption,
    DataArgument,
    ForceOption,
    JobsOption,
    MissingOption,
    ParamOption,
    TargetOption,
    check_categorical,
    make_model,
    text_columns,
)
from localbayes.cli.tables import check_place, size_text
from localbayes.datasets.reading import read_table, split_target

if TYPE_CHECKING:
    from rich.table import Table

    from localbayes.classifiers import LCWNB

__all__ = ["tune"]


def tune(
    data: DataArgument,
    target: TargetOption,
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
    jobs: JobsOption = 1,
    force: ForceOption = False,
) -> None:
    """Show how well LCWNB does on training rows left out, for every kappa of its grid.

    The table gives accuracy and log loss and the weight that kappa="mixture", the default of `fit`, gives
    to each kappa; a star marks the one that kappa="loo" takes.
    """
    from localbayes._files import write_output
    from localbayes.classifiers import LCWNB

    model = make_model("LCWNB", param, kappa="mixture", alpha=alpha, n_bins=n_bins, missing=missing)
    assert isinstance(model, LCWNB)
    if model.kappa != "mixture":
        raise ValueError(
            f"tune tries a grid of kappas of its own, got --param kappa={model.kappa}; leave it out"
        )
    model.n_jobs = jobs
    if plot is not None:
        if plot.suffix.lower() not in (".svg", ".png", ".pdf"):
            raise ValueError(f"--plot must end in .svg, .png or .pdf, got {plot}")
        check_place(plot, force, data)
    X, y = split_target(read_table(data, text_columns(categorical, target)), target, data)
    check_categorical(categorical, list(X.columns))
    model.fit(X, y)
    if model.loo_ is None:
        raise ValueError(f"{data} has one class only; there is nothing to tune")
    typer.echo(f"{data.name}: {size_text(X, len(model.classes_))}")
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
