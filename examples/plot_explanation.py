"""
Reading an explanation
======================

Every prediction is a product of factors, so it can be split into them: how much did each column change
the odds?
"""

# %%
# A credit, and why
# -----------------
# The classifier learns from all rows but the first 200, and explains one of these.

import textwrap

import matplotlib.pyplot as plt

from localbayes import LocalBayesClassifier
from localbayes.datasets import load
from localbayes.explain import plot_explanation, sentence

X, y = load("credit-g")
clf = LocalBayesClassifier().fit(X[200:], y[200:])
answer = clf.explain(X[:200])
row = 1
print(textwrap.fill(sentence(answer, row=row), 78))

# %%
# The bars are log odds. +0.69 doubles the odds of the predicted class against the next one, -0.69 halves
# them. The parts sum to the whole: nothing is approximated.

plot_explanation(answer, row=row, top=10)
plt.show()

# %%
# What speaks most over many rows
# -------------------------------
# The mean of the absolute log odds of every column, over the 200 rows.

import numpy as np

weight = np.mean([np.abs(answer.log_odds(q).contributions) for q in range(len(answer))], axis=0)
order = np.argsort(weight)[-12:]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh([list(X.columns)[i] for i in order], weight[order], color="tab:blue")
ax.set(xlabel="mean |log odds|", title="Which columns move the predictions")
plt.show()
