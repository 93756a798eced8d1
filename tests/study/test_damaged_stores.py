"""Damaged stores and stores that cannot be written: one clear line, no endless work, nothing lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localbayes.cli import app
from localbayes.study import FoldRow, Store, claims, make_plan, read_table, run_study, write_report
from localbayes.study.owner import this_process
from study_support import answers, end, hear, paper_store, start


def good_store(path: Path) -> Path:
    run_study(make_plan(["labor"], ["LCWNB5", "NB"], runs=2, folds=3), path)
    return path


def change(path: Path, statement: str) -> None:
    """Do something to a store that localbayes would not."""
    database = sqlite3.connect(path)
    with database:
        database.execute(statement)
    database.close()


def test_a_store_that_forgets_what_is_written(tmp_path):
    """Work that is missing however often it is done ends with one line, not never."""
    path = tmp_path / "s.db"
    Store(path).close()
    change(path, "CREATE TRIGGER t AFTER INSERT ON folds BEGIN DELETE FROM folds WHERE fold = 1; END")
    with pytest.raises(ValueError, match=r"s\.db is damaged, 1 results are missing, however often"):
        run_study(make_plan(["labor"], ["NB"], runs=1, folds=3), path)
    words = ["--sets", "labor", "--methods", "NB", "--runs", "1", "--folds", "3", "--store", str(path)]
    result = CliRunner().invoke(app, ["study", "run", *words, "--jobs", "2"])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("fold", ["131", "-1", "'x'"])
def test_rows_of_folds_that_no_run_has(tmp_path, fold):
    """A row whose fold has changed hides no missing fold, and is not worked on for ever."""
    path = good_store(tmp_path / "s.db")
    change(path, f"UPDATE folds SET fold = {fold} WHERE method = 'NB' AND run = 1 AND fold = 1")
    outcome = run_study(make_plan(["labor"], ["LCWNB5", "NB"], runs=2, folds=3), path)
    assert outcome.rows == 1
    assert ("labor", "NB", 1, 1) in answers_by_hand(path)
    with Store(path) as store, pytest.raises(ValueError, match=r"the store .*s\.db is damaged, NB on labor"):
        read_table(store)


def answers_by_hand(path: Path) -> set[tuple[object, ...]]:
    database = sqlite3.connect(path)
    try:
        return set(database.execute("SELECT dataset, method, run, fold FROM folds"))
    finally:
        database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE folds SET log_loss = 'x'",
        "UPDATE folds SET log_loss = 9e999",
        "UPDATE folds SET log_loss = x'ff'",
        "UPDATE folds SET fit_seconds = 'long'",
        "UPDATE folds SET bins = x'ff'",
        "UPDATE folds SET bins = '{}'",
        "UPDATE folds SET correct = 1.5",
        "UPDATE folds SET error = x'ff'",
        "UPDATE folds SET measures = '['",
        "UPDATE folds SET measures = '[1]'",
        'UPDATE folds SET measures = \'{"a": "b"}\'',
        "UPDATE folds SET dataset = x'ff' WHERE fold = 0 AND run = 1",
        "UPDATE folds SET method = CAST(x'ff' AS TEXT) WHERE fold = 0 AND run = 1 AND method = 'NB'",
        "UPDATE folds SET version = x'00'",
        "UPDATE folds SET run = 'x' WHERE run = 1",
        "UPDATE sets SET n = 'many'",
        "UPDATE sets SET dataset = x'00'",
        "UPDATE methods SET about = CAST(x'fe' AS TEXT)",
        "UPDATE methods SET about = x'fe'",
        "UPDATE meta SET value = x'33' WHERE key = 'n_folds'",
        "UPDATE meta SET value = '²' WHERE key = 'n_folds'",
        "UPDATE invocations SET about = '[1]'",
        "UPDATE invocations SET about = x'7b7d'",
        "UPDATE invocations SET seconds = 'long'",
        "UPDATE invocations SET started = 'then'",
        "UPDATE invocations SET started = 1e300",
    ],
)
def test_damaged_values_are_called_so(tmp_path, statement):
    """A value that no run writes is refused with the store's name, wherever it is; nothing else is raised."""
    path = good_store(tmp_path / "s.db")
    change(path, statement)
    with pytest.raises(ValueError, match=r"the store .*s\.db is damaged, "):
        write_report(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    result = CliRunner().invoke(
        app, ["study", "report", "--store", str(path), "--out", str(tmp_path / "out")]
    )
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE claims SET owner = '{'",
        "UPDATE claims SET owner = '[]'",
        "UPDATE claims SET owner = '{\"host\": 1}'",
        "UPDATE claims SET owner = x'ff'",
        "UPDATE claims SET heartbeat = 'x'",
        "UPDATE claims SET heartbeat = 9e999",
        "UPDATE claims SET heartbeat = heartbeat + 1e9",
    ],
)
def test_claims_that_cannot_be_are_nobodys(tmp_path, statement, monkeypatch):
    """A damaged claim, or one of another machine from the far future, is not waited for."""
    path = tmp_path / "s.db"
    away = replace(this_process(), host="elsewhere")
    with Store(path) as store, monkeypatch.context() as other:
        other.setattr(claims, "this_process", lambda: away)
        assert store.claim("labor", "NB", 1)
    change(path, statement)
    assert run_study(make_plan(["labor"], ["NB"], runs=1, folds=3), path).rows == 3


