"""Names and values as people know them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import BayesClassifier
from localbayes.counts import Codes
from localbayes.encoding import Coded
from localbayes.encoding.choices import bin_labels
from localbayes.encoding.coded import missing_code
from localbayes.encoding.columns import RawColumn, number_text, value_text
from localbayes.encoding.tables import read_columns

__all__ = ["Readable", "attribute_names"]

Texts = tuple[tuple[str, ...], ...]

_MISSING = "missing"


class Readable:
    """Names of attributes and texts of values, for one classifier and one table.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier.
    X : table of shape (n, m)
        Queries that the classifier has checked.

    Examples
    --------
    >>> from localbayes import NB
    >>> import pandas as pd
    >>> model = NB(n_bins=2).fit(pd.DataFrame({"a": ["u", "v"], "b": [1.0, 3.0]}), ["yes", "no"])
    >>> X = pd.DataFrame({"a": ["w", None], "b": [1.5, 9]})
    >>> readable, codes = Readable(model, X), model.encode(X)
    >>> readable.names, readable.values(codes)
    (('a', 'b'), (('w', '1.5'), ('missing', '9')))
    >>> readable.readings(codes)
    (('never seen', '≤ 2'), ('taken as u', '> 2'))
    """

    def __init__(self, model: BayesClassifier, X: Any) -> None:
        self.names = attribute_names(model, X)
        self._sizes = model.sizes_[: model.n_features_in_].tolist()
        self._labels: list[list[str]] | None = None
        self._raw: list[RawColumn] | None = None
        self._keeps_missing = model.missing == "ignore"
        if model.encoder_ is not None:
            self._labels = [bin_labels(model.encoder_, i) for i in range(len(model.encoder_.columns))]
            if not isinstance(X, Coded):
                self._raw = read_columns(X, model.encoder_.forced)

    def values(self, codes: Codes) -> Texts:
        """Values of the queries as they came."""
        if self._raw is None:
            missing = missing_code(codes.dtype) if self._keeps_missing else -1
            return tuple(self.row(row, missing) for row in codes.astype(np.int64))
        came = [[_as_came(raw, q) for q in range(len(codes))] for raw in self._raw]
        columns = [[_MISSING if value is None else value for value in column] for column in came]
        return tuple(zip(*columns, strict=True))

    def readings(self, codes: Codes) -> Texts:
        """How the classifier reads the values: a bin, a stand-in, "never seen"; empty if as they came."""
        if self._raw is None or self._labels is None:
            return tuple(("",) * codes.shape[1] for _ in codes)
        readings = []
        for raw, labels, column in zip(self._raw, self._labels, codes.T.tolist(), strict=False):
            read = [labels[code] if code < len(labels) else None for code in column]
            readings.append([_reading(_as_came(raw, q), label) for q, label in enumerate(read)])
        return tuple(zip(*readings, strict=True))

    def texts(self, i: int, codes: Sequence[int]) -> list[str]:
        """Values of an attribute that are given by their codes."""
        return [str(code) if self._labels is None else self._labels[i][code] for code in codes]

    def row(self, row: npt.NDArray[np.int64], missing: int) -> tuple[str, ...]:
        """Values of a row of codes; ``missing`` is the code of a value that is not known."""
        texts = []
        for i, (code, size) in enumerate(zip(row.tolist(), self._sizes, strict=False)):
            if code == missing:
                texts.append(_MISSING)
            elif code >= size or code < 0:
                texts.append("(outside its domain)")
            else:
                texts.append(str(code) if self._labels is None else self._labels[i][code])
        return tuple(texts)


def attribute_names(model: BayesClassifier, X: Any = None) -> tuple[str, ...]:
    """Names of the attributes: of the training table, of codes that bring names, or x0, x1, ..."""
    names: Sequence[Any] | None = getattr(model, "feature_names_in_", None)
    if names is None and isinstance(X, Coded):
        names = X.names
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    return tuple(str(name) for name in names)


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
