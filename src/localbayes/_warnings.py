"""Warnings that point at the line of the user's program, not at this package."""

import sys
import warnings

__all__ = ["warn"]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the nearest caller outside this package as the source.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn("strange rows")
    >>> str(caught[0].message), caught[0].filename != __file__
    ('strange rows', True)
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == __name__.partition(".")[0]
