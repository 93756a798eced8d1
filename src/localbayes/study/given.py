"""What the methods of a study were given, in words."""

from __future__ import annotations

__all__ = ["given"]


def given(raw: bool) -> str:
    """Return a sentence that says what the methods were given.

    Examples
    --------
    >>> given(raw=True)[:34]
    'The methods were given raw tables:'
    """
    if raw:
        return (
            "The methods were given raw tables: numbers as numbers, missing values as missing. Each prepares "
            "them itself, from its training rows."
        )
    return (
        "The methods were given filtered tables: missing values replaced by mean or mode, numbers cut into "
        "ten bins of equal width, on whole tables before folds are cut. To compare with classifiers that use "
        "numbers as numbers, run with --raw."
    )
