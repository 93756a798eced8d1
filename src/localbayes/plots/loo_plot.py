"""A picture of the leave-one-out table."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["plot_loo"]


def plot_loo(
    table: dict[str, npt.NDArray[np.float64]],
    kappas: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    ax: Any = None,
) -> Any:
    """Draw accuracy and log loss against kappa; dots show the kappas in use, larger ones weigh more."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
    kappa, accuracy = table["kappa"], 100 * table["accuracy"]
    ax.plot(kappa, accuracy, color="tab:blue", label="accuracy")
    used = np.isin(kappa, kappas)
    ax.scatter(
        kappas,
        accuracy[used],
        s=20 + 180 * weights / weights.max(),
        color="tab:blue",
        alpha=0.6,
        label="in use",
    )
    ax.set(xscale="log", xlabel="kappa (expected rows per class)", ylabel="accuracy without the row (%)")
    loss_ax = ax.twinx()
    loss_ax.plot(kappa, table["log_loss"], color="tab:orange", linestyle="--", label="log loss")
    loss_ax.set_ylabel("log loss without the row")
    handles = [part for axes in (ax, loss_ax) for part in axes.get_legend_handles_labels()[0]]
    ax.legend(
        handles,
        [h.get_label() for h in handles],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.15),
        ncols=3,
        frameon=False,
    )
    ax.set_title("Leave-one-out")
    return ax
