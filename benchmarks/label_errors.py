"""Wrong labels found by an audit, beside cleanlab on a cross-validated random forest.

``python -m benchmarks.label_errors`` turns 5 % of the labels of the paper's 36 sets into others, with a seed,
and prints which share of as many rows at the top of each list are those, and the processor time of each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.raw_tables import prepared
from benchmarks.tables import data_folder
from localbayes import LocalBayesClassifier, audit
from localbayes.datasets import PAPER_SETS, load_paper_set

SHARE, FOLDS = 0.05, 5


def with_wrong_labels(y: pd.Series, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Classes as numbers, 5 % of them wrong, and the rows that are."""
    rng = np.random.default_rng(seed)
    codes = np.asarray(pd.factorize(y.astype(str))[0], dtype=np.int64)
    r = int(codes.max()) + 1
    wrong = rng.choice(len(codes), max(1, round(SHARE * len(codes))), replace=False)
    codes[wrong] = (codes[wrong] + rng.integers(1, r, len(wrong))) % r
    return codes, wrong


def cleanlab_ranking(X: pd.DataFrame, codes: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Rows that cleanlab calls wrong, ranked, from probabilities of a forest on folds."""
    from cleanlab.filter import find_label_issues

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    forest = prepared(X, RandomForestClassifier(random_state=0), scaled=False)
    proba = cross_val_predict(forest, X, codes, cv=folds, method="predict_proba")
    found: npt.NDArray[Any] = find_label_issues(
        codes, proba, return_indices_ranked_by="self_confidence", n_jobs=1
    )
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--thorough", action="store_true", help="also ask LocalBayesClassifier")
    given = parser.parse_args()
    methods = {
        "audit": lambda X, codes: audit(X, codes).ranking,
        "cleanlab": cleanlab_ranking,
    }
    if given.thorough:
        methods["audit, LocalBayes"] = lambda X, codes: audit(X, codes, LocalBayesClassifier()).ranking
    lines = []
    for name in PAPER_SETS:
        X, y = load_paper_set(name, data_folder(), download=False)
        for seed in range(given.seeds):
            codes, wrong = with_wrong_labels(y, seed)
            line: dict[str, Any] = {"set": name}
            for method, rank in methods.items():
                begin = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    first = rank(X, codes)[: len(wrong)]
                line[f"{method}, s"] = time.process_time() - begin
                line[method] = np.isin(first, wrong).sum() / len(wrong)
            lines.append(line)
            print(line, flush=True)
    table = pd.DataFrame(lines).groupby("set").mean()
    print(table.round(3).to_string())
    print(table.mean().round(4).to_string())
    print(
        "better / worse than cleanlab:",
        *((table["audit"] > table["cleanlab"]).sum(), (table["audit"] < table["cleanlab"]).sum()),
    )
    print("times as fast, over all sets:", round(table["cleanlab, s"].sum() / table["audit, s"].sum(), 1))
    print("times as fast, median of sets:", round((table["cleanlab, s"] / table["audit, s"]).median(), 1))


if __name__ == "__main__":
    main()
