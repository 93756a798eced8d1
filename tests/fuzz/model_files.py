"""Damaged and forged model files: `load_model` gives a model that answers, or ValueError or OSError."""

from __future__ import annotations

import copy
import io
import json
import os
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.bases import NAMES, Base, base, rows_for
from localbayes.persistence import load_model
from localbayes.persistence.archive import pack

Rng = np.random.Generator

WHOLE = [0, 1, -1, 2, 7, 254, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32]
WHOLE += [2**62, 2**62 + 2048, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 5e-324, 1e-300, 1e300, 1.7976931348623157e308]
OTHER = [None, True, False, "", "a", "NB", "impute", "\ud800", [], {}, [[]], {"": 0}, [0] * 9]
DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", ">u4", ">i8", ">f8", "b1"]
DTYPES += ["c16", "U3", "S3", "M8[s]", "m8[s]"]


def pick(rng: Rng, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


# --- fields ---------------------------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Path of every value inside, arrays and containers too."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for k, inner in enumerate(value[:8]):
            found += places(inner, (*path, k))
    return found


def at(fields: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        fields = fields[step]
    return fields


def put(fields: Any, path: tuple[Any, ...], value: Any) -> None:
    at(fields, path[:-1])[path[-1]] = value


def change_array(rng: Rng, array: np.ndarray) -> Any:
    """An array with one thing changed: a bit, an entry, the shape, the type or the byte order."""
    new = array.copy()
    flat = new.reshape(-1)
    how = int(rng.integers(12))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if how < 3 and new.nbytes:
            view = flat.view(np.uint8)
            view[rng.integers(len(view))] ^= np.uint8(1 << rng.integers(8))
        elif how < 6 and new.size:
            edge = pick(rng, REAL if new.dtype.kind == "f" else WHOLE)
            where = rng.integers(len(flat)) if how < 5 else slice(None)
            flat[where] = converted(edge, new.dtype) if new.dtype.kind in "iufb" else flat[0]
        elif how == 6:
            kinds = [flat[:-1], np.tile(flat, 2), flat[:0], new[None], new[..., None], flat, flat[:1]]
            new = pick(rng, kinds)
        elif how == 7:
            new = new.astype(pick(rng, DTYPES))
        elif how == 8:
            new = new.astype(new.dtype.newbyteorder(">"))
        elif how == 9 and new.ndim:
            new = np.asfortranarray(new[::-1])
        elif how == 10 and new.size > 1:
            i, j = rng.integers(len(flat), size=2)
            flat[i], flat[j] = flat[j], flat[i]
        else:
            new = pick(rng, [array.tolist(), None, np.asarray(0), array.astype(str), {"a": array}])
    return new


def converted(edge: float, dtype: np.dtype) -> np.ndarray:
    """An edge as an entry of an array; whole numbers wrap around."""
    if dtype.kind in "iub":
        return np.array(int(edge) & (2**64 - 1), np.uint64).astype(dtype)
    return np.array(edge, np.float64).astype(dtype)


def change_value(rng: Rng, value: Any) -> Any:
    """Something else in place of a value."""
    if isinstance(value, np.ndarray):
        return change_array(rng, value)
    how = int(rng.integers(4))
    if isinstance(value, list) and value and how:
        k = int(rng.integers(len(value)))
        return [value[:k] + value[k + 1 :], [*value, value[k]], value[::-1]][how - 1]
    if isinstance(value, dict) and value and how:
        key = pick(rng, list(value))
        rest = {name: inner for name, inner in value.items() if name != key}
        return [rest, {**rest, f"{key}x": value[key]}, {**value, "other": 1}][how - 1]
    if isinstance(value, str) and how:
        return [value + "x", value[:-1], value.upper()][how - 1]
    return copy.deepcopy(pick(rng, [WHOLE, REAL, OTHER][int(rng.integers(3))]))


def scaled(rng: Rng, fields: dict[str, Any]) -> None:
    """Multiply all counts or weights alike, so that sums still fit."""
    factor = pick(rng, [2, 1000, 2**20, 2**26, 2**31 // 40, 2**40, 2**56, 1e-300, 1e300, 1e306, 5e-324, 0])

    def times(array: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            if array.dtype.kind == "i" and isinstance(factor, int):
                return (array.astype(np.int64) * np.int64(factor)).astype(array.dtype)
            return (array.astype(np.float64) * factor).astype(array.dtype)

    statistic = fields["statistic"]
    fields["class_count"] = times(fields["class_count"])
    for name, table in statistic.items():
        if isinstance(table, np.ndarray) and name.endswith("counts"):
            statistic[name] = times(table)
    for part in statistic.get("segments", []):
        if part["weights"] is None and rng.random() < 0.5:
            part["weights"] = np.ones(len(part["row_classes"]))
        if part["weights"] is not None:
            part["weights"] = times(part["weights"])


def forged(rng: Rng, of: Base) -> bytes:
    """A file whose fields are changed and whose container is good."""
    fields = copy.deepcopy(of.fields)
    if rng.random() < 0.12:
        scaled(rng, fields)
    for _ in range(pick(rng, [1, 1, 1, 2, 3])):
        path = pick(rng, places(fields))
        arrays = [p for p in places(fields) if isinstance(at(fields, p), np.ndarray)]
        if arrays and rng.random() < 0.5:
            path = pick(rng, arrays)
        if rng.random() < 0.15:
            other = base(*pick(rng, NAMES)).fields
            source = path if path in places(other) else pick(rng, places(other))
            put(fields, path, copy.deepcopy(at(other, source)))
        else:
            put(fields, path, change_value(rng, at(fields, path)))
    try:
        return pack(fields)
    except ValueError:  # it cannot be written
        return damaged_bytes(rng, of.content)


# --- containers -----------------------------------------------------------------------------------


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of doubled names
        for name, content in parts:
            archive.writestr(name, content)
    return buffer.getvalue()


def damaged_bytes(rng: Rng, content: bytes) -> bytes:
    """Bytes flipped, cut off, cut out, doubled or overwritten."""
    new = bytearray(content)
    how = int(rng.integers(6))
    k = int(rng.integers(len(new)))
    if how == 0:
        return bytes(new[:k])
    if how == 1:
        del new[k : k + int(rng.integers(1, 40))]
    elif how == 2:
        new[k:k] = new[k : k + int(rng.integers(1, 40))]
    elif how == 3:  # near the end is the directory of the archive
        k = len(new) - 1 - int(rng.integers(min(len(new), 900)))
        new[k] = pick(rng, [0, 255, 127, 128, new[k] ^ 1])
    else:
        for _ in range(pick(rng, [1, 1, 2, 8])):
            new[int(rng.integers(len(new)))] ^= 1 << int(rng.integers(8))
    return bytes(new)


def laughs(depth: int) -> dict[str, Any]:
    """A description of lists of the same two lists each, 2**depth leaves in all."""
    node = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "1"}
    node |= {"is_json": True, "__id__": 10**6}
    for level in range(depth):
        both = [node, {"__id__": node["__id__"], "__loader__": "CachedNode"} | _name("list")]
        node = {**_name("list"), "__loader__": "ListNode", "content": both, "__id__": 10**6 + 1 + level}
    return node


def _name(name: str) -> dict[str, str]:
    return {"__class__": name, "__module__": "builtins"}


def change_schema(rng: Rng, schema: Any) -> Any:
    """Another description: nodes moved, exchanged, renamed, made to refer to each other."""
    found = [p for p in places(schema) if p]
    path = pick(rng, found)
    how = int(rng.integers(6))
    loaders = ["DictNode", "ListNode", "JsonNode", "NdArrayNode", "TupleNode", "SetNode", "TypeNode"]
    loaders += ["ObjectNode", "FunctionNode", "CachedNode", "BytesNode", "SliceNode", "DTypeNode"]
    types = [("builtins", "list"), ("numpy", "ndarray"), ("sklearn.svm", "SVC"), ("os", "system")]
    types += [("sklearn.linear_model", "LogisticRegression"), ("numpy", "add"), ("builtins", "bytes")]
    if how == 0:
        put(schema, path, copy.deepcopy(at(schema, pick(rng, found))))
    elif how == 1:
        put(schema, path, change_value(rng, at(schema, path)))
    elif how == 2:
        named = [p for p in found if p[-1] == "__loader__"]
        put(schema, pick(rng, named), pick(rng, loaders))
    elif how == 3:
        named = [p[:-1] for p in found if p[-1] == "__class__" and len(p) > 1]
        node, (module, name) = at(schema, pick(rng, named)), pick(rng, types)
        node["__module__"], node["__class__"] = module, name
    elif how == 4:
        ids = [p for p in found if p[-1] == "__id__"]
        put(schema, pick(rng, ids), at(schema, pick(rng, ids)))
    else:
        nodes = [p for p in found if isinstance(at(schema, p), dict) and "__class__" in at(schema, p)]
        put(schema, pick(rng, nodes), laughs(pick(rng, [3, 30, 200, 2000])))
    return schema


def rebuilt(rng: Rng, of: Base) -> bytes:
    """A good archive of other members: missing, doubled, cut, of another header, bombs."""
    parts = list(members(of.content).items())
    names = [name for name, _ in parts]
    k = int(rng.integers(len(parts)))
    how = int(rng.integers(10))
    name, content = parts[k]
    arrays = [i for i, name in enumerate(names) if name.endswith(".npy")]
    method = zipfile.ZIP_DEFLATED
    if how == 0:
        del parts[k]
    elif how == 1:
        parts.append((name, damaged_bytes(rng, content)))
    elif how == 2:
        parts[k] = (pick(rng, [f"../{name}", f"{name}x", "/", pick(rng, names)]), content)
    elif how == 3:
        parts[k] = (name, damaged_bytes(rng, content))
    elif how == 4 and arrays:  # another header of an array, of the same length
        k = pick(rng, arrays)
        name, content = parts[k]
        shape = pick(rng, [b"(99999999999999,)", b"(0,)", b"(-1,)", b"(2,3)", b"()", b"(1,)*999", b"(True,)"])
        begin = content.find(b"(")
        parts[k] = (name, content[:begin] + shape + content[content.find(b")", begin) + 1 :])
    elif how == 5:
        method = pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
        if rng.random() < 0.05:
            parts.append(("bomb.npy", bytes(70 << 20)))
    elif how == 6 and rng.random() < 0.05:
        parts += [(f"{i}.npy", b"") for i in range(3000)]
    else:
        k = names.index("schema.json")
        schema = change_schema(rng, json.loads(parts[k][1]))
        try:
            text = json.dumps(schema)
        except (RecursionError, ValueError, TypeError):
            text = "[" * 10**5
        parts[k] = ("schema.json", text.encode("utf-8", "surrogatepass"))
    return zipped(parts, method)


# --- the property ---------------------------------------------------------------------------------


def make(number: int) -> tuple[Base, bytes]:
    """The file of one case."""
    rng = np.random.default_rng([17, number])
    of = base(*NAMES[number % len(NAMES)])
    how = number // len(NAMES) % 4
    if how == 0:
        return of, damaged_bytes(rng, of.content)
    return of, rebuilt(rng, of) if how == 1 else forged(rng, of)


def check(number: int) -> str:
    """Load the file of one case and use the model; the outcome, or an error where the promise is broken."""
    of, content = make(number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        path.write_bytes(content)
        try:
            model = load_model(path)
        except (ValueError, OSError) as error:
            return refusal(error)
    return use(model, of)


def refusal(error: Exception) -> str:
    """The outcome of a file that is refused: one line says why."""
    if len(str(error).splitlines()) != 1:
        raise AssertionError(f"the message is not one line: {str(error)!r}")
    return "refused"


def use(model: Any, of: Base) -> str:
    """Ask a loaded model everything."""
    X, y = rows_for(model, of)
    refused = 0

    def ask(question: Any) -> Any:
        nonlocal refused
        try:
            return question()
        except ValueError:
            refused += 1
            return None

    proba = ask(lambda: model.predict_proba(X))
    if proba is not None:
        assert proba.shape == (12, len(model.classes_)), proba.shape
        assert ((proba >= 0) & (proba <= 1 + 1e-9)).all(), "probabilities outside [0, 1]"
    ask(lambda: model.predict(X))
    ask(lambda: model.explain(X[:2] if hasattr(X, "shape") else X))
    if hasattr(model, "leave_one_out"):
        ask(lambda: model.leave_one_out([1.0, 5.0]))
    ask(lambda: model.partial_fit(X, y))
    ask(lambda: model.partial_fit(X, y, sample_weight=np.full(12, 0.25)))
    ask(lambda: model.predict_proba(X))
    return "answers, some with ValueError" if refused else "answers"


def keep(number: int, folder: str) -> str:
    """Write the file of a case for a look at it."""
    path = os.path.join(folder, f"case-{number}.skops")
    Path(path).write_bytes(make(number)[1])
    return path
