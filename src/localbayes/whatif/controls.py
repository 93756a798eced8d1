"""What the page asks for: a control for every attribute, and rows of a table to begin with."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.encoding import Coded
from localbayes.encoding.columns import CategoricalColumn, Column, LeftOutColumn, NumericColumn, RawColumn
from localbayes.encoding.roles import TimeKind, as_seconds
from localbayes.encoding.tables import read_columns

__all__ = ["attribute_controls", "common_values", "preset_values"]

_MISSING = -2


def attribute_controls(model: BayesClassifier) -> list[dict[str, Any]]:
    """A control for every attribute: its kind, the texts of its values by code, what "missing" means.

    Codes below zero are those of the page: -1 for a value that was never seen, -2 for one that is missing.

    Examples
    --------
    >>> from localbayes import NB
    >>> attribute_controls(NB().fit([["a"], ["b"], ["b"]], ["yes", "no", "no"]))
    [{'name': 'x0', 'kind': 'nominal', 'labels': ['a', 'b'], 'missing': 1, 'own': -1}]
    """
    names = getattr(model, "feature_names_in_", None)
    texts = [f"x{i}" for i in range(model.n_features_in_)] if names is None else [str(name) for name in names]
    ignores = model.missing == "ignore"
    if model.encoder_ is None:
        absent = _MISSING if ignores else -1
        return [
            {
                "kind": "nominal",
                "name": name,
                "labels": [str(code) for code in range(size)],
                "missing": absent,
                "own": -1,
            }
            for name, size in zip(texts, model.sizes_.tolist(), strict=True)
        ]
    times: Mapping[int, TimeKind] = getattr(model.encoder_, "times", {})
    texts = [f"{name}, in seconds" if times.get(i) == "duration" else name for i, name in enumerate(texts)]
    return [
        {"name": name, **_control(column, times.get(i) == "date", ignores)}
        for i, (name, column) in enumerate(zip(texts, model.encoder_.columns, strict=True))
    ]


def _control(column: Column, is_date: bool, ignores: bool) -> dict[str, Any]:
    if isinstance(column, LeftOutColumn):
        return {"kind": "left out", "reason": column.reason}
    numeric = isinstance(column, NumericColumn)
    lacking = RawColumn("", numbers=np.array([np.nan])) if numeric else RawColumn("", codes=np.array([-1]))
    absent = int(column.encode(lacking)[0])
    if absent == _MISSING and not ignores:
        absent = -1
    labels = column.labels()
    if isinstance(column, NumericColumn):
        return {
            "kind": "date" if is_date else "number",
            "cuts": column.cuts.tolist(),
            "labels": _date_labels(column.cuts) if is_date else labels[: len(column.cuts) + 1],
            "missing": absent,
        }
    # "Missing" as a value of its own is a choice of the control in any case.
    own = -1 if column.missing_at is None else column.missing_at
    return {"kind": "nominal", "labels": labels if column.values else [], "missing": absent, "own": own}


def _date_labels(cuts: npt.NDArray[np.float64]) -> list[str]:
    """Bins of seconds as dates; with the time of day where bins are short.

    Examples
    --------
    >>> _date_labels(np.array([0.0, 1e6]))
    ['≤ 1970-01-01', '(1970-01-01, 1970-01-12]', '> 1970-01-12']
    """
    if not len(cuts):
        return ["any"]
    shortest = np.diff(cuts).min(initial=np.inf)
    unit = "D" if shortest >= 2 * 86400 else "m" if shortest >= 120 else "s"
    edges = [str(cut).replace("T", " ") for cut in cuts.astype("datetime64[s]").astype(f"datetime64[{unit}]")]
    inner = [f"({low}, {high}]" for low, high in pairwise(edges)]
    return [f"≤ {edges[0]}", *inner, f"> {edges[-1]}"]


def preset_values(model: BayesClassifier, X: Any) -> list[list[float | None]]:
    """Rows of a table as the controls hold them: a code, -1 for a value never seen, a number, or None.

    Examples
    --------
    >>> from localbayes import NB
    >>> model = NB().fit([["a", 1.0], ["b", 2.5]], ["yes", "no"])
    >>> preset_values(model, [["b", 2.5], ["c", None]])
    [[1, 2.5], [-1, None]]
    """
    table = model.check_queries(X)
    codes = model.encode_checked(table)[:, : model.n_features_in_].astype(np.int64)
    outside = codes >= model.sizes_[: model.n_features_in_]
    if isinstance(table, Coded):
        absent = table.codes == np.iinfo(table.codes.dtype).max - 1
        cells = np.where(outside, -1, codes).tolist()
        if model.encoder_ is None:
            return [
                [None if lacking else cell for cell, lacking in zip(*row, strict=True)]
                for row in zip(cells, (absent & outside).tolist(), strict=True)
            ]
        raise ValueError("presets must be rows of a table like the one in fit, got codes (Coded)")
    assert model.encoder_ is not None
    times = model.encoder_.times
    columns = []
    for i, raw in enumerate(read_columns(table, model.encoder_.forced)):
        column = model.encoder_.columns[i]
        if isinstance(column, NumericColumn):
            found = as_seconds(raw, times[i]) if i in times else raw
            columns.append([None if np.isnan(x) else x for x in found.numbers.tolist()])
        else:
            lacking = np.zeros(len(codes), bool) if raw.numeric else raw.codes < 0
            given = np.where(outside[:, i], -1, codes[:, i])
            columns.append(
                [None if lost else code for code, lost in zip(given.tolist(), lacking, strict=True)]
            )
    return [list(row) for row in zip(*columns, strict=True)]


def common_values(model: BayesClassifier, totals: Sequence[npt.NDArray[Any]]) -> list[float | None]:
    """The commonest value of every attribute, as the controls hold it; of a number, one in its commonest bin.

    ``totals`` are the numbers of training rows by attribute and code.
    """
    found: list[float | None] = []
    columns: Sequence[Any] = [None] * len(totals) if model.encoder_ is None else model.encoder_.columns
    for column, total in zip(columns, totals, strict=False):
        if isinstance(column, NumericColumn):
            found.append(_inside(column.cuts, int(np.argmax(total[: len(column.cuts) + 1]))))
        else:
            code = int(np.argmax(total))
            own = isinstance(column, CategoricalColumn) and column.missing_at == code
            found.append(None if own else code)
    return found


def _inside(cuts: npt.NDArray[np.float64], at: int) -> float:
    """A number in a bin, which is closed on the right, with as few digits as that takes."""
    if not len(cuts):
        return 0.0
    width = float(np.diff(cuts).mean()) if len(cuts) > 1 else max(1.0, abs(float(cuts[0])))
    low = float(cuts[at - 1]) if at else float(cuts[0]) - width
    high = float(cuts[at]) if at < len(cuts) else float(cuts[-1]) + width
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low < rounded <= high:
            return rounded
    return high if np.isfinite(high) else middle
