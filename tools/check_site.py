"""Checks a built site without a network: links lead somewhere, and no page loads anything from elsewhere.

python tools/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, by tag and attribute. A link that is clicked may lead anywhere.
LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("iframe", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("video", "src"),
    ("object", "data"),
    ("embed", "src"),
    ("use", "href"),
}
# Relations of <link> that name an address and load nothing.
ONLY_NAMED = {"canonical", "next", "prev", "index", "search", "author", "copyright", "license"}


class Page(HTMLParser):
    """Names, links and loads of a page."""

    def __init__(self, path: Path) -> None:
        """Read the page."""
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links to or loads."""
        values = {name: value or "" for name, value in attrs}
        self.names.update(value for name, value in values.items() if name in ("id", "name"))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        self.loads += [value for name, value in values.items() if (tag, name) in LOADED]
        if tag == "link" and not set(values.get("rel", "").split()) & ONLY_NAMED:
            self.loads.append(values.get("href", ""))
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", values.get("style", ""))


def is_remote(address: str) -> bool:
    """Whether an address leads to another machine."""
    return urlsplit(address).netloc != ""


def problems_of(site: Path) -> list[str]:
    """A line for every link that leads nowhere and everything that would come from a network."""
    pages = {
        path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    problems = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        problems += [f"{where} loads {address}" for address in page.loads if is_remote(address)]
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("", "#"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                problems.append(f"{where}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                problems.append(f"{where}: {link} names no place on its page")
    for sheet in sorted(site.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)
        found = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text)
        problems += [f"{sheet.relative_to(site)} loads {a or b}" for a, b in found if is_remote(a or b)]
    return [*problems, *([] if pages else [f"{site} has no pages"])]


def main() -> int:
    """Print what is wrong with a site; 0 if nothing is."""
    site = Path(sys.argv[1])
    problems = problems_of(site)
    n_pages = len(list(site.rglob("*.html")))
    print(
        "\n".join(problems)
        or f"{n_pages} pages: all links into the site lead somewhere, nothing is loaded from elsewhere"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
