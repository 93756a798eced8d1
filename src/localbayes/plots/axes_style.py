"""What all drawings share: colours, axes, texts that fit."""

from collections.abc import Sequence
from typing import Any

__all__ = [
    "AGAINST",
    "FOR",
    "INK",
    "SMALL",
    "SOFT",
    "axes_of",
    "beside_bars",
    "inches",
    "label_bars",
    "plain_spines",
    "safe",
    "shortened",
    "wrapped",
]

SMALL = 9
"""Points of names and figures."""

FOR, AGAINST, INK, SOFT = "#2166ac", "#c4622d", "#1c2733", "#6b7683"


def axes_of(ax: Any, width: float, height: float) -> Any:
    """Axes to draw on: those given, or new ones of a size in inches.

    A figure that has no layout and no other axes gets one that keeps labels inside.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if ax.figure.get_layout_engine() is None and len(ax.figure.axes) == 1:
        ax.figure.set_layout_engine("constrained")
    return ax


def plain_spines(ax: Any, *kept: str) -> None:
    """Leave only some sides of the frame, in a soft colour."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in kept)
        spine.set_color(SOFT)


def label_bars(ax: Any, places: Sequence[float], names: Sequence[str], measure: str) -> None:
    """Names before horizontal bars, and below them what their lengths measure."""
    ax.set_yticks(places, [safe(name) for name in names])
    ax.set_xlabel(measure, fontsize=8.5, color=SOFT)
    ax.tick_params(axis="y", length=0, labelsize=SMALL, labelcolor=INK)
    ax.tick_params(axis="x", labelsize=8, colors=SOFT)
    ax.locator_params(axis="x", nbins=6)
    plain_spines(ax, "bottom")


def beside_bars(ax: Any, place: float, text: str, **style: Any) -> None:
    """A figure in a column to the right of the bars, where no bar and no name can cover it."""
    style = {"va": "center", "fontsize": 8.5, "color": INK} | style
    ax.text(1.02, place, text, transform=ax.get_yaxis_transform(), **style)


def safe(text: str) -> str:
    r"""Text that matplotlib shows as it is; between two dollar signs it would read a formula.

    Examples
    --------
    >>> safe("$5 or $6")
    '\\$5 or \\$6'
    """
    return text.replace("$", r"\$")


def shortened(text: str, most: int) -> str:
    """Text of at most so many letters, cut in the middle: ends of names differ more often than middles.

    Examples
    --------
    >>> shortened("number of open accounts", 12)
    'number…ounts'
    """
    if len(text) <= most:
        return text
    head = most // 2
    return text[:head] + "…" + text[len(text) - (most - head - 1) :]


def inches(text: str, size: float) -> float:
    """Width of the longest line of a text in a font of a size in points.

    Examples
    --------
    >>> inches("WWWW", 10) > inches("iiii", 10) == inches("iiii\\ni", 10) > 0
    True
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    widths = [text_to_path.get_text_width_height_descent(line, font, False)[0] for line in text.split("\n")]
    return float(max(widths)) / 72


def wrapped(text: str, width: float, size: float) -> str:
    r"""Text on as many lines as it needs, between words, to be at most so many inches wide.

    Examples
    --------
    >>> wrapped("Why democrat, not republican", 1.15, 10)
    'Why democrat,\nnot republican'
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and inches(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)
