"""Damaged stores of a study: they work, or say in one line that they cannot be used."""

from __future__ import annotations

import sqlite3
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.model_files import damaged_bytes, refusal
from localbayes.study import FoldRow, Store, make_plan, read_table, run_study


@cache
def good() -> bytes:
    """A good store of a small study."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.db")
        run_study(make_plan(["labor"], ["LCWNB5", "NB"], runs=2, folds=2), path)
        with Store(path) as store:
            store.add([FoldRow("labor", "NB", run=3, fold=0, tested=5, error="it failed")])
        return path.read_bytes()


def check(number: int) -> str:
    """Read the store of one case, and go on with the study now and then."""
    rng = np.random.default_rng([19, number])
    content = damaged_bytes(rng, good())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.db")
        path.write_bytes(content)
        try:
            with Store(path, create=False) as store:
                list(store.rows())
                store.sets()
                store.invocations()
                read_table(store)
            if number % 20 == 0:
                run_study(make_plan(["labor"], ["NB"], runs=2, folds=2), path)
        except (ValueError, OSError, sqlite3.DatabaseError) as error:
            return refusal(error)
    return "works"
