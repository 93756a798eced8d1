"""The commands that README leads to run as they stand, one after the other, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from command_line import rows, run
from localbayes.datasets import load

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    """Words of every command on the page "On the command line", without comments."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [
        shlex.split(line, comments=True) for block in blocks for line in block.splitlines() if line.strip()
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run all commands; return the folder with what they wrote."""
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for program, *words in commands():
            assert program == "localbayes"
            result = run(*words)
            assert result.exit_code == 0, f"{words}: {result.output}"
    return folder


def test_all_commands_succeed_and_write_what_they_name(folder):
    """A file that follows -o, --html, --plot or --store is there and is not empty."""
    named = [
        words[at + 1]
        for words in commands()
        for at, word in enumerate(words)
        if word in ("-o", "--output", "--html", "--plot", "--store")
    ]
    assert len(named) >= 5
    for name in named:
        assert (folder / name).stat().st_size > 0, name
    assert (folder / "study-report" / "index.html").exists()


def test_the_answers_are_probabilities_for_the_rows_that_were_exported(folder):
    """One answer for every row of the set; its probabilities sum to one and the largest is predicted."""
    X, y = load("vote")
    answers = rows((folder / "answers.csv").read_text(encoding="utf-8"))
    assert len(answers) == len(X)
    for answer in answers:
        proba = {name: float(answer[f"proba_{name}"]) for name in y.cat.categories}
        assert sum(proba.values()) == pytest.approx(1, abs=1e-9)
        assert answer["prediction"] == max(proba, key=proba.__getitem__)
    right = sum(answer["prediction"] == truth for answer, truth in zip(answers, y, strict=True))
    assert right > 0.9 * len(y)


def test_the_first_command_makes_the_table():
    """Who has nothing but the package can start at the first line."""
    assert commands()[0] == ["localbayes", "data", "export", "vote", "-o", "votes.csv"]


def test_links_of_readme_lead_somewhere():
    """Every link that is no address names a file of the project."""
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert len(links) > 10
    assert "docs/command-line.md" in links
    assert [link for link in links if not (ROOT / link.split("#")[0]).exists()] == []
