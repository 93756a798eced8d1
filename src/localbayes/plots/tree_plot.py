"""A drawing of a tree of attributes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["plot_tree"]


def plot_tree(parents: npt.NDArray[np.intp], names: Sequence[str], ax: Any = None) -> Any:
    """Draw a tree from left to right, one column per generation.

    Parameters
    ----------
    parents : array of shape (m,)
        Parent of every attribute, -1 for the root.
    names : sequence of m str
        Names of the attributes.
    ax : matplotlib Axes, optional
        Where to draw; a figure of fitting size is made if none is given.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = plot_tree(np.array([-1, 0, 0]), ["a", "b", "c"])
    >>> sorted(text.get_text() for text in ax.texts if text.get_text())
    ['a', 'b', 'c']
    """
    import matplotlib.pyplot as plt

    depth, height = layout(parents)
    longest = [
        max(len(str(name)) for name, own in zip(names, depth, strict=True) if own == d)
        for d in range(depth.max() + 1)
    ]
    left = np.cumsum([0, *(width + _GAP for width in longest)])
    if ax is None:
        size = (left[-1] * _INCHES_PER_LETTER, (height.max() + 1) * _INCHES_PER_LINE)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    boxes = [
        ax.text(
            left[depth[i]],
            height[i],
            str(name),
            va="center",
            fontsize=9,
            parse_math=False,
            color="white" if parents[i] < 0 else "#1c2733",
            bbox={
                "boxstyle": "round,pad=0.35",
                "facecolor": "#2f6f9f" if parents[i] < 0 else "#e8f0f6",
                "edgecolor": "#2f6f9f",
                "linewidth": 0.9,
            },
            zorder=2,
        ).get_bbox_patch()
        for i, name in enumerate(names)
    ]
    for child, parent in enumerate(parents):
        if parent >= 0:
            ax.annotate(
                "",
                xy=(0, 0.5),
                xycoords=boxes[child],
                xytext=(1, 0.5),
                textcoords=boxes[parent],
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": "#7a8a99",
                    "linewidth": 1.1,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=1,
            )
    ax.set_xlim(-1, left[-1] - _GAP + 1)
    ax.set_ylim(height.max() + 0.5, -0.5)
    ax.set_axis_off()
    return ax


# In letters: room for the arrow between two generations.
_GAP = 6
_INCHES_PER_LETTER, _INCHES_PER_LINE = 0.088, 0.36


def layout(parents: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Generation and vertical place of every attribute.

    Leaves lie one below the other, a parent amid its children.
    """
    children: list[list[int]] = [[] for _ in parents]
    for child, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(child)
    order = [int(np.flatnonzero(parents < 0)[0])]
    for node in order:
        order.extend(children[node])
    depth = np.zeros(len(parents), dtype=np.intp)
    for node in order[1:]:
        depth[node] = depth[parents[node]] + 1
    height = np.zeros(len(parents))
    pending, leaves = order[:1], 0
    while pending:
        node = pending.pop()
        pending.extend(reversed(children[node]))
        if not children[node]:
            height[node], leaves = leaves, leaves + 1
    for node in reversed(order):
        if children[node]:
            height[node] = (height[children[node][0]] + height[children[node][-1]]) / 2
    return depth, height
