"""Model files: the same answers after loading, nothing but data inside, never half a file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from localbayes import AODE, LCWNB, NB, TAN
from localbayes.classifiers import METHODS
from localbayes.datasets import load
from localbayes.encoding import Coded
from localbayes.persistence import load_model, save_model
from localbayes.persistence.archive import pack
from localbayes.persistence.schema import fields_of

LABELS = ["no", "yes", "no", "no", "yes", "yes"]


def mixed_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "text": ["a", "b", None, "a", "naïve\n", "b"],
            "number": [1.5, np.nan, 3.0, -4.25, 1e9, 0.1],
            "whole": [1, 2, 3, 4, 5, 6],
            "declared": pd.Categorical(["u", "v", "u", None, "v", "u"], categories=["w", "v", "u"]),
            "declared numbers": pd.Categorical([1, 2, 1, 2, 1, 2], categories=[3, 2, 1]),
            "flag": [True, False, True, True, False, False],
            "nullable": pd.array([1, None, 2, 3, 3, 1], dtype="Int64"),
            "never known": [None] * 6,
        }
    )


TABLES: dict[str, Any] = {
    "labor": lambda: load("labor"),
    "mixed frame": lambda: (mixed_frame(), LABELS),
    "declared classes": lambda: (mixed_frame(), pd.Categorical(LABELS, ["yes", "never", "no"])),
    "whole classes": lambda: (mixed_frame(), np.array([3, 1, 2, 3, 1, 2])),
    "bool classes": lambda: (mixed_frame(), np.array([True, False, True, True, False, False])),
    "objects": lambda: (mixed_frame()[["text", "whole"]].to_numpy(dtype=object), LABELS),
    "numbers": lambda: (np.linspace(-1, 1, 18).reshape(6, 3) ** 3, LABELS),
    "codes": lambda: (Coded([[0, 1], [1, 2], [0, 0], [1, 1], [0, 2], [1, 0]], [2, 4]), LABELS),
}


def same_bits(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", METHODS)
def test_a_loaded_model_gives_the_same_bits(method: str, table: str, tmp_path: Path) -> None:
    """Saving and loading changes no bit of any answer, for any method and any kind of table."""
    X, y = TABLES[table]()
    model = METHODS[method]().fit(X, y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert same_bits(loaded.predict_log_proba(X), model.predict_log_proba(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.classes_.dtype == model.classes_.dtype


@pytest.mark.parametrize("method", METHODS)
def test_options_of_the_encoding_survive(method: str, tmp_path: Path) -> None:
    """Bins, forced categories and the way of missing values belong to the model."""
    X = mixed_frame()
    model = METHODS[method](n_bins=3, missing="category", categorical_features=["text", "declared", "flag"])
    X = X[["text", "number", "whole", "declared", "flag"]]
    model.fit(X, LABELS)
    save_model(model, tmp_path / "model.skops")
    assert same_bits(load_model(tmp_path / "model.skops").predict_proba(X), model.predict_proba(X))


def test_learning_goes_on_after_loading(tmp_path: Path) -> None:
    """A loaded model that learns more rows equals one that learned them without the detour."""
    X, y = load("vote")
    half = LCWNB().fit(X[:200], y[:200])
    save_model(half, tmp_path / "half.skops")
    loaded = load_model(tmp_path / "half.skops").partial_fit(X[200:], y[200:])
    whole = LCWNB().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert same_bits(loaded.predict_proba(X), whole.predict_proba(X))


def test_many_values_stay_one_list(tmp_path: Path) -> None:
    """A column with very many whole numbers as categories becomes one list, not a file per value."""
    X = pd.DataFrame({"zip": np.arange(3_000)})
    model = METHODS["LWNB"](categorical_features=["zip"]).fit(X, np.arange(3_000) % 2)
    save_model(model, tmp_path / "model.skops")
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        assert len(archive.namelist()) < 50
    assert same_bits(load_model(tmp_path / "model.skops").predict_proba(X[:9]), model.predict_proba(X[:9]))


def test_a_model_file_holds_arrays_and_json_only(tmp_path: Path) -> None:
    """Nothing in a model file needs pickle: NumPy reads every array with pickle forbidden."""
    save_model(LCWNB().fit(mixed_frame(), LABELS), tmp_path / "model.skops")
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                np.load(io.BytesIO(content), allow_pickle=False)
            else:
                json.loads(content)


class Own(LCWNB):
    """A classifier of somebody else."""


class Trap:
    """An object that leaves a mark when it is made."""

    def __init__(self, path: str) -> None:
        Path(path).write_text("made")

    def __reduce__(self) -> tuple[Any, ...]:
        return Trap, (self.__dict__.get("path", ""),)


def test_a_foreign_type_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """A file that names a type of somebody else is refused, and none of its objects come into being."""
    mark = tmp_path / "mark"
    trap = object.__new__(Trap)
    trap.__dict__["path"] = str(mark)
    model = LCWNB().fit(mixed_frame(), LABELS)
    model.extra_ = trap
    skops.io.dump(model, tmp_path / "bad.skops")
    with pytest.raises(ValueError, match=r"bad\.skops is refused: .*not trusted.*Trap") as refusal:
        load_model(tmp_path / "bad.skops")
    assert "\n" not in str(refusal.value)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("module", "name", "loader"),
    [
        ("posix", "system", "FunctionNode"),
        ("localbayes.kernels", "use_isa", "FunctionNode"),
        ("localbayes.kernels", "os", "TypeNode"),
        ("localbayes.persistence", "Path", "TypeNode"),
        ("localbayes.kernels._kernels", "MatchCounts", "ObjectNode"),
        ("localbayes.cli", "main", "FunctionNode"),
    ],
)
def test_functions_and_imports_of_the_package_are_not_trusted(
    module: str, name: str, loader: str, tmp_path: Path
) -> None:
    """Trust covers the classes this package defines, not whatever else can be reached through it."""
    path = tmp_path / "bad.skops"
    schema = {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, "protocol": 2}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    with pytest.raises(ValueError, match=f"not trusted: {module}.{name}"):
        load_model(path)


def test_a_pickle_is_refused_and_not_opened(tmp_path: Path) -> None:
    """A pickle under the name of a model does nothing."""
    trap = object.__new__(Trap)
    trap.__dict__["path"] = str(tmp_path / "mark")
    (tmp_path / "model.skops").write_bytes(pickle.dumps(trap))
    with pytest.raises(ValueError, match="damaged or no model file"):
        load_model(tmp_path / "model.skops")
    assert not (tmp_path / "mark").exists()


def test_models_of_others_are_not_ours(tmp_path: Path) -> None:
    """A harmless model of scikit-learn's is named and refused, both ways."""
    tree = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    skops.io.dump([1, 2], tmp_path / "list.skops")
    with pytest.raises(ValueError, match=r"holds a list; expected a classifier of localbayes"):
        load_model(tmp_path / "list.skops")
    with pytest.raises(TypeError, match="expected a classifier of localbayes, got sklearn"):
        save_model(tree, tmp_path / "tree.skops")


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    """Dates, intervals and classifiers of one's own are refused when saving, and no file appears."""
    dates = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=6)})
    spans = pd.DataFrame({"span": pd.cut(np.arange(6.0), 2)})
    for X, named in ((dates, "Timestamp"), (spans, "Interval")):
        with pytest.raises(ValueError, match=rf"but this model has pandas.*{named}"):
            save_model(LCWNB().fit(X, LABELS), tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"and .*test_persistence\.Own is a class of your own: keep"):
        save_model(Own().fit(mixed_frame(), LABELS), tmp_path / "model.skops")
    flags = [label == LABELS[0] for label in LABELS]
    for model, named in (
        (
            LCWNB(1, categorical_features=pd.Index(["day"])).fit(dates.astype(str), LABELS),
            "the model cannot be saved",
        ),
        (
            LCWNB(1, class_weight={True: 1.0, False: 2.0}).fit(spans.astype(str), flags),
            "keys of class_weight",
        ),
    ):
        with pytest.raises(ValueError, match=named):
            save_model(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())
    with_numbers = LCWNB(1, class_weight={1: 1.0, 0: 2.0}).fit(spans.astype(str), flags)
    save_model(with_numbers, tmp_path / "model.skops")
    assert load_model(tmp_path / "model.skops").class_weight == {True: 1.0, False: 2.0}


