"""The results as a page: ratios first, then what was measured, on what machine, with which versions."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import groupby

from benchmarks.growth import OUR_BATCH, PEER_BATCH, Costs
from benchmarks.measure import Ratio, duration

__all__ = ["page"]


def page(results: Sequence[Ratio], costs: Costs, facts: dict[str, str], left_out: Sequence[str]) -> str:
    """Return the page as Markdown."""
    with_target = [result for result in results if result.met is not None]
    met = sum(bool(result.met) for result in with_target)
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Times were measured side by side in one run: the two programs took turns, "
        "and the best of several repeats counts. Weka is warmed up first and repeats in one go, between the "
        "halves of ours; its LWL is asked 100 rows at most. Memory and the study were measured once, fit of "
        "a million rows twice; what the study is compared with is noted below. One thread unless said; peers "
        "get the same codes. LCWNB is the paper's method with kappa = 5 unless said.",
        "",
        f"**{met} of {len(with_target)} targets met.**",
        "",
        "| | ratio | target | |",
        "|---|---:|---:|---|",
    ]
    for topic, group in groupby(results, key=lambda result: result.topic):
        lines.append(f"| **{topic}** | | | |")
        lines += [_ratio(result) for result in group]
    lines += [f"\nNot run: {reason}" for reason in left_out]
    lines += ["", "## Behind the ratios", "", "| | ours | the other |", "|---|---|---|"]
    for topic, group in groupby(results, key=lambda result: result.topic):
        lines.append(f"| **{topic}** | | |")
        lines += [f"| {result.what} | {result.ours} | {result.other} |" for result in group]
    notes = list(dict.fromkeys(f"- {result.what}: {result.note}." for result in results if result.note))
    if notes:
        lines += ["", "Where the two do not do the same, or not in turn:", "", *notes]
    if costs:
        lines += _growth(costs)
    lines += ["", "## Machine", ""]
    facts = {"date": datetime.date.today().isoformat(), **facts}
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join(lines) + "\n"


def _ratio(result: Ratio) -> str:
    if result.target is None:
        return f"| {result.what} | {result.shown} | | |"
    sign = "≤" if result.at_most else "≥"
    verdict = "met" if result.met else "**not met**"
    return f"| {result.what} | {result.shown} | {sign} {result.target:g} | {verdict} |"


def _growth(costs: Costs) -> list[str]:
    lengths = sorted({n for cost in costs.values() for n in cost})
    lines = ["", "## Cost of a query against the number of rows", "", "![growth](growth.svg)", ""]
    lines.append("| rows | " + " | ".join(costs) + " |")
    lines.append("|---:|" + "---:|" * len(costs))
    for n in lengths:
        cells = [duration(cost[n]) if n in cost else "" for cost in costs.values()]
        lines.append(f"| {n:,} | " + " | ".join(cells) + " |")
    batches = ", ".join(f"{PEER_BATCH[n]} at {n:,} rows" for n in lengths)
    note = (
        f"Ours is asked batches of {OUR_BATCH} queries, all lengths in turn. The peers take turns with each "
        f"other, after ours, with fewer repeats, in batches of {batches}."
    )
    return [*lines, "", note]
