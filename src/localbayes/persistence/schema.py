"""A classifier as named fields, and back: the format of model files.

=============  ==========================================================================================
classifier     name of the class, such as "LCWNB"
parameters     its parameters by name
columns        what its encoder learned of every column; None if it was fitted on codes
feature_names  names of the columns, None if they have none
classes        labels of the classes in declared order
class_count    training rows of each, or their weight
sizes          number of values of every column
ordered_sizes  number of those that are in order, from the first on
statistic      the counts or the packed rows, by name
learned        what was chosen in fit, by name
rows           training rows of a classifier that keeps counts, if they were asked for
=============  ==========================================================================================
"""

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from localbayes.classifiers import CLASSIFIERS, BayesClassifier
from localbayes.counts import Rows
from localbayes.encoding import ClassLabels
from localbayes.encoding.coded import code_dtype
from localbayes.fields import Fields, scalar
from localbayes.persistence.encoder_fields import columns_of, restore_columns

__all__ = ["fields_of", "model_of"]

# Share by which sums of weights may differ because of rounding.
_ROUNDING = 1e-9


def fields_of(model: BayesClassifier, with_rows: bool = False) -> dict[str, Any]:
    """Named fields of a fitted classifier, perhaps with training rows that the statistic does not hold."""
    parameters = model.get_params(deep=False)
    keys = model.class_weight if isinstance(model.class_weight, dict) else {}
    if any(isinstance(key, bool | np.bool_) for key in keys):
        raise ValueError("a model file does not keep True and False as keys of class_weight; write 1 and 0")
    names = getattr(model, "feature_names_in_", None)
    rows = {"rows": asdict(model.training_rows())} if with_rows and not model.keeps_rows else {}
    return {
        "classifier": type(model).__name__,
        "parameters": parameters,
        "columns": None if model.encoder_ is None else columns_of(model.encoder_),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": list(model.labels_.declared),
        "class_count": model.class_count,
        "sizes": model.sizes_,
        "ordered_sizes": model.ordered_sizes_,
        "statistic": model.statistic.fields(),
        "learned": model.learned(),
        **rows,
    }


def model_of(given: dict[str, Any]) -> BayesClassifier:
    """The classifier that the fields describe; what does not fit is refused."""
    fields = Fields(given)
    method = CLASSIFIERS.get(fields.get("classifier", str))
    if method is None:
        raise ValueError(f"there is no classifier {fields.get('classifier', str)!r:.40}")
    parameters = fields.get("parameters", dict)
    if set(parameters) != set(method().get_params()):
        raise ValueError(f"the parameters are not those of {method.__name__}")
    model = method(**parameters)
    model.check_parameters()
    sizes = _restore_columns(model, fields)
    labels = ClassLabels(fields.scalars("classes"))
    ordered_sizes = fields.array("ordered_sizes", "i", 1)
    if ordered_sizes.shape != sizes.shape or (ordered_sizes < 0).any() or (ordered_sizes > sizes).any():
        raise ValueError("ordered_sizes must be at most the sizes of the columns")
    model.begin(sizes, labels, ordered_sizes)
    class_count = fields.array("class_count", "if", 1)
    if class_count.shape != (len(labels),) or not (np.isfinite(class_count) & (class_count >= 0)).all():
        raise ValueError("class_count must be a number of rows for every class")
    model.set_class_count(class_count.astype(np.float64 if class_count.dtype.kind == "f" else np.int64))
    if not model.keeps_rows:
        _check_slots(fields.inner("statistic"), sizes)
    statistic: Any = model.empty_statistic(sizes, len(labels))
    statistic.restore(fields.inner("statistic"))
    _check_same(statistic.class_totals, class_count)
    model.restore(statistic, fields.inner("learned"))
    if "rows" in fields.names() and not model.keeps_rows:
        model.keep_rows(_rows_of(model, fields.inner("rows")), first=True)
    return model


def _rows_of(model: BayesClassifier, fields: Fields) -> Rows:
    """Training rows of a classifier that has their counts; rows that were not counted are refused."""
    rows = Rows(
        fields.array("codes", "u", 2),
        fields.array("classes", "i", 1).astype(np.int64, copy=False),
        fields.optional_array("weights", "f", 1),
    )
    n, weights = len(rows), rows.each_weight
    if rows.codes.shape != (n, len(model.sizes_)) or rows.codes.dtype != code_dtype(int(model.sizes_.max())):
        raise ValueError("the codes of the training rows do not fit the columns")
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError("the weights of the training rows must be positive numbers, one for each")
    counted: Any = model.empty_statistic(model.sizes_, len(model.labels_))
    counted.add(rows.codes, rows.classes, rows.weights)
    for name, table in model.statistic.fields().items():
        if not np.allclose(counted.fields()[name], table, rtol=_ROUNDING, atol=_ROUNDING):
            raise ValueError("the training rows are not those that were counted")
    return rows


def _restore_columns(model: BayesClassifier, fields: Fields) -> npt.NDArray[np.uint32]:
    sizes = fields.array("sizes", "u", 1)
    if not len(sizes) or (sizes < 1).any() or sizes.dtype.itemsize > 4:
        raise ValueError("sizes must be whole numbers >= 1, one per column")
    names = fields.optional("feature_names", list)
    model.encoder_ = model.new_encoder()
    if fields.optional("columns", dict) is None:
        model.encoder_.check_options()
        model.encoder_ = None
    elif not np.array_equal(restore_columns(model.encoder_, fields.inner("columns")).sizes, sizes):
        raise ValueError("sizes are not those of the columns")
    model.n_features_in_ = len(sizes) if model.encoder_ is None else len(model.encoder_.columns)
    if names is not None:
        if len(names) != model.n_features_in_ or not all(
            isinstance(scalar(n, "feature_names"), str) for n in names
        ):
            raise ValueError("feature_names must be a text for every column")
        model.feature_names_in_ = np.array(names, dtype=object)
    return sizes.astype(np.uint32)


def _check_slots(statistic: Fields, sizes: npt.NDArray[np.uint32]) -> None:
    """Refuse sizes that the counts do not have, before tables of these sizes are made."""
    given = statistic.array("value_counts", "if", 2)
    if len(given) != int(sizes.sum(dtype=np.int64)) + len(sizes):
        raise ValueError(f"value_counts does not fit the sizes: {given.dtype} of shape {given.shape}")


def _check_same(counted: npt.NDArray[Any], class_count: npt.NDArray[Any]) -> None:
    if counted.shape != class_count.shape or not np.allclose(counted, class_count, rtol=_ROUNDING, atol=0):
        raise ValueError("the rows counted are not those of the classes")
