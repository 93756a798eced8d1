"""The what-if page as people use it: by mouse and keyboard, on a desk and a phone, with hostile data."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localbayes import AODE, LCWNB, NB, LocalBayesClassifier
from localbayes.datasets import load
from mixed_tables import mixed_table
from what_if_pages import give, show_page, shown_proba

pytestmark = pytest.mark.chromium

SCREENSHOTS = Path(
    os.environ.get("LOCALBAYES_SCREENSHOTS", Path(__file__).resolve().parents[2] / "build" / "screenshots")
)
EVIL = "</script><script>alert(1)</script>"
NAMES = [EVIL, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "a" * 300, "<!--", "\u2028"]


@pytest.fixture
def vote(browser, tmp_path):
    """A page of NB on the set vote, the model and its table."""
    X, y = load("vote")
    model = NB().fit(X, y)
    browser.resize(1400, 1000)
    browser.prefer("light")
    return show_page(browser, tmp_path, model, X[:5]), model, X


@pytest.fixture
def mixed(browser, tmp_path):
    """A page of LCWNB on text, bools and numbers, the model and its table."""
    X, y = mixed_table()
    model = LCWNB().fit(X, y)
    browser.resize(1400, 1000)
    browser.prefer("light")
    show_page(browser, tmp_path, model, X[:5])
    return model, X


def texts(browser, selector: str) -> list[str]:
    return browser.run(f"[...document.querySelectorAll('{selector}')].map(e => e.innerText.trim())")


def names_shown(browser) -> list[str]:
    """Attributes on the screen, from top to bottom, without the first line, which is none."""
    return texts(browser, "#list li:not([hidden]) .name")[1:]


# --- what is asked for and run -------------------------------------------------------------------------


def test_nothing_is_requested_and_no_other_script_runs(browser, vote):
    """The page asks for itself alone; its policy knows its own script and style, and refuses any other."""
    file, _, _ = vote
    assert set(browser.requests()) == {file.as_uri()}
    assert browser.complaints() == []
    browser.run(
        """(() => {
            const more = document.createElement('script');
            more.textContent = "document.title = 'taken over'";
            document.body.append(more);
            new Image().src = 'http://127.0.0.1:9/x.png';
        })()"""
    )
    browser.run("new Promise(done => setTimeout(done, 0))")
    assert browser.run("document.title") == "What if?"
    assert len([found for found in browser.complaints() if "Content Security Policy" in found]) >= 2
    assert not re.search(r'(?:src|href)="(?!#|data:,)', file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", [NB, LCWNB])
def test_what_came_from_data_is_never_run(browser, tmp_path, method):
    """Names, values and classes full of markup are shown as text, on a phone without scrolling sideways."""
    X = pd.DataFrame([NAMES, ["x"] * 6] * 4, columns=NAMES)
    model = method().fit(X, [EVIL, "</title><b>bold</b>"] * 4)
    browser.resize(390, 844, mobile=True)
    show_page(browser, tmp_path, model, X[:2], title=EVIL, subtitle="<img src=x onerror=alert(1)>")
    assert browser.complaints() == []
    assert browser.run("document.title") == EVIL
    assert texts(browser, "#list .name")[1:-1] == NAMES[:-1]
    assert browser.run("document.querySelectorAll('#list img, #list script, b b, h1 script').length") == 0
    assert EVIL in browser.run("document.querySelector('#value-0').selectedOptions[0].textContent")
    assert EVIL in browser.run("document.getElementById('lead').innerText")
    assert browser.run("document.documentElement.scrollWidth") <= 390


# --- values --------------------------------------------------------------------------------------------


def test_a_choice_moves_the_prediction(browser, vote):
    """After another value is chosen all that is shown is that of the changed row, and undo takes it back."""
    _, model, X = vote
    before, proba = texts(browser, "#lead"), shown_proba(browser, model)
    row = X[:1].copy()
    row["physician-fee-freeze"] = "n"
    labels = model.encoder_.columns[3].labels()
    give(browser, "#value-3", str(labels.index("n")))
    why = model.explain(row)
    np.testing.assert_allclose(shown_proba(browser, model), why.proba[0], atol=1e-9)
    best, rival = why.classes[why.predicted[0]], why.classes[why.runner_up[0]]
    assert texts(browser, "#lead")[0].startswith(f"Predicted {best} with probability ")
    assert np.abs(why.proba[0] - proba).max() > 1e-6
    assert texts(browser, "#classes .label") == [best, rival]
    odds = why.log_odds()
    titles = browser.run("[...document.querySelectorAll('#list li')].slice(1).map(li => li.title)")
    written = [float(title.split()[-1].replace("−", "-")) for title in titles]
    np.testing.assert_allclose(written, odds.contributions, atol=0.0051)
    assert names_shown(browser) == list(X.columns)
    assert texts(browser, "#list .changed .name") == ["physician-fee-freeze"]
    browser.run("document.getElementById('undo').click()")
    assert texts(browser, "#lead") == before
    assert (shown_proba(browser, model) == proba).all()
    assert texts(browser, "#list .changed") == []


def test_every_preset_is_the_row_of_the_table(browser, vote):
    """Choosing a row shows its values, as text, and its probabilities."""
    _, model, X = vote
    for k in range(5):
        give(browser, "#preset", str(k))
        np.testing.assert_allclose(
            shown_proba(browser, model), model.predict_proba(X[k : k + 1])[0], atol=1e-9
        )
        chosen = browser.run(
            "[...document.querySelectorAll('#list select')].map(s => s.selectedOptions[0].text)"
        )
        for text, value in zip(chosen, X.iloc[k], strict=True):
            assert text == value if isinstance(value, str) else text.startswith("(missing: taken as ")


def test_numbers_are_typed_slid_or_missing(browser, mixed):
    """A number can be typed, a bin can be chosen, and an empty field is a missing value."""
    model, X = mixed
    row = X[:1].copy()
    for text in ("2.75", "-1e3", ""):
        give(browser, "#value-2", text)
        row["weight"] = float(text or "nan")
        np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(row)[0], atol=1e-9)
    assert "missing, taken as" in texts(browser, "#value-2-reading")[0]
    labels = model.encoder_.columns[2].labels()
    for code, label in enumerate(labels):
        give(browser, "#value-2 + input[type=range]", str(code))
        assert texts(browser, "#value-2-reading") == [label]
        row["weight"] = float(browser.run("document.getElementById('value-2').value"))
        assert model.encode(row)[0, 2] == code
        np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(row)[0], atol=1e-9)
    give(browser, "#value-0", "other")
    row["colour"] = "violet"
    np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(row)[0], atol=1e-9)


def test_dates_are_given_as_dates(browser, tmp_path):
    """A column of dates has a field for a date, which is read as Python reads it."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 300, 80), unit="D")
    X = pd.DataFrame({"day": days, "colour": rng.choice(["red", "green"], 80)})
    model = LocalBayesClassifier().fit(X, np.where(X["day"] > "2024-06-30", "late", "early"))
    show_page(browser, tmp_path, model, X[:3])
    assert browser.run("document.getElementById('value-0').value").startswith(str(days[0].date()))
    give(browser, "#value-0", "2024-11-05T00:00:00")
    row = X[:1].assign(day=pd.Timestamp("2024-11-05"))
    np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(row)[0], atol=1e-9)


