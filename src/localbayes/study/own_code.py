"""Descriptions of classifiers that stay the same between runs, so that no store mixes two under one name."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
import site
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["code_digest", "description", "without_addresses"]


def description(estimator: Any) -> str:
    """Return class and parameters of a classifier in one line, with a fingerprint of the user's own code.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> description(DummyClassifier(strategy="uniform"))
    "DummyClassifier(strategy='uniform')"
    """
    text = " ".join(_whole_repr(estimator).split())
    if "..." in text and hasattr(estimator, "get_params"):
        # Long lists and arrays are still abbreviated; a fingerprint stands for their content.
        with np.printoptions(threshold=sys.maxsize):
            parts = [f"{key}={_whole_repr(v)}" for key, v in sorted(estimator.get_params(deep=True).items())]
        told = without_addresses("\n".join(parts))
        text += f" [parameters {_fingerprint(told)}]"
    code = code_digest(estimator)
    return text + (f" [code {code}]" if code else "")


def code_digest(estimator: Any) -> str | None:
    """Return a fingerprint of the user's own classes and functions that a classifier is made of.

    These are its class and base classes and those of its parameters, such as the steps of a pipeline.
    Comments, docstrings and layout do not count. Functions that these call are not looked at.

    Parameters
    ----------
    estimator : object
        A classifier with scikit-learn's ``get_params``, or without.

    Returns
    -------
    digest : str or None
        Eight hexadecimal digits; None if all code belongs to installed packages, or has no source.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> code_digest(DummyClassifier()) is None
    True
    """
    parameters = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    parts: set[Any] = set()
    for part in (estimator, *parameters):
        while isinstance(part, functools.partial):
            part = part.func
        parts.update([part] if inspect.isroutine(part) or isinstance(part, type) else type(part).__mro__)
    texts = sorted(text for part in parts if (text := _own_source(part)))
    return _fingerprint("\n".join(texts)) if texts else None


def without_addresses(text: str) -> str:
    """Remove the addresses of objects, which differ from process to process.

    Examples
    --------
    >>> without_addresses("<function f at 0x7f12ab>")
    '<function f>'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", text, flags=re.IGNORECASE)


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _whole_repr(part: Any) -> str:
    """Return what `repr` does, without the middle that scikit-learn leaves out of a long one."""
    from sklearn.base import BaseEstimator

    if type(part).__repr__ is BaseEstimator.__repr__:
        return str(part.__repr__(N_CHAR_MAX=sys.maxsize))
    return repr(part)


def _own_source(part: Any) -> str | None:
    """Source of a class or function of one's own, without comments, docstrings and layout."""
    try:
        file = Path(inspect.getfile(part)).resolve()
        if any(file.is_relative_to(folder) for folder in _INSTALLED):
            return None
        source = inspect.getsource(part)
    except (OSError, TypeError):  # built in, or typed in by hand
        return None
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:  # part of a larger expression, or with a text inside that goes over several lines
        return source
    # A dump of the tree differs between versions of Python, the text that it stands for does not.
    return ast.unparse(_WithoutDocstrings().visit(tree))


_INSTALLED = [
    Path(folder).resolve()
    for folder in (
        str(Path(__file__).parent.parent),
        *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        site.getusersitepackages(),
    )
]


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node