def test_an_unfitted_model_is_refused(tmp_path: Path) -> None:
    """There is nothing to save before fit, and a file with an unfitted model is no model file."""
    with pytest.raises(NotFittedError):
        save_model(LCWNB(), tmp_path / "model.skops")
    skops.io.dump(LCWNB(), tmp_path / "model.skops")
    with pytest.raises(ValueError, match="is refused: it names types that are not trusted"):
        load_model(tmp_path / "model.skops")


def test_damage_is_noticed(tmp_path: Path) -> None:
    """A truncated file is refused; a changed byte is noticed or harmless."""
    X = mixed_frame()[["text", "number"]]
    model = LCWNB().fit(X, LABELS)
    path = tmp_path / "model.skops"
    save_model(model, path)
    content = path.read_bytes()
    expected = model.predict_proba(X)
    for end in range(0, len(content), 101):
        path.write_bytes(content[:end])
        with pytest.raises(ValueError, match=r"model\.skops is (damaged or no model file|empty)"):
            load_model(path)
    for place in range(0, len(content), 37):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        with contextlib.suppress(ValueError):
            assert same_bits(load_model(path).predict_proba(X), expected)


def with_entry(table: Any, value: int) -> Any:
    """The table with another value in one place."""
    changed = table.copy()
    changed[0, 0] = value
    return changed


