"""`localbayes explain`: why a row is predicted as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localbayes.cli.input_tables import check_page_name, check_place
from localbayes.cli.inputs import data_path, features_for, input_name, reading
from localbayes.cli.layout import add_row, least_width, make_table, print_table, stdout_console
from localbayes.cli.notices import one_line
from localbayes.cli.options import (
    DataArgument,
    DecimalOption,
    EncodingOption,
    ForceOption,
    NaOption,
    SepOption,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from localbayes.explain import Explanation, TrainingRow, WhyNot

__all__ = ["explain"]

# Half the width of the bars, widest first; and the letters of a reason that must fit on a line. Where the
# letters leave no room, there are no bars.
_HALVES = range(10, 2, -1)
_LETTERS = 24
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
            "--html", metavar="OUT", help="Write a page (.html) instead of printing.", show_default=False
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Attributes and training rows to list one by one.")
    ] = 10,
    why_not: Annotated[
        list[str] | None,
        typer.Option(
            "--why-not",
            metavar="CLASS|all",
            help="Also say what would make this class win; repeat for more, or all.",
            show_default=False,
        ),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            "--fix",
            metavar="COL",
            help="With --why-not: a column that stays as it is; repeat for more.",
            show_default=False,
        ),
    ] = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    force: ForceOption = False,
) -> None:
    """Say why a row of a table is predicted as it is.

    Lists what every attribute does to the odds of the predicted class against the next best one and, for
    classifiers that keep rows (LocalBayesClassifier, LCWNB, LWNB, ICLNB), the training rows that weigh most.
    The page that --html writes also shows how the prediction of LCWNB moves with kappa; it is one file and
    needs no network.

    --why-not looks for the smallest change of the row that makes another class win, among values of training
    rows, and lists the nearest rows of that class.

    Example: `localbayes explain votes.skops new.csv --row 3 --why-not all --html why.html`
    """
    from localbayes._files import write_output
    from localbayes.explain import explanation_page, sentence
    from localbayes.persistence import load_classifier

    if html is not None:
        check_place(html, force, model_file, data_path(data))
        check_page_name("--html", html)
    model = load_classifier(model_file)
    X, _ = features_for(model, model_file, data, reading(sep, encoding, na, decimal))
    if not 0 <= row < len(X):
        raise ValueError(f"--row must be from 0 to {len(X) - 1}, the rows of {data}, got {row}")
    if fix and not why_not:
        raise ValueError("--fix holds a column in --why-not; give --why-not CLASS or --why-not all too")
    one = X[row : row + 1]
    classes = _classes(why_not, model.classes_.tolist(), model.predict(one).tolist()[0])
    explanation = model.explain(one, top=top, why_not=classes, fixed=_columns(fix, X.columns))
    if html is None:
        _show(explanation, top)
        return
    page = explanation_page(explanation, top=top, subtitle=f"row {row} of {input_name(data_path(data))}")
    write_output(html, page.encode(), force)
    typer.echo(f"{html}: {one_line(sentence(explanation))}")


def _classes(given: list[str] | None, classes: list[Any], predicted: Any) -> Any:
    """Labels that are meant by words; True for all."""
    from localbayes.datasets.registry import no_such

    if not given:
        return False
    known = {str(label): label for label in classes}
    if "all" in given and "all" not in known:
        return True
    for word in given:
        if word not in known:
            raise ValueError("--why-not: " + no_such("class is called", word, known))
        if known[word] == predicted:
            raise ValueError(f"--why-not {word}: that is the predicted class; name another one, or all")
    return [known[word] for word in given]


def _columns(given: list[str] | None, columns: Sequence[Any]) -> list[int]:
    """Positions of columns that are given by name."""
    from localbayes.datasets.registry import no_such

    names = [str(column) for column in columns]
    for word in given or []:
        if word not in names:
            raise ValueError("--fix: " + no_such("feature is called", word, names))
    return [names.index(word) for word in given or []]


def _show(explanation: Explanation, top: int) -> None:
    from localbayes.explain import sentence

    console = stdout_console()
    console.print(one_line(sentence(explanation)))
    if len(explanation.classes) > 1:
        print_table(console, _reasons(explanation, top, console.width))
    if explanation.neighbourhood is not None:
        print_table(console, _rows(explanation, explanation.neighbourhood.rows[0]))
    for other in explanation.why_not[0] if explanation.why_not else ():
        _show_other(console, explanation, other)


def _show_other(console: Console, explanation: Explanation, other: WhyNot) -> None:
    from localbayes.explain.words import probability_text

    probability = probability_text(other.proba)
    if other.ways:
        console.print(one_line(f"Why not {other.label} ({probability})? It would be predicted with"))
        print_table(console, _ways(other))
    else:
        told = f"Why not {other.label} ({probability})? No change was found that makes it win."
        console.print(one_line(told))
    if not other.complete:
        console.print("There are too many pairs of values to try all.")
    if other.rows:
        console.print(one_line(f"Nearest training rows of {other.label}:"))
        print_table(console, _rows(explanation, other.rows))


def _ways(other: WhyNot) -> Table:
    """Lay out the ways to make a class win, a line between them."""
    from localbayes.explain.words import change_parts, probability_text

    table = make_table({"change": "name", "instead of": "name", "probability then": "number"})
    for way in other.ways:
        table.add_section()
        for change in way.changes:
            new, example, before = change_parts(change)
            last = change is way.changes[-1]
            add_row(table, new + example, before, probability_text(way.proba) if last else "")
    return table


def _reasons(explanation: Explanation, top: int, width: int) -> Table:
    """Lay out the reasons, with bars as long as the terminal has room for."""
    for half in _HALVES:
        table = _reasons_table(explanation, top, half)
        if least_width(table, _LETTERS) <= width:
            return table
    return _reasons_table(explanation, top, 0)


def _reasons_table(explanation: Explanation, top: int, half: int) -> Table:
    """Lay out the reasons, with bars of at most ``half`` blocks to each side; 0 is no bars."""
    from localbayes.explain.explanation import bar_lengths
    from localbayes.explain.words import odds_factor, signed

    odds = explanation.log_odds()
    reasons = [odds.start, *odds.strongest(top)]
    bars = {"": "figure"} if half else {}
    table = make_table({"what speaks for it": "name", **bars, "odds": "figure", "log odds": "number"})
    for reason, length in zip(reasons, bar_lengths(reasons), strict=True):
        blocks = "█" * round(half * abs(length))
        bar = f"{blocks:>{half}}│" if length < 0 else f"{'':{half}}│{blocks}"
        text = f"{reason}, {reason.reading}" if reason.reading else str(reason)
        add_row(table, text, *([bar] if half else []), odds_factor(reason.log_odds), signed(reason.log_odds))
    table.add_section()
    against = f"{odds.for_class} against {odds.against_class}"
    add_row(table, against, *([""] if half else []), odds_factor(odds.total), signed(odds.total))
    return table


def _rows(explanation: Explanation, rows: Sequence[TrainingRow]) -> Table:
    from localbayes.explain.words import pair_text

    table = make_table(
        {
            "training row": "number",
            "class": "name",
            "weight": "number",
            "agrees in": "number",
            "differs in": "name",
        }
    )
    for line in rows:
        differs = [
            pair_text(name, value)
            for name, value, agrees in zip(explanation.names, line.values, line.agrees, strict=True)
            if not agrees
        ]
        more = len(differs) - _MOST_DIFFERENCES
        shown = ", ".join(differs[:_MOST_DIFFERENCES]) + (f" and {more} more" if more > 0 else "")
        agreed, of = explanation.agreement(line.agrees)
        add_row(table, line.number, line.label, f"{line.weight:.3g}", f"{agreed} of {of}", shown or "nothing")
    return table
