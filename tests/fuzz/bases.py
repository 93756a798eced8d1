"""Good models of every classifier, from which damaged files are made, and rows to ask them about."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from localbayes.classifiers import CLASSIFIERS, BayesClassifier
from localbayes.encoding import Coded
from localbayes.persistence.archive import pack
from localbayes.persistence.schema import fields_of

# Kinds of tables, see `table`.
VARIANTS = ("mixed", "weights", "ignore", "codes", "wide", "parts", "category")
# Classifiers that count pairs of values refuse missing="ignore".
PAIRS = ("TAN", "AODE", "WAODE", "HNB")
NAMES = [(name, kind) for name in CLASSIFIERS for kind in VARIANTS if kind != "ignore" or name not in PAIRS]


@dataclass(frozen=True)
class Base:
    """A good model as named fields and as a file, and the table it was fitted on."""

    fields: dict[str, Any]
    content: bytes
    X: Any
    y: Any
    weights: Any


def table(variant: str) -> tuple[Any, Any, Any]:
    """Rows, classes and weights of one kind of table."""
    rng = np.random.default_rng([7, VARIANTS.index(variant)])
    n = 40
    y = np.array(["no", "yes", "maybe"])[rng.integers(0, 3, n)]
    weights = rng.integers(1, 9, n) / 4 if variant == "weights" else None
    if variant == "codes":
        codes = rng.integers(0, [2, 5, 17], (n, 3)).astype(np.uint8)
        return Coded(codes, [2, 5, 17]), y, weights
    X = pd.DataFrame(
        {
            "text": rng.choice(["a", "b", "c"], n),
            "number": rng.normal(size=n).round(2),
            "declared": pd.Categorical(rng.choice(["u", "v"], n), categories=["w", "v", "u"]),
            "flag": rng.random(n) < 0.4,
        }
    )
    if variant in ("ignore", "category", "weights"):
        X.loc[rng.random(n) < 0.2, "text"] = None
        X.loc[rng.random(n) < 0.2, "number"] = np.nan
        X.loc[rng.random(n) < 0.2, "declared"] = None
    if variant == "wide":
        X["wide"] = pd.Categorical(rng.integers(0, 300, n), categories=range(300))
        X = X[["text", "wide"]]
    return X, y, weights


@cache
def base(name: str, variant: str) -> Base:
    """One good model."""
    X, y, weights = table(variant)
    missing = {"ignore": "ignore", "category": "category"}.get(variant, "impute")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CLASSIFIERS[name](missing=missing)
        if variant == "parts":
            model.fit(X[:30], y[:30]).predict(X)
            model.partial_fit(X[30:36], y[30:36]).predict(X)
            model.partial_fit(X[36:], y[36:])
        else:
            model.fit(X, y, sample_weight=weights)
        fields = fields_of(model)
    return Base(fields, pack(fields), X, y, weights)


def rows_for(model: BayesClassifier, of: Base) -> tuple[Any, Any]:
    """Rows and classes that fit the model as loaded: those of the base where its columns are still there."""
    labels = np.array(model.labels_.declared, dtype=object)
    y = labels[np.arange(12) % len(labels)]
    if model.encoder_ is None:
        rng = np.random.default_rng(len(model.sizes_))
        most = np.minimum(model.sizes_.astype(np.int64), 60_000)
        codes = rng.integers(0, most, (12, len(most))).astype(np.uint32)
        return Coded(codes, model.sizes_), y.tolist()
    if isinstance(of.X, pd.DataFrame) and model.n_features_in_ == of.X.shape[1]:
        return of.X[:12], y.tolist()
    return np.full((12, model.n_features_in_), "a", dtype=object), y.tolist()
