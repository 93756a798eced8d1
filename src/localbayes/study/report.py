"""Write tables, figures and a page from a store alone."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localbayes._files import place_atomically
from localbayes.study import figures, significance
from localbayes.study.accuracy_table import Table
from localbayes.study.benchmark import current
from localbayes.study.findings import Findings, examine
from localbayes.study.report_page import render
from localbayes.study.report_parts import Content, Picture
from localbayes.study.report_tables import table_csv, table_tex
from localbayes.study.store import Store
from localbayes.study.svg import Drawing

__all__ = ["write_report"]

# Figures that not every report has.
_OPTIONAL = ("figure2.svg",)


def write_report(path: str | Path, out: str | Path, reference: str | None = None) -> list[Path]:
    """Write the report of a store into a folder, each file complete or not at all.

    Parameters
    ----------
    path : path
        The store.
    out : path
        The folder; made if it does not exist.
    reference : str, optional
        Column that marks refer to; default the benchmark's, or the first with results if that has none.

    Returns
    -------
    list of Path
        The files: `table.csv`, `table.tex`, `tests.json`, the figures and `index.html`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from localbayes.study import make_plan, run_study
    >>> with TemporaryDirectory() as folder:
    ...     _ = run_study(make_plan(["iris"], ["LCWNB5", "NB"], runs=1), f"{folder}/study.db")
    ...     files = write_report(f"{folder}/study.db", f"{folder}/report")
    >>> [file.name for file in files if file.suffix in (".html", ".csv")]
    ['table.csv', 'index.html']
    """
    with Store(path, create=False) as store:
        findings = examine(store, reference)
        content = Content(findings, _pictures(findings), store.invocations(), dict(store.methods()))
    files = {
        "table.csv": table_csv(findings.table),
        "table.tex": table_tex(findings),
        "tests.json": json.dumps(_tests(findings), indent=1, allow_nan=False) + "\n",
        **{f"{p.name}.svg": p.drawing.standalone() for p in content.pictures if p.own_file},
        "index.html": render(content),
    }
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        place_atomically(folder / name, text.encode())
    for name in _OPTIONAL:
        if name not in files:
            # A figure of the report that is replaced would be taken for one of this report.
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name in files]


def _pictures(findings: Findings) -> list[Picture]:
    table, ranked, every = findings.table, findings.ranked, findings.covering
    more = any(c not in ranked for c in every)
    same = "The same for every column that covers these data sets."
    found = [
        Picture(
            "figure1",
            "figures",
            figures.averages_and_ranks(table, ranked, findings.published_side()),
            "Figure 1. Average accuracy and mean rank, best average first. Under equal performance all bars "
            "end between the dashed lines with a probability of 95 % (9999 permutations within the data "
            "sets).",
            parts=_panels(findings, ranked, findings.published_side()),
        )
    ]
    if more:
        drawing = figures.averages_and_ranks(table, every)
        parts = _panels(findings, every)
        found.append(Picture("figure1-all", "figures", drawing, same, own_file=False, parts=parts))
    found += current().pictures(findings)
    found.append(
        Picture(
            "critical-difference",
            "ranks",
            figures.critical_difference(table, ranked),
            "Mean ranks; a bar joins methods whose ranks differ by less than the critical difference of "
            "Nemenyi’s test at 5 %.",
            narrow=figures.ranked_list(table, ranked),
        )
    )
    if more:
        drawing = figures.critical_difference(table, every)
        found.append(
            Picture(
                "critical-difference-all",
                "ranks",
                drawing,
                same,
                own_file=False,
                narrow=figures.ranked_list(table, every),
            )
        )
    curves = [curve for curve in findings.summary.reliability if curve.column in table.columns]
    found.append(
        Picture(
            "reliability",
            "probabilities",
            figures.reliability_curves(curves),
            "How often the predicted class is right, against the probability it was given, all test rows of "
            "all data sets together; below the diagonal a method is too sure of itself. The log loss is the "
            "mean over the data sets.",
            own_file=False,
            parts=tuple(figures.reliability_curves([curve]) for curve in curves),
        )
    )
    return found


def _panels(
    findings: Findings, columns: Sequence[str], published: Table | None = None
) -> tuple[Drawing, ...]:
    """Return averages and ranks as two drawings."""
    if len(columns) < 2 or not findings.base:
        return ()
    return tuple(figures.averages_and_ranks(findings.table, columns, published, [k]) for k in (0, 1))


def _tests(findings: Findings) -> dict[str, Any]:
    table, ranked, base = findings.table, findings.ranked, findings.base
    benchmark, theirs = current(), findings.published_side()
    enough = len(ranked) > 1 and bool(base)
    compared = bool(findings.compared_cells)
    printed_counts = benchmark.counts if findings.published_reference else {}
    means = table.means(ranked)
    return {
        "given": "raw tables" if findings.summary.raw else "filtered tables",
        "sets": [s.name for s in table.sets],
        "columns": list(table.columns),
        "reference": table.reference,
        "averages": {
            **({benchmark.label: theirs.averages(ranked) if theirs else None} if compared else {}),
            "here": findings.averages(),
        },
        "mean_ranks": {
            **({benchmark.label: theirs.mean_ranks(ranked) if theirs else None} if compared else {}),
            "here": findings.mean_ranks(ranked),
            "all_columns": findings.mean_ranks(findings.covering),
        },
        "counts": {
            c: {**({"printed": printed_counts.get(c)} if compared else {}), "here": str(n), "dot": n.dot}
            for c, n in ((c, table.counts(c)) for c in table.columns if c != table.reference)
        },
        "tests": [
            {
                key: _finite(value) if isinstance(value, float) else value
                for key, value in test.as_dict().items()
                if compared or not key.startswith(benchmark.label)
            }
            for test in findings.comparisons
        ],
        "holm": {c: {"p": p, "adjusted": q} for c, (p, q) in findings.holm.items()},
        "nemenyi": {
            "columns": ranked,
            "critical_difference": significance.nemenyi_critical_difference(len(ranked), len(base))
            if enough
            else None,
        },
        "figure1": {
            "average_bounds": list(significance.permutation_bounds(means)) if enough else None,
            "mean_rank_bounds": list(significance.permutation_bounds(significance.ranks(means)))
            if enough
            else None,
        },
        **benchmark.data(findings),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
