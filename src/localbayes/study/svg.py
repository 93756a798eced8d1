"""Small SVG pictures: plain text that adapts to a light or dark page and needs no plotting library."""

from __future__ import annotations

import re
from html import escape as escape_markup

__all__ = ["CSS", "Drawing", "number"]

CSS = """
.fig { font: 13px/1.2 system-ui, sans-serif; fill: var(--ink); }
.fig .mono { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
.fig .soft { fill: var(--soft); }
.fig .small { font-size: 11px; }
.fig .halo { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.fig .bold { font-weight: 600; }
.fig .axis { stroke: var(--rule); stroke-width: 1; fill: none; }
.fig .line { stroke: var(--ink); stroke-width: 1.2; fill: none; }
.fig .thick { stroke: var(--ink); stroke-width: 4; stroke-linecap: round; opacity: .75; }
.fig .bound { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 4 3; opacity: .7; }
.fig .band { fill: var(--band); }
.fig .bar { fill: var(--bar); }
.fig .bar.ours { fill: var(--accent); }
.fig .published { fill: var(--page); stroke: var(--ink); stroke-width: 1.3; }
.fig .curve { stroke: var(--accent); stroke-width: 2; fill: none; }
.fig .dot { fill: var(--accent); }
.fig .rank1 { fill: var(--rank1); } .fig .rank2 { fill: var(--rank2); } .fig .rank3 { fill: var(--rank3); }
.fig .on1 { fill: var(--on-rank1); }
.fig .differs { stroke: var(--worse); stroke-width: 2; }
"""

LIGHT = (
    "--page:#fff;--ink:#1c2430;--soft:#5c6675;--rule:#c9d0da;--band:#eef1f5;--bar:#9fb1c9;--accent:#1f5fbf;"
    "--worse:#b3261e;--better:#0b6e4f;--rank1:#1f5fbf;--rank2:#9dbbe6;--rank3:#e6edf7;--on-rank1:#fff"
)
DARK = (
    "--page:#14181e;--ink:#e4e9f0;--soft:#9aa6b6;--rule:#3a4452;--band:#1f2630;--bar:#53657e;--accent:#7fb0ff;"
    "--worse:#ff8f85;--better:#5fd3a6;--rank1:#7fb0ff;--rank2:#3f639b;--rank3:#242e3d;--on-rank1:#0d1420"
)
_STANDALONE = (
    f".fig {{ {LIGHT}; background: var(--page); }} "
    f"@media (prefers-color-scheme: dark) {{ .fig {{ {DARK} }} }}{CSS}"
)


# What XML allows in a text; anything else would make the whole file unreadable.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Drawing:
    """A picture that grows by shapes. All text is escaped.

    Examples
    --------
    >>> drawing = Drawing(100, 40, "A title", "What it shows")
    >>> drawing.text(10, 20, "<b>")
    >>> "&lt;b&gt;" in drawing.inline()
    True
    """

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self.width, self.height = width, height
        self._parts = [f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"]

    def text(self, x: float, y: float, content: str, *, css: str = "", anchor: str = "start") -> None:
        """Write text with its baseline at (x, y)."""
        place = f'x="{number(x)}" y="{number(y)}"'
        self._parts.append(f'<text {place} class="{css}" text-anchor="{anchor}">{escape(content)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, *, css: str = "line") -> None:
        """Draw a straight line."""
        places = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        self._parts.append(f'<line {places} class="{css}"/>')

    def path(self, points: list[tuple[float, float]], *, css: str = "line") -> None:
        """Draw a line through points."""
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._parts.append(f'<polyline points="{places}" class="{css}"/>')

    def box(
        self, x: float, y: float, width: float, height: float, *, css: str, tip: str = "", r: float = 0
    ) -> None:
        """Draw a filled rectangle."""
        size = f'width="{number(width)}" height="{number(height)}"'
        round_ = f' rx="{number(r)}"' if r else ""
        self._parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" {size}{round_} class="{css}">{_tip(tip)}</rect>'
        )

    def circle(self, x: float, y: float, r: float, *, css: str, tip: str = "") -> None:
        """Draw a circle."""
        self._parts.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(r)}" class="{css}">{_tip(tip)}</circle>'
        )

    def inline(self) -> str:
        """Return the picture for a page that brings the colours."""
        return self._wrapped("")

    def standalone(self) -> str:
        """Return the picture as a file of its own."""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n' + self._wrapped(f"<style>{_STANDALONE}</style>") + "\n"
        )

    def _wrapped(self, style: str) -> str:
        size = f'viewBox="0 0 {number(self.width)} {number(self.height)}" width="{number(self.width)}"'
        height = f'height="{number(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {height} class="fig" role="img">'
        return head + style + "\n".join(self._parts) + "</svg>"


def escape(text: str) -> str:
    """Escape a text for XML; characters that XML forbids become a replacement character.

    Examples
    --------
    >>> escape("a<b\\x07")
    'a&lt;b�'
    """
    return escape_markup(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def number(value: float) -> str:
    """Write a coordinate briefly.

    Examples
    --------
    >>> number(2.0), number(1 / 3)
    ('2', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _tip(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
