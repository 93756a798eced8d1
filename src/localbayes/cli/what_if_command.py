"""`localbayes what-if`: a page on which values are changed and the prediction moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localbayes.cli.input_tables import check_page_name, check_place, counted
from localbayes.cli.inputs import data_path, features_for, input_name, reading
from localbayes.cli.options import DecimalOption, EncodingOption, ForceOption, NaOption, SepOption

__all__ = ["what_if"]

# No browser opens a larger page.
_MOST_MB = 1000


def what_if(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that `fit` wrote.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="The page, a .html file.", show_default=False),
    ],
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="DATA",
            help="A table whose first rows the page begins with; a file, or the name of an embedded set.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="How many rows of --table to take.")] = 10,
    embed_rows: Annotated[
        bool,
        typer.Option(
            "--embed-rows", help="Allow the page to hold all training rows, which lazy classifiers need."
        ),
    ] = False,
    max_mb: Annotated[float, typer.Option("--max-mb", metavar="MB", help="A larger page is refused.")] = 5.0,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    force: ForceOption = False,
) -> None:
    """Write a page on which the values of a row are changed and the prediction moves.

    The page is one file and needs no server and no network: it computes the classifier itself. The page of
    LCWNB, LWNB, ICLNB or LocalBayesClassifier holds all training rows, for everyone to read who has it; that
    must be allowed with --embed-rows. The page of another classifier holds counts. Rows of --table are in
    the page in any case.

    Example: `localbayes what-if votes.skops -o votes.html --table vote --rows 5 --embed-rows`
    """
    from localbayes.persistence import load_model
    from localbayes.whatif import what_if as write_page

    check_place(output, force, model_file, *([] if table is None else [data_path(table)]))
    check_page_name("--output", output)
    if not 0 < max_mb < _MOST_MB:
        raise ValueError(f"--max-mb must be a number from 0 to {_MOST_MB:,}, got {max_mb}")
    model = load_model(model_file)
    presets = None
    if table is not None:
        X, _ = features_for(model, model_file, table, reading(sep, encoding, na, decimal))
        presets = X[:rows]
    write_page(
        model,
        output,
        presets=presets,
        embed_rows=embed_rows,
        subtitle=input_name(model_file),
        max_bytes=int(max_mb * 1e6),
        force=force,
    )
    held = ["counts of the training rows"]
    if model.keeps_rows:
        held = [f"all {counted(int(model.statistic.n_rows), 'training row')}"]
    if table is not None and presets is not None:
        held.insert(0, f"{counted(len(presets), 'row')} of {input_name(data_path(table))}")
    size = output.stat().st_size
    typer.echo(f"{output}: {model}, {size / 1e3:,.0f} kB; it holds {' and '.join(held)}")
