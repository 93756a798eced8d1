"""Checks what a release says of itself: one version everywhere, and a line in CHANGELOG.md for every change.

    python tools/check_release.py              # part of `make lint`
    python tools/check_release.py --publish    # also what an upload needs and this tree may lack

A change of src/ since BASE (an environment variable; by default where the branch left main, else the
commit before) needs a change of CHANGELOG.md, or a commit message with the line "Changelog: none".
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What an upload says where to find.
ADDRESSES = ("Source", "Documentation")


def text_of(name: str) -> str:
    """A file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def first(pattern: str, text: str) -> str | None:
    """What the group of a pattern matches first."""
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else None


def version_problems() -> list[str]:
    """Where another version stands than in src/localbayes/__init__.py, the one place for it."""
    version = first(r'^__version__ = "([^"]+)"', text_of("src/localbayes/__init__.py"))
    said = {
        "CHANGELOG.md": first(r"^## \[([^\]]+)\]", text_of("CHANGELOG.md")),
        "CITATION.cff": first(r"^version: (\S+)", text_of("CITATION.cff")),
    }
    return [
        f"{name} has version {other}, but src/localbayes/__init__.py has {version}: make them equal"
        for name, other in said.items()
        if other != version
    ]


def git(*words: str) -> str | None:
    """What git says; None where this is no repository or it has no such commit."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def base() -> str | None:
    """The commit that changes are counted from."""
    if os.environ.get("BASE"):
        return os.environ["BASE"]
    for main in ("origin/main", "main"):
        left = git("merge-base", main, "HEAD")
        if left and left != git("rev-parse", "HEAD"):
            return left
    return git("rev-parse", "HEAD~1")


def changelog_problems() -> list[str]:
    """Whether the sources changed and CHANGELOG.md did not."""
    try:
        since = base()
    except FileNotFoundError:  # no git
        since = None
    if since is None:
        print("no earlier commit to compare with: CHANGELOG.md was not compared")
        return []
    changed = (git("diff", "--name-only", since) or "").splitlines()
    messages = git("log", "--format=%B", f"{since}..HEAD") or ""
    if not any(name.startswith("src/") for name in changed) or "CHANGELOG.md" in changed:
        return []
    if re.search(r"^Changelog: none$", messages, re.MULTILINE):
        return []
    return [
        f"src/ changed since {since[:10]} and CHANGELOG.md did not: add a line, or write "
        '"Changelog: none" into the commit message if no user can notice the change'
    ]


def publish_problems() -> list[str]:
    """What is left open until the project has a public address."""
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    problems = [
        f"pyproject.toml has no {name} in [project.urls]: write the public address"
        for name in ADDRESSES
        if name not in project.get("urls", {})
    ]
    if "unreleased" in text_of("CHANGELOG.md"):
        problems.append("CHANGELOG.md says unreleased: write the date")
    if not first(r"^date-released: (\S+)", text_of("CITATION.cff")):
        problems.append("CITATION.cff has no date-released: write the date")
    return problems


def main() -> int:
    """Print what is wrong; 0 if nothing is."""
    problems = [*version_problems(), *changelog_problems()]
    if "--publish" in sys.argv[1:]:
        problems += publish_problems()
    print("\n".join(problems) or "versions agree, and the changelog goes with the sources")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
