"""`localbayes what-if`: a page on which values are changed and the prediction moves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localbayes.cli.input_tables import check_place, counted
from localbayes.cli.inputs import data_path, features_for, input_name, reading
from localbayes.cli.options import DecimalOption, EncodingOption, ForceOption, NaOption, SepOption

__all__ = ["what_if"]


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
    max_mb: Annotated[
        float, typer.Option("--max-mb", metavar="MB", help="A larger page is refused.")
    ] = 5.0,
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
    from localbayes._files import write_output
    from localbayes.persistence import load_model
    from localbayes.whatif import what_if_page

    check_place(output, force, model_file, *([] if table is None else [data_path(table)]))
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--output must end in .html or .htm, got {output}")
    if not max_mb > 0:
        raise ValueError(f"--max-mb must be a number > 0, got {max_mb}")
    model = load_model(model_file)
    presets, subtitle = None, input_name(model_file)
    if table is not None:
        X, _ = features_for(model, model_file, table, reading(sep, encoding, na, decimal))
        presets = X[:rows]
    page = what_if_page(
        model, presets=presets, embed_rows=embed_rows, subtitle=subtitle, max_bytes=int(max_mb * 1e6)
    )
    content = page.encode()
    write_output(output, content, force)
    held = [counted(len(presets), "row") + f" of {input_name(data_path(table))}"] if presets is not None else []
    held.append(
        f"all {counted(model.statistic.n_rows, 'training row')}" if model.keeps_rows else "counts of the training rows"
    )
    typer.echo(f"{output}: {model}, {len(content) / 1e3:,.0f} kB; it holds {' and '.join(held)}")
