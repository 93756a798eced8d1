"""Runs: what fails is a row, what is done stays done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localbayes.study import (
    FoldRow,
    Store,
    make_plan,
    run_study,
)
from localbayes.study.owner import this_process
from study_support import answers, small_plan


def test_running_again_does_what_is_missing(tmp_path):
    """A second run does nothing; a wider plan does only what it adds."""
    path = tmp_path / "s.db"
    assert run_study(small_plan(), path).rows == 120
    assert run_study(small_plan(), path).rows == 0
    assert run_study(small_plan(runs=3), path).rows == 60
    with Store(path) as store, store.transaction():
        store._db.execute("DELETE FROM folds WHERE dataset = 'glass' AND method = 'LCWNB10' AND fold = 3")
    assert run_study(small_plan(runs=3), path).rows == 3
    assert len(answers(path)) == 180


def test_a_failure_is_a_row(tmp_path):
    """A fold that fails has a row with the error, the others go on, and a retry tries it again."""
    path = tmp_path / "s.db"
    plan = make_plan(["iris", "labor"], ["bad=hostile_methods:Stubborn", "NB"], runs=1, folds=4)
    outcome = run_study(plan, path)
    found = answers(path)
    errors = {key: value for key, value in found.items() if value[3]}
    assert outcome.rows == len(found) == 16
    assert outcome.failed == len(errors) > 0
    assert {value[3] for value in errors.values()} == {"RuntimeError: an odd number of rows"}
    assert {key[1] for key in errors} == {"bad"}
    assert outcome.first_error.startswith("bad on ")
    assert run_study(plan, path).rows == 0
    assert run_study(plan, path, retry=True).rows == len(errors)


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("Leaving", "SystemExit: that was it"),
        (
            "Numbered",
            "ValueError: the method predicted no class of the data set, but 0: expected 'bad', 'good'",
        ),
    ],
)
def test_methods_that_end_the_program_or_answer_with_numbers(tmp_path, method, error):
    """Both fail on every fold like a method that raises, and the others go on."""
    plan = make_plan(["labor"], [f"hostile_methods:{method}", "TAN"], runs=1, folds=3)
    outcome = run_study(plan, tmp_path / "s.db")
    assert (outcome.rows, outcome.failed) == (6, 3)
    errors = {value[3] for key, value in answers(tmp_path / "s.db").items() if key[1] == method}
    assert {found.replace("but 1", "but 0") for found in errors} == {error}


def test_an_interrupt_is_no_failure(tmp_path):
    """Ctrl-C inside a method ends the run and leaves no row."""
    with pytest.raises(KeyboardInterrupt):
        run_study(make_plan(["labor"], ["hostile_methods:Interrupted"], runs=1), tmp_path / "s.db")
    assert answers(tmp_path / "s.db") == {}


def test_waiting_for_another_run(tmp_path, monkeypatch):
    """What another process has claimed is waited for, and done when it is given up."""
    path, told = tmp_path / "s.db", []
    plan = make_plan(["labor"], ["NB"], runs=1, folds=3)

    class Watch:
        def begin(self, todo):
            told.append("begin")

        def advance(self, unit, rows):
            told.append("advance")

        def waiting(self, units):
            told.append(f"waiting for {units}")
            with Store(path) as store, store.transaction():  # the other machine gives up
                store._db.execute("DELETE FROM claims")

    away = replace(this_process(), host="elsewhere")
    with Store(path) as store, monkeypatch.context() as other:
        other.setattr("localbayes.study.claims.this_process", lambda: away)
        store.claim("labor", "NB", 1)
    monkeypatch.setattr("localbayes.study.run.POLL_SECONDS", 0)
    assert run_study(plan, path, progress=Watch()).rows == 3
    assert told == ["begin", "waiting for 1", "advance", "advance", "advance"]


def test_a_claim_lost_at_the_last_moment(tmp_path, monkeypatch):
    """If another process takes a unit between looking and claiming, it is that process's."""
    with Store(tmp_path / "s.db") as store:
        looks = iter([False, True])
        monkeypatch.setattr(store, "_held", lambda key, me: next(looks))
        assert not store.claim("iris", "NB", 1)


def test_jobs_must_be_positive(tmp_path):
    """Less than one process is refused."""
    with pytest.raises(ValueError, match="jobs must be >= 1, got 0"):
        run_study(small_plan(), tmp_path / "s.db", jobs=0)


def test_rows_carry_the_version(tmp_path):
    """Every row names the version that made it."""
    from localbayes import __version__

    run_study(make_plan(["labor"], ["NB"], runs=1, folds=2), tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        rows: list[FoldRow] = list(store.rows())
    assert {row.version for row in rows} == {__version__}
    assert all(row.fit_seconds >= 0 and row.predict_seconds >= 0 for row in rows)
