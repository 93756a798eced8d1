"""Model files with training rows: leaving out, forgetting and prediction sets go on after loading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localbayes.classifiers import CLASSIFIERS
from localbayes.datasets import load
from localbayes.persistence import load_model, save_model
from localbayes.persistence.archive import pack
from localbayes.persistence.schema import fields_of

EAGER = [name for name, method in CLASSIFIERS.items() if not method.keeps_rows]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_saved_with_its_rows_leaves_them_out_and_forgets(
    tmp_path: Path, name: str, weighted: bool
) -> None:
    """Loaded, it gives the same left-out predictions and sets, and forgets and learns as before."""
    X, y = load("labor")
    weights = np.linspace(0.5, 2, len(y)) if weighted else None
    model = CLASSIFIERS[name]().fit(X, y, sample_weight=weights)
    save_model(model, tmp_path / "m.skops", with_rows=True)
    loaded = load_model(tmp_path / "m.skops")
    assert np.array_equal(loaded.predict_proba(None), model.predict_proba(None))
    assert np.array_equal(loaded.predict_set(X, 0.8), model.predict_set(X, 0.8))
    for each in (model, loaded):
        each.forget(rows=[0, 5]).partial_fit(X[:1], y[:1])
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(loaded.predict_proba(None), model.predict_proba(None))


@pytest.mark.parametrize("name", EAGER)
def test_counts_alone_say_that_rows_are_missing(tmp_path: Path, name: str) -> None:
    """A file without rows is as before; what needs rows says in one line how to have them."""
    X, y = load("labor")
    model = CLASSIFIERS[name]().fit(X, y)
    assert "rows" not in fields_of(model)
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops").partial_fit(X[:3], y[:3])
    for call in (
        lambda: loaded.predict(None),
        lambda: loaded.predict_proba(None),
        lambda: loaded.predict_set(X),
        lambda: loaded.forget(X[:1], y[:1]),
        lambda: loaded.forget(rows=[0]),
        lambda: save_model(loaded, tmp_path / "n.skops", with_rows=True),
    ):
        with pytest.raises(ValueError, match="has counts and no training rows: fit it in memory") as error:
            call()
        assert "\n" not in str(error.value)
    assert not hasattr(loaded, "oob_decision_function_")
    assert not (tmp_path / "n.skops").exists()


@pytest.mark.parametrize("name", EAGER)
def test_rows_that_were_not_counted_are_refused(tmp_path: Path, name: str) -> None:
    """A file whose rows do not fit its counts, columns or classes is refused in one line."""
    X, y = load("labor")
    fields = fields_of(CLASSIFIERS[name]().fit(X, y), with_rows=True)
    rows = fields["rows"]
    moved, other = rows["codes"].copy(), rows["classes"].copy()
    moved[0, 0] ^= 1
    other[0] = 1 - other[0]
    changes: list[dict[str, Any]] = [
        {"codes": moved},
        {"codes": rows["codes"][:-1]},
        {"codes": rows["codes"][:, 1:]},
        {"codes": rows["codes"].astype(np.uint16)},
        {"codes": rows["codes"].astype(float)},
        {"classes": other},
        {"classes": rows["classes"] + 2},
        {"classes": rows["classes"] - 1},
        {"classes": None},
        {"weights": np.zeros(len(y))},
        {"weights": np.ones(3)},
        {"weights": np.full(len(y), np.nan)},
    ]
    for change in changes:
        (tmp_path / "m.skops").write_bytes(pack({**fields, "rows": {**rows, **change}}))
        with pytest.raises(ValueError, match="damaged or no model file") as error:
            load_model(tmp_path / "m.skops")
        assert "\n" not in str(error.value)
