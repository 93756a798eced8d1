"""
A weighting of your own
=======================

A local classifier is a function that says how much a training row counts at each distance. Here are two
in a few lines; encoding, missing values, compiled counting, probabilities and explanations are there
already.
"""

# %%
# Two functions
# -------------

import numpy as np

from localbayes import LCWNB, NB
from localbayes.classifiers import LazyClassifier


class Halving(LazyClassifier):
    """A row loses half of its weight with every column in which it differs."""

    def weights(self, distance_counts):
        distance = np.arange(distance_counts.shape[2])
        return np.broadcast_to(0.5**distance, distance_counts.shape)


class Linear(LazyClassifier):
    """A row loses the same weight with every column, and the farthest have none."""

    def weights(self, distance_counts):
        distance = np.arange(distance_counts.shape[2])
        return np.broadcast_to(1 - distance / distance[-1], distance_counts.shape)


# %%
# Scored like any classifier
# --------------------------

from sklearn.model_selection import cross_val_score

from localbayes.datasets import load

sets = ["vote", "soybean", "breast-cancer", "credit-g"]
methods = {"naive Bayes": NB(), "linear": Linear(), "halving": Halving(), "LCWNB()": LCWNB()}
loss = {
    name: [-cross_val_score(clf, *load(one), cv=5, scoring="neg_log_loss").mean() for one in sets]
    for name, clf in methods.items()
}

# %%
import matplotlib.pyplot as plt

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[1, 1.6])
distance = np.arange(17)
left.plot(distance, 0.5**distance, "o-", label="halving")
left.plot(distance, 1 - distance / 16, "o-", label="linear")
left.set(xlabel="columns that differ", ylabel="weight of a row")
left.legend()
for k, (name, found) in enumerate(loss.items()):
    right.bar(np.arange(len(sets)) + 0.2 * (k - 1.5), found, width=0.18, label=name)
right.set_xticks(np.arange(len(sets)), sets)
right.set(title="log loss (less is better)", ylim=(0, 0.95))
right.legend(ncols=2)
plt.show()
