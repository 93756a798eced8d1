"""A fingerprint of code that comes with no installed package: results of two versions must not be mixed."""

from __future__ import annotations

import ast
import hashlib
import inspect
import site
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

__all__ = ["code_digest"]


def code_digest(estimator: Any) -> str | None:
    """Return a fingerprint of the classes and functions of one's own that a classifier is made of.

    These are its class and base classes and those of its parameters, such as the steps of a pipeline.
    Comments, docstrings and layout do not count; what other functions do that are called is not seen.

    Parameters
    ----------
    estimator : object
        A classifier with scikit-learn's ``get_params``, or without.

    Returns
    -------
    digest : str or None
        Eight letters; None if all code belongs to installed packages, or has no source.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> code_digest(DummyClassifier()) is None
    True
    """
    parameters = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    parts: set[Any] = set()
    for part in (estimator, *parameters):
        parts.update([part] if inspect.isroutine(part) or isinstance(part, type) else type(part).__mro__)
    texts = sorted(text for part in parts if (text := _own_source(part)))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8] if texts else None


def _own_source(part: Any) -> str | None:
    """Source of a class or function of one's own, without comments, docstrings and layout."""
    try:
        file = Path(inspect.getfile(part)).resolve()
        if any(file.is_relative_to(folder) for folder in _INSTALLED):
            return None
        tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    except (OSError, TypeError, SyntaxError):  # built in, typed in by hand, or part of a larger expression
        return None
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
