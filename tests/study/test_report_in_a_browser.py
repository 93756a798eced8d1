"""The page of a report in a real browser: it asks for nothing, sorts, darkens and fits a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from devtools import Browser, need_chromium
from localbayes.study import FoldRow, Store, paper_table, write_report
from study_support import paper_store

pytestmark = pytest.mark.chromium

SCREENSHOTS = Path(
    os.environ.get("LOCALBAYES_SCREENSHOTS", Path(__file__).resolve().parents[2] / "build" / "screenshots")
)
EVIL = "<script>document.title = 'taken over'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    """Address of a report with the paper's figures, a column more and a data set with a dangerous name."""
    folder = tmp_path_factory.mktemp("report")
    path = paper_store(folder / "s.db", rename={"zoo": EVIL})
    with Store(path) as store:
        store.add_methods([("Forest", "one column more")])
        store.add([FoldRow("iris", "Forest", 1, fold, 10_000, 9000, 9100, 8900) for fold in range(2)])
    write_report(path, folder / "out")
    return (folder / "out" / "index.html").as_uri()


@pytest.fixture
def browser(tmp_path, page) -> Iterator[Browser]:
    need_chromium()
    with Browser(tmp_path / "profile") as opened:
        opened.resize(1400, 1000)
        opened.prefer("light")
        opened.open(page)
        yield opened


def column(browser: Browser, place: int) -> list[str]:
    """Names, constants or means in a column of the big table, from top to bottom."""
    rows = f"[...document.querySelectorAll('#big tbody tr')].map(row => row.cells[{place}])"
    return browser.run(f"{rows}.map(cell => (cell.querySelector('.mean') ?? cell).innerText)")


def click(browser: Browser, place: int) -> str:
    """Click the head of a column and return how it is sorted then."""
    head = f"document.querySelectorAll('#big thead th')[{place}]"
    browser.run(f"{head}.querySelector('button').click()")
    return browser.run(f"{head}.getAttribute('aria-sort')")


def brightness(browser: Browser) -> float:
    """Brightness of the page's background, 0 to 255."""
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    return sum(float(part) for part in colour[4:-1].split(",")) / 3


def test_nothing_is_requested(browser, page):
    """Opening the page asks for the page itself and nothing else, and raises no complaint."""
    click(browser, 5)
    browser.run("document.getElementById('theme').click()")
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page]
    assert browser.complaints() == []


def test_a_page_that_asks_would_be_seen(browser):
    """The check sees a request when there is one, and the page's own policy forbids it."""
    browser.run("(() => { new Image().src = 'http://127.0.0.1:9/x.png'; })()")
    browser.run("new Promise(done => setTimeout(done, 0))")
    assert any("Content Security Policy" in found for found in browser.complaints())


def test_names_are_text(browser):
    """A data set called <script> is shown as that, and has not run."""
    assert "taken over" not in browser.run("document.title")
    names = browser.run("[...document.querySelectorAll('#big tbody th')].map(h => h.innerText)")
    assert EVIL in names


def test_sorting(browser):
    """A click sorts by a column with the best on top, a second the other way, a third as it was."""
    before = column(browser, 0)
    paper = paper_table()
    assert len(before) == 36
    place = 4 + paper.columns.index("NB")
    means = sorted((f"{paper.cells[s.name, 'NB'].mean:.2f}" for s in paper.sets), key=float)
    assert click(browser, place) == "descending"
    assert column(browser, place) == means[::-1]
    assert click(browser, place) == "ascending"
    assert column(browser, place) == means
    assert click(browser, place) == "none"
    assert column(browser, 0) == before
    assert click(browser, 1) == "ascending"
    assert [int(n) for n in column(browser, 1)] == sorted(s.n for s in paper.sets)
    assert click(browser, 0) == "ascending"
    assert column(browser, 0) == sorted(before, key=str.lower)


def test_empty_cells_sort_last(browser):
    """Data sets without a result in a column stand below those that have one, in both directions."""
    place = 4 + len(paper_table().columns)
    for _ in range(2):
        click(browser, place)
        found = column(browser, place)
        assert found[0] == "90.00"
        assert set(found[1:]) == {"–"}


def test_dark_and_light(browser):
    """The button turns the page dark and light; without it the system's wish is followed."""
    assert brightness(browser) > 200
    browser.run("document.getElementById('theme').click()")
    assert brightness(browser) < 60
    assert browser.run("document.getElementById('theme').getAttribute('aria-pressed')") == "true"
    browser.run("document.getElementById('theme').click()")
    assert brightness(browser) > 200


