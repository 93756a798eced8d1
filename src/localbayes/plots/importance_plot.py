"""What matters overall, as a drawing."""

from typing import Any

from localbayes.explain.importance import Importances
from localbayes.parameters import check_count
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
    shortened,
)

__all__ = ["plot_importances"]

_LONGEST, _BARS, _FIGURES = 44, 4.4, 1.1


def plot_importances(importances: Importances, ax: Any = None, top: int = 20) -> Any:
    """Draw how much attributes matter: a bar for the log odds, beside it the rise of the loss without it.

    Parameters
    ----------
    importances : Importances
        From ``clf.importances()``.
    ax : matplotlib Axes, optional
        Where to draw; a figure of fitting size is made if none is given.
    top : int, default=20
        How many attributes to draw, strongest first.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from localbayes import NB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> ax = plot_importances(NB().fit(X, ["no", "no", "yes", "yes"] * 5).importances())
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.texts[0].get_text()
    (['x0', 'x1'], '+0.688')
    """
    if not isinstance(importances, Importances):
        raise TypeError(f"importances must be those of clf.importances(), got a {type(importances).__name__}")
    check_count("top", top)
    shown = importances.order[:top].tolist()
    names = [shortened(importances.names[i], _LONGEST) for i in shown]
    width = max(inches(name, SMALL) for name in names)
    ax = axes_of(ax, width + _BARS + _FIGURES, 1.5 + 0.28 * len(shown))
    places = range(len(shown))
    ax.barh(places, importances.strength[shown], color=FOR, height=0.7, zorder=2)
    for place, i in zip(places, shown, strict=True):
        # An attribute without which the model would be better is in another colour.
        rise = f"{importances.loss[i]:+.3f}".replace("-", "−")
        beside_bars(ax, place, rise, color=INK if importances.loss[i] >= 0 else AGAINST)
    beside_bars(ax, -0.75, "loss rises by", va="bottom", fontsize=8, color=SOFT)
    label_bars(ax, places, names, "mean absolute log odds that the attribute adds")
    ax.set_ylim(len(shown) - 0.4, -0.7)
    ax.set_xlim(0, max(0.1, importances.strength.max()) * 1.03)
    left_out = len(importances) - len(shown)
    more = f"; {left_out} weaker attributes not drawn" if left_out else ""
    measured = f"{importances.n_rows:,} left-out rows, log loss {importances.log_loss:.3f}{more}"
    ax.set_title(
        f"What matters overall\n{measured}",
        loc="left",
        fontsize=10,
        color=INK,
        pad=16,
    )
    return ax
