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
    if ax is None:
        longest = max(len(str(name)) for name in names)
        width = (depth.max() + 1) * (0.09 * longest + 0.9)
        _, ax = plt.subplots(
            figsize=(max(width, 2.5), max(0.42 * (height.max() + 1), 1.2)), layout="constrained"
        )
    boxes = [
        ax.text(
            depth[i],
            height[i],
            str(name),
            ha="center",
            va="center",
            fontsize=9,
            color="white" if parents[i] < 0 else "#1c2733",
            bbox={
                "boxstyle": "round,pad=0.35",
                "facecolor": "#2f6f9f" if parents[i] < 0 else "#e8f0f6",
                "edgecolor": "#2f6f9f",
                "linewidth": 0.9,
            },
            zorder=2,
        )
        for i, name in enumerate(names)
    ]
    for child, parent in enumerate(parents):
        if parent < 0:
            continue
        ax.annotate(
            "",
            xy=(depth[child], height[child]),
            xytext=(depth[parent], height[parent]),
            arrowprops={
                "arrowstyle": "-|>",
                "color": "#7a8a99",
                "linewidth": 1.1,
                "patchA": boxes[parent].get_bbox_patch(),
                "patchB": boxes[child].get_bbox_patch(),
                "shrinkA": 1,
                "shrinkB": 1,
                "connectionstyle": "arc3,rad=0",
            },
            zorder=1,
        )
    ax.set_xlim(-0.5, depth.max() + 0.5)
    ax.set_ylim(height.max() + 0.6, -0.6)
    ax.set_axis_off()
    return ax


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
