"""The paper's two figures, the critical-difference diagram and reliability curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from localbayes.study import tests
from localbayes.study.comparison import KAPPAS, rank_panel
from localbayes.study.summary import Reliability
from localbayes.study.svg import Drawing
from localbayes.study.table import SetInfo, Table, paper_table, shown

__all__ = ["critical_difference", "figure1", "figure2", "reliability_curves"]

_ROW = 26
# Margins for names, if these are not longer.
_LABEL = 130
_SIDE = 150
_PANEL = 330
_GAP = 40
# Radius of a circle with its border and a little air.
_CIRCLE = 6


def figure1(table: Table, columns: Sequence[str], paper: Table | None = None) -> Drawing:
    """Average accuracy and mean rank of each column, best average first, with simultaneous 95 % bounds.

    Bars begin at the common mean, where all would end if all methods were equal. Circles show the values of
    `paper`, the printed table with the same data sets and columns.
    """
    sets = table.shared_sets(columns)
    title = "Average accuracy and mean rank"
    if len(columns) < 2 or not sets:
        return _note(title, "Needs at least two columns with a common data set.")
    averages, ranks = table.averages(columns), table.mean_ranks(columns)
    order = sorted(columns, key=lambda c: -averages[c])
    height = 58 + _ROW * len(order) + 34
    description = ", ".join(f"{c} {shown(averages[c])} rank {shown(ranks[c], 4)}" for c in order)
    css = {c: "bold" if c == table.reference else "" for c in order}
    label = max(_LABEL, _widest((c, css[c]) for c in order) + 16)
    drawing = Drawing(label + 2 * _PANEL + _GAP + 20, height, title, description)
    means = table.means(columns)
    panels = (
        (
            "average accuracy, %",
            averages,
            tests.permutation_bounds(means),
            paper.averages(columns) if paper else {},
            2,
            1,
        ),
        (
            "mean rank",
            ranks,
            tests.permutation_bounds(tests.ranks(means)),
            paper.mean_ranks(columns) if paper else {},
            4,
            -1,
        ),
    )
    for y, column in enumerate(order):
        drawing.text(label - 12, 58 + _ROW * y + 17, column, anchor="end", css=css[column])
    for place, (name, values, bounds, printed, digits, sign) in enumerate(panels):
        x0 = label + place * (_PANEL + _GAP)
        _bars(drawing, x0, order, name, values, bounds, printed, digits, sign, table.reference)
    if paper:
        drawing.circle(label + 6, height - 10, 4, css="paper")
        drawing.text(label + 16, height - 6, "the paper’s value", css="soft small")
    drawing.text(
        label + 130, height - 6, "dashed: 95 % bounds for all at once if all were equal", css="soft small"
    )
    return drawing


def _bars(
    drawing: Drawing,
    x0: float,
    order: Sequence[str],
    name: str,
    values: dict[str, float],
    bounds: tests.Bounds,
    printed: dict[str, float],
    digits: int,
    sign: int,
    reference: str,
) -> None:
    """One panel: a bar per column from the common mean; better is to the right."""
    centre = (bounds.low + bounds.high) / 2
    reach = max(abs(value - centre) for value in [*values.values(), *bounds, *printed.values()]) * 1.3 or 1.0

    def across(value: float) -> float:
        return x0 + _PANEL / 2 + sign * (value - centre) / reach * _PANEL / 2

    top, bottom = 50, 58 + _ROW * len(order)
    left, right = sorted((across(bounds.low), across(bounds.high)))
    drawing.text(x0, 16, name, css="bold")
    drawing.text(x0 + _PANEL, 16, "better →", css="soft small", anchor="end")
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
            # A circle within the figure would hide it: write it behind the circle.
            if -_CIRCLE < side * (circle - x) < _widest([(text, "small")]) + _CIRCLE:
                x = circle + 8 * side
            tip = f"paper: {shown(printed[column], digits)}"
            drawing.circle(circle, middle, 3.5, css="paper", tip=tip)
        drawing.text(x, middle + 4, text, css="small halo", anchor="start" if side > 0 else "end")


def figure2(table: Table) -> Drawing:
    """Ranks of the three kappas over the data sets, ordered by each of n, m and r.

    A tile's border is marked where the rank differs from the paper's.
    """
    title = "Rank of LCWNB with kappa 5, 10 and 20 against the size of the data sets"
    sets = table.shared_sets(KAPPAS)
    if not table.has(*KAPPAS) or not sets:
        return _note(title, "Needs the columns LCWNB5, LCWNB10 and LCWNB20.")
    cell, panel = 23, 136
    drawing = Drawing(
        max(520, 92 + cell * len(sets) + 8), 3 * panel + 26, title, "Rank 1 is the best of the three."
    )
    words = {"n": "number of rows n", "m": "number of attributes m", "r": "number of classes r"}
    for place, (constant, word) in enumerate(words.items()):
        _tiles(drawing, 8 + place * panel, cell, table, constant, word)
    y = 3 * panel + 6
    for rank in (1, 2, 3):
        drawing.box(92 + 74 * (rank - 1), y, 14, 14, css=f"rank{rank}", r=2)
        drawing.text(111 + 74 * (rank - 1), y + 12, f"rank {rank}", css="soft small")
    drawing.text(316, y + 12, "* half a rank   – equal " + "n, m or r", css="soft small")
    return drawing


def _tiles(drawing: Drawing, top: float, cell: float, table: Table, constant: str, word: str) -> None:
    lines, sets = rank_panel(table, constant)
    printed = _printed_ranks()
    drawing.text(92, top + 12, f"ascending {word} →", css="bold small")
    for i, line in enumerate(lines):
        y = top + 22 + 27 * i
        signs = line.partition(": ")[2]
        drawing.text(84, y + 16, KAPPAS[i], anchor="end", css="small")
        for j, s in enumerate(sets):
            x = 92 + cell * j
            sign = signs[2 * j]
            rank = float(sign) if sign != "*" else _half(lines, i, j)
            differs = s.paper and printed.get((s.name, KAPPAS[i]), rank) != rank
            tip = f"{s.name}: {KAPPAS[i]} has rank {rank:g} ({constant} = {getattr(s, constant)})"
            css = f"rank{round(rank)}" if rank != 2.5 else "rank3"
            drawing.box(x, y, cell - 4, 23, css=css + (" differs" if differs else ""), tip=tip, r=3)
            drawing.text(
                x + (cell - 4) / 2,
                y + 16,
                sign,
                css="mono on1" if css == "rank1" else "mono",
                anchor="middle",
            )
            if j and signs[2 * j - 1] == "-":
                drawing.line(x - 4, y + 11.5, x, y + 11.5)
    for j, s in enumerate(sets):
        value = getattr(s, constant)
        if j == 0 or getattr(sets[j - 1], constant) != value:
            _constant(drawing, 92 + cell * j + (cell - 4) / 2, top + 116, value, sets[:j], constant)


def _constant(
    drawing: Drawing, x: float, y: float, value: int, before: Sequence[SetInfo], constant: str
) -> None:
    """Write a constant under its first tile; long ones only every other tile, or they would run together."""
    short = value if value < 1000 else f"{value / 1000:.1f}".removesuffix(".0") + "k"
    if len(str(short)) < 3 or len(before) % 2 == 0:
        drawing.text(x, y, str(short), css="soft small", anchor="middle")


def _half(lines: Sequence[str], i: int, j: int) -> float:
    """Tell 1.5 from 2.5: two share a half rank, and the third has what remains of 6."""
    signs = [line.partition(": ")[2][2 * j] for line in lines]
    other = next(float(sign) for sign in signs if sign != "*")
    return (6 - other) / 2


def _printed_ranks() -> dict[tuple[str, str], float]:
    table = paper_table()
    rank = tests.ranks(table.means(KAPPAS))
    return {(s.name, c): float(rank[j, i]) for j, s in enumerate(table.sets) for i, c in enumerate(KAPPAS)}


def critical_difference(table: Table, columns: Sequence[str]) -> Drawing:
    """Mean ranks on a line; bars join columns that Nemenyi's test does not tell apart."""
    title = "Critical difference of mean ranks (Nemenyi, 5 %)"
    sets = table.shared_sets(columns)
    if len(columns) < 2 or not sets:
        return _note(title, "Needs at least two columns with a common data set.")
    rank = table.mean_ranks(columns)
    order = sorted(columns, key=lambda c: rank[c])
    k = len(order)
    distance = tests.nemenyi_critical_difference(k, len(sets))
    groups = _groups([rank[c] for c in order], distance)
    half = (k + 1) // 2
    words = [
        (f"{c}  {rank[c]:.2f}" if i < half else f"{rank[c]:.2f}  {c}", "bold" if c == table.reference else "")
        for i, c in enumerate(order)
    ]
    left = max(_SIDE, _widest(words[:half]) + 22)
    right, axis = left + 500, 74.0

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


def _groups(ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Largest stretches of sorted ranks that lie within the critical difference, none inside another."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(j for j in range(first, len(ranks)) if ranks[j] - ranks[first] <= distance)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def reliability_curves(found: Sequence[Reliability]) -> Drawing:
    """How often each column is right, against how sure it says it is."""
    title = "Reliability of the probabilities"
    if not found:
        return _note(title, "No column gives probabilities.")
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
    """Estimate the width of the widest text, given with its classes; fonts differ, so rather too wide."""
    return max(
        _em(text) * (11 if "small" in css else 13) * (1.1 if "bold" in css else 1) for text, css in texts
    )


def _em(text: str) -> float:
    wide = sum(c.isupper() or c in "mw@%" or east_asian_width(c) in "WF" for c in text)
    return wide + 0.65 * (len(text) - wide)


def _note(title: str, message: str) -> Drawing:
    drawing = Drawing(520, 40, title, message)
    drawing.text(8, 25, message, css="soft")
    return drawing
