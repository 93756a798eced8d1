"""The figures of a report: averages and ranks, the critical-difference diagram, reliability curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from localbayes.plots.critical_difference_plot import joined_ranks as _groups
from localbayes.study import significance
from localbayes.study.accuracy_table import Table, shown
from localbayes.study.benchmark import current
from localbayes.study.summary import Reliability
from localbayes.study.svg import Drawing

__all__ = ["averages_and_ranks", "critical_difference", "note", "ranked_list", "reliability_curves"]

_ROW = 26
# Least margins for names.
_LABEL = 130
_SIDE = 150
# A panel beside another one, and a panel alone, which a phone shows without making its words small.
_PANEL = 330
_ALONE = 230
_GAP = 40
_AXIS = 420
# Room for a number beside a bar.
_NUMBER = 40
# Radius of a circle with its border and some space.
_CIRCLE = 6


def averages_and_ranks(
    table: Table, columns: Sequence[str], published: Table | None = None, panels: Sequence[int] = (0, 1)
) -> Drawing:
    """Draw average accuracy and mean rank of each column, best average first, with simultaneous 95 % bounds.

    Bars begin at the common mean, where all would end if all methods were equal. Circles show the values of
    `published`, the published table with the same data sets and columns. `panels` chooses averages (0),
    ranks (1) or both.
    """
    sets = table.shared_sets(columns)
    title = "Average accuracy and mean rank"
    if len(columns) < 2 or not sets:
        return note(title, "Needs at least two columns with a common data set.")
    averages, ranks = table.averages(columns), table.mean_ranks(columns)
    order = sorted(columns, key=lambda c: -averages[c])
    bottom = 58 + _ROW * len(order)
    height = bottom + (34 if len(panels) > 1 or not published else 50)
    description = ", ".join(f"{c} {shown(averages[c])} rank {shown(ranks[c], 4)}" for c in order)
    css = {c: "bold" if c == table.reference else "" for c in order}
    label = max(_LABEL, _widest((c, css[c]) for c in order) + 16)
    panel_width = _PANEL if len(panels) > 1 else _ALONE
    width = label + len(panels) * panel_width + (len(panels) - 1) * _GAP + 20
    drawing = Drawing(width, height, title, description)
    means = table.means(columns)
    every = (
        (
            "average accuracy, %",
            averages,
            significance.permutation_bounds(means),
            published.averages(columns) if published else {},
            2,
            1,
        ),
        (
            "mean rank",
            ranks,
            significance.permutation_bounds(significance.ranks(means)),
            published.mean_ranks(columns) if published else {},
            4,
            -1,
        ),
    )
    for y, column in enumerate(order):
        drawing.text(label - 12, 58 + _ROW * y + 17, column, anchor="end", css=css[column])
    for place, panel in enumerate(panels):
        name, values, bounds, printed, digits, sign = every[panel]
        x0 = label + place * (panel_width + _GAP)
        _bars(drawing, x0, panel_width, order, name, values, bounds, printed, digits, sign, table.reference)
    # The legend is one line where there is room for both its parts.
    begin, x, y = (
        (label, label + 130, bottom + 28) if len(panels) > 1 else (8, 8, bottom + (44 if published else 28))
    )
    if published:
        words = f"{current().possessive} value".replace("'", "’")
        drawing.circle(begin + 6, bottom + 24, 4, css="published")
        drawing.text(begin + 16, bottom + 28, words, css="soft small")
    drawing.text(x, y, "dashed: 95 % bounds for all at once if all were equal", css="soft small")
    return drawing


def _bars(
    drawing: Drawing,
    x0: float,
    width: int,
    order: Sequence[str],
    name: str,
    values: dict[str, float],
    bounds: significance.Bounds,
    printed: dict[str, float],
    digits: int,
    sign: int,
    reference: str,
) -> None:
    """Draw one panel: a bar per column from the common mean; better is to the right."""
    centre = (bounds.low + bounds.high) / 2
    # Beside the longest bar there is room for a number.
    room = width / (width - 2 * _NUMBER)
    reach = max(abs(value - centre) for value in [*values.values(), *bounds, *printed.values()]) * room or 1.0

    def across(value: float) -> float:
        return x0 + width / 2 + sign * (value - centre) / reach * width / 2

    top, bottom = 50, 58 + _ROW * len(order)
    left, right = sorted((across(bounds.low), across(bounds.high)))
    drawing.text(x0, 16, name, css="bold")
    drawing.text(x0 + width, 16, "better →", css="soft small", anchor="end")
    drawing.box(left, top, right - left, bottom - top, css="band")
    for x, value in (
        (left, bounds.low if sign > 0 else bounds.high),
        (right, bounds.high if sign > 0 else bounds.low),
    ):
        drawing.line(x, top, x, bottom, css="bound")
        drawing.text(x, top - 8, f"{value:.2f}", css="soft small", anchor="middle")
    drawing.line(across(centre), top, across(centre), bottom, css="axis")
    for y, column in enumerate(order):
        value, middle = values[column], 58 + _ROW * y + 13
        begin, end = sorted((across(centre), across(value)))
        css = "bar ours" if column == reference else "bar"
        drawing.box(
            begin, middle - 8, max(end - begin, 1), 16, css=css, tip=f"{column}: {shown(value, digits)}", r=2
        )
        side = 1 if end >= across(centre) + 1 else -1
        text, x = shown(value, digits), across(value) + 8 * side
        if column in printed:
            circle = across(printed[column])
            # The circle would hide the number: write it on the other side of the circle.
            if -_CIRCLE < side * (circle - x) < _widest([(text, "small")]) + _CIRCLE:
                x = circle + 8 * side
            tip = f"{current().label}: {shown(printed[column], digits)}"
            drawing.circle(circle, middle, 3.5, css="published", tip=tip)
        drawing.text(x, middle + 4, text, css="small halo", anchor="start" if side > 0 else "end")


def critical_difference(table: Table, columns: Sequence[str]) -> Drawing:
    """Draw mean ranks on a line; bars join columns that Nemenyi's test does not tell apart."""
    title = "Critical difference of mean ranks (Nemenyi, 5 %)"
    sets = table.shared_sets(columns)
    if len(columns) < 2 or not sets:
        return note(title, "Needs at least two columns with a common data set.")
    rank = table.mean_ranks(columns)
    order = sorted(columns, key=lambda c: rank[c])
    k = len(order)
    distance = significance.nemenyi_critical_difference(k, len(sets))
    groups = _groups([rank[c] for c in order], distance)
    half = (k + 1) // 2
    words = [
        (f"{c}  {rank[c]:.2f}" if i < half else f"{rank[c]:.2f}  {c}", "bold" if c == table.reference else "")
        for i, c in enumerate(order)
    ]
    left = max(_SIDE, _widest(words[:half]) + 22)
    right, axis = left + _AXIS, 74.0

    def across(value: float) -> float:
        return left + (value - 1) / (k - 1) * (right - left)

    lowest = axis + 22 + 11 * len(groups)
    end, label = across(1 + distance), f"critical difference {distance:.2f}"
    width = max(right + _SIDE, right + _widest(words[half:]) + 22, end + _widest([(label, "small")]) + 14)
    description = ", ".join(f"{c} {rank[c]:.4f}" for c in order)
    drawing = Drawing(
        width, lowest + 22 * half + 16, title, f"{description}; critical difference {distance:.3f}"
    )
    drawing.line(left, axis, right, axis)
    for tick in range(1, k + 1):
        drawing.line(across(tick), axis, across(tick), axis - 6)
        drawing.text(across(tick), axis - 12, str(tick), css="small", anchor="middle")
    drawing.line(left, 22, end, 22, css="line")
    for x in (left, end):
        drawing.line(x, 17, x, 27)
    drawing.text(end + 10, 26, label, css="small")
    drawing.text(left, axis - 28, "← better", css="soft small")
    for i, column in enumerate(order):
        on_left = i < half
        y = lowest + 22 * (i if on_left else k - 1 - i) + 8
        x, edge = across(rank[column]), left - 12 if on_left else right + 12
        drawing.path([(x, axis), (x, y), (edge, y)], css="axis")
        text, css = words[i]
        drawing.text(
            edge + (-6 if on_left else 6), y + 4, text, anchor="end" if on_left else "start", css=css
        )
        drawing.circle(x, axis, 3, css="dot", tip=f"{column}: {rank[column]:.4f}")
    for level, (first, last) in enumerate(groups):
        y = axis + 14 + 11 * level
        drawing.line(across(rank[order[first]]) - 4, y, across(rank[order[last]]) + 4, y, css="thick")
    return drawing


