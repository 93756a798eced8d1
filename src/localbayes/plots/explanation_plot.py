"""An explanation as a drawing."""

import math
from typing import Any

from localbayes.explain.explanation import Explanation, Reason, bar_lengths
from localbayes.explain.words import odds_factor, probability_text, signed

__all__ = ["plot_explanation"]

_FOR, _AGAINST, _INK, _SOFT = "#2166ac", "#c4622d", "#1c2733", "#6b7683"
_LONGEST_LABEL = 44


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
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    odds = explanation.log_odds(row)
    reasons = [odds.start, *odds.strongest(top), Reason("together", "", "", odds.total)]
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 1.5 + 0.34 * len(reasons)), layout="constrained")
    reach = max([0.1, *(abs(r.log_odds) for r in reasons if math.isfinite(r.log_odds))])
    lengths = [reach * length for length in bar_lengths(reasons)]
    places = [*range(len(reasons) - 1), len(reasons) - 0.5]
    colours = [_FOR if length >= 0 else _AGAINST for length in lengths]
    bars = ax.barh(places, lengths, color=colours, height=0.7, zorder=2)
    bars[0].set_alpha(0.55)
    for place, length, reason in zip(places, lengths, reasons, strict=True):
        ax.annotate(
            f"{signed(reason.log_odds)}  ({odds_factor(reason.log_odds)})",
            (length, place),
            xytext=(4 if length >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if length >= 0 else "right",
            va="center",
            fontsize=8.5,
            color=_INK,
            fontweight="bold" if place == places[-1] else "normal",
        )
    ax.axvline(0, color=_INK, linewidth=0.8, zorder=3)
    ax.axhline(len(reasons) - 1.25, color=_SOFT, linewidth=0.8)
    ax.set_yticks(places, [_label(reason) for reason in reasons])
    ax.get_yticklabels()[-1].set_fontweight("bold")
    ax.set_ylim(len(reasons) + 0.05, -0.7)
    # Room for the figures beside the bars.
    left, right = min(0.0, *lengths), max(0.0, *lengths)
    room = 0.34 * (right - left)
    ax.set_xlim(left - (room if left < 0 else 0.02 * right), right + (room if right > 0 else -0.02 * left))
    ax.set_xlabel("log odds, and in brackets what they do to the odds", fontsize=8.5, color=_SOFT)
    ax.legend(
        handles=[Patch(color=_FOR), Patch(color=_AGAINST)],
        labels=[f"speaks for {_shortened(str(c))}" for c in (odds.for_class, odds.against_class)],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=1,
        frameon=False,
        fontsize=9,
        labelcolor=_SOFT,
    )
    ax.set_title(_title(explanation, row), loc="left", fontsize=12, color=_INK, pad=24)
    ax.tick_params(axis="y", length=0, labelsize=9, labelcolor=_INK)
    ax.tick_params(axis="x", labelsize=8, colors=_SOFT)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(_SOFT)
    return ax


def _title(explanation: Explanation, row: int) -> str:
    parts = [
        f"{_shortened(str(explanation.classes[k]))} ({probability_text(explanation.proba[row, k])})"
        for k in (explanation.predicted[row], explanation.runner_up[row])
    ]
    return f"Why {parts[0]}, not {parts[1]}"


def _label(reason: Reason) -> str:
    return _shortened(f"{reason}, {reason.reading}" if reason.reading else str(reason))


def _shortened(text: str) -> str:
    shown = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    # Between two dollar signs matplotlib would read a formula.
    return shown.replace("$", r"\$")
