"""Class labels and their codes."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from localbayes.encoding.columns import sorted_values

__all__ = ["ClassLabels"]


class ClassLabels:
    """The declared classes: sorted for the outside, in declared order for ties.

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
        self.classes: npt.NDArray[Any] = np.array(sorted_values(declared))
        position = {label: k for k, label in enumerate(declared)}
        # columns[k] is the declared position of the k-th sorted class
        self.columns = np.array([position[label] for label in self.classes.tolist()], dtype=np.intp)
        self.sorted_position = np.argsort(self.columns)

    @classmethod
    def learn(cls, y: Any, classes: Any = None) -> "ClassLabels":
        """Classes given, declared by a categorical y, or observed in it."""
        if classes is not None:
            return cls(_declared(classes) or list(dict.fromkeys(np.asarray(classes).tolist())))
        declared = _declared(y)
        if declared is not None:
            return cls(declared)
        y = column_or_1d(y, warn=True)
        _refuse_missing(y)
        check_classification_targets(y)
        return cls(sorted_values(list(dict.fromkeys(y.tolist()))))

    def __len__(self) -> int:
        return len(self.declared)

    def encode(self, y: Any) -> npt.NDArray[np.int64]:
        """Position of every label in declared order."""
        declared = _declared(y)
        position = {label: k for k, label in enumerate(self.declared)}
        if declared is not None:
            own = np.asarray(y.cat.codes if hasattr(y, "cat") else y.codes)
            if (own < 0).any():
                raise ValueError("y contains missing values; drop those rows or give them a class")
            translate = np.array([position.get(label, -1) for label in declared], dtype=np.int64)
            codes: npt.NDArray[np.int64] = translate[own]
            unknown = [declared[k] for k in np.unique(own[codes < 0])]
        else:
            y = column_or_1d(y, warn=True)
            _refuse_missing(y)
            codes = np.fromiter((position.get(v, -1) for v in y.tolist()), np.int64, len(y))
            unknown = list(dict.fromkeys(np.asarray(y)[codes < 0].tolist()))
        if unknown:
            raise ValueError(
                f"y contains the class {unknown[0]!r}, which is not among the declared classes "
                f"{self.classes.tolist()[:10]}; pass all classes at the first partial_fit"
            )
        return codes


def _declared(y: Any) -> list[Any] | None:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    dtype = getattr(y, "dtype", None)
    if not isinstance(dtype, pandas.CategoricalDtype):
        return None
    categories: list[Any] = dtype.categories.tolist()
    return categories


def _refuse_missing(y: npt.NDArray[Any]) -> None:
    missing = (
        [k for k, v in enumerate(y.tolist()) if v is None or v != v]
        if y.dtype.kind == "O"
        else np.flatnonzero(~np.isfinite(y))
        if y.dtype.kind == "f"
        else []
    )
    if len(missing):
        raise ValueError(
            f"Input y contains NaN, infinity or a missing value (row {missing[0]}); "
            "drop such rows or give them a class"
        )
