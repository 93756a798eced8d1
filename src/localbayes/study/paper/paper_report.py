"""What a report says about the paper: its section of the page, Figure 2, facts and entries of tests.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localbayes.study.accuracy_table import printed
from localbayes.study.findings import Difference, Findings
from localbayes.study.paper.kappa_ranks import figure2, rank_panel
from localbayes.study.paper.paper_columns import KAPPAS
from localbayes.study.paper.printed_table import PRINTED_COUNTS
from localbayes.study.report_parts import Content, Picture, Section

__all__ = ["SECTIONS", "TESTS_NOTE", "entries", "facts", "pictures"]

TESTS_NOTE = (
    "p-values of the paper’s tests. Its side is computed from its printed table on the data sets that are "
    "here too; with all 36 that gives the published figures."
)
_CONSTANTS = ("n", "m", "r")
# On these two the 50 nearest rows of many queries coincide with the query.
_ZERO_DISTANCE = ("hypothyroid", "sick")


def facts(findings: Findings) -> list[tuple[str, str]]:
    """Return how many cells of LWNB and ICLNB are the printed ones without the fitted rule for ties."""
    if not findings.plain_cells:
        return []
    equal = findings.plain_cells - len(findings.plain_differences)
    return [
        (f"{equal} of {findings.plain_cells}", "of LWNB and ICLNB also if ties are not fitted to the paper")
    ]


def pictures(findings: Findings) -> list[Picture]:
    """Return Figure 2, where its three columns are."""
    table, compared = findings.table, bool(findings.compared_cells)
    if not (table.has(*KAPPAS) and table.shared_sets(list(KAPPAS))):
        return []
    caption = "Figure 2. Ranks of the three kappas, data sets in ascending order of n, m and r" + (
        "; a red border marks a rank that is not the paper’s." if compared else "."
    )
    panels = [
        "\n".join(rank_panel(table, k)[0]) + f"\n{'':19}Data sets arranged in ascending order of {k}"
        for k in _CONSTANTS
    ]
    details = ("Figure 2 as printed, in characters", *panels)
    narrow = figure2(table, across=12)
    return [Picture("figure2", "figures", figure2(table), caption, narrow=narrow, details=details)]


def entries(findings: Findings) -> dict[str, Any]:
    """Return what tests.json has beside the engine's entries, where there is something to compare."""
    table = findings.table
    if not findings.compared_cells:
        return {}
    return {
        "cells": {
            "compared": findings.compared_cells,
            "equal": findings.compared_cells - len(findings.differences),
            "different": [_difference(d) for d in findings.differences],
            "note": "ties of LWNB and ICLNB are broken by an arithmetic fitted to the printed table",
        },
        "cells_if_the_first_class_wins_ties": {
            "compared": findings.plain_cells,
            "equal": findings.plain_cells - len(findings.plain_differences),
            "different": [_difference(d) for d in findings.plain_differences],
        },
        "marks_equal": findings.equal_marks if findings.published_reference else None,
        "figure2": {k: rank_panel(table, k)[0] for k in _CONSTANTS} if table.has(*KAPPAS) else None,
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        "dataset": found.dataset,
        "method": found.column,
        "paper": str(found.published),
        "here": str(found.here),
        "tie_range": [printed(found.here.low), printed(found.here.high)],
        "cause": found.cause,
    }


def _values(content: Content) -> dict[str, Any] | None:
    findings = content.findings
    if not findings.compared_cells:
        return None
    has_tied = any(c in findings.table.columns for c in ("LWNB", "ICLNB"))
    return {
        "ties": bool(findings.plain_cells) or has_tied,
        "counts": _contradictions(findings),
        "defect": _defect(findings),
    }


def _defect(findings: Findings) -> list[dict[str, str]]:
    """Return the data sets on which the published LWNB goes wrong, handled as published and properly."""
    rows = []
    for name in _ZERO_DISTANCE:
        published, proper = findings.table.cell(name, "LWNB"), findings.table.cell(name, "LWNB-proper")
        theirs = findings.published.cell(name, "LWNB")
        if published and proper and theirs:
            cells = {"paper": theirs, "published": published, "proper": proper}
            rows.append({"name": name} | {key: str(c) for key, c in cells.items()})
    return rows


def _contradictions(findings: Findings) -> Sequence[tuple[str, str, str]]:
    """Return the printed counts that do not follow from the printed cells, and what does follow."""
    if not findings.published_reference or len(findings.base) < len(findings.published.sets):
        return []
    counts = {c: str(findings.published.counts(c)) for c in PRINTED_COUNTS if findings.table.has(c)}
    return [(c, PRINTED_COUNTS[c], count) for c, count in counts.items() if count != PRINTED_COUNTS[c]]


SECTIONS = (Section("paper", "Paper and here", "paper.html.j2", _values, after="table"),)
