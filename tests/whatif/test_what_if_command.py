"""The command and the function that write the page, and what they refuse."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import CategoricalNB

import localbayes
from command_line import ok, refused
from localbayes import AODE, LCWNB, NB, load_model, save_model, what_if
from localbayes.classifiers import CLASSIFIERS, LazyClassifier
from localbayes.datasets import load
from localbayes.whatif import what_if_page
from mixed_tables import mixed_table


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of an eager and of a lazy classifier on the set vote."""
    folder = tmp_path_factory.mktemp("models")
    X, y = load("vote")
    for name in ("NB", "LCWNB"):
        save_model(CLASSIFIERS[name]().fit(X, y), folder / f"{name}.skops")
    return {name: folder / f"{name}.skops" for name in ("NB", "LCWNB")}


def model_in(page: str) -> dict:
    """What a page holds."""
    return json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', page).group(1))


def test_the_command_says_what_the_page_holds(models, tmp_path):
    """Counts, or all training rows, and rows of a table; the page of a loaded model is that of the model."""
    line = ok("what-if", models["NB"], "-o", tmp_path / "nb.html", "--table", "vote", "--rows", "3")
    assert line.endswith("; it holds 3 rows of vote.arff and counts of the training rows\n")
    line = ok("what-if", models["LCWNB"], "-o", tmp_path / "lazy.html", "--embed-rows")
    assert line.endswith("; it holds all 435 training rows\n")
    X, y = load("vote")
    page = (tmp_path / "nb.html").read_text(encoding="utf-8")
    assert page == what_if_page(NB().fit(X, y), presets=X[:3], subtitle="NB.skops")
    assert len(model_in(page)["presets"]) == 3


def test_training_rows_are_embedded_only_if_allowed(models, tmp_path):
    """Without --embed-rows the page of a lazy classifier is refused; that of an eager one has no rows."""
    line = refused("what-if", models["LCWNB"], "-o", tmp_path / "page.html")
    assert "would hold all 435 of them for everyone to read" in line
    assert "--embed-rows" in line
    assert not (tmp_path / "page.html").exists()
    with pytest.raises(ValueError, match="embed_rows=True"):
        what_if(LCWNB().fit([["a"], ["b"]], [0, 1]), tmp_path / "page.html")
    X, y = mixed_table()
    for name, method in CLASSIFIERS.items():
        held = model_in(what_if_page(method().fit(X, y), embed_rows=True))["formula"]
        assert ("cells" in held) == method.keeps_rows, name


