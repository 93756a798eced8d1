"""The store: one row per fold, claims that outlive nobody, files of others left alone."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from localbayes.study import FoldRow, Store, owner, read_table, run_study
from localbayes.study import claims as claims_module
from localbayes.study.accuracy_table import SetInfo
from localbayes.study.owner import Owner, this_process
from study_support import answers, end, hear, small_plan, start

UNIT = ("iris", "NB", 1)


def hold(path: Path, unit: tuple[str, str, int], connection) -> None:
    """Claim a unit and keep it until told, or killed."""
    with Store(path) as store:
        connection.send(store.claim(*unit))
        if connection.recv() == "release":
            store.release(*unit)


def run_small(path: Path, connection) -> None:
    """Run the small study and tell how many rows this process wrote."""
    connection.recv()

    class Watch:
        def begin(self, todo):
            connection.send(("begin", len(todo)))

        def advance(self, unit, rows):
            pass

        def waiting(self, units):
            connection.send(("waiting", units))

    outcome = run_study(small_plan(), path, progress=Watch())
    connection.send(("rows", outcome.rows))


def rows_written(connection) -> int:
    while True:
        kind, number = hear(connection)
        if kind == "rows":
            return number


def test_a_row_is_kept_once(tmp_path):
    """Of two results for the same fold the first stays."""
    with Store(tmp_path / "s.db") as store:
        first = FoldRow(
            "iris", "NB", 1, 0, tested=15, correct=14, correct_ties_well=15, correct_ties_badly=13
        )
        store.add([first])
        store.add([replace(first, correct=1)])
        assert list(store.rows()) == [first]
        assert store.done("iris", ["NB", "TAN"], 1) == {("NB", 0)}
        assert store.done("iris", ["NB"], 2) == set()


def test_failed_writes_leave_nothing(tmp_path):
    """Rows are written together or not at all."""
    with Store(tmp_path / "s.db") as store:
        good, bad = FoldRow("iris", "NB", 1, 0, 15), FoldRow("iris", "NB", 1, 1, tested=None)
        with pytest.raises(sqlite3.IntegrityError):
            store.add([good, bad])
        assert list(store.rows()) == []


def test_it_is_a_write_ahead_log_that_others_can_read(tmp_path):
    """The journal is a write-ahead log, and plain SQLite reads what was committed while the store is open."""
    with Store(tmp_path / "s.db") as store:
        store.add([FoldRow("a", "b", 1, 0, 10, 5)])
        other = sqlite3.connect(tmp_path / "s.db")
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert other.execute("SELECT dataset, correct FROM folds").fetchall() == [("a", 5)]
        other.close()


def test_a_living_process_keeps_its_claim(tmp_path):
    """A unit that another process works on is refused, and free when that process gives it up."""
    path = tmp_path / "s.db"
    with Store(path) as store:
        process, connection = start(hold, path, UNIT)
        assert hear(connection) is True
        assert not store.claim(*UNIT)
        assert not store.free(*UNIT)
        assert store.claims_of(process.pid) == [UNIT]
        connection.send("release")
        end(process)
        assert store.claim(*UNIT)
        assert store.claim(*UNIT), "a process may claim again what it has"


def test_a_killed_process_loses_its_claim(tmp_path):
    """After SIGKILL the claim is free at once, also while the dead process is not yet reaped."""
    path = tmp_path / "s.db"
    with Store(path) as store:
        process, connection = start(hold, path, UNIT)
        hear(connection)
        os.kill(process.pid, signal.SIGKILL)
        end(process)
        assert store.claim(*UNIT)


def test_two_runs_share_the_work(tmp_path):
    """Two runs on one store write every row once between them, and get what one run alone gets."""
    path, alone = tmp_path / "two.db", tmp_path / "alone.db"
    workers = [start(run_small, path) for _ in range(2)]
    for _, connection in workers:
        connection.send("go")
    written = [rows_written(connection) for _, connection in workers]
    for process, _ in workers:
        assert end(process) == 0
    assert run_study(small_plan(), alone).rows == 120
    assert sum(written) == 120
    assert answers(path) == answers(alone)


def test_a_run_waits_for_what_another_has_claimed(tmp_path):
    """A run does all that is free, waits for the rest, and takes it over when its owner dies."""
    path = tmp_path / "s.db"
    holder, hold_connection = start(hold, path, ("iris", "NB", 1))
    assert hear(hold_connection) is True
    process, connection = start(run_small, path)
    connection.send("go")
    message = hear(connection)
    while message[0] != "waiting":
        message = hear(connection)
    assert message == ("waiting", 1)
    assert len(answers(path)) == 115
    os.kill(holder.pid, signal.SIGKILL)
    end(holder)
    assert rows_written(connection) == 120
    end(process)
    assert len(answers(path)) == 120


@pytest.mark.parametrize(
    ("changes", "alive"),
    [
        ({}, True),
        ({"started": "1"}, False),
        ({"pid": 2**22 + 5}, False),
        ({"boot": "another"}, False),
        ({"host": "elsewhere"}, None),
        ({"space": "pid:[1]"}, None),
    ],
)
def test_whether_an_owner_lives(changes, alive):
    """A reused process id or a restarted machine is not the owner; other machines cannot be seen."""
    assert replace(this_process(), **changes).alive() is alive


def test_a_claim_from_elsewhere_lapses_by_silence(tmp_path, monkeypatch):
    """A process on another machine keeps its claim as long as it was heard of within the hour."""
    away = replace(this_process(), host="elsewhere")
    with Store(tmp_path / "s.db") as store:
        monkeypatch.setattr(claims_module, "this_process", lambda: away)
        assert store.claim(*UNIT)
        monkeypatch.setattr(claims_module, "this_process", this_process)
        assert not store.claim(*UNIT)
        later = claims_module.time.time() + claims_module.LEASE_SECONDS + 1
        monkeypatch.setattr(claims_module.time, "time", lambda: later)
        assert store.claim(*UNIT)


def test_a_zombie_is_dead():
    """A process that has ended but was not waited for does not count as alive."""
    # Not os.fork: a copy of this process, which may have threads, need not get as far as its end.
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert owner._started(child.pid) is None


def test_owners_without_a_proc_file_system(monkeypatch):
    """Where start times cannot be read, a process of that id may be another one: only its absence tells."""
    monkeypatch.setattr(owner.Path, "read_text", _absent)
    monkeypatch.setattr(owner.Path, "exists", lambda path: False)
    monkeypatch.setattr(owner.os, "readlink", _absent)
    owner._here.cache_clear()
    try:
        me = this_process()
        assert (me.boot, me.space, me.started) == ("", "", "")
        assert me.alive() is None
        assert replace(me, pid=2**22 + 5).alive() is False
        monkeypatch.setattr(owner.os, "kill", _forbidden)
        assert me.alive() is None
        monkeypatch.setattr(sys, "platform", "win32")
        assert me.alive() is None
        assert owner._exists(1) == ""
    finally:
        owner._here.cache_clear()


def test_without_a_proc_file_system_a_claim_lapses_by_silence(tmp_path, monkeypatch):
    """A dead run's claim is not kept for ever by a process that was given its id."""
    monkeypatch.setattr(owner, "_here", lambda: ("here", "", ""))
    monkeypatch.setattr(owner, "_started", lambda pid: "")
    another = Owner("here", "", "", os.getpid() + 1, "")
    with Store(tmp_path / "s.db") as store:
        with monkeypatch.context() as other:
            other.setattr(claims_module, "this_process", lambda: another)
            assert store.claim(*UNIT)
        assert not store.claim(*UNIT)
        later = claims_module.time.time() + claims_module.LEASE_SECONDS + 1
        monkeypatch.setattr(claims_module.time, "time", lambda: later)
        assert store.claim(*UNIT)


