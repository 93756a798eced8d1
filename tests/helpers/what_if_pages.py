"""What-if pages in a browser, and what they answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from devtools import Browser
from localbayes.whatif import what_if

# Rows that the page holds, classified one after the other; minus infinity survives as text.
ANSWERS = """JSON.stringify(whatIf.model.presets.map(values => {
    const answer = whatIf.classifier.answer(values);
    return [answer.proba, answer.base, answer.terms, [answer.best, answer.next]];
}), (_, value) => value === -Infinity ? "-inf" : value)"""


def show_page(browser: Browser, folder: Path, clf: Any, X: Any = None, **options: Any) -> Path:
    """Write a page that begins with rows of X, and open it."""
    file = folder / "page.html"
    what_if(clf, file, presets=X, embed_rows=True, force=True, **options)
    browser.open(file.as_uri())
    return file


def page_answers(browser: Browser, clf: Any) -> list[np.ndarray]:
    """Probabilities, bases, terms (classes as in classes_), best and next class of the rows on the page."""
    *parts, first = zip(*json.loads(browser.run(ANSWERS)), strict=True)
    order, position = clf.labels_.columns, np.append(clf.labels_.sorted_position, -1)
    return [*(np.array(part, dtype=float)[:, order] for part in parts), position[np.array(first)].T]


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """Of numbers that may be infinite in both; NaN where one is infinite and the other is not."""
    with np.errstate(invalid="ignore"):
        return float(np.where(one == other, 0.0, np.abs(one - other)).max())


def check_answers(browser: Browser, folder: Path, clf: Any, X: Any) -> None:
    """The page gives the class and probabilities of Python and the terms of explain, to 1e-9."""
    show_page(browser, folder, clf, X)
    proba, base, terms, (best, rival) = page_answers(browser, clf)
    why = clf.explain(X)
    assert len(proba) == len(X)
    assert best.tolist() == why.predicted.tolist(), clf
    assert rival.tolist() == why.runner_up.tolist(), clf
    assert largest_difference(proba, clf.predict_proba(X)) < 1e-9, clf
    assert largest_difference(base, why.base) < 1e-9, clf
    assert largest_difference(terms, why.contributions) < 1e-9, clf
    assert browser.complaints() == []


def give(browser: Browser, control: str, value: str) -> None:
    """Give a control a value as a user does, and let the page know."""
    browser.run(
        f"""(() => {{
            const control = document.querySelector({json.dumps(control)});
            control.value = {json.dumps(value)};
            const name = control.tagName === 'SELECT' ? 'change' : 'input';
            control.dispatchEvent(new Event(name, {{bubbles: true}}));
        }})()"""
    )


def shown_proba(browser: Browser, clf: Any) -> np.ndarray:
    """Probabilities of the row that the page shows, classes as in classes_."""
    return np.array(browser.run("whatIf.answer.proba"))[clf.labels_.columns]
