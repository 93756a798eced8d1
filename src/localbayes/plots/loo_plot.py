"""A picture of the leave-one-out table."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.plots.axes_style import AGAINST, FOR, INK, axes_of

__all__ = ["plot_loo"]


def plot_loo(
    table: dict[str, npt.NDArray[np.float64]],
    kappas: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    ax: Any = None,
) -> Any:
    """Draw accuracy and log loss of left-out rows against kappa.

    The solid line and the left axis are accuracy, the dashed line and the right axis log loss. A dot is a
    kappa that predictions use; the larger the dot, the more it counts.

    Parameters
    ----------
    table : dict
        Arrays ``kappa``, ``accuracy`` and ``log_loss``, as in ``loo_``.
    kappas, weights : arrays of shape (k,)
        Kappas in use, which are in the table, and their weights.
    ax : matplotlib Axes, optional
        Where to draw; a figure is made if none is given.

    Returns
    -------
    ax : matplotlib Axes
        The axes of accuracy.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> table = {"kappa": np.array([1.0, 10.0]), "accuracy": np.array([0.8, 0.9])}
    >>> ax = plot_loo(table | {"log_loss": np.array([0.5, 0.3])}, np.array([10.0]), np.ones(1))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['accuracy (left axis)', 'log loss (right axis)', 'kappa in use']
    """
    from matplotlib.lines import Line2D

    ax = axes_of(ax, 7.2, 4.4)
    kappa, accuracy = table["kappa"], 100 * table["accuracy"]
    ax.plot(kappa, accuracy, color=FOR, linewidth=1.8)
    used = np.isin(kappa, kappas)
    ax.scatter(kappas, accuracy[used], s=20 + 180 * weights / weights.max(), color=FOR, alpha=0.5, zorder=3)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("kappa: expected number of rows of each class that count", color=INK)
    ax.set_ylabel("accuracy of left-out rows (%)", color=FOR)
    loss_ax = ax.twinx()
    loss_ax.plot(kappa, table["log_loss"], color=AGAINST, linestyle="--", linewidth=1.8)
    loss_ax.set_ylabel("log loss of left-out rows", color=AGAINST)
    for axes, colour in ((ax, FOR), (loss_ax, AGAINST)):
        axes.tick_params(axis="y", colors=colour)
        axes.spines["top"].set_visible(False)
    several = len(kappas) > 1
    dot = Line2D([], [], color=FOR, alpha=0.5, marker="o", linestyle="", markersize=9)
    lines = [
        Line2D([], [], color=FOR, linewidth=1.8),
        Line2D([], [], color=AGAINST, linewidth=1.8, linestyle="--"),
    ]
    ax.legend(
        [*lines, dot],
        [
            "accuracy (left axis)",
            "log loss (right axis)",
            "kappas in use; larger counts more" if several else "kappa in use",
        ],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        fontsize=9,
        borderpad=0,
        columnspacing=1.4,
    )
    ax.set_title("Every training row predicted from all others", loc="left", fontsize=12, color=INK, pad=26)
    return ax
