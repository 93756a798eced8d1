"""Names and values as people know them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import BayesClassifier
from localbayes.encoding import Coded
from localbayes.encoding.coded import Codes, missing_code
from localbayes.encoding.columns import RawColumn, number_text, value_text
from localbayes.encoding.tables import read_columns

__all__ = ["attribute_names", "query_values", "row_labels"]

Texts = tuple[tuple[str, ...], ...]

_MISSING = "missing"


def attribute_names(model: BayesClassifier, X: Any) -> tuple[str, ...]:
    """Names of the attributes: of the training table, of codes that bring names, or x0, x1, ...

    Examples
    --------
    >>> from localbayes import NB
    >>> attribute_names(NB().fit([["a", "b"]], ["c"]), [["a", "b"]])
    ('x0', 'x1')
    """
    names: Sequence[Any] | None = getattr(model, "feature_names_in_", None)
    if names is None and isinstance(X, Coded):
        names = X.names
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    return tuple(str(name) for name in names)


def query_values(model: BayesClassifier, X: Any, codes: Codes) -> tuple[Texts, Texts]:
    """Values of queries, and what the model makes of them where that is something else.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    X : table of shape (n, m)
        The queries, as they came.
    codes : array of shape (n, m)
        The same as codes.

    Returns
    -------
    values, readings : tuples of n tuples of m str
        Values as they came; bins, stand-ins for missing values and "never seen", else nothing.

    Examples
    --------
    >>> from localbayes import NB
    >>> import pandas as pd
    >>> model = NB(n_bins=2).fit(pd.DataFrame({"a": ["u", "v"], "b": [1.0, 3.0]}), ["yes", "no"])
    >>> X = pd.DataFrame({"a": ["w", None], "b": [1.5, 9]})
    >>> query_values(model, X, model._queries(X))
    ((('w', '1.5'), ('missing', '9')), (('never seen', '≤ 2'), ('taken as u', '> 2')))
    """
    if model.encoder_ is None or isinstance(X, Coded):
        missing = missing_code(codes.dtype) if model.missing == "ignore" else -1
        values = [row_labels(model, row, missing) for row in codes.astype(np.int64)]
        return tuple(values), tuple(("",) * codes.shape[1] for _ in values)
    raws = read_columns(model._check_table(X, reset=False), model.encoder_.forced)
    columns, readings = [], []
    for i, (raw, column) in enumerate(zip(raws, model.encoder_.columns, strict=True)):
        labels = column.labels()
        came = [_as_came(raw, q) for q in range(len(codes))]
        read = [labels[code] if code < len(labels) else None for code in codes[:, i].tolist()]
        columns.append([_MISSING if value is None else value for value in came])
        readings.append([_reading(*pair) for pair in zip(came, read, strict=True)])
    return tuple(zip(*columns, strict=True)), tuple(zip(*readings, strict=True))


def row_labels(model: BayesClassifier, row: npt.NDArray[np.int64], missing: int) -> tuple[str, ...]:
    """Readable values of a row of codes."""
    columns = None if model.encoder_ is None else [column.labels() for column in model.encoder_.columns]
    texts = []
    for i, (code, size) in enumerate(zip(row.tolist(), model.sizes_.tolist(), strict=True)):
        if code == missing:
            texts.append(_MISSING)
        elif code >= size or code < 0:
            texts.append("(outside its domain)")
        else:
            texts.append(str(code) if columns is None else columns[i][code])
    return tuple(texts)


def _as_came(raw: RawColumn, q: int) -> str | None:
    """A value of the table as text, None where missing."""
    if raw.numeric:
        number = raw.numbers[q]
        return None if np.isnan(number) else number_text(float(number))
    return None if raw.codes[q] < 0 else value_text(raw.values[raw.codes[q]])


def _reading(came: str | None, label: str | None) -> str:
    if came is None:
        return "" if label in (None, "(missing)") else f"taken as {label}"
    if label is None:
        return "never seen"
    # A column of one value has a bin that says nothing.
    return "" if label in (came, "any") else label
