"""
Many rows with Dask
===================

Counts of parts of a table add up to the counts of the table. So a cluster counts its parts, and the
answer is that of one fit on all rows. Here the cluster is two threads of this process; its address is all
that a larger one changes.
"""

# %%
# A table in parts
# ----------------
# In life these would be Parquet files: ``Distributed(NB(), client).fit("data/*.parquet", target="class")``.

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client

from localbayes import AODE, LCWNB, NB
from localbayes.distributed import Distributed

rng = np.random.default_rng(1)
n = 40_000
colour = rng.choice(["red", "green", "blue"], n)
shape = rng.choice(["round", "square"], n)
size = rng.integers(1, 9, n)
odd = (colour == "red") ^ (shape == "round") ^ (size > 4)
label = np.where(rng.random(n) < np.where(odd, 0.85, 0.1), "yes", "no")
table = pd.DataFrame({"colour": colour, "shape": shape, "size": size.astype(str), "label": label})
test, train = table[:4000], table[4000:]
parts = dd.from_pandas(train, npartitions=8)

# %%
# The same answer there and here
# ------------------------------

X, y = test.drop(columns="label"), test["label"]
scores, differences = {}, {}
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
    for clf in (NB(), AODE(), LCWNB(kappa=20)):
        there = Distributed(clf, client).fit(parts, target="label").predict_proba(X)
        here = clf.fit(train.drop(columns="label"), train["label"]).predict_proba(X)
        name = type(clf).__name__
        differences[name] = np.abs(there - here).max()
        scores[name] = (clf.classes_[there.argmax(axis=1)] == y).mean()
print({name: float(difference) for name, difference in differences.items()})

# %%
# The class depends on three columns together, which naive Bayes cannot see and a local model can.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
bars = ax.bar(list(scores), [100 * share for share in scores.values()], color="tab:blue", width=0.6)
ax.bar_label(bars, fmt="%.1f")
ax.set(ylabel="accuracy in %", ylim=(0, 100), title="36,000 rows in eight parts")
plt.show()
