"""How often predictions are right, against the probability that they state."""

from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.plots.axes_style import AGAINST, FOR, INK, SOFT, axes_of, plain_spines, safe, shortened

__all__ = ["plot_reliability", "reliability_bins"]

Floats = npt.NDArray[np.float64]


def reliability_bins(
    confidence: npt.ArrayLike, right: npt.ArrayLike, n_bins: int = 10
) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Rows in bins of equal width by the probability that was stated of them.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        Stated probability of the predicted class, or of one class.
    right : array-like of shape (n,)
        Whether the prediction was right, or the row of that class.
    n_bins : int, default=10
        Number of bins.

    Returns
    -------
    stated, true : arrays of shape (k,)
        Mean stated probability and share of right rows of every bin that has rows.
    counts : array of shape (k,)
        Number of rows.

    Examples
    --------
    >>> stated, true, counts = reliability_bins([0.9, 0.95, 0.6, 0.65], [1, 1, 0, 1])
    >>> stated.round(3).tolist(), true.tolist(), counts.tolist()
    ([0.625, 0.925], [0.5, 1.0], [2, 2])
    """
    p, hit = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if p.ndim != 1 or p.shape != hit.shape or not len(p):
        raise ValueError(
            "confidence and right must be of the same rows, at least one, got shapes "
            f"{p.shape} and {hit.shape}"
        )
    if not ((p >= 0) & (p <= 1 + 1e-9)).all():
        raise ValueError(f"confidence must be probabilities from 0 to 1, got {p.min():g} to {p.max():g}")
    bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    some = counts > 0
    stated, true = np.bincount(bins, p, n_bins)[some], np.bincount(bins, hit, n_bins)[some]
    return stated / counts[some], true / counts[some], counts[some]


def plot_reliability(
    stated: npt.ArrayLike,
    true: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    ax: Any = None,
    name: str = "",
) -> Any:
    r"""Draw a reliability diagram: on the diagonal, probabilities are what they say.

    Parameters
    ----------
    stated, true : array-like of shape (k,)
        Mean stated probability and share of right rows, by bin, as from :func:`reliability_bins`.
    counts : array-like of shape (k,), optional
        Rows of the bins; dots are larger where there are more.
    ax : matplotlib Axes, optional
        Where to draw; a figure is made if none is given.
    name : str, optional
        Of the classifier, for the title.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = plot_reliability([0.6, 0.9], [0.5, 0.92], [40, 60], name="NB")
    >>> ax.get_title(loc="left")
    'NB\nstated 4.0 points above, 1.2 below what is true'
    """
    x, y = np.asarray(stated, dtype=np.float64), np.asarray(true, dtype=np.float64)
    n = np.ones(len(x)) if counts is None else np.asarray(counts, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or x.shape != n.shape or not len(x):
        raise ValueError(
            "stated, true and counts must have one number for every bin, got shapes "
            f"{x.shape}, {y.shape} and {n.shape}"
        )
    ax = axes_of(ax, 4.8, 5.0)
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle="--", zorder=1)
    over = x > y
    ax.vlines(
        x, np.minimum(x, y), np.maximum(x, y), color=np.where(over, AGAINST, FOR), linewidth=2, zorder=2
    )
    ax.plot(x, y, color=INK, linewidth=1.2, zorder=3)
    ax.scatter(x, y, s=24 + 140 * n / n.max(), color=np.where(over, AGAINST, FOR), zorder=4)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    ax.set_xlabel("probability that is stated", color=INK)
    ax.set_ylabel("share of rows for which it is true", color=INK)
    dots = "; larger dots have more rows" if counts is not None else ""
    ax.text(
        0.98,
        0.02,
        f"below the diagonal: too sure\nabove it: not sure enough{dots}",
        transform=ax.transAxes,
        ha="right",
        va="bottom",
        fontsize=8,
        color=SOFT,
    )
    ax.set_title(_title(x, y, n, name), loc="left", fontsize=11, color=INK)
    plain_spines(ax, "left", "bottom")
    ax.tick_params(colors=SOFT)
    return ax


def _title(x: Floats, y: Floats, n: Floats, name: str) -> str:
    """How far stated probabilities are above and below the truth on average, in points."""
    share = 100 * n / n.sum()
    above, below = (share * np.maximum(x - y, 0)).sum(), (share * np.maximum(y - x, 0)).sum()
    said = f"stated {above:.1f} points above, {below:.1f} below what is true"
    return safe(f"{shortened(name, 36)}\n{said}") if name else said
