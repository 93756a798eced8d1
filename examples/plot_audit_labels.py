"""
Auditing labels
===============

Some labels of a training table are wrong. Every training row can be judged by a model that did not see
it; rows whose own label is improbable are worth a second look. Here we know which labels are wrong,
because we made them so.
"""

# %%
# Spoil one label in twenty
# -------------------------

import numpy as np

from localbayes import LocalBayesClassifier
from localbayes.datasets import load

X, y = load("vote")
rng = np.random.default_rng(3)
wrong = np.zeros(len(y), dtype=bool)
wrong[rng.choice(len(y), len(y) // 20, replace=False)] = True
given = y.copy()
given[wrong] = np.where(y[wrong] == "democrat", "republican", "democrat")

# %%
# Judge every row without itself
# ------------------------------
# ``predict_proba(None)`` gives the probabilities of the training rows, each by the model without that row.

clf = LocalBayesClassifier().fit(X, given)
proba = clf.predict_proba(None)
place = {name: k for k, name in enumerate(clf.classes_)}
own = proba[np.arange(len(y)), [place[name] for name in given]]
order = np.argsort(own)
found = np.cumsum(wrong[order])
n = int(wrong.sum())
print(f"{n} labels are wrong; {found[n - 1]} of them are among the {n} rows with the least probable labels")

# %%
# How many rows must be looked at
# -------------------------------

import matplotlib.pyplot as plt

fig, (ax, bars) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
ax.plot(np.arange(1, len(y) + 1), found, color="tab:blue", label="least probable first")
ax.plot([0, len(y)], [0, n], color="0.6", linewidth=1, label="in any order")
ax.set(xlabel="rows looked at", ylabel="wrong labels found", xlim=(0, 150))
ax.legend()
bars.hist([own[~wrong], own[wrong]], bins=20, stacked=True, label=["right", "wrong"])
bars.set(xlabel="probability of the label that was given", ylabel="rows", yscale="log")
bars.legend(title="label")
plt.show()
