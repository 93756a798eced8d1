"""The fuzzers find what breaks a promise, and defects that they found stay mended."""

from __future__ import annotations

import copy
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fuzz import data_files, model_files, random_tables, run, stores
from fuzz.bases import base
from localbayes.persistence import load_model
from localbayes.persistence.schema import model_of

GOOD = ("NB", "mixed")


def write(path: Path, schema: object) -> Path:
    """A model file with another description of its fields."""
    parts = model_files.members(base(*GOOD).content)
    parts["schema.json"] = json.dumps(schema).encode()
    path.write_bytes(model_files.zipped(list(parts.items())))
    return path


def good_schema() -> dict:
    return json.loads(model_files.members(base(*GOOD).content)["schema.json"])


@pytest.mark.timeout(60)
def test_lists_that_hold_the_same_lists_again_and_again_are_refused(tmp_path):
    """200 levels of a list that stands twice in the next one would be gone through 2**200 times."""
    schema = good_schema()
    schema["content"]["classes"] = model_files.laughs(200)
    with pytest.raises(ValueError, match=r"m\.skops is refused: it names types that are not trusted|damaged"):
        load_model(write(tmp_path / "m.skops", schema))
    for node in _nodes(schema):
        if node["__loader__"] == "CachedNode":
            node["__loader__"] = "ListNode"
    with pytest.raises(ValueError, match="a list or dict stands in two places"):
        load_model(write(tmp_path / "m.skops", schema))


def _nodes(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _nodes(one)
    if isinstance(value, dict) and "__loader__" in value:
        yield value


def test_a_model_of_scikit_learn_inside_a_file_is_never_made(tmp_path):
    """Types that skops trusts are not part of a model file, and are refused by name."""
    import skops.io

    content = io.BytesIO()
    skops.io.dump({"classifier": LogisticRegression()}, content)
    (tmp_path / "m.skops").write_bytes(content.getvalue())
    with pytest.raises(ValueError, match=r"types that are not trusted: sklearn\..*LogisticRegression"):
        load_model(tmp_path / "m.skops")


def test_a_note_that_cannot_be_unpacked_raises_no_error_of_zlib(tmp_path):
    """The note beside the fields only says who wrote them: the model is that of the fields."""
    parts = model_files.members(base(*GOOD).content)
    content = bytearray(model_files.zipped(list(parts.items())))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        begin = archive.getinfo("localbayes.json").header_offset + 30 + len("localbayes.json")
    content[begin : begin + 8] = b"\xff" * 8
    (tmp_path / "m.skops").write_bytes(content)
    good = model_of(base(*GOOD).fields)
    X = base(*GOOD).X
    assert load_model(tmp_path / "m.skops").predict(X).tolist() == good.predict(X).tolist()


@pytest.mark.parametrize(("name", "ordered"), [("TAN", 0), ("NB", 0), ("LocalBayesClassifier", 40_000)])
def test_sizes_of_a_small_file_take_no_memory(name, ordered):
    """Very many values, of which the file has no counts, are refused before tables of them are made."""
    fields = copy.deepcopy(base(name, "codes").fields)
    fields["sizes"] = np.array([2, 5, ordered or 100_000_000], np.uint32)
    fields["ordered_sizes"] = np.array([0, 0, ordered], np.int64)
    if "room" in fields["statistic"]:
        fields["statistic"]["room"] = fields["sizes"]
    tracemalloc.start()
    try:
        with pytest.raises(
            ValueError, match=r"value_counts does not fit|has 40000 values; a table of distances"
        ):
            model_of(fields)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [model_files, data_files, stores, random_tables], ids=lambda m: m.__name__)
def test_some_cases_of_every_kind(kind):
    """`make fuzz` runs many more."""
    for number in range(40):
        assert kind.check(number)


def test_the_watchdog_sees_hangs_crashes_errors_and_memory():
    """A case that breaks the promise is named, and the cases after it are still done."""
    words = [sys.executable, run.__file__, "selftest", "--cases", "8", "--jobs", "2"]
    words += ["--seconds", "10", "--megabytes", "200"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1, done.stderr
    reasons = [
        "hangs for more than 10 seconds",
        "ended its process (-11)",
        "AttributeError: no such thing",
        "took",
    ]
    for number, reason in enumerate(reasons):
        assert f"case {number}: {reason}" in done.stdout
    assert "8 cases" in done.stdout
    assert "'good': 4" in done.stdout
