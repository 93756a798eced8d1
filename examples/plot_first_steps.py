"""
First steps on a messy table
============================

A table as it comes out of a database: numbers, categories, dates, yes and no, and holes. Nothing is prepared.
"""

# %%
# The table
# ---------
# Customers, and whether they left. Those who pay by the month leave more often, and so do new ones; support
# calls are not recorded for everybody, and no record is a sign in itself.

import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
n = 1500
months = rng.gamma(2.0, 14.0, n).round()
contract = rng.choice(["monthly", "yearly", "two years"], n, p=[0.55, 0.3, 0.15])
calls = rng.poisson(1.2, n).astype(float)
risk = 1.4 * (contract == "monthly") - 0.04 * months + 0.5 * calls - 0.9
calls[rng.random(n) < np.where(contract == "monthly", 0.1, 0.4)] = np.nan
customers = pd.DataFrame(
    {
        "contract": contract,
        "months": months,
        "calls": calls,
        "joined": pd.Timestamp("2026-01-01") - pd.to_timedelta(30 * months, unit="D"),
        "paperless": rng.random(n) < 0.6,
        "customer": [f"C-{k:05d}" for k in range(n)],
    }
)
left = pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "left", "stayed"), name="left")
customers.head()

# %%
# Fit and look
# ------------
# Every column has a role of its own: numbers and dates are cut into bins that keep their order, text is
# nominal, a missing value is a value. The column of customer numbers tells nothing of others and is left
# out, with a warning.

import warnings

from sklearn.model_selection import cross_val_predict

from localbayes import LocalBayesClassifier

clf = LocalBayesClassifier()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    clf.fit(customers, left)
print(said[0].message)

# %%
# Are the probabilities right?
# ----------------------------
# Of the customers with a probability of about 30 %, about 30 % should have left. Each one is asked by a
# model that did not see it.

table = customers.drop(columns="customer")
proba = cross_val_predict(clf, table, left, cv=5, method="predict_proba")[:, 0]
bins = np.quantile(proba, np.linspace(0, 1, 11))
place = np.clip(np.searchsorted(bins, proba, side="right") - 1, 0, 9)
said_mean = [proba[place == k].mean() for k in range(10)]
true_share = [(left[place == k] == "left").mean() for k in range(10)]

import matplotlib.pyplot as plt

fig, (ax, bars) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
ax.plot(said_mean, true_share, "o-", color="tab:blue")
ax.set(xlabel="probability that was said", ylabel="share that left", title="Calibration, ten groups")
bars.hist([proba[left == "left"], proba[left == "stayed"]], bins=20, stacked=True, label=["left", "stayed"])
bars.set(xlabel="probability of leaving", ylabel="customers", title="What was said of whom")
bars.legend()
plt.show()
