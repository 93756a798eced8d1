"""LCWNB on rows with weights, with missing values, and on rows that are repeated, against plain rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Ratio, best_times, duration
from benchmarks.tables import make_codes
from localbayes import LCWNB
from localbayes.encoding import Coded

__all__ = ["repeated", "weighted"]

N_ASKED = 128


def weighted(quick: bool) -> Iterator[Ratio]:
    """Weights of rows and missing values against the same rows without."""
    n, m, q = 20_000 if quick else 200_000, 20, 8
    codes, classes = make_codes(n, m, q, seed=1)
    asked, _ = make_codes(N_ASKED, m, q, seed=2)
    random, sizes = np.random.default_rng(3), np.full(m, q)
    rows, queries = Coded(codes, sizes), Coded(asked, sizes)

    def with_weights(weights: np.ndarray | None) -> LCWNB:
        return LCWNB(5).fit(rows, classes, sample_weight=weights)

    def with_holes(table: np.ndarray) -> Coded:
        return Coded(table, sizes, missing=random.random(table.shape) < 0.1)

    holes = LCWNB(5, missing="ignore").fit(with_holes(codes), classes)
    cases = {
        "plain": (with_weights(None), queries, None),
        "integer sample_weight, 1 to 10": (with_weights(random.integers(1, 11, n)), queries, 2.0),
        "5 distinct weights": (with_weights(random.choice([0.3, 0.7, 1.1, 1.9, 2.3], n)), queries, 2.0),
        "arbitrary sample_weight": (with_weights(random.random(n) + 0.1), queries, 6.0),
        'missing="ignore", 10 % missing': (holes, with_holes(asked), 2.0),
    }
    topic = f"weights and missing values, {n:,} × {m}, 2 classes, batch of {N_ASKED}"
    for method in ("predict", "predict_proba"):
        works = {
            name: lambda model=model, asked=asked, method=method: getattr(model, method)(asked)
            for name, (model, asked, _) in cases.items()
        }
        best = best_times(works, 3 if quick else 40, at_least=0)
        for name, (_, _, target) in cases.items():
            if target is not None:
                yield Ratio(
                    topic,
                    f"{name} / plain, {method}",
                    best[name] / best["plain"],
                    target,
                    ours=f"{duration(best[name] / N_ASKED)} a query",
                    other=f"plain {duration(best['plain'] / N_ASKED)} a query",
                )


def repeated(quick: bool) -> Iterator[Ratio]:
    """Rows that are repeated, 8 columns of 4 values and 2 classes, against the distinct ones."""
    random, sizes = np.random.default_rng(5), np.full(8, 4)
    lengths = (100_000, 1_000_000) if quick else (1_000_000, 10_000_000)

    def make(n: int) -> tuple[np.ndarray, np.ndarray]:
        return random.integers(0, 4, (n, 8), dtype=np.uint8), random.integers(0, 2, n)

    models, counted_first = {}, {}
    for n in lengths:
        codes, classes = make(n)
        models[f"{n:,}"] = LCWNB(5).fit(Coded(codes, sizes), classes)
        # A row as one number, of which the class is the last digit.
        numbers = codes.astype(np.int64) @ 4 ** np.arange(8) * 2 + classes
        _, first, times = np.unique(numbers, return_index=True, return_counts=True)
        rows = Coded(codes[first], sizes)
        counted_first[f"{n:,}"] = LCWNB(5).fit(rows, classes[first], sample_weight=times).index_.nbytes
        if n == lengths[0]:
            n_distinct = len(first)
            models["distinct"] = LCWNB(5).fit(rows, classes[first])
    queries = Coded(make(N_ASKED)[0], sizes)
    works = {name: lambda model=model: model.predict(queries) for name, model in models.items()}
    best = best_times(works, 3 if quick else 40, at_least=0)
    few, many = (f"{n:,}" for n in lengths)
    topic = f"repeated rows, 8 columns of 4 values, 2 classes, batch of {N_ASKED}"
    for a, b, target in ((few, "distinct", 1.5), (many, few, 1.5)):
        what = f"its {n_distinct:,} distinct ones" if b == "distinct" else f"{b}"
        yield Ratio(
            topic,
            f"cost of a query, {a} rows / {what}",
            best[a] / best[b],
            target,
            ours=f"{duration(best[a] / N_ASKED)} a query",
            other=f"{duration(best[b] / N_ASKED)} a query",
        )
    counted = {name: sum(s.nbytes_counted for s in model.index_.segments) for name, model in models.items()}
    whole = {name: model.index_.nbytes for name, model in models.items()}
    for held, what, target, note in (
        (counted, "bytes that a query reads", 1.5, "the cells and what they count"),
        (whole, "bytes in all", None, "with the cell of every row, which tells which row is which"),
        (counted_first, "bytes in all, rows counted first", 1.5, "a row once, its number as sample_weight"),
    ):
        yield Ratio(
            topic,
            f"{what}, {many} rows / {few}",
            held[many] / held[few],
            target,
            ours=f"{held[many] / 1e6:.2f} MB",
            other=f"{held[few] / 1e6:.2f} MB",
            note=note,
        )
