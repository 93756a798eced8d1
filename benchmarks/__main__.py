"""Measure everything, or some of it, and write RESULTS.md and growth.svg beside this file."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from threadpoolctl import threadpool_limits

import localbayes
from benchmarks.flagship import flagship, ordered
from benchmarks.growth import Costs, draw, growth
from benchmarks.lazy import kappas, letter, million, threads, wide
from benchmarks.measure import Ratio, machine, versions
from benchmarks.peers import Weka
from benchmarks.report import page
from benchmarks.rivals import rivals
from benchmarks.size import fitting, memory
from benchmarks.small_batches import small_batches
from benchmarks.study import study
from benchmarks.tables import data_folder
from benchmarks.weighted import repeated, weighted
from localbayes.kernels import isa

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", help="folder with letter.arff, splice.arff, audiology.arff")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the rows, few repeats, writes no page"
    )
    parser.add_argument("--output", type=Path, help="folder for RESULTS.md and growth.svg")
    parser.add_argument("--only", nargs="+", metavar="PART", help="parts to run; writes no page")
    options = parser.parse_args()

    # Weka's training sets declare them, too.
    warnings.filterwarnings("ignore", ".* declared classes have no training row")
    folder, quick, costs = data_folder(options.data), options.quick, Costs()
    parts: dict[str, Callable[[], Iterable[Ratio]]] = {
        "letter": lambda: letter(folder, quick),
        "million": lambda: million(quick),
        "growth": lambda: growth(quick, costs),
        "weighted": lambda: weighted(quick),
        "repeated": lambda: repeated(quick),
        "wide": lambda: wide(folder, quick),
        "threads": lambda: threads(folder, quick),
        "memory": lambda: memory(quick),
        "fitting": lambda: fitting(quick),
        "kappas": lambda: kappas(folder, quick),
        "flagship": lambda: flagship(folder, quick),
        "ordered": lambda: ordered(quick),
        "small": lambda: small_batches(folder, quick),
        "rivals": lambda: rivals(folder, quick),
        "study": lambda: study(folder, quick),
    }
    unknown = sorted(set(options.only or ()) - set(parts))
    if unknown:
        parser.error(f"no part {unknown[0]!r}; parts are {', '.join(parts)}")

    facts = {**machine(), "instruction set in use": isa()}
    print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n", flush=True)
    begin = time.perf_counter()
    results: list[Ratio] = []
    with threadpool_limits(1):
        for name, part in parts.items():
            if options.only and name not in options.only:
                continue
            for result in part():
                results.append(result)
                print(result.line(), flush=True)
    facts["duration of the run"] = f"{(time.perf_counter() - begin) / 60:.1f} minutes"

    output = options.output or (None if quick or options.only else HERE)
    if output:
        facts["localbayes"] = localbayes.__version__
        packages = ("numpy", "scikit-learn", "faiss-cpu", "lightgbm", "catboost", "pandas", "scipy")
        facts |= versions(*packages)
        lacking = Weka.missing()
        left_out = [f"Weka: {lacking}"] if lacking else []
        facts["Weka"] = Weka.version()
        (output / "RESULTS.md").write_text(page(results, costs, facts, left_out), encoding="utf-8")
        if costs:
            draw(costs, output / "growth.svg")


if __name__ == "__main__":
    main()
