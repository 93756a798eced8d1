"""What `evaluate` prints: tables that fit 80 columns, or JSON."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from localbayes.cli.layout import add_row, least_width, make_table, print_table, stdout_console

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.table import Table

    from localbayes.cli.measured import Scores
    from localbayes.weka import CorrectedTTest

__all__ = ["as_json", "print_evaluation"]

_WIDTH = 80
_MOST_CONFUSIONS = 15
_SIDE_BY_SIDE = 3
_MORE = {
    "balanced accuracy in %": "balanced_accuracy",
    "macro F1": "macro_f1",
    "AUC": "auc",
    "Brier score": "brier",
    "calibration error": "calibration_error",
}


def print_evaluation(
    results: dict[str, Scores],
    baseline: Scores,
    majority: str,
    classes: list[Any],
    folds: int,
    runs: int,
    times: bool,
) -> None:
    """Print the scores of all methods and of the baseline; of a single method its confusions too."""
    console = stdout_console()
    always = f"always {majority}"
    print_table(console, _main_table(results, baseline, always, folds, times))
    print_table(console, _score_table(results | {always: baseline}))
    worse = [name for name, scores in results.items() if scores.accuracy.mean() <= baseline.accuracy.mean()]
    if worse:
        names = " and ".join(part for part in (", ".join(worse[:-1]), worse[-1]) if part)
        console.print(
            f"{names} {'are' if worse[1:] else 'is'} right no more often than a program that says "
            f"{majority} of every row ({_figure(100 * baseline.accuracy.mean(), 2)}%)."
        )
    if len(results) == 1:
        (scores,) = results.values()
        print_table(console, _class_table(scores, classes))
        _print_confusion(console, scores, classes, runs)


def _main_table(results: dict[str, Scores], baseline: Scores, always: str, folds: int, times: bool) -> Table:
    several = {"p": "number"} if len(results) > 1 else {}
    seconds = {"learning in s": "number", "predicting in s": "number"} if times else {}
    table = make_table(
        {"method": "name", "accuracy in %": "number", "log loss": "number"} | several | seconds
    )
    first = next(iter(results.values()))
    for name, scores in results.items():
        cells = [_mean_and_sd(100 * scores.accuracy, 2), _mean_and_sd(scores.log_loss, 4)]
        if several:
            cells.append("" if scores is first else _mark(_compare(scores, first, folds)))
        if times:
            cells += [f"{scores.fit_seconds:.2f}", f"{scores.predict_seconds:.2f}"]
        add_row(table, name, *cells)
    blank = [""] * (len(several) + len(seconds))
    add_row(
        table,
        always,
        _figure(100 * float(baseline.accuracy.mean()), 2),
        _figure(float(baseline.log_loss.mean()), 4),
        *blank,
    )
    return table


def _score_table(results: dict[str, Scores]) -> Table:
    """Methods side by side, or a row for each where a terminal lacks the room."""
    figures = {
        score: [_figure(getattr(scores, name), 4) for scores in results.values()]
        for score, name in _MORE.items()
    }
    shares = [100 * scores.balanced_accuracy for scores in results.values()]
    figures["balanced accuracy in %"] = [_figure(share, 2) for share in shares]
    names = [name.partition("(")[0] for name in results]
    if len(names) <= _SIDE_BY_SIDE:
        table = make_table({"score": "name"} | dict.fromkeys(names, "number"))
        for score, cells in figures.items():
            add_row(table, score, *cells)
        return table
    table = make_table({"method": "name"} | dict.fromkeys(figures, "number"))
    for name, *cells in zip(names, *figures.values(), strict=True):
        add_row(table, name, *cells)
    return table


def _class_table(scores: Scores, classes: list[Any]) -> Table:
    table = make_table({"class": "name", "rows": "number", "precision": "number", "recall": "number"})
    figures = zip(scores.rows, scores.precision, scores.recall, strict=True)
    for label, (rows, precision, recall) in zip(classes, figures, strict=True):
        add_row(table, label, rows, _figure(precision, 3), _figure(recall, 3))
    return table


def _print_confusion(console: Any, scores: Scores, classes: list[Any], runs: int) -> None:
    """Print a matrix if it fits 80 columns, else the most frequent mistakes."""
    together = f", {runs} runs together" if runs > 1 else ""
    letters = _letters(len(classes))
    table = make_table({"true class": "name"} | {letter: "number" for letter in letters})
    for letter, label, cells in zip(letters, classes, scores.confusion.tolist(), strict=True):
        add_row(table, f"{letter} = {label}", *(cell or "." for cell in cells))
    if least_width(table, 12) <= _WIDTH:
        console.print(f"Rows of each class by the class that was predicted{together}:")
        print_table(console, table)
        return
    table = make_table({"true class": "name", "predicted as": "name", "rows": "number"})
    wrong = [
        (-count, true, guess)
        for true, row in enumerate(scores.confusion.tolist())
        for guess, count in enumerate(row)
        if count and guess != true
    ]
    for count, true, guess in sorted(wrong)[:_MOST_CONFUSIONS]:
        add_row(table, classes[true], classes[guess], -count)
    console.print(f"The most frequent mistakes{together}:")
    print_table(console, table)


def _letters(count: int) -> list[str]:
    """Names of columns: a, b, ..., z, aa, ab, ..."""
    names: list[str] = []
    for k in range(count):
        name, rest = "", k
        while rest >= 0:
            name, rest = ascii_lowercase[rest % 26] + name, rest // 26 - 1
        names.append(name)
    return names


def _compare(scores: Scores, first: Scores, folds: int) -> CorrectedTTest:
    from localbayes.weka import corrected_paired_ttest

    return corrected_paired_ttest(scores.accuracy, first.accuracy, 1 / (folds - 1))


def _mark(test: CorrectedTTest) -> str:
    """p, and whether the method is significantly better or worse than the first at 5 %."""
    word = "" if test.pvalue > 0.05 else " better" if test.difference > 0 else " worse"
    return f"{test.pvalue:.3f}{word}"


def _mean_and_sd(values: npt.NDArray[np.float64], digits: int) -> str:
    if values.max() == float("inf"):
        return "inf"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1):.{digits}f}"


def _figure(number: float, digits: int) -> str:
    return "–" if math.isnan(number) else f"{number:.{digits}f}"


def as_json(
    results: dict[str, Scores], baseline: Scores, majority: str, classes: list[Any], folds: int
) -> dict[str, Any]:
    """Collect all figures; what is infinite or undefined is null."""
    first = next(iter(results.values()))
    methods = []
    for name, scores in results.items():
        entry = {"method": name} | _scores_json(scores, classes)
        if scores is not first:
            test = _compare(scores, first, folds)
            entry["versus_first"] = {
                "difference": _plain(100 * test.difference),
                "t": _plain(test.statistic),
                "p": _plain(test.pvalue),
            }
        methods.append(entry)
    counts = {str(label): int(n) // baseline.n_runs for label, n in zip(classes, baseline.rows, strict=True)}
    return {
        "classes": counts,
        "methods": methods,
        "baseline": {"method": f"always {majority}"} | _scores_json(baseline, classes),
    }


def _scores_json(scores: Scores, classes: list[Any]) -> dict[str, Any]:
    return {
        "accuracy": {
            "mean": _plain(100 * scores.accuracy.mean()),
            "sd": _plain(100 * scores.accuracy.std(ddof=1)),
            "folds": [_plain(100 * value) for value in scores.accuracy],
        },
        "log_loss": {
            "mean": _plain(scores.log_loss.mean()),
            "folds": [_plain(value) for value in scores.log_loss],
        },
        **{attribute: _plain(getattr(scores, attribute)) for attribute in _MORE.values()},
        "per_class": {
            str(label): {"precision": _plain(precision), "recall": _plain(recall)}
            for label, precision, recall in zip(classes, scores.precision, scores.recall, strict=True)
        },
        "confusion": scores.confusion.tolist(),
        "seconds": {"learning": scores.fit_seconds, "predicting": scores.predict_seconds},
    }


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
