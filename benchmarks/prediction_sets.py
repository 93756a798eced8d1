"""Coverage and size of prediction sets on the 36 sets, beside MAPIE and crepes on a random forest.

``python -m benchmarks.prediction_sets run sets.csv [--only NAME ...]`` adds a line for every set, fold,
method, coverage and kind of set, and goes on where it stopped. ``python -m benchmarks.prediction_sets report
sets.csv`` prints the tables of ``docs/trust.md``. MAPIE and crepes have to be installed for their lines.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from benchmarks.tables import data_folder
from localbayes.classifiers import CLASSIFIERS
from localbayes.datasets import PAPER_SETS, load_paper_set

SEED, FOLDS, TREES = 3, 10, 100
COVERAGES = (0.8, 0.9, 0.95)
FIELDS = (
    "set",
    "fold",
    "method",
    "coverage",
    "by_class",
    "rows",
    "covered",
    "size",
    "empty",
    "classes",
    "hits",
)

Sets = dict[tuple[float, bool], np.ndarray]


def ours(name: str) -> Callable[..., tuple[Any, Sets]]:
    """Classes and sets of one of our classifiers, calibrated on rows that are left out."""

    def sets(X: Any, y: Any, test: Any) -> tuple[Any, Sets]:
        model = CLASSIFIERS[name]().fit(X, y)
        wanted = [(coverage, by_class) for coverage in COVERAGES for by_class in (False, True)]
        return model.classes_, {key: model.predict_set(test, *key) for key in wanted}

    return sets


def forest(X: pd.DataFrame, **options: Any) -> Any:
    """A random forest and what makes numbers of a table."""
    numbers = X.select_dtypes("number").columns
    text = X.columns.difference(numbers)
    table = make_column_transformer(
        (SimpleImputer(), numbers), (OneHotEncoder(handle_unknown="ignore"), text), sparse_threshold=0
    )
    return table, RandomForestClassifier(TREES, random_state=SEED, n_jobs=1, **options)


def crepes_sets(X: Any, y: Any, test: Any) -> tuple[Any, Sets]:
    """Sets of crepes, calibrated on out-of-bag votes."""
    from crepes import WrapClassifier

    table, trees = forest(X, oob_score=True)
    X, test = table.fit_transform(X), table.transform(test)
    wrapped, found = WrapClassifier(trees), {}
    wrapped.fit(X, y)
    for by_class in (False, True):
        wrapped.calibrate(X, y, oob=True, class_cond=by_class, seed=SEED)
        for coverage in COVERAGES:
            sets = wrapped.predict_set(test, labels=False, confidence=coverage, seed=SEED)
            found[coverage, by_class] = np.asarray(sets, dtype=bool)
    return trees.classes_, found


def mapie_sets(X: Any, y: Any, test: Any) -> tuple[Any, Sets]:
    """Sets of MAPIE, calibrated on a quarter of the rows, which the forest does not see."""
    from mapie.classification import SplitConformalClassifier

    table, trees = forest(X)
    model = make_pipeline(table, trees)
    each = pd.Series(y).map(pd.Series(y).value_counts()).to_numpy()
    often = each >= 4  # rows of rarer classes stay with the forest, which has to know all classes
    rows = np.arange(len(y))
    kept, held = train_test_split(
        rows[often], test_size=0.25, random_state=SEED, stratify=np.asarray(y)[often]
    )
    kept = np.concatenate([kept, rows[~often]])
    model.fit(X.iloc[kept], np.asarray(y)[kept])
    found = {}
    for coverage in COVERAGES:
        # MAPIE refuses fewer rows than 1 / (1 - coverage).
        if len(held) * (1 - coverage) > 1:
            conformal = SplitConformalClassifier(model, confidence_level=coverage, prefit=True)
            conformal.conformalize(X.iloc[held], np.asarray(y)[held])
            found[coverage, False] = conformal.predict_set(test)[1][:, :, 0]
    return model.classes_, found


METHODS = {**{name: ours(name) for name in CLASSIFIERS}, "crepes": crepes_sets, "MAPIE": mapie_sets}


def tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Name, columns and classes of every set, the smallest first."""
    found = [(name, *load_paper_set(name, folder, download=False)) for name in PAPER_SETS]
    for name, X, y in sorted(found, key=lambda table: len(table[1])):
        yield name, X.reset_index(drop=True), np.asarray(y.astype(str))