def test_a_large_page_is_refused_with_advice(models, tmp_path):
    """Above 5 MB, or what was allowed; the advice fits the classifier."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (30_000, 130)).astype(str), rng.integers(0, 2, 30_000)
    lazy = LCWNB(kappa=5).fit(pd.DataFrame(X), y)
    with pytest.raises(ValueError, match=r"would take 5\.\d MB, more than 5 MB; fit on a sample of the rows"):
        what_if(lazy, tmp_path / "page.html", embed_rows=True)
    with pytest.raises(ValueError, match="use NB or TAN"):
        what_if(AODE().fit(pd.DataFrame(X[:500]), y[:500]), tmp_path / "page.html", max_bytes=200_000)
    line = refused("what-if", models["NB"], "-o", tmp_path / "page.html", "--max-mb", "0.01")
    assert "more than 0.01 MB" in line
    for size in ("0", "inf", "nan", "-1"):
        line = refused("what-if", models["NB"], "-o", tmp_path / "page.html", "--max-mb", size)
        assert line.startswith("error: --max-mb must be a number from 0 to 1,000, got ")
    for size in (0, "large", 2.5):
        with pytest.raises(ValueError, match="max_bytes must be"):
            what_if(NB().fit([["a"], ["b"]], [0, 1]), tmp_path / "page.html", max_bytes=size)
    assert list(tmp_path.iterdir()) == []


def test_outputs_are_safe(models, tmp_path):
    """An output that exists, cannot be written or is what is read is refused before any work."""
    out = tmp_path / "page.html"
    out.write_text("precious")
    assert "page.html exists; choose another name" in refused("what-if", models["NB"], "-o", out)
    with pytest.raises(FileExistsError, match="exists"):
        what_if(NB().fit([["a"], ["b"]], [0, 1]), out)
    assert out.read_text() == "precious"
    ok("what-if", models["NB"], "-o", out, "--force")
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "there is no folder" in refused("what-if", models["NB"], "-o", tmp_path / "no" / "page.html")
    assert "cannot write /proc/page.html" in refused("what-if", models["NB"], "-o", "/proc/page.html")
    assert "must end in .html" in refused("what-if", models["NB"], "-o", tmp_path / "page.txt")
    model = tmp_path / "m.html"
    shutil.copy(models["NB"], model)
    assert "is what this command reads" in refused("what-if", model, "-o", model, "--force")
    assert sorted(os.listdir(tmp_path)) == ["m.html", "page.html"]


def test_bad_models_and_tables(models, tmp_path):
    """A missing or damaged file, one of a later version, and a table that does not fit end in one line."""
    out = tmp_path / "page.html"
    assert "absent.skops" in refused("what-if", tmp_path / "absent.skops", "-o", out)
    (tmp_path / "damaged.skops").write_bytes(b"apples")
    assert "is damaged or no model file" in refused("what-if", tmp_path / "damaged.skops", "-o", out)
    later = tmp_path / "later.skops"
    with zipfile.ZipFile(models["NB"]) as old, zipfile.ZipFile(later, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "localbayes.json":
                content = json.dumps(json.loads(content) | {"format": 999, "localbayes": "99.0"}).encode()
            new.writestr(name, content)
    assert "999" in refused("what-if", later, "-o", out)
    table = tmp_path / "t.csv"
    table.write_text("colour\nred\n")
    assert "lacks the column" in refused("what-if", models["NB"], "-o", out, "--table", table)
    assert "rows" in refused("what-if", models["NB"], "-o", out, "--table", "vote", "--rows", "0")
    assert not out.exists()


def test_bad_objects(tmp_path):
    """A model that is not fitted, of another package, of one's own or changed since fit is refused."""
    out = tmp_path / "page.html"
    with pytest.raises(NotFittedError):
        what_if(NB(), out)
    with pytest.raises(TypeError, match="expected a classifier of localbayes, got CategoricalNB"):
        what_if(CategoricalNB().fit([[0], [1]], [0, 1]), out)

    class Nearest(LazyClassifier):
        def weights(self, distance_counts):
            return np.ones(distance_counts.shape)

    with pytest.raises(ValueError, match="got Nearest, a class of your own"):
        what_if(Nearest().fit([["a"], ["b"]], [0, 1]), out, embed_rows=True)
    with pytest.raises(ValueError, match="no training rows in memory"):
        what_if(LCWNB().fit([["a"], ["b"]], [0, 1]).without_rows(), out, embed_rows=True)
    model = NB().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match="2 features"):
        what_if(model, out, presets=[["a", "b"]])
    with pytest.raises(ValueError, match=r"alpha was 1\.0 in fit"):
        what_if(model.set_params(alpha=2.0), out)
    assert not out.exists()


def test_text_from_data_stays_inside_the_data_block(tmp_path):
    """No name, value, class or title ends an element; the JSON reads back as what was given."""
    evil, half = "</script><!--<script>&\u2028", "half of a pair: \ud800"
    X = pd.DataFrame({evil: pd.Series([evil, half] * 3, dtype=object)})
    model = NB(class_weight={half: 2.0}).fit(X, np.array([evil, half] * 3, dtype=object))
    page = what_if_page(model, title="</title><script>", subtitle="<img onerror=x>")
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<!--" not in page
    assert "<img" not in page
    held = model_in(page)
    assert held["attributes"][0]["name"] == evil
    assert held["classes"] == [evil, half]
    assert held["attributes"][0]["labels"] == [evil, half]
    what_if(model, tmp_path / "page.html", title=half)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_model_from_a_file_has_the_same_page(tmp_path, name):
    """To the byte, for every classifier."""
    X, y = mixed_table()
    model = CLASSIFIERS[name]().fit(X, y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert what_if_page(loaded, presets=X[:3], embed_rows=True) == what_if_page(
        model, presets=X[:3], embed_rows=True
    )


def test_the_page_does_not_depend_on_when_it_is_written():
    """The same model gives the same bytes."""
    X, y = load("iris")
    pages = {what_if_page(LCWNB().fit(X, y), presets=X[:2], embed_rows=True) for _ in range(2)}
    assert len(pages) == 1
    assert localbayes.what_if is what_if
