"""An explanation as a drawing."""

import math
from typing import Any

from localbayes.explain.explanation import Explanation, Reason, bar_lengths
from localbayes.explain.words import odds_factor, probability_text, signed
from localbayes.plots.axes_style import (
    AGAINST,
    FOR,
    INK,
    SMALL,
    SOFT,
    axes_of,
    beside_bars,
    inches,
    label_bars,
    safe,
    shortened,
    wrapped,
)

__all__ = ["plot_explanation"]

# Letters of a name; inches of a letter, of the bars and of the column of figures.
_LONGEST = 44
_LETTER, _BARS, _FIGURES = 0.08, 4.8, 1.3


def plot_explanation(explanation: Explanation, row: int = 0, ax: Any = None, top: int = 12) -> Any:
    """Draw what speaks for the predicted class against the next best one.

    A bar to the right speaks for the predicted class, one to the left against it; bars add up, from the
    start at the top over the attributes to the log odds at the bottom.

    Parameters
    ----------
    explanation : Explanation
        From ``clf.explain(X)``.
    row : int, default=0
        Row of X.
    ax : matplotlib Axes, optional
        Where to draw; a figure of fitting size is made if none is given.
    top : int, default=12
        How many attributes get a bar of their own; the others share one.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from localbayes import NB
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = NB().fit(X, ["apple", "pepper", "pepper", "pepper"])
    >>> ax = plot_explanation(clf.explain([["red", "round"]]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['frequency of the class', 'x1 = round', 'x0 = red', 'together']
    """
    from matplotlib.patches import Patch

    odds = explanation.log_odds(row)
    reasons = [odds.start, *odds.strongest(top), Reason("together", "", "", odds.total)]
    # In axes that are given, names have a part of the width; a new figure is as wide as they need.
    letters = _LONGEST if ax is None else min(_LONGEST, int(0.4 * ax.figure.get_figwidth() / _LETTER))
    lines = 2 if ax is None or ax.figure.get_figheight() > 0.3 * (len(reasons) + 4) else 1
    labels = [_label(reason, max(letters, 12), lines) for reason in reasons]
    names = max(inches(label, SMALL) for label in labels) + 0.1
    ax = axes_of(ax, names + _BARS + _FIGURES, 1.5 + 0.34 * len(reasons))
    reach = max([0.1, *(abs(r.log_odds) for r in reasons if math.isfinite(r.log_odds))])
    lengths = [reach * length for length in bar_lengths(reasons)]
    places = [*range(len(reasons) - 1), len(reasons) - 0.5]
    colours = [FOR if length >= 0 else AGAINST for length in lengths]
    bars = ax.barh(places, lengths, color=colours, height=0.7, zorder=2)
    bars[0].set_alpha(0.55)
    for place, reason in zip(places, reasons, strict=True):
        figure = f"{signed(reason.log_odds)}  ({odds_factor(reason.log_odds)})"
        beside_bars(ax, place, figure, fontweight="bold" if place == places[-1] else "normal")
    ax.axvline(0, color=INK, linewidth=0.8, zorder=3)
    ax.axhline(len(reasons) - 1.25, color=SOFT, linewidth=0.8)
    label_bars(ax, places, labels, "log odds, and in brackets what they do to the odds")
    ax.get_yticklabels()[-1].set_fontweight("bold")
    ax.set_ylim(len(reasons) + 0.05, -0.7)
    left, right = min(0.0, *lengths), max(0.0, *lengths)
    ax.set_xlim(left - 0.03 * (right - left), right + 0.03 * (right - left))
    room = _room(ax, names)
    longest = min(_LONGEST, max(8, int(room / _LETTER) - 20))
    speaks = [f"speaks for {shortened(str(c), longest)}" for c in (odds.for_class, odds.against_class)]
    in_line = sum(inches(text, SMALL) + 0.3 for text in speaks) < room
    ax.legend(
        handles=[Patch(color=FOR), Patch(color=AGAINST)],
        labels=[safe(text) for text in speaks],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2 if in_line else 1,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=1,
        frameon=False,
        fontsize=SMALL,
        labelcolor=SOFT,
    )
    title = wrapped(_title(explanation, row, longest), room, 12)
    ax.set_title(safe(title), loc="left", fontsize=12, color=INK, pad=24 if in_line else 38)
    return ax


def _room(ax: Any, names: float) -> float:
    """Inches between the names, so many inches wide, and the right edge of the figure."""
    figure = ax.figure
    if len(figure.axes) > 1:
        return float(ax.get_window_extent().width / figure.dpi)
    return max(float(figure.get_figwidth()) - names - 0.4, 1.0)


def _title(explanation: Explanation, row: int, longest: int) -> str:
    parts = [
        f"{shortened(str(explanation.classes[k]), longest)} ({probability_text(explanation.proba[row, k])})"
        for k in (explanation.predicted[row], explanation.runner_up[row])
    ]
    return f"Why {parts[0]}, not {parts[1]}"


def _label(reason: Reason, letters: int, lines: int) -> str:
    """Name, value and reading on one line or two; what is longer is cut in the middle."""
    value, reading = shortened(reason.value, letters // 2), shortened(reason.reading, letters // 2)
    shown = str(Reason(reason.name, value, "", 0.0)) + (f", {reading}" if reading else "")
    if len(shown) <= letters:
        return shown
    room = lines * letters - (len(shown) - len(reason.name)) - (8 if lines > 1 else 0)
    shown = shown.replace(reason.name, shortened(reason.name, max(8, room)), 1)
    broken = wrapped(shown, letters * _LETTER, SMALL).split("\n") if lines > 1 else [shown]
    return "\n".join(shortened(line, letters) for line in broken[:lines])
