"""An explanation as a cell of a notebook: the page's bars, without its style sheet."""

from importlib.util import find_spec

from localbayes.explain.explanation import Explanation
from localbayes.explain.page import class_bars, page_environment, reason_bars
from localbayes.explain.words import why_not_sentence

__all__ = ["notebook_html"]

_MOST_ROWS, _TOP = 3, 8


def notebook_html(explanation: Explanation) -> str | None:
    """Bars of the first rows as HTML whose styles reach nothing else; None without jinja2.

    Examples
    --------
    >>> from localbayes import NB
    >>> cell = notebook_html(NB().fit([["<u>"], ["a"]], ["yes", "no"]).explain([["<u>"]]))
    >>> "<u>" in cell, "&lt;u&gt;" in cell, "<style" in cell
    (False, True, False)
    """
    if find_spec("jinja2") is None:
        return None
    shown = range(min(len(explanation), _MOST_ROWS))
    several = len(explanation.classes) > 1
    return (
        page_environment()
        .get_template("notebook.html.j2")
        .render(
            method=explanation.method,
            rows=[
                {
                    "number": row,
                    "classes": class_bars(explanation, row, _MOST_ROWS),
                    "odds": reason_bars(explanation.log_odds(row), _TOP) if several else None,
                    "why_not": []
                    if explanation.why_not is None
                    else list(map(why_not_sentence, explanation.why_not[row][:_MOST_ROWS])),
                }
                for row in shown
            ],
            more=len(explanation) - len(shown),
        )
    )
