"""The page and the command that explain a prediction: looked at by a browser, and by a careless user."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from devtools import Browser, need_chromium
from localbayes.classifiers import METHODS
from localbayes.classifiers.aode import AODE
from localbayes.classifiers.lcwnb import LCWNB
from localbayes.classifiers.nb import NB
from localbayes.cli import app
from localbayes.datasets import embedded_path, load
from localbayes.encoding import Coded
from localbayes.explain import explanation_page, sentence
from localbayes.persistence import save_model

EVIL = "<script>alert(1)</script>"
# Variables with which terminals and CI systems ask for colours, and one that sets the width.
PLAIN = dict.fromkeys(["FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "PY_COLORS"]) | {"COLUMNS": "100"}


# --- a browser -----------------------------------------------------------------------------------------


def show(browser: Browser, file: Path, width: int, scheme: str = "light") -> None:
    """Load a page on a screen of a width, in light or dark colours."""
    browser.resize(width, 900, mobile=width < 600)
    browser.prefer(scheme)
    browser.open(file.as_uri())


def sides(browser: Browser, selector: str) -> np.ndarray:
    """Left and right ends of elements on the screen."""
    box = "e => e.getBoundingClientRect()"
    found = f"[...document.querySelectorAll('{selector}')].map({box}).map(b => [b.left, b.right])"
    return np.array(browser.run(found))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    need_chromium()
    with Browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(scope="module")
def glass_page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A page of LCWNB with several kappas and several classes, and what it explains."""
    X, y = load("glass")
    answer = LCWNB().fit(X[1::2], y[1::2]).explain(X[74:75], why_not=True)
    file = tmp_path_factory.mktemp("page") / "glass.html"
    file.write_text(explanation_page(answer, subtitle="row 74 of glass.arff"), encoding="utf-8")
    return file, answer


@pytest.mark.chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_the_page_fits_any_screen_and_asks_for_nothing(browser, glass_page, tmp_path, width, scheme):
    """No request but for the file itself, no complaint, nothing beyond the edge, readable colours."""
    file, answer = glass_page
    show(browser, file, width, scheme)
    assert set(browser.requests()) == {file.as_uri()}
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert browser.run("document.querySelector('.lead').innerText") == sentence(answer)
    back, ink = (
        [int(c) for c in re.findall(r"\d+", browser.run(f"getComputedStyle(document.body).{name}"))[:3]]
        for name in ("backgroundColor", "color")
    )
    assert (sum(back) > sum(ink)) == (scheme == "light")
    assert abs(sum(back) - sum(ink)) > 400
    browser.screenshot(tmp_path / f"{width}-{scheme}.png", whole=True)
    assert (tmp_path / f"{width}-{scheme}.png").stat().st_size > 20_000


@pytest.mark.chromium
def test_bars_are_as_long_as_what_they_stand_for(browser, glass_page):
    """Measured on the screen: probabilities, log odds to either side, and the curve through kappas."""
    file, answer = glass_page
    show(browser, file, 1200)
    fills, track = sides(browser, ".bars:not(.odds) .fill"), sides(browser, ".bars:not(.odds) .track")[0]
    shown = np.sort(answer.proba[0])[::-1]
    np.testing.assert_allclose((fills[:, 1] - fills[:, 0]) / (track[1] - track[0]), shown, atol=0.003)
    odds = answer.log_odds()
    reasons = [odds.start, *odds.strongest(10)]
    fills, track = sides(browser, ".odds .fill"), sides(browser, ".odds .track")[0]
    middle, half = track.mean(), (track[1] - track[0]) / 2
    reach = max(abs(reason.log_odds) for reason in reasons)
    for (left, right), reason in zip(fills, reasons, strict=True):
        ends = sorted([middle, middle + half * reason.log_odds / reach])
        np.testing.assert_allclose([left, right], ends, atol=1.5)
    curve = answer.neighbourhood.curve
    drawn = browser.run(
        "[...document.querySelectorAll('.curve')].map(e => [e.textContent, e.getAttribute('points')])"
    )
    assert [label for label, _ in drawn[:2]] == [odds.for_class, odds.against_class]
    for label, points in drawn:
        heights = [1 - float(point.split(",")[1]) / 100 for point in points.split()]
        np.testing.assert_allclose(
            heights, curve.proba[:, 0, answer.classes.tolist().index(label)], atol=1e-4
        )


