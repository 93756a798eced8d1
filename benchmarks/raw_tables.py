"""LocalBayesClassifier beside forests, boosting and logistic regression on raw tables.

``python -m benchmarks.raw_tables run scores.csv`` adds a line for every table, fold and method, and goes on
where it stopped. ``python -m benchmarks.raw_tables report scores.csv`` prints the tables of
``docs/which-classifier.md``. LightGBM, CatBoost and EBM (of interpret) take part where they are
installed.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.tables import data_folder
from localbayes import LCWNB, LocalBayesClassifier
from localbayes.datasets import PAPER_SETS, load_arff, load_paper_set

SEED, FOLDS = 3, 5
# Tables of so many rows have one fold of the five, unless more are asked for.
LARGE = 3000
# A probability of zero counts as this.
CLIP = 1e-15
GROUPS = ("36 sets", "10 raw")
TARGETS = {"adult": "income", "phoneme": "class"}
FIELDS = ("group", "table", "rows", "columns", "fold", "method", "accuracy", "log_loss", "fit", "predict")

Table = tuple[str, str, pd.DataFrame, pd.Series]


def tables(arff: Path, raw: Path) -> Iterator[Table]:
    """Group, name, columns and classes of every table, the smallest first."""
    found = [("36 sets", name, *load_paper_set(name, arff, download=False)) for name in PAPER_SETS]
    for path in sorted(raw.iterdir()):
        if path.suffix == ".arff":
            found.append(("10 raw", path.stem, *load_arff(path)))
        elif path.suffix == ".csv":
            frame = pd.read_csv(path, na_values="?", skipinitialspace=True)
            y = frame.pop(TARGETS[path.stem])
            found.append(("10 raw", path.stem, frame, y))
    for group, name, X, y in sorted(found, key=lambda table: len(table[2])):
        known = y.notna()
        yield group, name, X[known].reset_index(drop=True), y[known].astype(str).reset_index(drop=True)


def prepared(X: pd.DataFrame, model: Any, scaled: bool) -> Pipeline:
    """Impute, one-hot encode and perhaps scale the columns before a model that needs it."""
    nominal = [name for name, kind in X.dtypes.items() if kind == "category"]
    numeric = [name for name in X.columns if name not in nominal]
    numbers = [SimpleImputer(), StandardScaler()] if scaled else [SimpleImputer()]
    names = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    steps = make_column_transformer((make_pipeline(*numbers), numeric), (names, nominal))
    return make_pipeline(steps, model)


def lightgbm(X: pd.DataFrame) -> Any:
    """LightGBM with its own splits of categories."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)


def catboost(X: pd.DataFrame) -> Any:
    """CatBoost with its own encoding of categories."""
    from catboost import CatBoostClassifier

    nominal = [name for name, kind in X.dtypes.items() if kind == "category"]
    return CatBoostClassifier(
        thread_count=1, verbose=0, allow_writing_files=False, random_seed=0, cat_features=nominal
    )