def test_owners_that_vanish_while_looked_at(monkeypatch):
    """A process that ends between finding and reading its entry is dead."""
    monkeypatch.setattr(owner.Path, "read_text", _vanished)
    assert owner._started(1) is None


def _absent(*_, **__):
    raise FileNotFoundError


def _vanished(*_, **__):
    raise ProcessLookupError


def _forbidden(*_):
    raise PermissionError


def test_owner_text_round_trip():
    """What is written into the store names the same owner when read."""
    me = this_process()
    assert Owner.parse(str(me)) == me


def test_changed_data_is_refused(tmp_path):
    """A data set of the same name with other content does not mix with what the store has."""
    with Store(tmp_path / "s.db") as store:
        info = SetInfo("mine", 10, 3, 2, published=False)
        store.add_set(info, "one")
        store.add_set(info, "one")
        with pytest.raises(ValueError, match="'mine' differs from the one in the store"):
            store.add_set(info, "two")
        assert store.sets() == [info]


def test_another_number_of_folds_is_refused(tmp_path):
    """Runs of five and of ten folds do not mix in one store."""
    with Store(tmp_path / "s.db") as store:
        assert store.n_folds == 10
        store.fix_folds(5)
        store.fix_folds(5)
        with pytest.raises(ValueError, match="runs of 5 folds, got 10"):
            store.fix_folds(10)


def _text_file(path: Path) -> None:
    path.write_text("not a database, but long enough to be looked at as one" * 20)


def _other_database(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE songs (title TEXT)")
    database.commit()
    database.close()


def _newer_store(path: Path) -> None:
    change(path, "UPDATE meta SET value = '99' WHERE key = 'schema'")


def _no_schema(path: Path) -> None:
    change(path, "DELETE FROM meta")


def _odd_schema(path: Path) -> None:
    change(path, "UPDATE meta SET value = 'one' WHERE key = 'schema'")


def change(path: Path, statement: str) -> None:
    """Do something to a store that localbayes would not."""
    with Store(path) as store, store.transaction():
        store._db.execute(statement)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_text_file, "not a usable study store"),
        (_other_database, "SQLite file of something else"),
        (_newer_store, "has schema 99"),
        (_no_schema, r"the store .*file.db is damaged, its schema is not noted: use another store"),
        (_odd_schema, r"the store .*file.db is damaged, its schema is 'one', expected a number"),
    ],
)
def test_files_that_are_no_store(tmp_path, make, message):
    """A file of something else is refused with one line, and left as it is."""
    path = tmp_path / "file.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        Store(path)
    assert path.read_bytes()[:100] == before[:100]


