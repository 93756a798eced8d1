"""Checks of parameters: one line that says what came and what was expected."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

__all__ = [
    "Discretize",
    "Missing",
    "check_alpha",
    "check_count",
    "check_jobs",
    "check_number",
    "check_share",
    "either",
]

Discretize = str
"""Name of a discretizer, a key of `localbayes.encoding.discretize.DISCRETIZERS`."""

Missing = Literal["impute", "category", "ignore"]
"""What becomes of missing values."""


def either(names: Iterable[str]) -> str:
    """List the values that a parameter may have.

    Examples
    --------
    >>> either(["impute", "category", "ignore"])
    "'impute', 'category' or 'ignore'"
    """
    *most, last = map(repr, names)
    return f"{', '.join(most)} or {last}" if most else last


def check_count(name: str, value: Any, *, at_least: int = 1) -> None:
    """Refuse a value that is not a whole number in range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{name} must be a whole number >= {at_least}, got {value!r}")


def check_jobs(n_jobs: Any) -> None:
    """Refuse a value that is not a number of threads.

    Examples
    --------
    >>> check_jobs(0)
    Traceback (most recent call last):
    ValueError: n_jobs must be None or a whole number other than 0 (-1 for all processors), got 0
    """
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0 (-1 for all processors), got {n_jobs!r}"
        )


def check_number(name: str, value: Any, *, above: float | None = None, at_least: float | None = None) -> None:
    """Refuse a value that is not a finite number in range."""
    bound = f"> {above:g}" if above is not None else f">= {at_least:g}"
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if (
        not real
        or not np.isfinite(value)
        or (value <= above if above is not None else value < (at_least or 0))
    ):
        raise ValueError(f"{name} must be a number {bound}, got {value!r}")


def check_share(name: str, value: Any) -> None:
    """Refuse a value that is not a number between 0 and 1.

    Examples
    --------
    >>> check_share("coverage", 90)
    Traceback (most recent call last):
    ValueError: coverage must be a number between 0 and 1, such as 0.9, got 90
    """
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not 0 < value < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.9, got {value!r}")


def check_alpha(alpha: Any) -> None:
    """Refuse a Laplace constant that is not a number, or so extreme that products overflow or vanish.

    Examples
    --------
    >>> check_alpha(1e-200)
    Traceback (most recent call last):
    ValueError: alpha must be 0 or a number from 1e-100 to 1e+100, got 1e-200
    """
    check_number("alpha", alpha, at_least=0)
    if alpha != 0 and not 1e-100 <= float(alpha) <= 1e100:
        raise ValueError(f"alpha must be 0 or a number from 1e-100 to 1e+100, got {alpha!r}")
