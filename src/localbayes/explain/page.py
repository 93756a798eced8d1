"""An explanation as one self-contained HTML page."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from localbayes.explain.explanation import Explanation, LogOdds, Reason, bar_lengths
from localbayes.explain.neighbours import KappaCurve, Neighbourhood
from localbayes.explain.training_rows import TrainingRow
from localbayes.explain.why_not import WhyNot
from localbayes.explain.words import (
    change_parts,
    odds_factor,
    pair_text,
    probability_text,
    sentence,
    signed,
)

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["class_bars", "explanation_page", "page_environment", "reason_bars"]

# More lines than these in one plot cannot be told apart.
_MOST_LINES = 5
_MOST_COLUMNS = 6
_FEWEST_CLASSES = 3
_MOST_DIFFERENCES = 6


def explanation_page(
    explanation: Explanation, row: int = 0, *, top: int = 10, title: str | None = None, subtitle: str = ""
) -> str:
    """Write a page that explains one prediction.

    It holds everything it shows, asks no network for anything and runs no script. What came from data
    is escaped.

    Parameters
    ----------
    explanation : Explanation
        From ``clf.explain(X)``.
    row : int, default=0
        Row of X.
    top : int, default=10
        How many classes, attributes and training rows to list one by one.
    title : str, optional
        Heading; "Why ...?" if not given.
    subtitle : str, optional
        What was explained, below the heading.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from localbayes import NB
    >>> clf = NB().fit([["<u>"], ["a"]], ["yes", "no"])
    >>> page = explanation_page(clf.explain([["<u>"]]))
    >>> "<u>" in page, "&lt;u&gt;" in page
    (False, True)
    """
    environment = page_environment()
    explanation.check_row(row)
    predicted = str(explanation.classes[explanation.predicted[row]])
    several = len(explanation.classes) > 1
    return environment.get_template("explain.html.j2").render(
        title=f"Why {predicted}?" if title is None else title,
        subtitle=subtitle,
        method=explanation.method,
        sentence=sentence(explanation, row),
        classes=class_bars(explanation, row, top),
        odds=reason_bars(explanation.log_odds(row), top) if several else None,
        sums=_sums(explanation, row),
        near=None
        if explanation.neighbourhood is None
        else _near(explanation, explanation.neighbourhood, row, top),
        others=None
        if explanation.why_not is None
        else [_other(explanation, other, row) for other in explanation.why_not[row][:top]],
    )


def page_environment(package: str = "localbayes.explain") -> "Environment":
    """Jinja's environment, in which everything that came from data is escaped.

    Templates are those of the package; ``pages.css``, which all pages share, stands here.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader
    except ImportError as error:
        raise ImportError("the page needs jinja2: install the extra 'explain'") from error
    folders = [PackageLoader(name) for name in dict.fromkeys([package, "localbayes.explain"])]
    return Environment(loader=ChoiceLoader(folders), autoescape=True, trim_blocks=True, lstrip_blocks=True)


def class_bars(explanation: Explanation, row: int, top: int) -> list[dict[str, Any]]:
    """Classes by falling probability; those beyond the first ones as one."""
    proba = explanation.proba[row]
    order = _by_probability(explanation, row)
    # Behind the first few, a class is named only if its figure says more than "<0.001".
    worth = [k for k in order[_FEWEST_CLASSES:top] if proba[k] >= 0.001]
    shown = order[:_FEWEST_CLASSES] + worth
    if len(shown) == len(order) - 1:
        shown = order
    bars = [
        {
            "label": str(explanation.classes[k]),
            "p": probability_text(proba[k]),
            "width": 100 * proba[k],
            "css": class_css(explanation, row, explanation.classes.tolist()[k]),
        }
        for k in shown
    ]
    if len(shown) < len(order):
        rest = float(proba[order[len(shown) :]].sum())
        label = f"{len(order) - len(shown)} other classes"
        bars.append({"label": label, "p": probability_text(rest), "width": 100 * rest, "css": "other"})
    return bars


def _by_probability(explanation: Explanation, row: int) -> list[int]:
    order = np.argsort(-explanation.proba[row], kind="stable").tolist()
    predicted = int(explanation.predicted[row])
    # A tie goes to the class declared first, which need not be the first in the alphabet.
    return [predicted, *(k for k in order if k != predicted)]


def reason_bars(odds: LogOdds, top: int) -> dict[str, Any]:
    """Reasons as bars to either side; attributes beyond the first ones as one."""
    reasons = [odds.start, *odds.strongest(top)]
    return {
        "for_class": str(odds.for_class),
        "against_class": str(odds.against_class),
        "bars": [_reason_bar(*pair) for pair in zip(reasons, bar_lengths(reasons), strict=True)],
        "total": signed(odds.total),
        "factor": odds_factor(odds.total),
    }


def _reason_bar(reason: Reason, length: float) -> dict[str, Any]:
    return {
        "name": reason.name,
        "value": reason.value,
        "reading": reason.reading,
        "speaks_for": reason.log_odds >= 0,
        # Half of the width on either side of zero.
        "width": 50 * abs(length),
        "factor": odds_factor(reason.log_odds),
        "log_odds": signed(reason.log_odds),
    }


