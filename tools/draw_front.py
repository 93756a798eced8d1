"""Draws the picture of the front page and of README, once for light pages and once for dark ones.

python tools/draw_front.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from localbayes import LocalBayesClassifier
from localbayes.datasets import load
from localbayes.explain import plot_explanation

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
INK = {"light": "#222222", "dark": "#dddddd"}
STEADY = {"svg.hashsalt": "localbayes", "font.size": 10}  # the same bytes in every run


def main() -> None:
    """Write both pictures."""
    X, y = load("credit-g")
    answer = LocalBayesClassifier().fit(X[200:], y[200:]).explain(X[:200])
    for theme, ink in INK.items():
        names = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")
        with mpl.rc_context({**dict.fromkeys(names, ink), **STEADY}):
            fig, ax = plt.subplots(figsize=(6.6, 3.9), layout="constrained")
            plot_explanation(answer, row=1, ax=ax, top=7)
            ax.set_xlim(-0.75, 1.3)  # room for the figures beside the bars
            for text in fig.findobj(mpl.text.Text):
                text.set_color(ink)
            fig.savefig(FOLDER / f"front-{theme}.svg", transparent=True, metadata={"Date": None})
            plt.close(fig)


if __name__ == "__main__":
    main()