@pytest.mark.parametrize("name", ["NB", "TAN", "AODE", "WAODE", "HNB"])
@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("value_counts", lambda table: table[:-1]),
        ("value_counts", lambda table: table.astype(str)),
        ("value_counts", lambda table: -table),
        ("value_counts", lambda table: table + 1),
        ("value_counts", lambda table: with_entry(table, np.iinfo(table.dtype).max)),
        ("class_counts", lambda table: table[None]),
        ("class_counts", lambda table: table + 1),
    ],
)
def test_counts_that_do_not_fit_together_are_refused(
    tmp_path: Path, name: str, part: str, wrong: Any
) -> None:
    """What a file says of its tables is checked before anything is looked up in them."""
    model = METHODS[name]().fit(mixed_frame(), LABELS)
    setattr(model.counts_, part, wrong(getattr(model.counts_, part)))
    save_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"model\.skops is damaged or no model file"):
        load_model(tmp_path / "model.skops")


def test_a_file_without_training_rows_is_refused(tmp_path: Path) -> None:
    """Without rows and smoothing there are no probabilities, and no fit makes such a model."""
    model = NB(alpha=0.0).fit(mixed_frame(), LABELS)
    empty = model.empty_statistic(model.sizes_, len(model.labels_))
    model.set_class_count(np.zeros(len(model.labels_), dtype=np.int64))
    model.counts_ = empty
    save_model(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match="no training rows"):
        load_model(tmp_path / "model.skops")


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("sizes", lambda sizes: sizes + np.uint32(9)),
        ("sizes", lambda sizes: sizes.astype(np.int64) - 2),
        ("classes", lambda labels: [*labels, "another"]),
        ("classes", lambda labels: labels[:1] * len(labels)),
        ("class_count", lambda count: count[:-1]),
        ("class_count", lambda count: -count),
        ("classifier", lambda name: "Unknown"),
        ("parameters", lambda given: {**given, "n_bins": -1}),
        ("parameters", lambda given: {**given, "other": 1}),
        ("feature_names", lambda names: names[:-1]),
        ("columns", lambda columns: None if columns is None else {**columns, "names": []}),
        ("statistic", lambda statistic: {}),
        ("learned", lambda learned: []),
    ],
)
def test_fields_that_do_not_fit_together_are_refused(
    tmp_path: Path, name: str, field: str, wrong: Any
) -> None:
    """Every field of a model file is checked against the others before it is used."""
    fields = fields_of(METHODS[name]().fit(mixed_frame(), LABELS))
    (tmp_path / "model.skops").write_bytes(pack({**fields, field: wrong(fields[field])}))
    with pytest.raises(ValueError, match=r"model\.skops is damaged or no model file"):
        load_model(tmp_path / "model.skops")


@pytest.mark.parametrize("name", list(METHODS))
def test_a_missing_field_is_named(tmp_path: Path, name: str) -> None:
    """A file that lacks a field is refused with the name of the field."""
    fields = fields_of(METHODS[name]().fit(mixed_frame(), LABELS))
    for field in fields:
        rest = {key: value for key, value in fields.items() if key != field}
        (tmp_path / "model.skops").write_bytes(pack(rest))
        with pytest.raises(ValueError, match=rf"damaged or no model file \({field} is missing\)"):
            load_model(tmp_path / "model.skops")


def test_a_bomb_is_refused_and_a_large_model_is_not(tmp_path: Path) -> None:
    """A small file that unpacks to much is refused; a model that compresses well is stored as it is."""
    fields = fields_of(METHODS["NB"]().fit(mixed_frame(), LABELS))
    path = tmp_path / "model.skops"
    content = io.BytesIO(pack(fields))
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("padding.npy", bytes(70 << 20))
    path.write_bytes(content.getvalue())
    with pytest.raises(ValueError, match=r"would unpack to \d+ bytes, more than 67108864"):
        load_model(path)
    load_model(path, max_bytes=100 << 20)
    same = METHODS["ICLNB"]().fit(
        Coded(np.zeros((40_000_000, 1), np.uint8), [2]), np.zeros(40_000_000, np.uint8)
    )
    save_model(same, path, force=True)
    assert load_model(path).class_count_.tolist() == [40_000_000]