def test_durations_are_given_in_seconds(browser, tmp_path):
    """A column of durations has a field for a number, and its name says of what."""
    rng = np.random.default_rng(0)
    lengths = pd.to_timedelta(rng.integers(0, 10**6, 80), unit="s")
    X = pd.DataFrame({"took": lengths, "colour": rng.choice(["red", "green"], 80)})
    model = LocalBayesClassifier().fit(X, np.where(lengths > "5D", "long", "short"))
    show_page(browser, tmp_path, model, X[:3])
    assert any("took, in seconds" in text for text in texts(browser, "label"))
    assert float(browser.run("document.getElementById('value-0').value")) == lengths[0].total_seconds()
    give(browser, "#value-0", "400000")
    row = X[:1].assign(took=pd.Timedelta(seconds=400000))
    np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(row)[0], atol=1e-9)


def test_kappa_can_be_moved(browser, mixed):
    """The slider's kappa gives the prediction of that kappa alone, and the box gives back the fitted ones."""
    model, X = mixed
    fitted = model.predict_proba(X[:1])[0]
    for share in ("0", "37.5", "100"):
        give(browser, "#kappa-range", share)
        kappa = browser.run("whatIf.kappaPanel.kappa")
        joint = model.log_joint_many(X[:1], [kappa])[0, 0]
        np.testing.assert_allclose(
            shown_proba(browser, model), np.exp(joint) / np.exp(joint).sum(), atol=1e-9
        )
    assert kappa == pytest.approx(len(X))
    browser.run("document.getElementById('kappa-fitted').click()")
    np.testing.assert_allclose(shown_proba(browser, model), fitted, atol=1e-9)
    grid = np.array(browser.run("whatIf.kappaPanel.grid"))
    joint = model.log_joint_many(X[:1], grid)[:, 0]
    proba = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    points = browser.run("document.querySelector('#kappa-plot .curve').getAttribute('points')").split()
    heights = [1 - float(point.split(",")[1]) / 100 for point in points]
    np.testing.assert_allclose(heights, proba[:, fitted.argmax()], atol=1e-4)


