"""The eager classifiers against Weka's on letter: ``python -m benchmarks.eager [FOLDER]`` prints a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.measure import Ratio, best_times, duration
from benchmarks.peers import Weka
from benchmarks.tables import data_folder, split_set
from localbayes.classifiers import METHODS

__all__ = ["eager", "table"]

# How many times as fast as Weka's a query should be.
TARGETS = {"NB": 10.0, "TAN": 5.0, "AODE": 5.0, "WAODE": 5.0, "HNB": 5.0}


def eager(folder: Path, quick: bool) -> Iterator[Ratio]:
    """Training and queries of NB, TAN, AODE, WAODE and HNB, both sides from codes, one thread, in turns."""
    if Weka.missing():
        return
    split = split_set("letter", folder)
    n = len(split.test_codes)
    with Weka(split) as weka:
        for name, target in TARGETS.items():
            model = METHODS[name](n_jobs=1).fit(split.train_codes, split.y_train)
            works = {
                "fit": lambda name=name: METHODS[name](n_jobs=1).fit(split.train_codes, split.y_train),
                "predict": lambda model=model: model.predict(split.test_codes),
                "predict_proba": lambda model=model: model.predict_proba(split.test_codes),
            }
            # Weka and ours take turns, so that neither has the quieter minute.
            turns = [(weka.time(name, 3), best_times(works, 3)) for _ in range(1 if quick else 4)]
            training = min(theirs[0] for theirs, _ in turns)
            query = min(theirs[1] for theirs, _ in turns)
            ours = {work: min(times[work] for _, times in turns) for work in works}
            yield _ratio(f"{name}.predict, a query", query, ours["predict"] / n, target)
            yield _ratio(f"{name}.predict_proba, a query", query, ours["predict_proba"] / n, None)
            yield _ratio(f"{name}.fit", training, ours["fit"], 1.0)


def _ratio(what: str, weka: float, ours: float, target: float | None) -> Ratio:
    return Ratio(
        "eager classifiers, letter, one thread",
        f"Weka / {what}",
        weka / ours,
        target,
        at_most=False,
        ours=duration(ours),
        other=f"Weka {duration(weka)}",
        note="Weka gives probabilities, predict only their best" if what.endswith("predict, a query") else "",
    )


def table(results: list[Ratio]) -> str:
    """Return ratios as a Markdown table."""
    lines = ["| | ratio | target | ours | Weka 3.6.14 |", "|---|---:|---:|---:|---:|"]
    for result in results:
        target = "" if result.target is None else f"≥ {result.target:g}"
        verdict = {None: "", True: "", False: " **not met**"}[result.met]
        other = result.other.removeprefix("Weka ")
        lines.append(f"| {result.what} | {result.value:.1f} | {target}{verdict} | {result.ours} | {other} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if lacking := Weka.missing():
        sys.exit(lacking)
    with threadpool_limits(1):
        print(table(list(eager(data_folder(*sys.argv[1:2]), quick=False))))
