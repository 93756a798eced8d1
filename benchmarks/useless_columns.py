"""What columns that say nothing cost: ids, a constant, a random date, and noise, added to the embedded sets.

``python -m benchmarks.useless_columns`` prints for every method how many points of accuracy are lost on
average, over several draws of the columns.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from benchmarks.raw_tables import markdown
from localbayes import LocalBayesClassifier
from localbayes.classifiers import METHODS
from localbayes.datasets import EMBEDDED, load

SEED, FOLDS = 3, 5
ASKED = {"LocalBayesClassifier": LocalBayesClassifier, **METHODS}


def with_useless_columns(X: pd.DataFrame, draw: int, noise: bool) -> pd.DataFrame:
    """The table with three ids, a constant and a date as text, and perhaps five columns of noise."""
    random, n = np.random.default_rng(1000 + draw), len(X)
    new = {
        "row": np.arange(n),
        "customer_id": random.choice(900_000, n, replace=False) + 100_000,
        "code": [f"K{k:07d}" for k in random.choice(9_999_999, n, replace=False)],
        "constant": np.full(n, "x"),
        "day": (np.datetime64("2020-01-01") + random.integers(0, 1500, n)).astype(str),
    }
    if noise:
        new |= {f"number{k}": random.normal(size=n) for k in range(3)}
        new |= {f"letter{k}": random.choice(list("abcd"), n) for k in range(2)}
    return X.assign(**new)


def accuracy(method: str, X: pd.DataFrame, y: pd.Series) -> float:
    """Per cent of the rows that are predicted rightly by a model of the other folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = cross_val_predict(ASKED[method](), X, y, cv=folds)
    return float(100 * (predicted == y.to_numpy()).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.useless_columns", description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--methods", nargs="+", choices=ASKED, default=list(ASKED))
    given = parser.parse_args()
    lines = []
    with threadpool_limits(1):
        for method in given.methods:
            for name in EMBEDDED:
                X, y = load(name)
                clean = accuracy(method, X, y)
                for draw in range(given.draws):
                    for noise in (False, True):
                        lost = clean - accuracy(method, with_useless_columns(X, draw, noise), y)
                        lines.append((method, name, draw, noise, clean, lost))
    scores = pd.DataFrame(lines, columns=["method", "set", "draw", "noise", "clean", "lost"])
    by_draw = scores.groupby(["method", "noise", "draw"]).lost.mean()
    table = {}
    for method in given.methods:
        table[method] = {"accuracy without": f"{scores.clean[scores.method == method].mean():.2f}"}
        for noise, title in ((False, "ids, constant, date"), (True, "and noise")):
            lost = by_draw.loc[(method, noise)]
            table[method][title] = f"{lost.mean():.2f} ({lost.min():.2f} to {lost.max():.2f})"
    print(markdown(pd.DataFrame.from_dict(table, orient="index")))
    own = scores[(scores.method == given.methods[0]) & scores.noise]
    print(f"\n{given.methods[0]}, with noise, by set: {own.groupby('set').lost.mean().round(2).to_dict()}")


if __name__ == "__main__":
    main()
