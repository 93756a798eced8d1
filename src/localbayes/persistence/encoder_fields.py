"""The encoder of a table as named fields, and back."""

from typing import Any

import numpy as np

from localbayes.encoding import TableEncoder
from localbayes.encoding.columns import CategoricalColumn, Column, LeftOutColumn, NumericColumn
from localbayes.encoding.discriminant import Discriminant
from localbayes.encoding.rich_encoder import RichEncoder
from localbayes.encoding.roles import TimeKind
from localbayes.encoding.terms import Crossed, Intervals, Odds, Term, Values
from localbayes.fields import Fields

__all__ = ["columns_of", "restore_columns"]

# Names of the fields of columns of times. Files without durations have no field for them.
_TIMES: dict[TimeKind, str] = {"date": "dates", "duration": "durations"}


def columns_of(encoder: TableEncoder) -> dict[str, Any]:
    """What an encoder has learned of its columns."""
    columns: list[dict[str, Any]] = []
    for column in encoder.columns:
        if isinstance(column, NumericColumn):
            fill = None if column.fill is None else float(column.fill)
            kind: dict[str, Any] = {
                "kind": "numeric",
                "cuts": column.cuts,
                "fill": fill,
                "missing_value": bool(column.missing_value),
            }
        elif isinstance(column, LeftOutColumn):
            kind = {"kind": "left out", "reason": column.reason}
        else:
            kind = {
                "kind": "nominal",
                "values": [_plain(value) for value in column.values],
                "declared": bool(column.declared),
                "fill": column.fill,
                "missing_at": column.missing_at,
            }
        columns.append(kind)
    fields = {"names": list(encoder.names), "columns": columns}
    if isinstance(encoder, RichEncoder):
        for time, name in _TIMES.items():
            if time == "date" or time in encoder.times.values():
                fields[name] = [i for i, other in encoder.times.items() if other == time]
        fields["terms"] = [_term_fields(term) for term in encoder.terms]
        if encoder.discriminant is not None:
            fields["discriminant"] = encoder.discriminant.fields()
    return fields


def restore_columns(encoder: TableEncoder, fields: Fields) -> TableEncoder:
    """Give an encoder what it has learned; what does not fit is refused."""
    names = fields.get("names", list)
    columns = [_column(column) for column in fields.each("columns")]
    if len(names) != len(columns) or not columns:
        raise ValueError(f"there are {len(names)} names for {len(columns)} columns")
    if not all(isinstance(name, str) for name in names):
        raise ValueError("names of columns must be text")
    encoder.check_options()
    encoder.names, encoder.columns = names, columns
    encoder.forced = [not isinstance(column, NumericColumn) for column in columns]
    if isinstance(encoder, RichEncoder):
        numeric = [i for i, column in enumerate(columns) if isinstance(column, NumericColumn)]
        encoder.times = _times(fields, numeric)
        for i in encoder.times:
            encoder.forced[i] = True
        if "discriminant" in fields.names():
            encoder.discriminant = Discriminant.restored(fields.inner("discriminant"), numeric)
        encoder.terms = [_term(term, columns, encoder.discriminant) for term in fields.each("terms")]
    return encoder


def _times(fields: Fields, numeric: list[int]) -> dict[int, TimeKind]:
    times: dict[int, TimeKind] = {}
    for kind, name in _TIMES.items():
        columns = fields.get(name, list) if kind == "date" or name in fields.names() else []
        if not all(type(i) is int and i in numeric and i not in times for i in columns):
            raise ValueError(f"{name} must be numbers of numeric columns")
        times |= dict.fromkeys(columns, kind)
    return times


def _term_fields(term: Term) -> dict[str, Any]:
    if isinstance(term, Intervals):
        return {"kind": "intervals", "source": term.source, "cuts": term.cuts, "missing": term.missing}
    if isinstance(term, Values):
        return {"kind": "values", "source": term.source, "values": term.values}
    if isinstance(term, Odds):
        return {"kind": "odds", "number": term.number, "cuts": term.cuts}
    return {"kind": "crossed", "first": term.first, "second": term.second, "sizes": list(term.sizes)}


def _term(fields: Fields, columns: list[Column], discriminant: Discriminant | None) -> Term:
    kind = fields.get("kind", str)
    if kind == "odds":
        number, cuts = fields.get("number", int), fields.array("cuts", "f", 1).astype(np.float64)
        if discriminant is None or not 0 <= number < discriminant.n_scores:
            raise ValueError("log odds must be those of a class of the discriminant")
        if not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
            raise ValueError("cuts of log odds must be finite numbers that increase")
        return Odds(number, cuts, discriminant.sources)
    if kind == "crossed":
        first, second, sizes = fields.get("first", int), fields.get("second", int), fields.get("sizes", list)
        nominal = all(
            0 <= i < len(columns) and isinstance(columns[i], CategoricalColumn) for i in (first, second)
        )
        whole = len(sizes) == 2 and all(type(q) is int and 0 < q < 1 << 16 for q in sizes)
        if not nominal or not whole:
            raise ValueError("a crossed term must name two nominal columns and their sizes")
        return Crossed(first, second, (sizes[0], sizes[1]))
    source = fields.get("source", int)
    if not 0 <= source < len(columns) or not isinstance(columns[source], NumericColumn):
        raise ValueError("a term must name a numeric column")
    values = fields.array("cuts" if kind == "intervals" else "values", "f", 1).astype(np.float64)
    if not len(values) or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
        raise ValueError("cuts and values of a term must be finite numbers that increase")
    return (
        Intervals(source, values, fields.get("missing", bool))
        if kind == "intervals"
        else Values(source, values)
    )


def _column(fields: Fields) -> Column:
    kind = fields.get("kind", str)
    if kind == "left out":
        return LeftOutColumn(fields.get("reason", str))
    if kind == "numeric":
        cuts, fill = fields.array("cuts", "f", 1).astype(np.float64), fields.optional("fill", float)
        if not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any() or not np.isfinite(fill or 0.0):
            raise ValueError("cuts of a column must be finite numbers that increase")
        return NumericColumn(cuts, fill, fields.get("missing_value", bool))
    if kind != "nominal":
        raise ValueError(f"a column is nominal or numeric, got {kind!r:.40}")
    values = fields.scalars("values")
    fill, missing_at = fields.optional("fill", int), fields.optional("missing_at", int)
    if not 0 <= (fill or 0) < max(1, len(values)) or not 0 <= (missing_at or 0) <= len(values):
        raise ValueError("the stand-in for a missing value is none of the values of its column")
    return CategoricalColumn(values, fields.get("declared", bool), fill, missing_at)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.bool_ | np.number | np.str_) else value
