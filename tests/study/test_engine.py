"""The engine of a study knows no particular study: what knows the paper is in study/paper."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

import localbayes.study
from localbayes.datasets import PAPER_SETS
from localbayes.study import FoldRow, Store, make_plan, run_study, write_report
from localbayes.study.accuracy_table import SetInfo
from localbayes.study.benchmark import Benchmark, use

FOLDER = Path(localbayes.study.__file__).parent
# The package's front door puts the paper's benchmark into use.
FILES = [
    path
    for path in sorted(FOLDER.rglob("*"))
    if path.suffix in (".py", ".j2", ".css", ".js")
    and not path.is_relative_to(FOLDER / "paper")
    and path != FOLDER / "__init__.py"
]
EXAMPLES = re.compile(r'Examples\n\s+-{8}\n.*?(?=""")', re.DOTALL)
WORDS = ["paper", "kappas", "LCWNB5", "LCWNB10", "LCWNB20", "LWNB", "ICLNB", *PAPER_SETS]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_of_the_engine_mentions_the_paper(path):
    """Neither the paper nor its data sets and columns; examples in docstrings may load a data set."""
    text = EXAMPLES.sub("", path.read_text(encoding="utf-8"))
    found = [
        word for word in WORDS if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE)
    ]
    # These columns of localbayes name the parameter that they choose.
    assert [word for word in found if word != "kappas" or path.name != "builtin_columns.py"] == []


def test_no_file_name_occurs_twice():
    """A file name of this package occurs once in the whole tree."""
    others = [p.name for p in FOLDER.parent.rglob("*.py") if not p.is_relative_to(FOLDER)]
    names = [p.name for p in FOLDER.rglob("*.py") if p.name != "__init__.py"]
    assert len(set(names)) == len(names)
    # The command of that name is its only other home.
    assert set(names) & set(others) == set()


def test_a_study_without_any_benchmark(tmp_path):
    """With an empty benchmark the engine runs and reports files and classifiers of one's own."""
    (tmp_path / "mine.csv").write_text("a,b\n" + "1,x\n2,y\n" * 10)
    before = use(Benchmark())
    try:
        plan = make_plan([str(tmp_path / "mine.csv")], ["NB", "AODE"], runs=1, folds=3)
        assert run_study(plan, tmp_path / "s.db").failed == 0
        files = write_report(tmp_path / "s.db", tmp_path / "out")
        svg = [file.name for file in files if file.suffix == ".svg"]
        assert svg == ["figure1.svg", "critical-difference.svg"]
        text = (tmp_path / "out" / "index.html").read_text()
        assert "published" not in re.sub("<style>.*?</style>|<script>.*", "", text, flags=re.DOTALL)
    finally:
        use(before)


def test_stores_of_version_0_1_are_read(tmp_path):
    """A store whose tables are those of version 0.1.0 is read and written to."""
    old = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE sets (dataset TEXT PRIMARY KEY, n INTEGER NOT NULL, m INTEGER NOT NULL, r INTEGER NOT NULL,
        paper INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE methods (method TEXT PRIMARY KEY, position INTEGER NOT NULL, about TEXT NOT NULL)
        WITHOUT ROWID;
    CREATE TABLE folds (
        dataset TEXT NOT NULL, method TEXT NOT NULL, run INTEGER NOT NULL, fold INTEGER NOT NULL,
        tested INTEGER NOT NULL, correct INTEGER, correct_ties_well INTEGER, correct_ties_badly INTEGER,
        log_loss REAL, bins TEXT, fit_seconds REAL, predict_seconds REAL, error TEXT, version TEXT NOT NULL,
        PRIMARY KEY (dataset, method, run, fold)) WITHOUT ROWID;
    CREATE TABLE claims (
        dataset TEXT NOT NULL, task TEXT NOT NULL, run INTEGER NOT NULL, owner TEXT NOT NULL,
        heartbeat REAL NOT NULL, PRIMARY KEY (dataset, task, run)) WITHOUT ROWID;
    CREATE TABLE invocations (
        id INTEGER PRIMARY KEY, started REAL NOT NULL, seconds REAL, folds INTEGER, about TEXT NOT NULL);
    INSERT INTO meta VALUES ('schema', '1'), ('n_folds', '10');
    INSERT INTO sets VALUES ('iris', 150, 5, 3, 1, 'x'), ('mine', 9, 2, 2, 0, 'y');
    INSERT INTO folds VALUES ('iris', 'NB', 1, 0, 15, 14, 14, 14, 0.5, NULL, 0.1, 0.1, NULL, '0.1.0');
    """
    database = sqlite3.connect(tmp_path / "s.db")
    database.executescript(old)
    database.close()
    row = FoldRow("iris", "NB", 1, 0, 15, 14, 14, 14, 0.5, None, 0.1, 0.1, None, "0.1.0")
    more = FoldRow("iris", "NB", 1, 1, 15, 13, measures='{"x": 1.0}')
    with Store(tmp_path / "s.db") as store:
        assert store.sets() == [SetInfo("iris", 150, 5, 3), SetInfo("mine", 9, 2, 2, published=False)]
        assert list(store.rows()) == [row]
        store.add([more])
        assert list(store.rows()) == [row, more]
