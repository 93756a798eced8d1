"""The paper's Figure 2: ranks of the three kappas over the data sets, as characters and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localbayes.study import significance
from localbayes.study.accuracy_table import SetInfo, Table
from localbayes.study.figures import note
from localbayes.study.paper.paper_columns import KAPPAS
from localbayes.study.paper.printed_table import paper_table
from localbayes.study.svg import Drawing

__all__ = ["figure2", "rank_panel"]

_COLUMNS = tuple(KAPPAS)
_WORDS = {"n": "number of rows n", "m": "number of attributes m", "r": "number of classes r"}
_LEFT = 92
_TILE = 23
_PANEL = 136


def rank_panel(table: Table, constant: str) -> tuple[list[str], list[SetInfo]]:
    """Return the ranks of the three kappas, data sets in ascending order of `n`, `m` or `r`.

    Returns
    -------
    lines : list of str
        A line per kappa; `*` is a half rank, `-` joins data sets whose constant is equal.
    sets : list of SetInfo
        The data sets in that order.

    Examples
    --------
    >>> rank_panel(paper_table(), "n")[0][0][:20]
    'LCWNB5 : 3 1 1 3 3 1'
    """
    sets = table.shared_sets(_COLUMNS)
    rank = significance.ranks(table.means(_COLUMNS)) if sets else np.empty((0, 3))
    key = [int(getattr(s, constant)) for s in sets]
    order = sorted(range(len(sets)), key=lambda j: (key[j], -rank[j, 0], -rank[j, 1]))
    lines = []
    for i, column in enumerate(_COLUMNS):
        text = f"{column:<7}: "
        for place, j in enumerate(order):
            joined = place > 0 and key[j] == key[order[place - 1]]
            text += ("-" if joined else " " if place else "") + _sign(rank[j, i])
        lines.append(text)
    return lines, [sets[j] for j in order]


def figure2(table: Table, across: int | None = None) -> Drawing:
    """Draw the ranks as tiles; the border of a tile is marked where the rank differs from the printed one.

    With `across` at most so many data sets stand side by side, and the next ones below them.
    """
    title = "Rank of LCWNB with kappa 5, 10 and 20 against the size of the data sets"
    sets = table.shared_sets(_COLUMNS)
    if not table.has(*_COLUMNS) or not sets:
        return note(title, "Needs the columns LCWNB5, LCWNB10 and LCWNB20.")
    wide, step = across is None, across or len(sets)
    panels = [(*words, begin) for words in _WORDS.items() for begin in range(0, len(sets), step)]
    y = len(panels) * _PANEL + 6
    width = max(520 if wide else 320, _LEFT + _TILE * min(step, len(sets)) + 8)
    drawing = Drawing(width, y + (20 if wide else 42), title, "Rank 1 is the best of the three.")
    for place, (constant, words, begin) in enumerate(panels):
        _tiles(
            drawing, 8 + place * _PANEL, table, constant, words, range(begin, min(begin + step, len(sets)))
        )
    for rank in (1, 2, 3):
        drawing.box(_LEFT + 74 * (rank - 1), y, 14, 14, css=f"rank{rank}", r=2)
        drawing.text(111 + 74 * (rank - 1), y + 12, f"rank {rank}", css="soft small")
    x, below = (316, 12) if wide else (_LEFT, 34)
    drawing.text(x, y + below, "* half a rank   – equal n, m or r", css="soft small")
    return drawing


def _tiles(
    drawing: Drawing, top: float, table: Table, constant: str, words: str, places: Sequence[int]
) -> None:
    lines, sets = rank_panel(table, constant)
    known = _printed_ranks()
    heading = f"ascending {words} →" if places[0] == 0 else "…"
    drawing.text(_LEFT, top + 12, heading, css="bold small")
    for i, line in enumerate(lines):
        y = top + 22 + 27 * i
        signs = line.partition(": ")[2]
        drawing.text(84, y + 16, _COLUMNS[i], anchor="end", css="small")
        for place, j in enumerate(places):
            s, x, sign = sets[j], _LEFT + _TILE * place, signs[2 * j]
            rank = float(sign) if sign != "*" else _half(lines, j)
            differs = s.published and known.get((s.name, _COLUMNS[i]), rank) != rank
            tip = f"{s.name}: {_COLUMNS[i]} has rank {rank:g} ({constant} = {getattr(s, constant)})"
            css = f"rank{round(rank)}" if rank != 2.5 else "rank3"
            drawing.box(x, y, _TILE - 4, 23, css=css + (" differs" if differs else ""), tip=tip, r=3)
            text_css = "mono on1" if css == "rank1" else "mono"
            drawing.text(x + (_TILE - 4) / 2, y + 16, sign, css=text_css, anchor="middle")
            if place and signs[2 * j - 1] == "-":
                drawing.line(x - 4, y + 11.5, x, y + 11.5)
    for place, j in enumerate(places):
        value = getattr(sets[j], constant)
        if place == 0 or getattr(sets[j - 1], constant) != value:
            _constant(drawing, _LEFT + _TILE * place + (_TILE - 4) / 2, top + 116, value, place)


def _constant(drawing: Drawing, x: float, y: float, value: int, before: int) -> None:
    """Write a constant under its first tile; long ones under every other tile, so that they do not touch."""
    short = value if value < 1000 else f"{value / 1000:.1f}".removesuffix(".0") + "k"
    if len(str(short)) < 3 or before % 2 == 0:
        drawing.text(x, y, str(short), css="soft small", anchor="middle")


def _half(lines: Sequence[str], j: int) -> float:
    """Tell 1.5 from 2.5: two share a half rank, and the third has what remains of 6."""
    signs = [line.partition(": ")[2][2 * j] for line in lines]
    other = next(float(sign) for sign in signs if sign != "*")
    return (6 - other) / 2


def _sign(rank: float) -> str:
    return str(int(rank)) if rank == int(rank) else "*"


def _printed_ranks() -> dict[tuple[str, str], float]:
    table = paper_table()
    rank = significance.ranks(table.means(_COLUMNS))
    return {(s.name, c): float(rank[j, i]) for j, s in enumerate(table.sets) for i, c in enumerate(_COLUMNS)}
