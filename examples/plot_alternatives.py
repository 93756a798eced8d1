"""
Beside a forest and boosting
============================

The same folds for everybody, each method with a preparation that suits it. A small picture of a large table:
:doc:`/which-classifier` has 46 data sets.
"""

# %%
# The methods
# -----------
# The forest and the linear model need one-hot columns and no holes; boosting takes categories;
# ``LocalBayesClassifier`` takes the table.

from sklearn.compose import make_column_selector as columns_of
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from localbayes import LocalBayesClassifier


def prepared(last):
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    table = make_column_transformer(
        (one_hot, columns_of(dtype_include="category")), (numbers, columns_of(dtype_include="number"))
    )
    return make_pipeline(table, last)


methods = {
    "LocalBayes": LocalBayesClassifier(),
    "random forest": prepared(RandomForestClassifier(random_state=0)),
    "boosting": HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
    "logistic": prepared(LogisticRegression(max_iter=1000)),
}

# %%
# Four tables, three folds
# ------------------------

import warnings

from sklearn.model_selection import StratifiedKFold, cross_validate

from localbayes.datasets import load

warnings.filterwarnings("ignore", message=".*unknown categories.*")
sets = ["credit-g", "ionosphere", "glass", "labor"]
folds = StratifiedKFold(3, shuffle=True, random_state=3)
accuracy, log_loss = {}, {}
for name in sets:
    X, y = load(name)
    y = y.cat.remove_unused_categories()
    for method, clf in methods.items():
        result = cross_validate(clf, X, y, cv=folds, scoring=["accuracy", "neg_log_loss"])
        accuracy[method, name] = 100 * result["test_accuracy"].mean()
        log_loss[method, name] = -result["test_neg_log_loss"].mean()

# %%
# Accuracy decides what a label is worth, log loss what a probability is worth.

import matplotlib.pyplot as plt
import numpy as np

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, found, title in (
    (axes[0], accuracy, "accuracy in % (more is better)"),
    (axes[1], log_loss, "log loss (less is better)"),
):
    for k, method in enumerate(methods):
        at = np.arange(len(sets)) + 0.2 * (k - 1.5)
        ax.bar(at, [found[method, name] for name in sets], width=0.18, label=method)
    ax.set_xticks(np.arange(len(sets)), sets)
    ax.set_title(title)
axes[0].set_ylim(40, 100)
axes[1].legend()
plt.show()
