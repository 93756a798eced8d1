"""LCWNB against peers: on three of the paper's sets, on a million rows, on two threads, for many kappas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Ratio, best_times, duration
from benchmarks.peers import LESS, Weka, faiss_search, neighbours
from benchmarks.tables import MadeUp, split_set
from localbayes import LCWNB

__all__ = ["kappas", "letter", "million", "threads", "wide"]

KAPPAS = np.geomspace(1, 200, 12)
N_ASKED = 2000


def per_query(seconds: float, n: int, what: str) -> str:
    """Word a time per query."""
    return f"{what} {duration(seconds / n)} a query"


def letter(folder: Path, quick: bool) -> Iterator[Ratio]:
    """LCWNB.predict on letter, from a DataFrame, against peers that get codes."""
    split = split_set("letter", folder)
    model = LCWNB(5, discretize="width").fit(split.train, split.y_train)
    n = len(split.test)
    works = {
        "ours": lambda: model.predict(split.test),
        "faiss": faiss_search(split.train_codes, split.test_codes),
        "k-NN": neighbours(split.train_codes, split.class_codes, split.test_codes),
    }
    best = best_times(works, 3 if quick else 9)
    topic, ours = "letter, one thread", per_query(best["ours"], n, "predict")
    yield Ratio(
        topic,
        "LCWNB.predict, encoding included / faiss IndexBinaryFlat, k = 50",
        best["ours"] / best["faiss"],
        0.6,
        ours=ours,
        other=per_query(best["faiss"], n, "faiss"),
        note=LESS,
    )
    yield Ratio(
        topic,
        "scikit-learn k-NN (10, hamming, brute) / LCWNB.predict",
        best["k-NN"] / best["ours"],
        6,
        at_most=False,
        ours=ours,
        other=per_query(best["k-NN"], n, "k-NN"),
    )
    default = LCWNB(discretize="width").fit(split.train, split.y_train)
    mixed = best_times(
        {"ours": works["ours"], "default": lambda: default.predict(split.test)}, 1 if quick else 3
    )
    yield Ratio(
        topic,
        "LCWNB() that mixes kappas / LCWNB(kappa=5)",
        mixed["default"] / mixed["ours"],
        None,
        ours=per_query(mixed["default"], n, "mixture"),
        other=per_query(mixed["ours"], n, "kappa 5"),
        note=f"{len(default.kappas_)} kappas",
    )
    if Weka.missing():
        return
    with Weka(split) as weka:
        for name, what, target, at_most in (
            ("LWL_NB", "Weka LWL with NaiveBayes / LCWNB.predict", 120, False),
            ("NB", "LCWNB.predict / Weka NaiveBayes", 1, True),
        ):
            # As many repeats of ours, before and after, as of Weka's.
            half = 1 if quick else 4 if name == "LWL_NB" else 16
            before = best_times({"ours": works["ours"]}, half)["ours"]
            other = weka.time(name, 2 * half)[1] * n
            mine = min(before, best_times({"ours": works["ours"]}, half)["ours"])
            yield Ratio(
                topic,
                what,
                mine / other if at_most else other / mine,
                target,
                at_most=at_most,
                ours=per_query(mine, n, "predict"),
                other=per_query(other, n, "Weka"),
                note="Weka's NaiveBayes is eager: it keeps counts, no rows" if name == "NB" else "",
            )


def million(quick: bool) -> Iterator[Ratio]:
    """A batch of 256 queries on a long table against one copy of its codes."""
    n = 100_000 if quick else 1_000_000
    table = MadeUp(n)
    model = LCWNB(5).fit(table.train, table.class_codes)
    copy = np.empty_like(table.train.codes)
    works = {"ours": lambda: model.predict(table.queries), "copy": lambda: np.copyto(copy, table.train.codes)}
    best = best_times(works, 2 if quick else 5)
    asked = len(table.queries)
    yield Ratio(
        f"{n:,} rows × 20, 8 values, 2 classes, batch of {asked}",
        "LCWNB.predict of a query / memory copy of the n × m code bytes",
        best["ours"] / asked / best["copy"],
        0.5,
        ours=per_query(best["ours"], asked, "predict"),
        other=f"copy {duration(best['copy'])}",
    )


def wide(folder: Path, quick: bool) -> Iterator[Ratio]:
    """Many attributes and many small classes."""
    for name, target in (("splice", 4.0), ("audiology", 2.0)):
        split = split_set(name, folder)
        frame, codes = split.queries(N_ASKED)
        from_codes = LCWNB(5).fit(split.train_codes, split.y_train)
        from_frame = LCWNB(5, discretize="width").fit(split.train, split.y_train)
        works = {
            "codes": lambda model=from_codes, queries=codes: model.predict(queries),
            "frame": lambda model=from_frame, queries=frame: model.predict(queries),
            "k-NN": neighbours(split.train_codes, split.class_codes, codes),
        }
        best = best_times(works, 2 if quick else 9)
        n, m = split.train_codes.shape
        topic = f"{name}, {n:,} × {m}, {split.n_classes} classes, {N_ASKED:,} queries"
        other = per_query(best["k-NN"], N_ASKED, "k-NN")
        yield Ratio(
            topic,
            "scikit-learn k-NN / LCWNB.predict, both from codes",
            best["k-NN"] / best["codes"],
            target,
            at_most=False,
            ours=per_query(best["codes"], N_ASKED, "predict"),
            other=other,
        )
        yield Ratio(
            topic,
            "scikit-learn k-NN from codes / LCWNB.predict from a DataFrame",
            best["k-NN"] / best["frame"],
            None,
            at_most=False,
            ours=per_query(best["frame"], N_ASKED, "predict"),
            other=other,
            note="only ours encodes",
        )


def threads(folder: Path, quick: bool) -> Iterator[Ratio]:
    """Two threads against one."""
    split = split_set("letter", folder)
    n = 100_000 if quick else 1_000_000
    table = MadeUp(n)
    cases = {
        "letter from codes": (split.train_codes, split.y_train, split.test_codes),
        "letter from a DataFrame, which one thread reads": (split.train, split.y_train, split.test),
        f"{n:,} rows": (table.train, table.class_codes, table.queries),
    }
    for name, (X, y, queries) in cases.items():
        one = LCWNB(5, n_jobs=1).fit(X, y)
        two = LCWNB(5, n_jobs=2).fit(X, y)
        works = {
            "one": lambda model=one, queries=queries: model.predict(queries),
            "two": lambda model=two, queries=queries: model.predict(queries),
        }
        # Both cores are rarely quiet for long: many single runs, the more the shorter they are.
        best = best_times(works, 3 if quick else 60 if X is table.train else 500, at_least=0)
        yield Ratio(
            "two threads",
            f"one thread / two threads, {name}",
            best["one"] / best["two"],
            1.8,
            at_most=False,
            ours=per_query(best["two"], len(queries), "two"),
            other=per_query(best["one"], len(queries), "one"),
        )


def kappas(folder: Path, quick: bool) -> Iterator[Ratio]:
    """Several kappas at once, and leave-one-out."""
    split = split_set("letter", folder)
    model = LCWNB(5).fit(split.train_codes, split.y_train)
    queries = split.test_codes
    works = {
        "twelve": lambda: model.log_joint_many(queries, KAPPAS),
        "one": lambda: model.log_joint_many(queries, KAPPAS[:1]),
    }
    best = best_times(works, 1 if quick else 60, at_least=0)
    # All of the training rows, so that both take about as long.
    rows = split.train_codes
    works = {
        "predict": lambda: model.predict(rows),
        "proba": lambda: model.predict_proba(rows),
        "left out": lambda: model.leave_one_out([5.0]),
        "left out, twelve": lambda: model.leave_one_out(KAPPAS),
    }
    best |= best_times(works, 1 if quick else 12)
    n = len(queries)
    twelve = per_query(best["twelve"], n, "twelve")
    topic = "many kappas, letter"
    yield Ratio(
        topic,
        "12 kappas / 1 kappa, all classes scored",
        best["twelve"] / best["one"],
        1.6,
        ours=twelve,
        other=per_query(best["one"], n, "one"),
    )
    left_out = per_query(best["left out"], len(rows), "leave-one-out")
    yield Ratio(
        topic,
        "leave_one_out of a row / predict_proba of a query",
        best["left out"] / best["proba"],
        1.1,
        ours=left_out,
        other=per_query(best["proba"], len(rows), "predict_proba"),
        note="both score all classes; predict leaves out classes that cannot win, which a log loss needs",
    )
    each = best["left out, twelve"] / len(KAPPAS) / len(rows)
    yield Ratio(
        topic,
        "leave_one_out of 12 kappas, of a row and kappa / predict of a query",
        each / (best["predict"] / len(rows)),
        None,
        ours=f"leave-one-out {duration(each)} a row and kappa",
        other=per_query(best["predict"], len(rows), "predict"),
    )
