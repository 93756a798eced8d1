"""Models as files, without pickle: loading a file never runs code that came with it."""

from __future__ import annotations

import functools
import importlib
import io
import json
import os
import pkgutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from localbayes._files import check_output, write_output
from localbayes.classifiers.base import BayesClassifier

__all__ = ["load_model", "save_model"]

# Everything a fitted classifier is made of is defined in these packages.
_PACKAGES = ("localbayes.classifiers", "localbayes.encoding", "localbayes.kernels")
# A note beside what skops writes; skops itself does not read it.
_NOTE = "localbayes.json"


def save_model(model: BayesClassifier, path: str | os.PathLike[str], force: bool = False) -> None:
    """Save a fitted classifier.

    The file is in the format of skops: data and names of types, no code. It appears complete or not
    at all.

    Parameters
    ----------
    model : BayesClassifier
        A fitted classifier of this package.
    path : path
        Where to write; ``.skops`` is the usual ending.
    force : bool, default=False
        Whether a file of that name may be replaced.

    Raises
    ------
    ValueError
        If the model is not fitted, or its parameters were changed since, or it holds values that a model
        file does not keep (dates, say).
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
    import skops.io

    if not isinstance(model, BayesClassifier):
        advice = "; save its estimator_" if hasattr(model, "estimator_") else ""
        raise TypeError(f"expected a classifier of localbayes, got {_type_name(type(model))}{advice}")
    check_is_fitted(model, "labels_")
    if _type_name(type(model)) not in _own_types():
        raise ValueError(
            f"a model file keeps classifiers of localbayes only, and {_type_name(type(model))} is a class of "
            "your own: keep it with pickle or joblib, and load nothing that you do not trust"
        )
    model._check_unchanged()
    check_output(path, force)
    keys = model.class_weight if isinstance(model.class_weight, dict) else {}
    if any(isinstance(key, bool | np.bool_) for key in keys):
        raise ValueError("a model file does not keep True and False as keys of class_weight; write 1 and 0")
    buffer = io.BytesIO()
    try:
        skops.io.dump(model, buffer, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    except ValueError:  # what the model itself has to say
        raise
    except Exception as error:
        raise ValueError(
            f"the model cannot be saved ({error}); give parameters as text, numbers, lists, dicts or arrays"
        ) from error
    foreign = _foreign_types(buffer.getvalue())
    if foreign:
        raise ValueError(
            "a model file keeps text, numbers, bools and the types of localbayes itself, but this model has "
            f"{', '.join(foreign)}: turn such values into text, and parameters into lists, before fit"
        )
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(_NOTE, json.dumps({"localbayes": _version()}))
    write_output(path, buffer.getvalue(), force)


def load_model(path: str | os.PathLike[str]) -> BayesClassifier:
    """Load a classifier that `save_model` saved.

    Only the types of localbayes itself, and those that skops knows to be harmless, are made; a file
    that names any other is refused before anything of it is made.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    BayesClassifier
        The classifier; it predicts what the saved one did, to the bit.

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
    import skops.io

    name = os.fspath(path)
    content = Path(path).read_bytes()
    if not content:
        raise ValueError(f"{name} is empty; expected what `localbayes fit` or save_model wrote")
    try:
        foreign = _foreign_types(content)
    except Exception as error:
        raise _damaged(name, error) from error
    if foreign:
        raise ValueError(f"{name} is refused: it names types that are not trusted: {', '.join(foreign)}")
    try:
        model = skops.io.loads(content, trusted=sorted(_own_types()))
    except Exception as error:
        raise _damaged(name, error, content) from error
    if not isinstance(model, BayesClassifier):
        raise ValueError(f"{name} holds a {_type_name(type(model))}; expected a classifier of localbayes")
    try:
        check_is_fitted(model, "labels_")
        model._restore()
    except Exception as error:
        raise _damaged(name, error, content) from error
    return model


def _damaged(name: str, error: Exception, content: bytes | None = None) -> ValueError:
    writer = None if content is None else _writer(content)
    if writer not in (None, _version()):
        return ValueError(
            f"{name} was written by localbayes {writer}, which {_version()} cannot read: fit the model again"
        )
    reason = str(error) or type(error).__name__
    return ValueError(
        f"{name} is damaged or no model file ({reason}); expected what `localbayes fit` or save_model wrote"
    )


def _writer(content: bytes) -> str | None:
    """Version that wrote a model file, if the file says so."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return str(json.loads(archive.read(_NOTE))["localbayes"])
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile):
        return None


def _version() -> str:
    from localbayes import __version__

    return __version__


def _foreign_types(content: bytes) -> list[str]:
    """Types in a model file that neither skops nor this package vouches for."""
    import skops.io

    return sorted(set(skops.io.get_untrusted_types(data=content)) - _own_types())


@functools.cache
def _own_types() -> frozenset[str]:
    """Names of the classes that this package defines; a prefix would also let its imports through."""
    names: set[str] = set()
    for package in _PACKAGES:
        parent = importlib.import_module(package)
        children = [f"{package}.{m.name}" for m in pkgutil.iter_modules(parent.__path__) if m.name[0] != "_"]
        for module in (parent, *map(importlib.import_module, children)):
            classes = [value for value in vars(module).values() if isinstance(value, type)]
            names |= {_type_name(c) for c in classes if c.__module__ == module.__name__}
    return frozenset(names)


def _type_name(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
