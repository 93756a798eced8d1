"""`localbayes explain`: why a row is predicted as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.errors import one_line
from localbayes.cli.models import _features
from localbayes.cli.options import DataArgument, ForceOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from localbayes.explain import Explanation, TrainingRow

__all__ = ["explain"]

# Half the width of the bars in a terminal.
_BAR = 10
_MOST_DIFFERENCES = 4


def explain(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that `fit` wrote.", show_default=False)
    ],
    data: DataArgument,
    row: Annotated[int, typer.Option(metavar="N", help="Row of DATA to explain; the first is 0.")] = 0,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="OUT", help="Write a page here instead of printing.", show_default=False
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Attributes and training rows to list one by one.")
    ] = 10,
    force: ForceOption = False,
) -> None:
    """Say why a row of a table is predicted as it is.

    Lists what every attribute does to the odds of the predicted class against the next best one and, for
    LCWNB, LWNB and ICLNB, the training rows that weigh most. The page that --html writes also shows how the
    prediction of LCWNB moves with kappa; it is one file and needs no network.
    """
    from localbayes._files import check_output, write_output
    from localbayes.explain import explanation_page, sentence
    from localbayes.persistence import load_model

    if html is not None:
        check_output(html, force)
    model = load_model(model_file)
    X = _features(model, model_file, data)
    if not 0 <= row < len(X):
        raise ValueError(f"--row must be from 0 to {len(X) - 1}, the rows of {data}, got {row}")
    explanation = model.explain(X[row : row + 1], top=top)
    if html is None:
        _show(explanation, top)
        return
    page = explanation_page(explanation, top=top, subtitle=f"row {row} of {data.name}")
    write_output(html, page.encode(), force)
    typer.echo(f"{html}: {one_line(sentence(explanation))}")


def _show(explanation: Explanation, top: int) -> None:
    from rich.console import Console

    from localbayes.explain import sentence

    console = Console(markup=False, highlight=False, emoji=False)
    console.print(one_line(sentence(explanation)))
    if len(explanation.classes) > 1:
        console.print(_reasons(explanation, top))
    if explanation.neighbourhood is not None:
        console.print(_rows(explanation, explanation.neighbourhood.rows[0]))


def _reasons(explanation: Explanation, top: int) -> Table:
    from localbayes.explain.explanation import bar_lengths
    from localbayes.explain.words import odds_factor, signed

    odds = explanation.log_odds()
    reasons = [odds.start, *odds.strongest(top)]
    table = _table(("what speaks for it", "left"), ("", "left"), ("odds", "left"), ("log odds", "right"))
    for reason, length in zip(reasons, bar_lengths(reasons), strict=True):
        blocks = "█" * round(_BAR * abs(length))
        bar = f"{blocks:>{_BAR}}│" if length < 0 else f"{'':{_BAR}}│{blocks}"
        text = f"{reason}, {reason.reading}" if reason.reading else str(reason)
        _add(table, text, bar, odds_factor(reason.log_odds), signed(reason.log_odds))
    table.add_section()
    against = f"{odds.for_class} against {odds.against_class}"
    _add(table, against, "", odds_factor(odds.total), signed(odds.total))
    return table


def _rows(explanation: Explanation, rows: Sequence[TrainingRow]) -> Table:
    from localbayes.explain.words import pair_text

    table = _table(
        ("training row", "right"),
        ("class", "left"),
        ("weight", "right"),
        ("agrees in", "right"),
        ("differs in", "left"),
    )
    for line in rows:
        differs = [
            pair_text(name, value)
            for name, value, agrees in zip(explanation.names, line.values, line.agrees, strict=True)
            if not agrees
        ]
        more = len(differs) - _MOST_DIFFERENCES
        shown = ", ".join(differs[:_MOST_DIFFERENCES]) + (f" and {more} more" if more > 0 else "")
        agreed = f"{sum(line.agrees)} of {len(line.agrees)}"
        _add(table, line.number, line.label, f"{line.weight:.3g}", agreed, shown or "nothing")
    return table


def _table(*columns: tuple[str, Any]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for heading, justify in columns:
        table.add_column(heading, justify=justify)
    return table


def _add(table: Table, *cells: Any) -> None:
    """Add a row in which nothing is taken for markup."""
    from rich.text import Text

    table.add_row(*(Text("".join(c if c.isprintable() else "�" for c in str(cell))) for cell in cells))
