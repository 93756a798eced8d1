"""What a model learned, in a few lines: its classes, and what became of each column."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from localbayes.cli.notices import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localbayes.classifiers import BayesClassifier

__all__ = ["describe_model"]

_WIDTH = 80
_MOST = 20


def describe_model(model: BayesClassifier, y: Any = None, left_out: Sequence[str] = ()) -> str:
    """Describe classes and columns of a fitted model.

    Parameters
    ----------
    model : BayesClassifier
        Fitted on a table.
    y : Series, optional
        Classes of the training rows, which are counted.
    left_out : sequence of str
        Columns of the table that the model was not given.

    Returns
    -------
    str
        Lines of at most 80 characters.

    Examples
    --------
    >>> import pandas as pd
    >>> from localbayes import NB
    >>> X, y = pd.DataFrame({"colour": ["red", "blue"], "size": [1.5, 2.5]}), pd.Series(["a", "b"])
    >>> print(describe_model(NB().fit(X, y), y))
    classes  a (1), b (1)
    nominal  colour (2 values)
    numeric  size (10 bins)
    """
    from localbayes.encoding.columns import CategoricalColumn, LeftOutColumn

    classes = [str(label) for label in model.classes_.tolist()]
    if y is not None:
        counts = {str(label): n for label, n in y.value_counts().items()}
        classes = [f"{label} ({counts.get(label, 0)})" for label in classes]
    kinds: dict[str, list[str]] = {"classes": classes, "nominal": [], "numeric": [], "dates": []}
    kinds |= {"durations": [], "dropped": list(left_out)}
    encoder = model.encoder_
    pairs = zip(encoder.names, encoder.columns, strict=True) if encoder is not None else ()
    times = {} if encoder is None else encoder.times
    for i, (name, column) in enumerate(pairs):
        if isinstance(column, LeftOutColumn):
            kinds["dropped"].append(f"{name} ({column.reason})")
            continue
        nominal = isinstance(column, CategoricalColumn)
        words = kinds["nominal" if nominal else f"{times[i]}s" if i in times else "numeric"]
        # What is counted is said once.
        things = "" if words else (" value" if nominal else " bin") + "s" * (column.size != 1)
        words.append(f"{name} ({column.size}{things})")
    width = max(len(kind) for kind, words in kinds.items() if words)
    return "\n".join(_line(kind.ljust(width), words) for kind, words in kinds.items() if words)


def _line(kind: str, words: list[str]) -> str:
    more = [f"and {len(words) - _MOST} more"] if len(words) > _MOST else []
    text = ", ".join(map(one_line, [*words[:_MOST], *more]))
    return textwrap.fill(
        f"{kind}  {text}",
        _WIDTH,
        subsequent_indent=" " * (len(kind) + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
