"""Model files of format 1, written once by localbayes 0.2.0: every later version reads them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localbayes import load_model
from localbayes.classifiers import CLASSIFIERS

FILES = Path(__file__).parent / "files" / "format-1"


def queries() -> pd.DataFrame:
    """Ten rows with values known, unknown and missing."""
    k = np.arange(10)
    colour = np.array(["red", "green", "blue", None, "never"], dtype=object)[k % 5]
    return pd.DataFrame({"colour": colour, "size": np.where(k == 7, np.nan, k * 0.7), "grade": k % 4})


@pytest.mark.parametrize("name", list(CLASSIFIERS))
def test_a_stored_model_predicts_what_it_predicted_when_it_was_written(name: str) -> None:
    """Labels are the same, and probabilities to one part in 1e12."""
    model = load_model(FILES / f"{name}.skops")
    written = json.loads((FILES / f"{name}.json").read_text())
    assert type(model) is CLASSIFIERS[name]
    assert model.predict(queries()).tolist() == written["labels"]
    np.testing.assert_allclose(model.predict_proba(queries()), written["proba"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", list(CLASSIFIERS))
def test_a_stored_model_learns_on(name: str) -> None:
    """Rows can be added to it, and it explains itself."""
    model = load_model(FILES / f"{name}.skops")
    before = model.class_count_.sum()
    model.partial_fit(queries(), ["no", "yes"] * 5)
    assert model.class_count_.sum() == before + 10
    np.testing.assert_allclose(
        np.exp(model.explain(queries()).log_proba), model.predict_proba(queries()), atol=1e-9
    )