def test_dark_if_the_system_is(browser, page):
    """A system that prefers dark colours gets a dark page, and text that can be read on it."""
    browser.prefer("dark")
    browser.open(page)
    assert brightness(browser) < 60
    colour = browser.run("getComputedStyle(document.body).color")
    assert sum(float(part) for part in colour[4:-1].split(",")) / 3 > 180


def test_keyboard(browser):
    """Tab reaches a column's button, Enter sorts; arrows move over the cells and show the exact test."""
    browser.run("document.querySelector('#big thead button').focus()")
    browser.press("Tab")
    browser.press("Enter")
    assert (
        browser.run("document.querySelectorAll('#big thead th')[1].getAttribute('aria-sort')") == "ascending"
    )
    browser.run("document.querySelector('#big tbody td[tabindex=\"0\"]').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
        browser.press(key)
    tip = browser.run("document.getElementById('tip').innerText")
    assert tip.startswith(f"LCWNB10 on {EVIL}: 94.570")
    assert "against LCWNB5" in tip
    assert "p = " in tip
    assert browser.run("document.getElementById('tip').hidden") is False
    browser.press("Escape")
    assert browser.run("document.getElementById('tip').hidden") is True


def test_the_papers_figures_on_request(browser):
    """A box shows the printed figures in every cell, another hides the deviations."""
    seen = "getComputedStyle(document.querySelector('.published-figure')).display"
    assert browser.run(seen) == "none"
    browser.run("document.getElementById('show-published').click()")
    assert browser.run(seen) == "block"
    browser.run("document.getElementById('show-sd').click()")
    assert browser.run("getComputedStyle(document.querySelector('.sd')).display") == "none"


def test_the_head_stays_in_sight(browser):
    """When the table is scrolled, its head and the names of the data sets stay where they are."""
    edges = """(() => {
        const box = document.querySelector('#table > .scroll');
        const head = document.querySelector('#big thead th');
        const name = document.querySelector('#big tbody th');
        box.scrollTop = 300; box.scrollLeft = 200;
        const at = e => e.getBoundingClientRect();
        return [at(head).top - at(box).top, at(name).left - at(box).left];
    })()"""
    browser.resize(900, 700)
    assert all(abs(gap) < 3 for gap in browser.run(edges))


@pytest.mark.parametrize(("width", "height"), [(1400, 1000), (400, 800)])
def test_it_fits_the_window(browser, page, width, height):
    """Only boxes meant for it scroll sideways, on a desk or a phone; pictures of both are kept."""
    for scheme in ("light", "dark"):
        browser.resize(width, height, mobile=width < 600)
        browser.prefer(scheme)
        browser.open(page)
        assert browser.run("document.documentElement.scrollWidth") <= width
        browser.screenshot(SCREENSHOTS / f"report-{width}-{scheme}.png")
        full = browser.run("document.documentElement.scrollHeight")
        browser.resize(width, min(full, 16000), mobile=width < 600)
        browser.screenshot(SCREENSHOTS / f"report-{width}-{scheme}-whole.png")
        assert (SCREENSHOTS / f"report-{width}-{scheme}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("width", [1400, 390])
def test_no_figure_is_cut(browser, page, width):
    """Every figure lies within the window as a whole; on a desk some stand side by side."""
    browser.resize(width, 900, mobile=width < 600)
    browser.open(page)
    boxes = browser.run(
        "[...document.querySelectorAll('figure svg')].filter(s => s.getClientRects().length)"
        ".map(s => s.getBoundingClientRect()).map(box => [box.left, box.right, box.top, box.width])"
    )
    assert boxes
    assert all(left >= 0 and right <= width and wide > 100 for left, right, _, wide in boxes)
    tops = [top for _, _, top, _ in boxes]
    assert len(set(tops)) < len(tops), "some figures share a line"


@pytest.mark.parametrize("width", [1400, 390])
def test_ranks_can_be_read(browser, page, width):
    """No word of the diagrams of ranks is smaller than seven pixels, on a desk or a phone."""
    browser.resize(width, 900, mobile=width < 600)
    browser.open(page)
    heights = browser.run(
        "[...document.querySelectorAll('#ranks figure svg text')].filter(t => t.getClientRects().length)"
        ".map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 7


def test_words_of_figures_can_be_read_on_a_phone(browser, page):
    """No word is below nine pixels; figures are made smaller only a little."""
    browser.resize(390, 900, mobile=True)
    browser.open(page)
    sizes = browser.run(
        "[...document.querySelectorAll('figure svg')].filter(s => s.getClientRects().length).flatMap(s =>"
        " [...s.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize)"
        " * s.getBoundingClientRect().width / s.viewBox.baseVal.width))"
    )
    assert len(sizes) > 20
    assert min(sizes) >= 9
