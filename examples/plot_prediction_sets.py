"""
Prediction sets
===============

A label says nothing of doubt. A prediction set names all classes that a row may have, so that the true one is
among them for the share of rows that you ask for.
"""

# %%
# Ask for nine in ten
# -------------------
# The thresholds come from training rows, each judged without itself, so no rows are set aside.

from sklearn.model_selection import train_test_split

from localbayes import LocalBayesClassifier
from localbayes.datasets import load

X, y = load("glass")
y = y.cat.remove_unused_categories()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
clf = LocalBayesClassifier().fit(X_train, y_train)
sets = clf.predict_set(X_test, coverage=0.9)
for row in range(5):
    print(f"{y_test.iloc[row]:22}", [str(name) for name in clf.classes_[sets[row]]])

# %%
# What more certainty costs
# -------------------------
# The share of test rows whose set holds the true class follows what was asked for; the price is larger sets.

import matplotlib.pyplot as plt
import numpy as np

place = {name: k for k, name in enumerate(clf.classes_)}
truth = np.array([place[name] for name in y_test])
asked = np.linspace(0.5, 0.98, 13)
held, sizes = [], []
for share in asked:
    sets = clf.predict_set(X_test, coverage=share)
    held.append(sets[np.arange(len(truth)), truth].mean())
    sizes.append(sets.sum(axis=1).mean())

fig, (ax, size) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
ax.plot([0.5, 1], [0.5, 1], color="0.6", linewidth=1)
ax.plot(asked, held, "o-", color="tab:blue")
ax.set(xlabel="coverage that was asked for", ylabel="share of sets with the true class", title="86 test rows")
size.plot(asked, sizes, "o-", color="tab:orange")
size.set(xlabel="coverage that was asked for", ylabel="classes in a set, on average", ylim=(0, None))
plt.show()