@pytest.mark.chromium
def test_training_rows_have_the_colour_of_their_class(browser, glass_page):
    """A row's bar has the colour of the bars that speak for its class, under the name of the class."""
    file, answer = glass_page
    show(browser, file, 1200)
    colour = "e => getComputedStyle(e).backgroundColor"
    classes = browser.run(
        "[...document.querySelectorAll('.bars:not(.odds) li')].map(e => "
        f"[e.querySelector('.label').innerText, ({colour})(e.querySelector('.fill'))])"
    )
    by_class = dict(map(tuple, classes))
    odds = answer.log_odds()
    for label, css in ((odds.for_class, "for"), (odds.against_class, "against")):
        assert by_class[label] == browser.run(f"({colour})(document.querySelector('.odds .fill.{css}'))")
    groups = browser.run(
        "[...document.querySelectorAll('.rows tbody')].map(g => [g.querySelector('th').innerText, "
        "[...g.querySelectorAll('.number')].map(e => +e.innerText), "
        f"[...g.querySelectorAll('.fill')].map({colour})])"
    )
    listed = {}
    for heading, numbers, colours in groups:
        label = re.fullmatch(r"(?:\d+|none) of class (.+) · all rows .*", heading)[1]
        assert set(colours) <= {by_class[label]}
        listed |= dict.fromkeys(numbers, label)
    assert listed == {row.number: row.label for row in answer.neighbourhood.rows[0]}


@pytest.mark.chromium
def test_what_came_from_data_is_never_run(browser, tmp_path):
    """Names, values and classes full of markup show as text; no script, no picture, no dialog comes of it."""
    names = [EVIL, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "a" * 300]
    X = pd.DataFrame([[EVIL, "'", "</style>", "b" * 300], ["x", '"', "&amp;", "y"]] * 3, columns=names)
    model = LCWNB(kappa=2).fit(X, [EVIL, "</title><b>bold</b>"] * 3)
    file = tmp_path / "evil.html"
    file.write_text(explanation_page(model.explain(X[:1], why_not=True), subtitle=EVIL), encoding="utf-8")
    for width in (1200, 400):
        show(browser, file, width)
        assert set(browser.requests()) == {file.as_uri()}
        assert browser.complaints() == []
        assert browser.run("document.querySelectorAll('script, img, b b, iframe').length") == 0
        assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert browser.run("document.querySelector('h1').innerText") == f"Why {EVIL}?"
        assert f"{EVIL} = {EVIL}" in browser.run("document.querySelector('.odds').innerText")
        assert "{{ 7 * 7 }}" in browser.run("document.body.innerText")
        browser.screenshot(tmp_path / f"{width}.png", whole=True)
    assert browser.run("document.title") == f"Why {EVIL}?"


# --- the page without a browser ------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page(name):
    """The sentence is on it; only lazy methods have rows, only LCWNB a curve."""
    X, y = load("labor")
    answer = METHODS[name]().fit(X, y).explain(X[:1])
    page = explanation_page(answer, title="A title of one's own")
    assert "A title of one&#39;s own" in page
    assert ("Training rows that weigh most" in page) == (name in ("LCWNB", "LWNB", "ICLNB"))
    assert ("<polyline" in page) == (name == "LCWNB")
    assert not re.search(r"<script|https?://|src=|url\(", page)