@pytest.mark.parametrize("name", list(METHODS))
def test_what_follows_from_the_counts_is_not_taken_from_the_file(tmp_path: Path, name: str) -> None:
    """Places of slots and tables of probabilities are made anew, and so point nowhere else."""
    model = METHODS[name]().fit(mixed_frame(), LABELS)
    expected = model.predict_proba(mixed_frame())
    if hasattr(model, "counts_"):
        model.counts_.first_slot = model.counts_.first_slot + 10**9
    for key, value in vars(model).items():
        if key[0] == "_" and key not in ("_class_count", "_log_shift") and isinstance(value, np.ndarray):
            setattr(model, key, value[:1] * 1000)
    save_model(model, tmp_path / "model.skops")
    assert same_bits(load_model(tmp_path / "model.skops").predict_proba(mixed_frame()), expected)


def test_a_file_of_another_version_says_so(tmp_path: Path) -> None:
    """Where a file of another version cannot be read, the message names both versions."""
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w") as archive:
        schema = {"__class__": "LCWNB", "__module__": "localbayes.classifiers.lcwnb", "protocol": 2}
        archive.writestr("schema.json", json.dumps({**schema, "__loader__": "ObjectNode", "__id__": 1}))
        archive.writestr("localbayes.json", json.dumps({"localbayes": "0.1.0"}))
    with pytest.raises(ValueError, match=r"written by localbayes 0\.1\.0, which .* cannot read: fit"):
        load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("localbayes.json", json.dumps({"localbayes": "99.1", "format": 99}))
    with pytest.raises(ValueError, match=r"has format 99, written by localbayes 99\.1; .* install a later"):
        load_model(path)


def test_another_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    """An existing file stays as it is without force, and also if saving fails with force."""
    path = tmp_path / "model.skops"
    path.write_text("precious")
    model = LCWNB().fit(mixed_frame(), LABELS)
    with pytest.raises(FileExistsError, match="exists; choose another name"):
        save_model(model, path)
    with pytest.raises(ValueError, match="Own"):
        save_model(Own().fit(mixed_frame(), LABELS), path, force=True)
    assert path.read_text() == "precious"
    save_model(model, path, force=True)
    assert same_bits(load_model(path).predict_proba(mixed_frame()), model.predict_proba(mixed_frame()))
    assert os.listdir(tmp_path) == ["model.skops"]


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a device, a missing folder and a locked one each get their message; a link is followed."""
    model = LCWNB().fit(mixed_frame(), LABELS)
    with pytest.raises(OSError, match="is a folder"):
        save_model(model, tmp_path)
    with pytest.raises(ValueError, match="not a regular file"):
        save_model(model, os.devnull, force=True)
    assert not Path(os.devnull).is_file()
    with pytest.raises(OSError, match=r"cannot write .*absent.model\.skops: there is no folder"):
        save_model(model, tmp_path / "absent" / "model.skops")
    with pytest.raises(OSError, match=r"cannot write /proc/model\.skops"):
        save_model(model, "/proc/model.skops")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save_model(model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert isinstance(load_model(tmp_path / "real"), LCWNB)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="no permission to write in the folder"):
        save_model(model, tmp_path / "other")


@pytest.mark.parametrize(
    ("model", "changed"),
    [(NB(), {"alpha": 100.0}), (TAN(), {"alpha": 3.0}), (AODE(), {"min_count": 9})],
    ids=["NB", "TAN", "AODE"],
)
def test_parameters_changed_after_fit_are_not_saved(tmp_path, model, changed):
    """What is saved predicts the same when it is loaded, or is refused."""
    model.fit([["p"], ["q"]] * 3, ["n", "y"] * 3)
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops")
    for one in (model, loaded):
        one.set_params(**changed)
        with pytest.raises(ValueError, match=r"in fit and is .* now: fit again, then save"):
            save_model(one, tmp_path / "other.skops")
        one.fit([["p"], ["q"]] * 3, ["n", "y"] * 3)
        save_model(one, tmp_path / "other.skops", force=True)
        again = load_model(tmp_path / "other.skops")
        assert again.predict_proba([["p"]]).tolist() == one.predict_proba([["p"]]).tolist()


def test_an_empty_file_is_called_empty(tmp_path):
    (tmp_path / "m.skops").touch()
    with pytest.raises(ValueError, match=r"m\.skops is empty; expected what"):
        load_model(tmp_path / "m.skops")
