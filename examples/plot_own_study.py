"""
A study of your own
===================

Which method is better over several data sets? A study runs all of them under Weka's folds, keeps every
fold in one file, and tests what may be said. A run that was stopped goes on where it was.
"""

# %%
# Run it
# ------
# Two methods that come along and one of scikit-learn's, on five data sets, twice ten folds each.

import tempfile
from pathlib import Path

from sklearn.naive_bayes import CategoricalNB

from localbayes.study import Store, from_estimator, make_plan, read_table, run_study

store = Path(tempfile.mkdtemp(), "mine.db")
bayes = from_estimator("scikit-learn NB", CategoricalNB(min_categories=20))
sets = ["breast-cancer", "iris", "labor", "vote", "glass"]
plan = make_plan(sets, ["LCWNB5", "NB", bayes], runs=2)
outcome = run_study(plan, store)
print(outcome.rows, "folds,", outcome.failed, "failed")

# %%
# Look at it
# ----------
# On the command line ``localbayes study report --store mine.db`` writes a page with tables, tests and
# figures.

import matplotlib.pyplot as plt
import numpy as np

with Store(store) as kept:
    table = read_table(kept, reference="LCWNB5")
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for k, column in enumerate(table.columns):
    cells = [table.cell(name, column) for name in sets]
    at = np.arange(len(sets)) + 0.15 * (k - 1)
    ax.errorbar(at, [c.mean for c in cells], [c.sd for c in cells], fmt="o", capsize=3, label=column)
ax.set_xticks(np.arange(len(sets)), sets)
ax.set(ylabel="accuracy in %, deviation over folds")
ax.legend()
plt.show()
