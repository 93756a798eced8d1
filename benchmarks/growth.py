"""Cost of a query against the number of training rows, for us and for peers that look at all rows too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.measure import Ratio, best_times, duration
from benchmarks.peers import faiss_search, neighbours
from benchmarks.tables import MadeUp
from localbayes import LCWNB

__all__ = ["draw", "growth"]

Costs = dict[str, dict[int, float]]

OUR_BATCH = 256
# Peers are asked fewer queries on long tables, to save time. That is no disadvantage to them: at a million
# rows a query costs faiss the same in batches of 4 and of 256, and k-NN less in small ones.
PEER_BATCH = {10_000: 256, 100_000: 64, 1_000_000: 16, 10_000_000: 4}


def growth(quick: bool, costs: Costs) -> Iterator[Ratio]:
    """Seconds per query at every length, put into `costs`, and how fast ours rise over each decade."""
    lengths = [10_000, 100_000] if quick else list(PEER_BATCH)
    tables = {n: MadeUp(n, n_queries=OUR_BATCH) for n in lengths}
    models = {n: LCWNB(5).fit(table.train, table.class_codes) for n, table in tables.items()}
    works = {str(n): lambda n=n: models[n].predict(tables[n].queries) for n in lengths}
    # All lengths in turn: a busy spell of the machine strikes none of them alone.
    best = best_times(works, 1 if quick else 9)
    costs["LCWNB.predict"] = {n: best[str(n)] / len(tables[n].queries) for n in lengths}
    for n, table in tables.items():
        few = table.queries[: PEER_BATCH[n]]
        peers = {
            "faiss, 50 nearest": faiss_search(table.train, few),
            "scikit-learn k-NN": neighbours(table.train, table.class_codes, few),
        }
        for name, seconds in best_times(peers, 1 if quick else 3 if n > 10**6 else 5).items():
            costs.setdefault(name, {})[n] = seconds / len(few)
    ours = costs["LCWNB.predict"]
    for a, b in pairwise(lengths):
        yield Ratio(
            "growth with n, 20 columns, 8 values, 2 classes",
            f"cost of a query, {b:,} rows / {a:,} rows, over linear",
            ours[b] / ours[a] / (b / a),
            1.15,
            ours=f"{b:,} rows {duration(ours[b])}",
            other=f"{a:,} rows {duration(ours[a])}",
        )


def draw(costs: Costs, path: Path) -> None:
    """Draw the costs, both axes logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for (name, cost), style in zip(costs.items(), ("o-", "s--", "^:"), strict=True):
        n = np.array(sorted(cost))
        axes.loglog(n, [cost[k] * 1e6 for k in n], style, label=name)
    axes.set_xlabel("training rows (20 columns, 8 values, 2 classes)")
    axes.set_ylabel("microseconds per query, one thread")
    axes.grid(True, which="both", alpha=0.25)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
