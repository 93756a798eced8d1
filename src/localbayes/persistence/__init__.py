"""Models as files, without pickle: loading a file never runs code that came with it.

``schema`` turns a classifier into named fields and back, ``encoder_fields`` does the same for its encoder,
``archive`` writes fields to a file and reads them. ``pipelines`` does it for a Pipeline of scikit-learn.
"""

import os
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from localbayes._files import check_output, write_output
from localbayes.classifiers import CLASSIFIERS, BayesClassifier
from localbayes.persistence.archive import damaged, pack, unpack
from localbayes.persistence.pipelines import known_steps, pipeline_fields, pipeline_of
from localbayes.persistence.schema import fields_of, model_of

__all__ = ["load_classifier", "load_model", "save_model"]


def save_model(
    model: BayesClassifier | Pipeline,
    path: str | os.PathLike[str],
    force: bool = False,
    with_rows: bool = False,
) -> None:
    """Save a fitted classifier, or a pipeline that ends in one.

    The file is in the format of skops: data and names of types, no code. It appears complete or not
    at all.

    Parameters
    ----------
    model : BayesClassifier or Pipeline
        A fitted classifier of this package, or a Pipeline of scikit-learn that ends in one. The steps before
        it have classes of :data:`localbayes.persistence.pipelines.STEPS`: scalers, encoders, SimpleImputer,
        PCA and the like.
    path : path
        Where to write; ``.skops`` is the usual ending.
    force : bool, default=False
        Whether a file of that name may be replaced.
    with_rows : bool, default=False
        Whether the file of a classifier that keeps counts (NB, TAN, AODE, WAODE, HNB) also holds the codes of
        the training rows: ``predict_set``, ``forget`` and ``predict(None)`` need them. Files of the others
        hold their rows anyway.

    Raises
    ------
    ValueError
        If the model is not fitted, or its parameters were changed since, or it holds values that a model
        file does not keep (dates, say), or steps of other classes.
    OSError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from localbayes import LCWNB
    >>> model = LCWNB().fit([["red"], ["green"]], ["apple", "pear"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, pathlib.Path(folder, "fruit.skops"))
    ...     load_model(pathlib.Path(folder, "fruit.skops")).predict([["green"]]).tolist()
    ['pear']
    """
    _check_classifier(model.steps[-1][1] if type(model) is Pipeline else model)
    give = pipeline_fields if isinstance(model, Pipeline) else fields_of
    fields = give(model, with_rows)
    check_output(path, force)
    write_output(path, pack(fields, known_steps), force)


def _check_classifier(model: Any) -> None:
    if not isinstance(model, BayesClassifier):
        advice = "; save its estimator_" if hasattr(model, "estimator_") else ""
        raise TypeError(f"expected a classifier of localbayes, got {_type_name(model)}{advice}")
    check_is_fitted(model, "labels_")
    if CLASSIFIERS.get(type(model).__name__) is not type(model):
        raise ValueError(
            f"a model file keeps classifiers of localbayes only, and {_type_name(model)} is a class of "
            "your own: keep it with pickle or joblib, and load nothing that you do not trust"
        )


def load_model(path: str | os.PathLike[str], max_bytes: int | None = None) -> Any:
    """Load a classifier, or a pipeline, that `save_model` saved.

    The file holds named fields: text, numbers, lists, dicts and arrays, and a version of the format. A file
    that names any other type is refused before anything of it is made. Every field is checked before it is
    used, so that a damaged or tampered file is refused, too.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, optional
        Most bytes that the file may unpack to; by default 64 MiB, or fifty times its size if that is more.

    Returns
    -------
    BayesClassifier or Pipeline
        The classifier, or the pipeline; it predicts what the saved one did, to the bit.

    Raises
    ------
    ValueError
        If the file is damaged, is no model, or names a type that is not trusted.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "fruit.skops")
    ...     _ = file.write_bytes(b"apples")
    ...     load_model(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: ...fruit.skops is damaged or no model file (File is not a zip file); expected what ...
    """
    name = os.fspath(path)
    content = Path(path).read_bytes()
    if not content:
        raise ValueError(f"{name} is empty; expected what `localbayes fit` or save_model wrote")
    fields = unpack(content, name, max_bytes, known_steps)
    try:
        model = pipeline_of(fields) if "pipeline" in fields else model_of(fields)
        classifier = model[-1] if isinstance(model, Pipeline) else model
        if not classifier.class_count.any():
            raise ValueError("class_count says that there are no training rows")
    except Exception as error:
        raise damaged(name, error) from error
    return model


def load_classifier(path: str | os.PathLike[str]) -> BayesClassifier:
    """Load a classifier that `save_model` saved; a pipeline, which takes other tables, is refused.

    Parameters
    ----------
    path : path-like
        The file.
    """
    model = load_model(path)
    if not isinstance(model, BayesClassifier):
        raise ValueError(
            f"{os.fspath(path)} holds a pipeline, expected a classifier: use load_model in Python"
        )
    return model


def _type_name(model: object) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"