def ebm(X: pd.DataFrame) -> Any:
    """An explainable boosting machine: boosted functions of one column or two."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


METHODS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "LocalBayesClassifier": lambda X: LocalBayesClassifier(),
    "LCWNB": lambda X: LCWNB(),
    "RandomForest": lambda X: prepared(X, RandomForestClassifier(random_state=0), scaled=False),
    "HistGradientBoosting": lambda X: HistGradientBoostingClassifier(random_state=0),
    "LogisticRegression": lambda X: prepared(X, LogisticRegression(max_iter=1000), scaled=True),
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "EBM": ebm,
}
# They learn for seconds even on small tables, so that they run when they are asked to.
SLOW = ("CatBoost", "EBM")


def as_known(X: pd.DataFrame, train: Any, method: str) -> pd.DataFrame:
    """The table as a method takes it; ours take it as it is.

    Others want text as categories, and no column that is missing in all training rows.
    HistGradientBoosting takes 255 categories at most, so larger columns are numbers for it. CatBoost wants
    text where a category is missing.
    """
    X = X.set_axis([f"c{i}" for i in range(X.shape[1])], axis=1)
    if method in ("LocalBayesClassifier", "LCWNB"):
        return X
    X = X.loc[:, X.iloc[train].notna().any()]
    for name in X.select_dtypes(exclude="number").columns:
        column = X[name].astype("category")
        if method == "HistGradientBoosting" and len(column.cat.categories) > 255:
            column = column.cat.codes.astype(float).where(column.notna())
        elif method == "CatBoost":
            column = column.astype(object).where(column.notna(), "missing").astype(str).astype("category")
        X = X.assign(**{name: column})
    return X


def measure(X: pd.DataFrame, y: pd.Series, train: Any, test: Any, method: str) -> dict[str, float]:
    """Accuracy and log loss on the test rows, and processor seconds of fit and predict_proba."""
    X = as_known(X, train, method)
    model = METHODS[method](X.iloc[train])
    if method == "HistGradientBoosting" and y.iloc[train].value_counts().min() < 2:
        model.set_params(early_stopping=False)  # it cannot set rows of such a class aside
    begin = time.process_time()
    model.fit(X.iloc[train], y.iloc[train])
    fitted = time.process_time()
    proba = model.predict_proba(X.iloc[test])
    end = time.process_time()
    classes = np.asarray(model.classes_).astype(str)
    truth = y.iloc[test].to_numpy().astype(str)
    at = np.searchsorted(classes, truth).clip(0, len(classes) - 1)
    known = classes[at] == truth
    own = proba[np.arange(len(truth)), at][known]
    return {
        "accuracy": float(100 * (classes[proba.argmax(axis=1)] == truth).mean()),
        "log_loss": float(-np.log(np.clip(own, CLIP, None)).mean()),
        "fit": fitted - begin,
        "predict": end - fitted,
    }


def splits_of(X: pd.DataFrame, y: pd.Series, seeds: list[int], folds: int) -> Iterator[tuple[int, Any, Any]]:
    """Number, training rows and test rows of the first folds of every seed; the second seed's begin at 5."""
    for repeat, seed in enumerate(seeds):
        each = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
        for fold, (train, test) in enumerate(islice(each, folds)):
            yield repeat * FOLDS + fold, train, test


def run(
    path: Path, methods: list[str], chosen: list[Table], folds: int, large_folds: int, seeds: list[int]
) -> None:
    """Measure what the file does not hold yet, one line each."""
    done = set()
    if path.exists():
        scores = pd.read_csv(path)
        done = set(zip(scores.table, scores.fold, scores.method, strict=True))
    with path.open("a", newline="", encoding="utf-8") as file, threadpool_limits(1):
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for group, name, X, y in chosen:
            for fold, train, test in splits_of(X, y, seeds, large_folds if len(X) >= LARGE else folds):
                for method in methods:
                    if (name, fold, method) in done:
                        continue
                    facts = {"group": group, "table": name, "rows": len(X), "columns": X.shape[1]}
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = measure(X, y, train, test, method)
                    shown = {key: f"{value:.6g}" for key, value in found.items()}
                    writer.writerow({**facts, "fold": fold, "method": method, **shown})
                    file.flush()


