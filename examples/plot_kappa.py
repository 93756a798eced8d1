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
# How one prediction moves
# ------------------------
# From very local on the left to nearly naive Bayes on the right. Where the lines do not cross, the choice
# of kappa does not matter.

import numpy as np

rest = LCWNB().fit(X[20:], y[20:])
kappas = np.geomspace(1, 200, 40)
curve = rest.explain(X[8:9], kappas=kappas).neighbourhood.curve
best = np.argsort(curve.proba[:, 0].max(axis=0))[-3:]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for k in best[::-1]:
    ax.plot(kappas, curve.proba[:, 0, k], label=str(rest.classes_[k]))
ax.set(xscale="log", xlabel="kappa", ylabel="probability", title="One row of soybean")
ax.legend()
plt.show()