def run(path: Path, folder: Path, only: list[str]) -> None:
    """Add the lines that are not in the file yet."""
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {(line["set"], int(line["fold"]), line["method"]) for line in csv.DictReader(file)}
    with path.open("a", newline="") as file:
        lines = csv.DictWriter(file, FIELDS)
        if not done:
            lines.writeheader()
        for name, X, y in tables(folder):
            splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, y)
            for fold, (train, test) in enumerate(splits):
                for method in only:
                    if (name, fold, method) in done:
                        continue
                    classes, sets = METHODS[method](X.iloc[train], y[train], X.iloc[test])
                    head = {"set": name, "fold": fold, "method": method, "rows": len(test)}
                    for (coverage, by_class), found in sets.items():
                        lines.writerow(
                            head
                            | {"coverage": coverage, "by_class": by_class}
                            | counts(classes, found, y[test])
                        )
                    file.flush()
            print(name, flush=True)


def counts(classes: Any, sets: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """How many rows are covered, of each class too; the sizes of all sets together, and the empty ones."""
    at = {label: k for k, label in enumerate(classes)}
    hit = np.array([label in at and bool(sets[k, at[label]]) for k, label in enumerate(truth)])
    of_class = pd.Series(hit).groupby(truth).agg(["size", "sum"])
    return {
        "covered": int(hit.sum()),
        "size": int(sets.sum()),
        "empty": int((~sets.any(axis=1)).sum()),
        "classes": " ".join(f"{label.replace(' ', '_')}:{n}" for label, n in of_class["size"].items()),
        "hits": " ".join(map(str, of_class["sum"])),
    }


def report(path: Path) -> None:
    """Print a table for each kind of set: means over sets, each set being the mean over its rows."""
    lines = pd.read_csv(path)
    for by_class, part in lines.groupby("by_class"):
        print(f"\n#### {'For every class' if by_class else 'For all rows together'}\n")
        heads = " | ".join(f"{c:.0%}: coverage, of classes, size, empty" for c in COVERAGES)
        print(f"| method | sets | {heads} |")
        print("|---|---|" + "---|" * len(COVERAGES))
        for method, own in part.groupby("method"):
            cells = [cell(own[own.coverage == coverage]) for coverage in COVERAGES]
            print(f"| {method} | {own['set'].nunique()} | {' | '.join(cells)} |")


def cell(lines: pd.DataFrame) -> str:
    """Coverage, mean coverage of classes, mean size and share of empty sets, each a mean over sets."""
    sums = lines.groupby("set")[["rows", "covered", "size", "empty"]].sum()
    share = sums[["covered", "size", "empty"]].div(sums["rows"], axis=0).mean()
    by_set = []
    for _, own in lines.groupby("set"):
        seen: dict[str, np.ndarray] = {}
        for names, hits in zip(own["classes"], own["hits"], strict=True):
            for text, hit in zip(names.split(" "), str(hits).split(" "), strict=True):
                label, n = text.rsplit(":", 1)
                seen[label] = seen.get(label, np.zeros(2)) + np.array([int(n), int(hit)])
        by_set.append(np.mean([hit / n for n, hit in seen.values()]))
    return f"{share['covered']:.1%}, {np.mean(by_set):.1%}, {share['size']:.2f}, {share['empty']:.1%}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prediction_sets", description=__doc__)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", help="folder with the ARFF files")
    parser.add_argument("--only", nargs="+", default=list(METHODS), choices=METHODS, metavar="NAME")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    with threadpool_limits(1):
        if options.what == "run":
            run(options.file, data_folder(options.data), options.only)
        else:
            report(options.file)


if __name__ == "__main__":
    main()