def summary(scores: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Means over tables of means over the folds that all methods have, and how often ours is better."""
    kept = scores[scores.method.isin(methods)]
    whole = kept.groupby(["table", "fold"]).method.transform("nunique") == len(methods)
    by_table = kept[whole].groupby(["table", "method"])[["accuracy", "log_loss", "fit", "predict"]].mean()
    wide = by_table.unstack("method")
    ours = "LocalBayesClassifier"
    rows = {}
    for method in methods:
        column = {name: wide[name, method] for name in ("accuracy", "log_loss", "fit", "predict")}
        better = (column["accuracy"] > wide["accuracy", ours]).sum()
        worse = (column["accuracy"] < wide["accuracy", ours]).sum()
        sure = (column["log_loss"] < wide["log_loss", ours]).sum()
        unsure = (column["log_loss"] > wide["log_loss", ours]).sum()
        rows[method] = {
            "accuracy": f"{column['accuracy'].mean():.2f}",
            "log loss": f"{column['log_loss'].mean():.4f}",
            "accuracy better / worse": "" if method == ours else f"{better} / {worse}",
            "log loss better / worse": "" if method == ours else f"{sure} / {unsure}",
            "fit, s": f"{column['fit'].mean():.2f}",
            "predict, s": f"{column['predict'].mean():.2f}",
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.attrs["tables"] = len(wide)
    return frame


def markdown(frame: pd.DataFrame) -> str:
    """A table with the index as its first column."""
    lines = [["", *frame.columns], ["---"] * (1 + len(frame.columns))]
    lines += [[str(name), *map(str, row)] for name, row in zip(frame.index, frame.to_numpy(), strict=True)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(path: Path) -> None:
    """Print all tables."""
    scores = pd.read_csv(path)
    present = [method for method in METHODS if method in set(scores.method)]
    always = [method for method in present if method not in SLOW]
    small = scores.rows < LARGE
    for title, kept, methods in [
        ("36 sets", scores.group == "36 sets", always),
        ("10 raw", scores.group == "10 raw", always),
        ("fewer than 300 rows", scores.rows < 300, always),
        ("300 rows to 2,999", (scores.rows >= 300) & small, always),
        ("3,000 rows and more", ~small, always),
        *((f"folds that {slow} has", scores.rows > 0, [*always, slow]) for slow in SLOW if slow in present),
    ]:
        frame = summary(scores[kept], methods)
        print(f"\n{title}: {frame.attrs['tables']} tables\n\n{markdown(frame)}")
    means = scores.groupby(["rows", "table", "method"])[["accuracy", "log_loss"]].mean().reset_index()
    means["both"] = means.accuracy.map("{:.1f}".format) + " / " + means.log_loss.map("{:.3f}".format)
    wide = means[means.method.isin(always)].pivot(index=["rows", "table"], columns="method", values="both")
    wide.index = pd.Index([f"{table} ({rows:,})" for rows, table in wide.index])
    print("\nevery table, accuracy / log loss\n\n" + markdown(wide[always].fillna("")))
    cost = scores[~small].groupby(["rows", "table", "method"])[["fit", "predict"]].mean().reset_index()
    cost["both"] = cost.fit.map("{:.1f}".format) + " / " + cost.predict.map("{:.2f}".format)
    wide = cost.pivot(index=["rows", "table"], columns="method", values="both")
    wide = wide.reindex(columns=present).astype(object).fillna("")
    wide.index = pd.Index([f"{table} ({rows:,})" for rows, table in wide.index])
    print("\nseconds of fit / predict\n\n" + markdown(wide))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.raw_tables", description=__doc__)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("scores", type=Path, help="CSV file of the scores")
    parser.add_argument("--data", help="folder with the ARFF files of the 36 sets")
    parser.add_argument("--raw", type=Path, help="folder with the ten raw tables; by default beside --data")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="by default all but CatBoost and EBM")
    parser.add_argument("--most-rows", type=int, default=10**9, help="leave larger tables out")
    parser.add_argument("--most-classes", type=int, default=10**9, help="leave tables of more classes out")
    parser.add_argument("--folds", type=int, default=FOLDS, help="at most so many folds of the five")
    parser.add_argument(
        "--large-folds", type=int, default=1, help="the same of tables of 3,000 rows and more"
    )
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[SEED], help="of the folds; two are two repeats"
    )
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS, help="tables")
    options = parser.parse_args()
    if options.what == "report":
        report(options.scores)
        return
    arff = data_folder(options.data)
    installed = [m for m in METHODS if m not in SLOW and (m != "LightGBM" or find_spec("lightgbm"))]
    chosen = [
        table
        for table in tables(arff, options.raw or arff.parent / "raw")
        if table[0] in options.groups
        and len(table[2]) <= options.most_rows
        and table[3].nunique() <= options.most_classes
    ]
    run(
        options.scores,
        options.methods or installed,
        chosen,
        options.folds,
        options.large_folds,
        options.seeds,
    )


if __name__ == "__main__":
    main()
