"""Worker processes: the same answers as one process, and what happens when one of them dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3

import pytest

from hostile_methods import given
from localbayes.study import (
    Store,
    crew,
    make_plan,
    run_study,
)
from study_support import answers, small_plan


def test_processes_give_what_one_process_gives(tmp_path):
    """Two processes fill the store with the same answers as one."""
    alone, together = tmp_path / "1.db", tmp_path / "2.db"
    assert run_study(small_plan(), alone).rows == run_study(small_plan(), together, jobs=2).rows == 120
    assert answers(alone) == answers(together)
    with Store(together) as store:
        (about,) = store.invocations()
    assert (about["jobs"], about["folds"]) == (2, 120)
    assert about["seconds"] > 0


def test_what_cannot_be_sent_to_other_processes(tmp_path):
    """A method with a lambda inside needs one process, and is named."""
    plan = make_plan(["labor"], [given], runs=2, folds=3)
    with pytest.raises(ValueError, match=r"the column 'given' cannot be sent to other processes .*--jobs 1"):
        run_study(plan, tmp_path / "s.db", jobs=2)
    assert run_study(plan, tmp_path / "s.db", jobs=1).rows == 6


def test_a_process_that_dies_costs_its_unit_only(tmp_path, monkeypatch):
    """When a worker is killed, its unit is a failure with the cause, and the rest is done."""
    monkeypatch.setenv("STUDY_TEST_PARENT", str(os.getpid()))
    plan = make_plan(["iris", "labor"], ["deadly=hostile_methods:Deadly", "NB"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db", jobs=2)
    assert (outcome.rows, outcome.failed) == (12, 6)
    assert "ended with exit code -9" in outcome.first_error
    assert {key[1] for key, value in answers(tmp_path / "s.db").items() if value[3]} == {"deadly"}


def test_workers_that_cannot_start(tmp_path, monkeypatch):
    """Processes that end before they did anything are an error, not an endless new start."""
    monkeypatch.setattr("localbayes.study.crew._worker", os._exit)
    with pytest.raises(OSError, match="before it had done anything"):
        run_study(make_plan(["iris"], ["NB"], runs=2), tmp_path / "s.db", jobs=2)


def test_a_store_that_fails_in_a_worker(tmp_path, monkeypatch):
    """An error of the store in a worker ends the run with that error."""
    path = tmp_path / "s.db"
    with Store(path) as store, store.transaction():
        store._db.execute(
            "CREATE TRIGGER t BEFORE INSERT ON folds BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        )
    with pytest.raises(OSError, match="disk is full"):
        run_study(make_plan(["iris"], ["NB"], runs=2), path, jobs=2)
    with pytest.raises(sqlite3.Error, match="disk is full"):
        run_study(make_plan(["iris"], ["NB"], runs=2), path)


def test_a_worker_takes_what_is_free(tmp_path):
    """A worker tells its parent of every fold, and leaves alone what is done or claimed by others."""
    path, plan = tmp_path / "s.db", small_plan()
    with Store(path) as store:
        store.fix_folds(plan.n_folds)
        run_study(make_plan(["iris"], ["NB"], runs=1, folds=5), path)
        here, there = multiprocessing.Pipe(duplex=False)
        handler = signal.getsignal(signal.SIGINT)
        try:
            crew._serve(plan, plan.units(), path, there)
        finally:
            signal.signal(signal.SIGINT, handler)
        messages = []
        while here.poll():
            messages.append(here.recv())
        assert messages.pop() == ("done",)
        assert {kind for kind, _, _ in messages} == {"rows"}
        told = sum(len(rows) for _, _, rows in messages)
        assert told == 115
        assert len(answers(path)) == 120


def test_a_worker_whose_parent_is_gone(tmp_path, monkeypatch):
    """A worker that cannot tell anybody ends at once; the fold it has written stays."""
    here, there = multiprocessing.Pipe(duplex=False)
    here.close()
    monkeypatch.setattr(os, "_exit", _leave)
    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit, match="1"):
            crew._serve(small_plan(), small_plan().units(), tmp_path / "s.db", there)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert 0 < len(answers(tmp_path / "s.db")) <= 3


def test_a_worker_tells_what_went_wrong(tmp_path):
    """An error that is not a method's reaches the parent as one line with its place."""
    here, there = multiprocessing.Pipe(duplex=False)
    handler = signal.getsignal(signal.SIGINT)
    try:
        crew._serve(small_plan(), small_plan().units(), tmp_path / "no" / "s.db", there)
    finally:
        signal.signal(signal.SIGINT, handler)
    kind, text = here.recv()
    assert kind == "fatal"
    assert "folder of the store" in text
    assert "store_file.py:" in text


def _leave(code):
    raise SystemExit(str(code))


def test_threads_are_limited_for_workers_only(monkeypatch):
    """Processes are started with one thread each; what was set before is set again afterwards."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with crew._one_thread_each():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
