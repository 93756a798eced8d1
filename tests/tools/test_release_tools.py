"""What the tools of a release let pass and what they refuse."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def site(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    return folder


def test_a_site_whose_links_lead_somewhere_passes(tmp_path):
    """Links to pages, to places on pages and to the web are fine; so is a script of the site itself."""
    (tmp_path / "own.js").write_text("")
    whole = site(
        tmp_path,
        index='<a href="other.html#here">x</a><a href="https://example.org">y</a><script src="own.js">',
        other='<h1 id="here">x</h1><a href="#here">up</a>',
    )
    assert tool("check_site").problems_of(whole) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads nowhere"),
        ('<a href="index.html#gone">x</a>', "index.html#gone names no place"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css"),
        ('<img src="https://example.org/x.png">', "loads https://example.org/x.png"),
    ],
)
def test_a_dead_link_and_a_load_from_the_network_are_named(tmp_path, body, problem):
    """Each is a line with the page and the address."""
    (found,) = tool("check_site").problems_of(site(tmp_path, index=body))
    assert found.startswith("index.html")
    assert problem in found


def test_a_style_sheet_may_load_fonts_of_the_site_only(tmp_path):
    """A font from elsewhere is found in the style sheet itself."""
    (tmp_path / "a.css").write_text(
        "@font-face {src: url(fonts/a.woff2), url('https://example.org/b.woff2')}"
    )
    assert tool("check_site").problems_of(site(tmp_path, index="")) == [
        "a.css loads https://example.org/b.woff2"
    ]


def test_an_empty_site_is_no_success(tmp_path):
    """A build that wrote nothing is told."""
    assert tool("check_site").problems_of(tmp_path) == [f"{tmp_path} has no pages"]


def test_every_dependency_of_users_has_an_oldest_version():
    """All that pyproject.toml asks for is there once, exactly, and without the tools of developers."""
    lines = tool("lowest_versions").constraints().split()
    names = [line.split("==")[0] for line in lines]
    assert len(names) == len(set(names))
    assert {"numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "dask", "matplotlib", "polars"} <= set(
        names
    )
    assert not {"pytest", "ruff", "localbayes"} & set(names)


def test_a_dependency_without_an_oldest_version_is_refused():
    """Nobody would test it."""
    project = {"name": "me", "dependencies": ["numpy"], "optional-dependencies": {}}
    with pytest.raises(SystemExit, match=r"'numpy' in pyproject\.toml: expected name>=version"):
        tool("lowest_versions").lowest(project)


def interpreter(path: Path, status: int) -> str:
    """A program in the place of an interpreter: it can make environments if its status is 0."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


def test_the_newest_interpreter_is_one_that_runs(tmp_path, monkeypatch):
    """A shim that fails is passed over; the versions of pyenv count, and without any the present one does."""
    monkeypatch.syspath_prepend(TOOLS)
    try_wheel = tool("try_wheel")
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert try_wheel.newest_python() == sys.executable
    on_path = interpreter(tmp_path / "shims/python3.12", 0)
    assert try_wheel.newest_python() == on_path
    interpreter(tmp_path / "shims/python3.14", 1)
    kept = interpreter(tmp_path / "pyenv/versions/3.13.1/bin/python3.13", 0)
    assert try_wheel.newest_python() == kept


def test_an_upload_needs_addresses_and_dates(tmp_path, monkeypatch):
    """The address of the paper alone is not enough; the sources and the site need theirs."""
    check = tool("check_release")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("## [1.0] - unreleased")
    (tmp_path / "CITATION.cff").write_text("version: 1.0")
    (tmp_path / "pyproject.toml").write_text('[project.urls]\nPaper = "https://example.org"')
    assert [problem.split(":")[0] for problem in check.publish_problems()] == [
        "pyproject.toml has no Source in [project.urls]",
        "pyproject.toml has no Documentation in [project.urls]",
        "CHANGELOG.md says unreleased",
        "CITATION.cff has no date-released",
    ]
    (tmp_path / "CHANGELOG.md").write_text("## [1.0] - 2030-01-01")
    (tmp_path / "CITATION.cff").write_text("version: 1.0\ndate-released: 2030-01-01")
    (tmp_path / "pyproject.toml").write_text(
        '[project.urls]\nSource = "https://a"\nDocumentation = "https://b"'
    )
    assert check.publish_problems() == []


def test_the_version_is_the_same_everywhere():
    """The package, the changelog and the citation name one version."""
    assert tool("check_release").version_problems() == []


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit, and the check of the changelog that looks at it."""
    check = tool("check_release")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    for name in ("BASE", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)

    def commit(message: str, *names: str) -> None:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{path.read_text() if path.exists() else ''}{message}\n")
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
        subprocess.run(["git", *who, "commit", "-qm", message], cwd=tmp_path, check=True)

    subprocess.run(["git", "init", "-q", "-b", "work"], cwd=tmp_path, check=True)
    commit("first", "src/a.py", "CHANGELOG.md")
    return check, commit


def test_a_change_of_the_sources_needs_a_line_in_the_changelog(repository):
    """A commit to src/ alone is refused; with the changelog, or without any change of src/, it passes."""
    check, commit = repository
    commit("second", "src/a.py")
    (problem,) = check.changelog_problems()
    assert "CHANGELOG.md did not" in problem
    commit("third", "src/a.py", "CHANGELOG.md")
    assert check.changelog_problems() == []
    commit("fourth", "README.md")
    assert check.changelog_problems() == []


def test_a_change_that_no_user_notices_may_say_so(repository):
    """A line in the commit message takes the place of the line in the changelog."""
    check, commit = repository
    commit("tidy\n\nChangelog: none", "src/a.py")
    assert check.changelog_problems() == []
