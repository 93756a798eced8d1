"""Weka's counterparts of the rivals on letter: time of a query and of training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Ratio, best_times, duration
from benchmarks.peers import Weka
from benchmarks.tables import split_set
from localbayes.classifiers import METHODS

__all__ = ["rivals"]

# Our name, Weka's, and how many times as fast a query is to be.
PAIRS = (
    ("NB", "NB", 10),
    ("TAN", "TAN", 5),
    ("AODE", "AODE", 5),
    ("WAODE", "WAODE", 5),
    ("HNB", "HNB", 5),
    ("LWNB", "LWL_NB", 100),
)


def rivals(folder: Path, quick: bool) -> Iterator[Ratio]:
    """Time each against Weka's; both get codes; Weka classifies by way of all class probabilities."""
    if Weka.missing():
        return
    split = split_set("letter", folder)
    n = len(split.test_codes)
    half = 1 if quick else 3  # as many repeats of ours, before and after, as of Weka's
    with Weka(split) as weka:
        for name, other, target in PAIRS:
            model = METHODS[name]().fit(split.train_codes, split.y_train)
            works = {
                "query": lambda model=model: model.predict(split.test_codes),
                "training": lambda name=name: METHODS[name]().fit(split.train_codes, split.y_train),
            }
            before = best_times(works, half)
            weka_training, weka_query = weka.time(other, 2 * half)
            after = best_times(works, half)
            ours = {work: min(before[work], after[work]) for work in works}
            topic = f"{name} and Weka's {'LWL with NaiveBayes' if other == 'LWL_NB' else name}, letter"
            yield Ratio(
                topic,
                f"query: Weka / {name}.predict",
                weka_query / (ours["query"] / n),
                target,
                at_most=False,
                ours=f"{name} {duration(ours['query'] / n)} a query",
                other=f"Weka {duration(weka_query)} a query",
            )
            note = ""
            if other == "LWL_NB":
                pack = {"": lambda fit=works["training"]: fit().index_.pack()}
                packed = best_times(pack, half)[""] - ours["training"]
                note = f"both only keep the rows; ours are packed at the first query, in {duration(packed)}"
            yield Ratio(
                topic,
                f"training: {name}.fit / Weka",
                ours["training"] / weka_training,
                1,
                ours=f"{name} {duration(ours['training'])}",
                other=f"Weka {duration(weka_training)}",
                note=note,
            )
