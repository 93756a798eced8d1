"""`localbayes audit` and `localbayes inspect`: what a table looks like and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localbayes.cli.input_tables import check_page_name, check_place, size_text
from localbayes.cli.inputs import Columns, data_path, input_name, read_labelled, reading
from localbayes.cli.options import (
    CategoricalOption,
    DataArgument,
    DecimalOption,
    DropOption,
    EncodingOption,
    ForceOption,
    KeepOption,
    MethodOption,
    NaOption,
    ParamOption,
    SepOption,
    SkipOption,
    TargetOption,
    make_model,
)
from localbayes.cli.waiting import sign_of_life

__all__ = ["audit", "inspect"]


def inspect(
    data: DataArgument,
    target: TargetOption = None,
    categorical: CategoricalOption = None,
    drop: DropOption = None,
    keep: KeepOption = None,
    skip_unlabelled: SkipOption = False,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
) -> None:
    """Show what the columns of a table are taken for, and what to do about them.

    For each column: its kind, the number of different values, the share of missing ones and of the
    commonest one, and how many classes it finds alone, each row left out. Ids and free text are left out
    by every classifier.

    Example: `localbayes inspect customers.csv --target churned`
    """
    from localbayes.auditing import profile_columns
    from localbayes.auditing.audit_text import columns_text

    columns, how = Columns(categorical, drop, keep), reading(sep, encoding, na, decimal)
    X, y = read_labelled(data, target, columns, how, skip_unlabelled)
    counts = y.value_counts()
    typer.echo(f"{input_name(data_path(data))}: {size_text(X, int((counts > 0).sum()))}\n")
    typer.echo(columns_text(profile_columns(X, y)))


def audit(
    data: DataArgument,
    target: TargetOption = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="TEST", help="Another table: which of its rows are in DATA?", show_default=False
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="OUT", help="Write a page (.html) too.", show_default=False),
    ] = None,
    method: MethodOption = None,
    param: ParamOption = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Rows to list one by one.")] = 10,
    categorical: CategoricalOption = None,
    drop: DropOption = None,
    keep: KeepOption = None,
    skip_unlabelled: SkipOption = False,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    force: ForceOption = False,
) -> None:
    """Look for wrong labels, repeated rows and columns that say nothing or too much.

    Each row is predicted without itself by LCWNB (another one with --method; LocalBayesClassifier finds more
    and takes longer). Rows are numbered from 0 in the order of the file, rows without a class left out.

    Example: `localbayes audit train.csv --target churned --against test.csv --html audit.html`
    """
    from localbayes._files import write_output
    from localbayes.auditing import audit as run_audit
    from localbayes.auditing.audit_text import audit_text
    from localbayes.datasets.reading import read_table

    if html is not None:
        check_place(html, force, data_path(data), *([] if against is None else [data_path(against)]))
        check_page_name("--html", html)
    model = make_model(method, param) if method or param else None
    columns, how = Columns(categorical, drop, keep), reading(sep, encoding, na, decimal)
    X, y = read_labelled(data, target, columns, how, skip_unlabelled)
    other = None
    if against is not None:
        other = read_table(data_path(against), columns.text_columns(target), how)
        lacking = [name for name in X.columns if name not in other.columns]
        if lacking:
            raise ValueError(f"{against} lacks the column {lacking[0]!r} of {data}; give it the same columns")
        other = other[list(X.columns)]
    with sign_of_life("auditing"):
        report = run_audit(X, y, model, other)
    name = input_name(data_path(data))
    typer.echo(f"{name}: {size_text(X, len(report.classes))}\n")
    typer.echo(audit_text(report, top))
    if html is not None:
        write_output(html, report.to_html(f"Audit of {name}", max(top, 50)).encode(), force)
        typer.echo(f"\n{html}: the audit as a page")
