"""
Choosing kappa
==============

Kappa says how local the paper's method is: the number of rows of every class that a query is judged by.
``LCWNB()`` needs no choice, since it mixes all kappas by how well each does on training rows that are
left out.
"""

# %%
# What leaving out says
# ---------------------
# Every training row is asked for by a model without it, for all kappas in one pass.

import matplotlib.pyplot as plt

from localbayes import LCWNB
from localbayes.datasets import load

X, y = load("soybean")
clf = LCWNB().fit(X, y)
clf.plot_loo()
plt.show()

# %%
# How predictions move
# --------------------
# From very local on the left to nearly naive Bayes on the right. Each line is a row that the model did not
# see; drawn are the eight that move most. A prediction that is the same over the whole line does not depend
# on kappa.

import numpy as np

X, y = load("breast-cancer")
rest = LCWNB().fit(X[100:], y[100:])
kappas = np.geomspace(1, 150, 40)
proba = rest.explain(X[:100], kappas=kappas).neighbourhood.curve.proba[:, :, 0]
most = np.argsort(np.ptp(proba, axis=0))[-8:]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(kappas, proba[:, most])
ax.axhline(0.5, color="0.6", linewidth=1)
ax.set(xscale="log", xlabel="kappa", ylabel=f"probability of {rest.classes_[0]}", ylim=(0, 1))
plt.show()