def test_two_classes_can_be_compared(browser, mixed):
    """Reasons are given for any class against any other."""
    model, X = mixed
    declared = list(model.labels_.declared)
    odds = model.explain(X[:1]).log_odds(0, "perhaps", "no")
    give(browser, "#for-class", str(declared.index("perhaps")))
    give(browser, "#against-class", str(declared.index("no")))
    titles = browser.run("[...document.querySelectorAll('#list li')].map(li => li.title)")
    written = [float(title.split()[-1].replace("−", "-")) for title in titles]
    np.testing.assert_allclose(written, [odds.start.log_odds, *odds.contributions], atol=0.0051)
    assert texts(browser, "#for-name, #against-name") == ["perhaps", "no"]


def test_the_nomogram_of_naive_bayes(browser, vote):
    """Dots stand at the log odds of their values; a click on one chooses it."""
    _, model, X = vote
    place = """(() => {
        const scale = document.querySelectorAll('#scales .scale')[2 + 3];
        const axis = scale.querySelector('.axis').getBoundingClientRect();
        const at = e => { const box = e.getBoundingClientRect(); return (box.left + box.right) / 2; };
        return [...scale.querySelectorAll('.dot')].map(e => 2 * (at(e) - axis.left) / axis.width - 1);
    })()"""
    dots = np.array(browser.run(place))
    both = pd.concat([X[:1].assign(**{"physician-fee-freeze": value}) for value in ("n", "y")])
    why = model.explain(both)
    a, b = why.predicted[0], why.runner_up[0]
    added = why.contributions[:, a, 3] - why.contributions[:, b, 3]
    # All scales have the unit of the longest.
    np.testing.assert_allclose(dots / np.abs(dots).max(), added / np.abs(added).max(), atol=0.01)
    browser.run(
        "document.querySelectorAll('#scales .scale')[2 + 3].querySelector('.dot:not(.chosen)').click()"
    )
    changed = X[:1].assign(**{"physician-fee-freeze": {"n": "y", "y": "n"}[X.iloc[0, 3]]})
    np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(changed)[0], atol=1e-9)


def test_classes_that_have_no_chance_are_one_bar(browser, tmp_path):
    """Of 19 classes those of at least 0.001 have a bar each, three at least; all bars together are one."""
    X, y = load("soybean")
    model = NB().fit(X, y)
    browser.resize(1400, 1000)
    show_page(browser, tmp_path, model, X[:40])
    for k in range(0, 40, 3):
        give(browser, "#preset", str(k))
        proba = model.predict_proba(X[k : k + 1])[0]
        shown = texts(browser, "#classes .label")
        bars = max(3, int((proba >= 0.001).sum()))
        assert shown[:-1] == model.classes_[np.argsort(-proba, kind="stable")][:bars].tolist()
        assert shown[-1] == f"{19 - bars} other classes"
        widths = browser.run(
            "[...document.querySelectorAll('#classes .fill')].map(e => parseFloat(e.style.width))"
        )
        assert sum(widths) == pytest.approx(100)


# --- many attributes -----------------------------------------------------------------------------------