def ranked_list(table: Table, columns: Sequence[str]) -> Drawing | None:
    """Draw the same from top to bottom, for a narrow screen; None where there is nothing to rank."""
    sets = table.shared_sets(columns)
    if len(columns) < 2 or not sets:
        return None
    rank = table.mean_ranks(columns)
    order = sorted(columns, key=lambda c: rank[c])
    distance = significance.nemenyi_critical_difference(len(order), len(sets))
    groups = _groups([rank[c] for c in order], distance)
    words = [(f"{rank[c]:.2f}  {c}", "bold" if c == table.reference else "") for c in order]
    label = f"critical difference {distance:.2f}"
    left = _widest(words) + 16
    width = max(left + 12 * len(groups), _widest([(label, "small")])) + 10
    title = "Mean ranks, best first (Nemenyi, 5 %)"
    drawing = Drawing(max(width, 300), 22 * len(order) + 40, title, label)
    drawing.text(4, 14, label, css="small")
    for i, (text, css) in enumerate(words):
        drawing.text(4, 40 + 22 * i, text, css=css)
    for level, (first, last) in enumerate(groups):
        x = left + 12 * level
        drawing.line(x, 28 + 22 * first, x, 44 + 22 * last, css="thick")
    return drawing


def reliability_curves(found: Sequence[Reliability]) -> Drawing:
    """Draw how often each column is right, against the probability it states."""
    title = "Reliability of the probabilities"
    if not found:
        return note(title, "No column gives probabilities.")
    size, across = 150, min(4, len(found))
    down = -(-len(found) // across)
    step = max(size + 44, _widest((curve.column, "bold small") for curve in found) + 34)
    drawing = Drawing(across * step + 10, down * (size + 62), title, "Accuracy against stated probability.")
    for i, curve in enumerate(found):
        x0, y0 = 40 + (i % across) * step, 26 + (i // across) * (size + 62)
        drawing.text(x0, y0 - 8, curve.column, css="bold small")
        drawing.box(x0, y0, size, size, css="band")
        loss = f"log loss {curve.log_loss:.3f}"
        drawing.text(x0 + size - 6, y0 + size - 8, loss, css="soft small", anchor="end")
        drawing.line(x0, y0 + size, x0 + size, y0, css="axis")
        points = [(x0 + size * p, y0 + size * (1 - hit)) for p, hit, _ in curve.bins]
        drawing.path(points, css="curve")
        for (x, y), (p, hit, n) in zip(points, curve.bins, strict=True):
            tip = f"{curve.column}: says {p:.1%}, right {hit:.1%}, {n} rows"
            drawing.circle(x, y, 3, css="dot", tip=tip)
        for value in (0, 0.5, 1):
            drawing.text(x0 + size * value, y0 + size + 14, f"{value:g}", css="soft small", anchor="middle")
            drawing.text(x0 - 5, y0 + size * (1 - value) + 4, f"{value:g}", css="soft small", anchor="end")
    return drawing


def _widest(texts: Iterable[tuple[str, str]]) -> float:
    """Estimate the width of the widest text, given with its CSS classes; fonts differ, so rather too wide."""
    return max(
        _em(text) * (11 if "small" in css else 13) * (1.1 if "bold" in css else 1) for text, css in texts
    )


def _em(text: str) -> float:
    wide = sum(c.isupper() or c in "mw@%" or east_asian_width(c) in "WF" for c in text)
    return wide + 0.65 * (len(text) - wide)


def note(title: str, message: str) -> Drawing:
    """Return a line of text in place of a figure that cannot be drawn."""
    drawing = Drawing(520, 40, title, message)
    drawing.text(8, 25, message, css="soft")
    return drawing
