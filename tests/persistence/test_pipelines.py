"""Pipelines as files: known steps survive, anything that could run code is refused before it is made."""

from __future__ import annotations

import io
import json
import operator
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from command_line import refused
from localbayes import LCWNB, NB, LocalBayesClassifier, load_model, save_model
from localbayes.persistence.pipelines import known_steps

RNG = np.random.default_rng(0)
X = RNG.random((60, 4)) + 0.1
Y = np.where(X[:, 0] + X[:, 1] > 1.2, "yes", "no")
RAN: list[str] = []


def fitted() -> Pipeline:
    return make_pipeline(StandardScaler(), NB()).fit(X, Y)


@pytest.mark.parametrize("step", known_steps().values(), ids=lambda step: step.__name__)
def test_every_known_step_survives(tmp_path, step):
    """A loaded pipeline gives the probabilities of the saved one, to the bit."""
    dense = {"sparse_output": False} if step.__name__ == "OneHotEncoder" else {}
    sparse = {"encode": "ordinal"} if step.__name__ == "KBinsDiscretizer" else {}
    data = X.round(1) if step.__name__.endswith("Encoder") else X
    pipeline = Pipeline([("first", step(**dense, **sparse)), ("second", "passthrough"), ("last", LCWNB())])
    expected = pipeline.fit(data, Y).predict_proba(data)
    save_model(pipeline, tmp_path / "p.skops")
    loaded = load_model(tmp_path / "p.skops")
    assert type(loaded) is Pipeline
    assert [name for name, _ in loaded.steps] == ["first", "second", "last"]
    assert loaded.predict_proba(data).tobytes() == expected.tobytes()
    assert str(loaded.named_steps["first"].get_params()) == str(pipeline.named_steps["first"].get_params())


def test_names_of_columns_survive(tmp_path):
    """A pipeline that was fitted on a frame knows its columns, and its classifier may be any of ours."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), LocalBayesClassifier())
    expected = pipeline.fit(frame, Y).predict_proba(frame)
    save_model(pipeline, tmp_path / "p.skops")
    loaded = load_model(tmp_path / "p.skops")
    assert loaded.predict_proba(frame).tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (
            make_pipeline(FunctionTransformer(np.log), NB()),
            "'functiontransformer' is a sklearn.*Save the classif",
        ),
        (make_pipeline(make_column_transformer((StandardScaler(), [0])), NB()), "ColumnTransformer, which a"),
        (make_pipeline(StandardScaler(), make_pipeline(NB())), "expected a classifier of localbayes, got"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "expected a classifier of localbayes, got"),
        (Pipeline([("last", NB())], memory="cache"), "does not keep the memory of a pipeline"),
    ],
    ids=["function", "columns", "nested", "foreign", "memory"],
)
def test_pipelines_that_a_file_does_not_keep(tmp_path, monkeypatch, pipeline, message):
    """The error names the step and what to do; no file is written."""
    monkeypatch.chdir(tmp_path)
    pipeline.fit(X, Y)
    with pytest.raises((ValueError, TypeError), match=message):
        save_model(pipeline, tmp_path / "p.skops")
    assert not (tmp_path / "p.skops").exists()


def test_a_pipeline_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        save_model(make_pipeline(StandardScaler(), NB()), tmp_path / "p.skops")


class Evil:
    """Notes that it was made or restored."""

    def __setstate__(self, state):
        RAN.append("setstate")

    def __reduce__(self):
        return (operator.methodcaller, ("upper",))


def forged(step, path: Path) -> Path:
    """Write a file like that of a pipeline, with any object as its step."""
    save_model(fitted(), path)
    with zipfile.ZipFile(path) as archive:
        note = archive.read("localbayes.json")
    fields = skops.io.loads(path.read_bytes(), trusted=["numpy.dtype"])
    fields["pipeline"]["steps"] = [step]
    content = io.BytesIO(skops.io.dumps(fields))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("localbayes.json", note)
    path.write_bytes(content.getvalue())
    return path


def with_attribute(**attributes):
    step = StandardScaler().fit(X)
    for name, value in attributes.items():
        setattr(step, name, value)
    return step


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.log).fit(X),
        with_attribute(mean_=np.log),
        with_attribute(mean_=operator.itemgetter(1)),
        with_attribute(mean_=np.random.default_rng(0)),
        with_attribute(mean_=LogisticRegression()),
        with_attribute(mean_=X.sum),
        with_attribute(mean_=Evil()),
        LogisticRegression(),
    ],
    ids=[
        "function step",
        "function",
        "operator",
        "generator",
        "estimator",
        "method",
        "own class",
        "foreign step",
    ],
)
def test_hostile_steps_are_refused_before_anything_is_made(tmp_path, step):
    """Functions, methods, generators and objects of any other class, as a step or inside one, are named."""
    path = forged(step, tmp_path / "p.skops")
    RAN.clear()
    with pytest.raises(ValueError, match="is refused: it names types that are not trusted"):
        load_model(path)
    assert not RAN


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (StandardScaler(), "not fitted"),
        (with_attribute(mean_=StandardScaler()), "holds an object in mean_"),
        ("other", "is a builtins.str"),
        ([1.5], "is a builtins.list"),
    ],
    ids=["not fitted", "nested", "text", "list"],
)
def test_steps_that_make_no_sense_are_refused(tmp_path, step, message):
    """What is harmless and still no step of a pipeline is refused as damage."""
    with pytest.raises(ValueError, match=f"p.skops is damaged or no model file .*{message}"):
        load_model(forged(step, tmp_path / "p.skops"))


def test_a_step_that_lacks_a_parameter_is_refused(tmp_path):
    """An object without its parameters would fail later, with a traceback."""
    step = StandardScaler().fit(X)
    del step.with_mean
    with pytest.raises(ValueError, match="lacks with_mean"):
        load_model(forged(step, tmp_path / "p.skops"))


def test_classifiers_keep_format_1(tmp_path):
    """Versions that know no pipelines still read classifiers; of a pipeline they say what they need."""
    for model, expected in ((NB().fit(X, Y), 1), (fitted(), 2)):
        save_model(model, tmp_path / f"{expected}.skops")
        with zipfile.ZipFile(tmp_path / f"{expected}.skops") as archive:
            assert json.loads(archive.read("localbayes.json"))["format"] == expected


def test_the_command_line_takes_classifiers(tmp_path):
    """A file with a pipeline is refused in one line."""
    save_model(fitted(), tmp_path / "p.skops")
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,2,3,4\n")
    for words in (["predict", tmp_path / "p.skops", tmp_path / "t.csv"], ["info", tmp_path / "p.skops"]):
        assert "holds a pipeline, expected a classifier: use load_model in Python" in refused(*words)
