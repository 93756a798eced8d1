"""Mean ranks on a line, and which of them a test does not tell apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.plots.axes_style import FOR, INK, SOFT, axes_of, inches, safe, shortened

__all__ = ["joined_ranks", "plot_critical_difference"]

_LONGEST = 36
_AXIS = 4.2


def joined_ranks(ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Largest stretches of sorted ranks that lie within the critical difference, none inside another.

    Examples
    --------
    >>> joined_ranks([1.0, 1.5, 2.4, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(j for j in range(first, len(ranks)) if ranks[j] - ranks[first] <= distance)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def plot_critical_difference(
    names: Sequence[str],
    ranks: npt.ArrayLike,
    critical_difference: float,
    ax: Any = None,
    highlight: str | None = None,
) -> Any:
    """Draw a critical-difference diagram: better is left, a bar joins methods that are not told apart.

    Parameters
    ----------
    names : sequence of k str
        Methods.
    ranks : array-like of shape (k,)
        Their mean ranks over the data sets; 1 is best.
    critical_difference : float
        Difference of two mean ranks that is significant, such as that of
        :func:`localbayes.study.significance.nemenyi_critical_difference`.
    ax : matplotlib Axes, optional
        Where to draw; a figure of fitting size is made if none is given.
    highlight : str, optional
        A method to write in bold.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = plot_critical_difference(["NB", "TAN", "AODE"], [2.8, 1.7, 1.5], 0.6)
    >>> [text.get_text() for text in ax.texts if "AODE" in text.get_text()]
    ['AODE  1.50']
    """
    means = np.asarray(ranks, dtype=np.float64)
    if means.ndim != 1 or len(means) != len(names) or len(means) < 2:
        raise ValueError(
            f"names and ranks must be of at least two methods, as many of each, got {len(names)} names and "
            f"ranks of shape {means.shape}"
        )
    if not np.isfinite(means).all() or not critical_difference > 0:
        raise ValueError("ranks must be numbers, and critical_difference greater than 0")
    order = np.argsort(means, kind="stable")
    labels = [str(names[k]) for k in order]
    sorted_means = means[order].tolist()
    groups = joined_ranks(sorted_means, critical_difference)
    k, half = len(labels), (len(labels) + 1) // 2
    low, high = 1.0, float(max(k, np.ceil(means.max())))
    widest = max(inches(f"{shortened(label, _LONGEST)}  0.00", 10.5) for label in labels) + 0.3
    below = 0.9 + 0.35 * len(groups)
    ax = axes_of(ax, _AXIS + 2 * widest, 0.9 + 0.26 * (below + half + 2))
    ax.set_axis_off()
    ax.plot([low, high], [0, 0], color=INK, linewidth=1)
    ticks = np.arange(low, high + 1) if high <= 12 else np.unique(np.linspace(low, high, 8).round())
    for tick in ticks.tolist():
        ax.plot([tick, tick], [0, -0.25], color=INK, linewidth=1)
        ax.text(tick, -0.4, f"{tick:g}", ha="center", va="bottom", fontsize=8.5, color=SOFT)
    ax.plot(
        [low, low + critical_difference], [-2.2, -2.2], color=INK, linewidth=1.2, marker="|", markersize=8
    )
    ax.text(low, -2.5, f"critical difference {critical_difference:.2f}", va="bottom", fontsize=8.5, color=INK)
    ax.text(low, -1.35, "← better mean rank", va="bottom", fontsize=8.5, color=SOFT)
    edge = 0.03 * (high - low)
    for i, (label, mean) in enumerate(zip(labels, sorted_means, strict=True)):
        on_left = i < half
        y = below + (i if on_left else k - 1 - i)
        end = low - edge if on_left else high + edge
        ax.plot([mean, mean, end], [0, y, y], color=SOFT, linewidth=0.9, zorder=1)
        ax.plot([mean], [0], marker="o", markersize=4.5, color=FOR if label == highlight else INK, zorder=3)
        name = safe(shortened(label, _LONGEST))
        ax.text(
            end - edge / 2 if on_left else end + edge / 2,
            y,
            f"{name}  {mean:.2f}" if on_left else f"{mean:.2f}  {name}",
            ha="right" if on_left else "left",
            va="center",
            fontsize=9.5,
            color=FOR if label == highlight else INK,
            fontweight="bold" if label == highlight else "normal",
        )
    for level, (first, last) in enumerate(groups):
        y = 0.45 + 0.35 * level
        ends = [sorted_means[first] - edge / 4, sorted_means[last] + edge / 4]
        ax.plot(ends, [y, y], color=INK, linewidth=3.2, solid_capstyle="round", zorder=2)
    ax.set_xlim(low - 2 * edge, max(high + 2 * edge, low + critical_difference + edge))
    ax.set_ylim(below + half - 0.4, -3.4)
    return ax