def test_the_page_says_what_would_make_another_class_win():
    """Every change, its probability and the nearest rows of the class are on it, and only if asked for."""
    X, y = load("breast-cancer")
    model = LCWNB(kappa=5).fit(X[10:], y[10:])
    answer = model.explain(X[4:5], why_not=True)
    page = " ".join(re.sub(r"<[^>]+>", "", explanation_page(answer)).split())
    (other,) = answer.why_not[0]
    for way in other.ways:
        (change,) = way.changes
        told = f"{change.name} = {change.after} instead of {change.before} → {way.proba:.3f}"
        assert told in page
    for row in other.rows:
        assert f"row {row.number} differs in" in page
    assert "Why not another class?" not in explanation_page(model.explain(X[4:5]))
    held = model.explain(X[4:5], why_not=True, fixed=list(X.columns))
    assert "No change was found that makes it win." in explanation_page(held)


def test_long_lists_are_cut_and_say_so():
    """Many classes, attributes and differences end in "other", which holds the rest of the sum."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 30)).astype(str), rng.integers(0, 40, 200)
    answer = LCWNB(kappa=3).fit(X, y).explain(X[:1])
    page = explanation_page(answer, top=4)
    assert re.search(r"3[67] other classes", page)
    assert "26 other attributes" in page
    assert re.search(r"and \d+ more", page)
    assert "34 less probable classes are left out" in page
    assert page.count('<td class="num number">') == 4


def test_a_model_of_one_class_has_a_page():
    """There is nothing to compare, and the page does not try."""
    page = explanation_page(NB().fit([["a"], ["b"]], ["yes", "yes"]).explain([["a"]]))
    assert "Predicted yes, the only class that the model knows." in page
    assert "What speaks for it" not in page


def test_a_page_needs_jinja2_and_a_row(monkeypatch):
    """Without jinja2 the message says how to get it; a row that was not explained is refused."""
    answer = NB().fit([["a"], ["b"]], ["yes", "no"]).explain([["a"]])
    with pytest.raises(ValueError, match="row must be from 0 to 0, the rows explained, got 3"):
        explanation_page(answer, 3)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="the page needs jinja2: install the extra 'explain'"):
        explanation_page(answer)


def test_a_curve_of_one_kappa_is_a_point_in_the_middle():
    """A grid of one kappa has no width to spread over."""
    X, y = load("labor")
    page = explanation_page(LCWNB(kappa=5).fit(X, y).explain(X[:1], kappas=[5]))
    assert re.search(r'points="50\.00,[\d.]+"', page)


# --- the command ---------------------------------------------------------------------------------------


def run(*args: object) -> Result:
    return CliRunner(env=PLAIN).invoke(app, ["explain", *map(str, args)], prog_name="localbayes")


@pytest.fixture(scope="module")
def vote_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = load("vote")
    file = tmp_path_factory.mktemp("model") / "vote.skops"
    save_model(LCWNB(kappa=5).fit(X, y), file)
    return file


def test_the_command_writes_the_page(vote_model, tmp_path):
    """One file, the page of that row; it is not replaced unless asked."""
    out = tmp_path / "out.html"
    args = (vote_model, embedded_path("vote"), "--row", 3, "--html", out, "--top", 5)
    result = run(*args)
    X, y = load("vote")
    answer = LCWNB(kappa=5).fit(X, y).explain(X[3:4], top=5)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{out}: {sentence(answer)}\n"
    assert out.read_text(encoding="utf-8") == explanation_page(answer, top=5, subtitle="row 3 of vote.arff")
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    again = run(*args)
    assert again.exit_code == 2
    assert again.stderr == f"error: {out} exists; choose another name, or force (--force) to replace it\n"
    assert run(*args, "--force").exit_code == 0


def test_the_command_prints_reasons_and_rows(vote_model):
    """In a terminal: the sentence, a bar per attribute with its factor, the sum, the heaviest rows."""
    result = run(vote_model, embedded_path("vote"), "--row", 3, "--top", 4)
    assert result.exit_code == 0, result.output
    X, y = load("vote")
    answer = LCWNB(kappa=5).fit(X, y).explain(X[3:4], top=4)
    text = " ".join(result.stdout.split())
    assert sentence(answer) in text
    assert "democrat against republican" in text
    assert "12 other attributes" in text
    assert text.count("of 16") == 4
    strongest = answer.log_odds().strongest(4)[0]
    line = next(line for line in result.stdout.splitlines() if str(strongest) in line and "█" in line)
    assert ("│█" in line) == (strongest.log_odds > 0)


def test_the_command_says_what_would_make_another_class_win(vote_model):
    """A class by name or all; columns that are held stay out of it."""
    X, y = load("vote")
    model = LCWNB(kappa=5).fit(X, y)
    answer = model.explain(X[3:4], why_not=True)
    (other,) = answer.why_not[0]
    for word in ("republican", "all"):
        result = run(vote_model, embedded_path("vote"), "--row", 3, "--why-not", word)
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        assert "Why not republican (" in text
        for way in other.ways:
            for change in way.changes:
                assert f"{change.name} = {change.after} {change.before}" in text
        assert "Nearest training rows of republican:" in text
    first = other.ways[0].changes[0].name
    result = run(vote_model, embedded_path("vote"), "--row", 3, "--why-not", "all", "--fix", first)
    after = result.stdout.partition("Why not")[2].partition("Nearest")[0]
    assert "would be predicted with" in after
    assert first not in after


def test_the_command_explains_eager_models_and_single_classes(tmp_path):
    """Without neighbours there are no rows to list, and with one class nothing to compare."""
    X, y = load("vote")
    save_model(AODE().fit(X, y), tmp_path / "aode.skops")
    result = run(tmp_path / "aode.skops", embedded_path("vote"))
    assert result.exit_code == 0, result.output
    assert "training row" not in result.stdout
    save_model(NB().fit(X, ["all"] * len(X)), tmp_path / "one.skops")
    result = run(tmp_path / "one.skops", embedded_path("vote"))
    assert result.stdout == "Predicted all, the only class that the model knows.\n"


def test_markup_and_control_characters_are_printed_as_text(tmp_path):
    """A value that looks like rich's markup, or rings the bell, is printed and not obeyed."""
    X = pd.DataFrame({"[bold]a": ["[red]x[/red]", "y\x1b[31m\x07"] * 2, "b": ["u", "v", "u", "w"]})
    save_model(LCWNB(kappa=5).fit(X, ["p", "q"] * 2), tmp_path / "m.skops")
    X.to_csv(tmp_path / "t.csv", index=False)
    for row in (0, 1):
        result = run(tmp_path / "m.skops", tmp_path / "t.csv", "--row", row)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.stdout
        assert "\x07" not in result.stdout
        assert "[bold]a = " in result.stdout
    assert "[red]x[/red]" in run(tmp_path / "m.skops", tmp_path / "t.csv").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--row", 435), "--row must be from 0 to 434, the rows of {data}, got 435"),
        (("--row", -1), "--row must be from 0 to 434, the rows of {data}, got -1"),
        (("--row", "x"), "'--row'"),
        (("--top", 0), "'--top'"),
        (("--why-not", "monarchist"), "--why-not: no class is called 'monarchist'"),
        (("--why-not", "republican"), "--why-not republican: that is the predicted class; name another one"),
        (
            ("--why-not", "all", "--fix", "crimes"),
            "--fix: no feature is called 'crimes'; did you mean 'crime'?",
        ),
        (("--fix", "crime"), "--fix holds a column in --why-not; give --why-not CLASS or --why-not all too"),
        (("--html", "/"), "/ is a folder; expected the name of a file"),
        (("--html", "no/such/out.html"), "there is no folder"),
    ],
)
def test_bad_input_is_one_line(vote_model, options, message):
    """What came and what was expected, in one line, with exit code 2 and nothing printed."""
    result = run(vote_model, embedded_path("vote"), *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert message.format(data=embedded_path("vote")) in result.stderr


def test_models_of_codes_are_for_python(tmp_path):
    """A model fitted on codes cannot read a table, and the command says so."""
    save_model(NB().fit(Coded([[0], [1]], [2]), ["a", "b"]), tmp_path / "m.skops")
    result = run(tmp_path / "m.skops", embedded_path("vote"))
    assert result.exit_code == 2
    assert "was fitted on codes" in result.stderr
