"""The local Bayes classifier, and distances in order, against what they extend."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier

from benchmarks.lazy import per_query
from benchmarks.measure import Ratio, best_times, duration
from benchmarks.tables import Split, split_set
from localbayes import LCWNB, LocalBayesClassifier
from localbayes.counts import HAMMING, MatchIndex, Ordered

__all__ = ["flagship", "ordered"]


def flagship(folder: Path, quick: bool) -> Iterator[Ratio]:
    """The local Bayes classifier on letter: predictions against LCWNB's, learning against boosting."""
    split = split_set("letter", folder)
    yield from learning(split, quick)
    local = LocalBayesClassifier().fit(split.train, split.y_train)
    plain = LCWNB(5, discretize="width").fit(split.train, split.y_train)
    n = len(split.test)
    works = {
        "local": lambda: local.predict(split.test),
        "proba": lambda: local.predict_proba(split.test),
        "plain": lambda: plain.predict(split.test),
    }
    best = best_times(works, 3 if quick else 9)
    topic, other = "the local Bayes classifier on letter", per_query(best["plain"], n, "LCWNB(5)")
    yield Ratio(
        topic,
        "LocalBayesClassifier().predict / LCWNB(5).predict",
        best["local"] / best["plain"],
        8,
        ours=per_query(best["local"], n, "predict"),
        other=other,
        note=f"{len(local.kappas_)} kappas, {len(local.sizes_)} attributes against 16",
    )
    yield Ratio(
        topic,
        "LocalBayesClassifier().predict_proba / LCWNB(5).predict",
        best["proba"] / best["plain"],
        None,
        ours=per_query(best["proba"], n, "predict_proba"),
        other=other,
        note="all classes are counted",
    )


def learning(split: Split, quick: bool) -> Iterator[Ratio]:
    """Time of `fit`, one thread each; CatBoost takes minutes and is timed once."""
    X, y = (split.train[:2000], split.y_train[:2000]) if quick else (split.train, split.y_train)
    works = {
        "ours": lambda: LocalBayesClassifier().fit(X, y),
        "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbose=-1, random_state=0).fit(X, y),
    }
    best = best_times(works, 1 if quick else 5)
    patient = CatBoostClassifier(thread_count=1, verbose=0, random_seed=0, allow_writing_files=False)
    begin = time.perf_counter()
    patient.fit(X, y.astype(str))
    best["CatBoost"] = time.perf_counter() - begin
    for peer, target, note in (("LightGBM", 0.15, ""), ("CatBoost", 0.02, "CatBoost was timed once")):
        yield Ratio(
            f"learning letter, {len(X):,} × {X.shape[1]}, {split.n_classes} classes, one thread",
            f"LocalBayesClassifier().fit / {peer}'s fit",
            best["ours"] / best[peer],
            target,
            ours=f"fit {duration(best['ours'])}",
            other=f"{peer} {duration(best[peer])}",
            note=note,
        )


def ordered(quick: bool) -> Iterator[Ratio]:
    """Scores of all classes under a distance in order against those under Hamming's."""
    n, m, size, asked = 20_000 if quick else 200_000, 20, 8, 128
    random = np.random.default_rng(0)
    rows, classes = random.integers(0, size, (n, m)).astype(np.uint8), random.integers(0, 2, n)
    queries = random.integers(0, size, (asked, m)).astype(np.uint8)
    sizes, kappa = np.full(m, size, np.uint32), np.array([5.0])
    works = {}
    for name, distance in (("Hamming", HAMMING), ("ordered", Ordered((size,) * m, 3))):
        index = MatchIndex(sizes, 2, distance=distance)
        index.add(rows, classes)
        works[name] = lambda index=index: index.count(queries).cell_log_joint(kappa, sizes.astype(float), 1.0)
    best = best_times(works, 2 if quick else 5)
    yield Ratio(
        f"{n:,} rows × {m}, {size} values, 2 classes, all classes scored",
        "distance in order, cap 3 / Hamming's distance",
        best["ordered"] / best["Hamming"],
        2.5,
        ours=per_query(best["ordered"], asked, "ordered"),
        other=per_query(best["Hamming"], asked, "Hamming"),
        note="61 distances against 21",
    )