def _sums(explanation: Explanation, row: int) -> dict[str, Any]:
    """All numbers: a line for every attribute, a column for every class."""
    shown = _by_probability(explanation, row)[:_MOST_COLUMNS]
    lines = [(explanation.start, "", [explanation.base[row, k] for k in shown])]
    for i, (name, value) in enumerate(zip(explanation.names, explanation.values[row], strict=True)):
        lines.append((name, value, [explanation.contributions[row, k, i] for k in shown]))
    return {
        "classes": [str(explanation.classes[k]) for k in shown],
        "lines": [
            (name, value, [signed(float(number)) for number in numbers]) for name, value, numbers in lines
        ],
        "total": [signed(float(explanation.log_proba[row, k])) for k in shown],
        "left_out": len(explanation.classes) - len(shown),
    }


def _near(explanation: Explanation, near: Neighbourhood, row: int, top: int) -> dict[str, Any]:
    rows = near.rows[row][:top]
    heaviest = max((line.weight for line in rows), default=1.0)
    order = _by_probability(explanation, row)[:top]
    return {
        "groups": [
            {
                "label": str(explanation.classes[k]),
                "css": class_css(explanation, row, explanation.classes.tolist()[k]),
                "sum": f"{near.weight_sum[row, k]:.3g}",
                "rows": own,
            }
            for k in _by_probability(explanation, row)
            if (own := _rows_of_class(explanation, rows, k, heaviest))
            or (rows and k == explanation.predicted[row])
        ],
        "has_gamma": near.gamma is not None,
        "classes": [
            {
                "label": str(explanation.classes[k]),
                "gamma": "" if near.gamma is None else f"{near.gamma[row, k]:.4f}",
                "sum": f"{near.weight_sum[row, k]:.2f}",
                "size": f"{near.effective_size[row, k]:.1f}",
            }
            for k in order
        ],
        "curve": None if near.curve is None else _curve(explanation, near.curve, row),
    }


def class_css(explanation: Explanation, row: int, label: Any) -> str:
    """Colour of a class: what speaks for the predicted one, for the next best, or for another."""
    classes = explanation.classes.tolist()
    if label == classes[explanation.predicted[row]]:
        return "for"
    return "against" if label == classes[explanation.runner_up[row]] else "other"


def _rows_of_class(
    explanation: Explanation, rows: Sequence[TrainingRow], k: int, heaviest: float
) -> list[dict[str, Any]]:
    label = explanation.classes.tolist()[k]
    return [_training_row(line, explanation, heaviest) for line in rows if line.label == label]


def _other(explanation: Explanation, other: WhyNot, row: int) -> dict[str, Any]:
    """A class that was not predicted: what would have to change, and its nearest training rows."""
    return {
        "label": str(other.label),
        "p": probability_text(other.proba),
        "css": class_css(explanation, row, other.label),
        "ways": [
            {"changes": list(map(change_parts, way.changes)), "p": probability_text(way.proba)}
            for way in other.ways
        ],
        "complete": other.complete,
        "rows": [_training_row(line, explanation, 1.0) for line in other.rows],
    }


def _training_row(line: TrainingRow, explanation: Explanation, heaviest: float) -> dict[str, Any]:
    differs = [
        pair_text(name, value)
        for name, value, agrees in zip(explanation.names, line.values, line.agrees, strict=True)
        if not agrees
    ]
    return {
        "number": line.number,
        "label": str(line.label),
        "agrees": "{} of {}".format(*explanation.agreement(line.agrees)),
        "weight": f"{line.weight:.3g}",
        "share": f"{100 * line.share:.1f} %",
        "width": 100 * line.weight / heaviest,
        "differs": differs[:_MOST_DIFFERENCES],
        "more": max(0, len(differs) - _MOST_DIFFERENCES),
    }


def _curve(explanation: Explanation, curve: KappaCurve, row: int) -> dict[str, Any]:
    """Lines in a square of 100 by 100; the page stretches it to fit the screen."""
    low, high = math.log(curve.kappas[0]), math.log(curve.kappas[-1])

    def across(kappa: float) -> float:
        return 50.0 if high == low else 100 * (math.log(kappa) - low) / (high - low)

    proba = curve.proba[:, row]
    by_now = _by_probability(explanation, row)
    by_peak = sorted(by_now, key=lambda k: -float(proba[:, k].max()))[:_MOST_LINES]
    drawn = [k for k in by_now if k in by_peak and (proba[:, k].max() >= 0.01 or k in by_now[:2])]
    lines = []
    for k in drawn:
        points = zip(map(across, curve.kappas.tolist()), proba[:, k].tolist(), strict=True)
        path = " ".join(f"{x:.2f},{100 * (1 - p):.2f}" for x, p in points)
        lines.append({"label": str(explanation.classes[k]), "points": path})
    inside = [
        (float(kappa), float(weight))
        for kappa, weight in zip(curve.in_use, curve.in_use_weights, strict=True)
        if curve.kappas[0] <= kappa <= curve.kappas[-1] and weight > 0
    ]
    most = max((weight for _, weight in inside), default=1.0)
    ticks = [base * 10**power for power in range(-3, 10) for base in (1, 2, 5)]
    ticks = [tick for tick in ticks if curve.kappas[0] <= tick <= curve.kappas[-1]]
    if len(ticks) > 7:
        ticks = [tick for tick in ticks if math.log10(tick).is_integer()]
    return {
        "lines": lines,
        "left_out": len(by_now) - len(lines),
        "in_use": [
            {"x": across(kappa), "kappa": f"{kappa:.3g}", "strength": 0.15 + 0.85 * weight / most}
            for kappa, weight in inside
        ],
        "averaged": len(curve.in_use) > 1,
        "ticks": [{"x": across(tick), "label": f"{tick:,g}"} for tick in ticks],
    }