def test_many_processes_may_make_the_store_at_once(tmp_path):
    """Processes that open a store which does not exist yet all find it made."""
    path = tmp_path / "s.db"
    holders = [start(hold, path, ("iris", "NB", run)) for run in range(6)]
    assert all(hear(connection) is True for _, connection in holders)
    for process, connection in holders:
        connection.send("release")
        assert end(process) == 0


def test_places_that_hold_no_store(tmp_path):
    """A store that must exist is not made by looking for it; a missing folder is named."""
    with pytest.raises(ValueError, match="there is no store"):
        Store(tmp_path / "none.db", create=False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="cannot open the store"):
        Store(tmp_path)
    with pytest.raises(ValueError, match="folder of the store"):
        Store(tmp_path / "no" / "s.db")


def test_errors_are_forgotten_on_request(tmp_path):
    """Failed rows of the named sets and methods go, all others stay."""
    with Store(tmp_path / "s.db") as store:
        bad, good = FoldRow("a", "m", 1, 0, 0, error="x"), FoldRow("a", "m", 1, 1, 5, 5)
        other = FoldRow("b", "m", 1, 0, 0, error="x")
        store.add([bad, good, other])
        store.forget_errors(["a"], ["m", "k"])
        assert list(store.rows()) == [good, other]


def test_methods_keep_their_order(tmp_path):
    """Columns stand in the order of their first appearance, described as last before they had results."""
    with Store(tmp_path / "s.db") as store:
        store.add_methods([("z", "last letter"), ("a", "first letter")])
        store.add_methods([("a", "changed"), ("m", "middle")])
        assert store.methods() == [("z", "last letter"), ("a", "changed"), ("m", "middle")]


def test_another_classifier_in_the_same_column_is_refused(tmp_path):
    """Results of two classifiers do not mix; an address in memory, or no description, tells nothing."""
    first, second = "Tree(by=<function f at 0x7f01>, depth=1)", "Tree(by=<function f at 0x7F02>, depth=1)"
    with Store(tmp_path / "s.db") as store:
        store.add_methods([("mine", first)])
        store.add([FoldRow("iris", "mine", 1, 0, 0, error="ValueError: no")])
        store.add_methods([("mine", "Tree(depth=2)")])
        store.add_methods([("mine", first)])
        store.add([FoldRow("iris", "mine", 1, 1, 15, 14)])
        for same in (first, second, ""):
            store.add_methods([("mine", same)])
        long = first.replace("depth=1", f"depth={'1' * 100}")
        words = (
            r"'mine' of the store .*s.db has results of .*depth=1\), got .*depth=1+…: use another store or"
        )
        with pytest.raises(ValueError, match=words) as refusal:
            store.add_methods([("new", "x"), ("mine", long)])
        assert len(str(refusal.value)) < 300 + len(str(store.path))
        assert store.methods() == [("mine", first)], "nothing of what was refused is written"
        store.add_methods([("mine", "in other words")], reworded=["mine"])
        assert store.methods() == [("mine", first)]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE folds SET tested = 0", "m on a, run 1, fold 0: 5/5/5 of 0 rows are correct"),
        ("UPDATE folds SET tested = 'x'", "m on a, run 1, fold 0: 5/5/5 of x rows are correct"),
        ("UPDATE folds SET correct = NULL", "m on a, run 1, fold 0: None/5/5 of 9 rows are correct"),
        ("UPDATE folds SET correct = 10", "m on a, run 1, fold 0: 10/5/5 of 9 rows are correct"),
        ("UPDATE folds SET bins = '[[1,'", r"m on a, run 1, fold 0: bins are '\[\[1,'"),
        ("UPDATE folds SET bins = '[[1, 2, 3]]'", "m on a, run 1, fold 0: bins are "),
        ("UPDATE meta SET value = 'x' WHERE key = 'n_folds'", "its n_folds is 'x', expected a number"),
    ],
)
def test_damaged_results_are_told_with_their_place(tmp_path, statement, message):
    """Rows that no run writes are refused with the name of the store and of the row."""
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.fix_folds(10)
        store.add_methods([("m", "")])
        store.add([FoldRow("a", "m", 1, 0, 9, 5, 5, 5, 0.5, str([[1, 0.5, 1]] * 10))])
        read_table(store)
    change(path, statement)
    with Store(path) as store, pytest.raises(ValueError, match=rf"the store .*s\.db is damaged, .*{message}"):
        read_table(store)


def test_damaged_notes_of_runs(tmp_path):
    """What is noted of a run is JSON, or the store is named."""
    with Store(tmp_path / "s.db") as store:
        store.begin_invocation({"python": "3"})
        assert store.invocations()[0]["python"] == "3"
        store._db.execute("UPDATE invocations SET about = '{'")
        with pytest.raises(ValueError, match=r"the store .*s\.db is damaged, what it notes of its runs"):
            store.invocations()