def test_many_attributes_are_sorted_and_found(browser, tmp_path):
    """Of 69 attributes the strongest come first; a search leaves those whose name or value has the text."""
    rng = np.random.default_rng(6)
    y = rng.choice(["no", "yes"], 200)
    X = pd.DataFrame(
        {f"c{i}": np.where(rng.random(200) < i / 100, y, rng.choice(["p", "q"], 200)) for i in range(69)}
    )
    model = NB().fit(X, y)
    browser.resize(1400, 1000)
    show_page(browser, tmp_path, model, X[:2])
    strength = np.abs(model.explain(X[:1]).log_odds().contributions)
    shown = [strength[int(name[1:])] for name in names_shown(browser)]
    assert len(shown) == 69
    assert shown == sorted(shown, reverse=True)
    give(browser, "#search", "C4")
    assert sorted(names_shown(browser)) == sorted(name for name in X.columns if "c4" in name)
    give(browser, "#search", "nothing like it")
    assert names_shown(browser) == []
    assert texts(browser, "#not-shown:not([hidden])") == ["No attribute or value is called so."]
    give(browser, "#search", "c68")
    assert texts(browser, "#not-shown:not([hidden])") == ["68 others not shown, which count, too."]
    give(browser, "#search", "")
    assert texts(browser, "#not-shown:not([hidden])") == []
    browser.run("document.querySelector('#list select').focus()")
    before = names_shown(browser)
    give(browser, f"#value-{before[0][1:]}", "other")
    assert names_shown(browser) == before, "while one is edited, all stay where they are"
    browser.run("document.getElementById('search').focus()")
    assert names_shown(browser)[0] != before[0]
    give(browser, "#order", "table")
    assert names_shown(browser) == list(X.columns)


# --- keyboard and screens ------------------------------------------------------------------------------


def test_keyboard_and_labels(browser, mixed):
    """Every control has a name; Tab goes through them in the order on the screen, arrows change values."""
    model, X = mixed
    unnamed = browser.run(
        """[...document.querySelectorAll('input, select, button')].filter(e =>
            !e.labels?.length && !e.ariaLabel && !e.textContent.trim()).map(e => e.id)"""
    )
    assert unnamed == []
    described = browser.run(
        """[...document.querySelectorAll('#list select, #list input:not([type=range])')].map(e =>
            e.getAttribute('aria-describedby').split(' ').map(id => document.getElementById(id).innerText))"""
    )
    assert [figure for _, figure in described] == texts(browser, "#list .figure")[1:]
    assert all(figure[0] in "×÷" for _, figure in described)
    browser.run("document.querySelector('.skip').focus()")
    reached = []
    for _ in range(30):
        browser.press("Tab")
        reached.append(browser.run("document.activeElement.id || document.activeElement.type || ''"))
        if reached[-1] == "value-3":
            break
    # "Undo" has nothing to undo yet.
    assert [name for name in reached if name in ("preset", "for-class", "against-class", "order", "search")]
    assert reached[-5:] == ["value-0", "value-1", "value-2", "range", "value-3"]
    browser.run("document.getElementById('value-0').focus()")
    browser.press("ArrowUp")
    code = int(browser.run("document.getElementById('value-0').value"))
    row = X[:1].assign(colour=model.encoder_.columns[0].labels()[code])
    assert row["colour"].iloc[0] != X["colour"].iloc[0]
    np.testing.assert_allclose(shown_proba(browser, model), model.predict_proba(row)[0], atol=1e-9)
    assert browser.run("document.activeElement.id") == "value-0"
    assert browser.run("document.getElementById('lead').getAttribute('aria-live')") == "polite"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize(("name", "method"), [("vote", NB), ("glass", LCWNB), ("credit-g", AODE)])
def test_it_fits_any_screen(browser, tmp_path, name, method, width, scheme):
    """Nothing lies beyond the edge, colours can be read, and the prediction stays in sight on a phone."""
    X, y = load(name)
    browser.resize(width, 900, mobile=width < 600)
    browser.prefer(scheme)
    show_page(browser, tmp_path, method().fit(X, y), X[:3], subtitle=name)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
    back, ink = (
        [int(c) for c in re.findall(r"\d+", browser.run(f"getComputedStyle(document.body).{part}"))[:3]]
        for part in ("backgroundColor", "color")
    )
    assert (sum(back) > sum(ink)) == (scheme == "light")
    assert abs(sum(back) - sum(ink)) > 400
    browser.screenshot(SCREENSHOTS / f"what-if-{name}-{width}-{scheme}.png", whole=True)
    place = "#lead" if width < 600 else "#classes"
    top = browser.run(
        "(scrollTo(0, 1500), document.querySelector('#list li:last-child').scrollIntoView(), "
        f"document.querySelector('{place}').getBoundingClientRect().top)"
    )
    assert -1 <= top < 900
