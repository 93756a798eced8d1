"""Class labels and their codes."""

import sys
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from localbayes._warnings import warn as warn_user
from localbayes.encoding.columns import sorted_values
from localbayes.encoding.raw_columns import is_missing
from localbayes.encoding.tables import is_frame

__all__ = ["ClassLabels", "take_labels"]


class ClassLabels:
    """The classes: sorted for users, in declared order to break ties.

    Parameters
    ----------
    declared : list
        Class labels in the order in which they were declared.

    Examples
    --------
    >>> labels = ClassLabels.learn(["no", "yes", "no"])
    >>> labels.classes.tolist(), labels.encode(["yes"]).tolist()
    (['no', 'yes'], [1])
    """

    def __init__(self, declared: list[Any]) -> None:
        self.declared = declared
        self.classes = _label_array(sorted_values(declared))
        position = {label: k for k, label in enumerate(declared)}
        # columns[k] is the declared position of the k-th sorted class
        self.columns = np.array([position[label] for label in _listed(self.classes)], dtype=np.intp)
        self.sorted_position = np.argsort(self.columns)

    @classmethod
    def learn(cls, y: Any, classes: Any = None) -> "ClassLabels":
        """Classes given, declared by a categorical y, or observed in it."""
        if classes is not None:
            return cls(_given(classes))
        y = _vector(y)
        declared = _declared(y)
        if declared is not None:
            return cls(declared)
        y = _column(y)
        with suppress(TypeError):  # scikit-learn cannot sort labels of several types
            check_classification_targets(y)
        return cls(sorted_values(list(dict.fromkeys(_listed(y)))))

    def __len__(self) -> int:
        return len(self.declared)

    def check_same(self, classes: Any) -> None:
        """Refuse other classes than those that were given first."""
        if set(_given(classes)) != set(self.declared):
            raise ValueError(
                f"classes must be those of the first partial_fit, {self.classes.tolist()[:10]}, "
                f"got {classes!r:.80}"
            )

    def arranged(self, scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Scores whose last axis is in declared order, in the order of ``classes``."""
        as_declared = (self.columns == np.arange(len(self))).all()
        return scores if as_declared else scores[..., self.columns]

    def encode(self, y: Any) -> npt.NDArray[np.int64]:
        """Position of every label in declared order."""
        y = _vector(y, warn=True)
        declared = _declared(y)
        position = {label: k for k, label in enumerate(self.declared)}
        if declared is not None:
            own = _own_codes(y)
            if own.min(initial=0) < 0:
                _refuse(np.flatnonzero(own < 0))
            if declared == self.declared:
                return own
            translate = np.array([position.get(label, -1) for label in declared], dtype=np.int64)
            codes: npt.NDArray[np.int64] = translate[own]
            unknown = [declared[k] for k in np.unique(own[codes < 0])]
        else:
            y = _column(y, warn=True)
            codes = np.fromiter((position.get(v, -1) for v in _listed(y)), np.int64, len(y))
            unknown = list(dict.fromkeys(_listed(y[codes < 0])))
        if unknown:
            raise ValueError(
                f"y contains the class {unknown[0]!r}, which is not among the declared classes "
                f"{self.classes.tolist()[:10]}; pass all classes at the first partial_fit"
            )
        return codes


def take_labels(y: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """Labels where ``kept`` is true; classes that y declares stay declared.

    Examples
    --------
    >>> take_labels(["no", "yes", "no"], np.array([True, False, True]))
    ['no', 'no']
    """
    y = _vector(y, warn=True)
    if hasattr(y, "filter") and hasattr(y, "to_physical"):
        return y.filter(type(y)(kept))  # polars before 1.11 takes no array
    if is_frame(y):
        return column_or_1d(y)[kept]
    return y[kept] if hasattr(y, "dtype") else [label for label, keep in zip(y, kept, strict=True) if keep]


def _given(classes: Any) -> list[Any]:
    """Classes as they were given, each once."""
    declared = _declared(classes)
    if declared is None:
        declared = list(dict.fromkeys(_listed(_column(classes))))
    return declared


def _declared(y: Any) -> list[Any] | None:
    """Declared classes of a pandas categorical or a polars Enum, None of anything else."""
    dtype = getattr(y, "dtype", None)
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    declares = (pandas is not None and isinstance(dtype, pandas.CategoricalDtype)) or (
        polars is not None and isinstance(dtype, polars.Enum)
    )
    return list(dtype.categories.to_list()) if declares and dtype is not None else None


def _own_codes(y: Any) -> npt.NDArray[np.int64]:
    """Positions of a categorical's labels in its own list of classes; -1 where missing."""
    if hasattr(y, "to_physical"):
        return np.array([-1 if k is None else k for k in y.to_physical().to_list()], dtype=np.int64)
    return np.array(getattr(y, "array", y).codes, dtype=np.int64)


def _label_array(labels: list[Any]) -> npt.NDArray[Any]:
    """Labels as an array whose elements equal them; NumPy would turn 1 and "a" both into strings."""
    array = np.array(labels)
    if array.ndim != 1 or _listed(array) != labels:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    return array


def _vector(y: Any, warn: bool = False) -> Any:
    """The only column of a frame, with the warning that scikit-learn gives; anything else as it is."""
    if not is_frame(y) or y.shape[1] != 1:
        return y
    if warn:
        warn_user(
            f"y is a {type(y).__name__} of one column, which is taken as y; pass the column itself",
            DataConversionWarning,
        )
    return y.to_series() if hasattr(y, "to_series") else y.iloc[:, 0]


def _column(y: Any, warn: bool = False) -> npt.NDArray[Any]:
    """Labels as an array; missing labels are refused, and ``warn`` tells of a column vector."""
    if isinstance(y, np.ma.MaskedArray):
        _refuse(np.flatnonzero(np.ma.getmaskarray(y)))
    elif isinstance(y, list | tuple):  # NumPy may turn the cells into text, None included
        _refuse([k for k, label in enumerate(y) if is_missing(label)])
    # Scikit-learn would turn whole numbers of pandas' own types into floats, which merges large ones.
    numpy_dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", np.dtype(object))
    if numpy_dtype.kind in "biuf" and not y.isna().any():
        y = y.to_numpy(numpy_dtype)
    labels: npt.NDArray[Any] = column_or_1d(y, warn=warn)
    if labels.dtype.kind in "OT":
        _refuse([k for k, label in enumerate(labels.tolist()) if is_missing(label)])
    elif labels.dtype.kind == "f":
        _refuse(np.flatnonzero(~np.isfinite(labels)))
    elif labels.dtype.kind in "Mm":
        _refuse(np.flatnonzero(np.isnat(labels)))
    return labels


def _listed(y: npt.NDArray[Any]) -> list[Any]:
    """Labels as a list; ``tolist`` would turn times in nanoseconds into integers."""
    return list(y) if y.dtype.kind in "Mm" else y.tolist()


def _refuse(missing: Any) -> None:
    if len(missing):
        raise ValueError(
            f"Input y contains NaN, infinity or a missing value (row {missing[0]}); "
            "drop such rows or give them a class"
        )