def test_clocks_that_differ_a_little(tmp_path, monkeypatch):
    """A claim of another machine whose clock is some minutes ahead is respected."""
    away = replace(this_process(), host="elsewhere")
    with Store(tmp_path / "s.db") as store:
        with monkeypatch.context() as other:
            other.setattr(claims, "this_process", lambda: away)
            store.claim("labor", "NB", 1)
        store._db.execute("UPDATE claims SET heartbeat = heartbeat + 600")
        assert not store.claim("labor", "NB", 1)


def show_and_report(store: Path, out: Path) -> list[tuple[int, str]]:
    show = CliRunner().invoke(app, ["study", "show", "--store", str(store)])
    report = CliRunner().invoke(app, ["study", "report", "--store", str(store), "--out", str(out)])
    return [(result.exit_code, result.output) for result in (show, report)]


def read_only(writable: Path, store: Path, out: Path, connection) -> None:
    """Show and report a store as a user who may read it and no more."""
    # Root may write anywhere. Another user may not read Python's own files, so all is imported before.
    show_and_report(writable, writable.parent / "out")
    if os.getuid() == 0:
        os.seteuid(65534)
    connection.send(show_and_report(store, out))


@pytest.mark.parametrize("log", [False, True])
def test_a_store_in_a_read_only_folder(tmp_path, log):
    """A good store that may not be written to is shown and reported, also with a log beside it."""
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place) / "kept", Path(place) / "out"
        folder.mkdir()
        out.mkdir()
        path = paper_store(tmp_path / "s.db", ["iris", "vote"])
        with Store(path) as store:
            # As long as the store is open, the newest rows are in the log alone.
            store.add_methods([("Late", "")])
            store.add([FoldRow(s.name, "Late", 1, f, 9, 9, 9, 9) for s in store.sets() for f in range(2)])
            for file in tmp_path.glob("s.db*" if log else "none"):
                shutil.copy(file, folder)
        if not log:
            shutil.copy(path, folder)
        out.chmod(0o777)
        Path(place).chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        try:
            process, connection = start(read_only, path, folder / "s.db", out)
            show, report = hear(connection)
            end(process)
        finally:
            folder.chmod(0o755)
        assert (show[0], report[0]) == (0, 0), (show, report)
        assert "Late" in show[1]
        assert "iris,Late,100.00" in (out / "table.csv").read_text()
        assert stat.S_IMODE((folder / "s.db").stat().st_mode) == 0o444
        assert answers(path)
