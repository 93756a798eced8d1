"""Named fields as they are read from a model file: each is checked before it is used."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Fields", "scalar"]

Kind = TypeVar("Kind")


class Fields:
    """A dict of named fields.

    Parameters
    ----------
    fields : dict
        The fields.
    place : str
        Where they stand in the file, for messages.

    Examples
    --------
    >>> fields = Fields({"fill": 2, "cuts": np.array([1.0])}, "columns[0]")
    >>> fields.get("fill", int), fields.array("cuts", "f", 1).tolist()
    (2, [1.0])
    >>> fields.get("fill", str)
    Traceback (most recent call last):
    ValueError: columns[0].fill must be str, got int
    """

    def __init__(self, fields: Any, place: str = "") -> None:
        if not isinstance(fields, dict):
            raise ValueError(f"{place or 'the file'} must hold named fields, got {type(fields).__name__}")
        self._fields = fields
        self._place = f"{place}." if place else ""

    def get(self, name: str, kind: type[Kind]) -> Kind:
        """A field of one type; True and False do not count as numbers."""
        value = self._value(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self._wrong(name, kind.__name__, value)
        return value

    def optional(self, name: str, kind: type[Kind]) -> Kind | None:
        """A field of one type, or None."""
        return None if self._value(name) is None else self.get(name, kind)

    def inner(self, name: str) -> "Fields":
        """A field that holds fields itself."""
        return Fields(self._value(name), f"{self._place}{name}")

    def each(self, name: str) -> "list[Fields]":
        """A list of fields."""
        values = self.get(name, list)
        return [Fields(value, f"{self._place}{name}[{k}]") for k, value in enumerate(values)]

    def scalars(self, name: str) -> list[Any]:
        """A list of different texts, numbers or truth values."""
        values = [scalar(value, f"{self._place}{name}") for value in self.get(name, list)]
        if len(set(values)) != len(values):
            raise ValueError(f"{self._place}{name} holds a value twice")
        return values

    def array(self, name: str, kinds: str, ndim: int) -> npt.NDArray[Any]:
        """An array of numbers whose dtype is of one of the ``kinds``, NumPy's letters."""
        value = self._value(name)
        if type(value) is not np.ndarray or value.dtype.kind not in kinds or value.ndim != ndim:
            raise self._wrong(name, f"an array of {ndim} dimensions", value)
        if not value.dtype.isnative:
            value = value.astype(value.dtype.newbyteorder("="))
        return np.ascontiguousarray(value)

    def optional_array(self, name: str, kinds: str, ndim: int) -> npt.NDArray[Any] | None:
        """An array of numbers, or None."""
        return None if self._value(name) is None else self.array(name, kinds, ndim)

    def names(self) -> set[str]:
        """Names of the fields."""
        return set(self._fields)

    def _value(self, name: str) -> Any:
        if name not in self._fields:
            raise ValueError(f"{self._place}{name} is missing")
        return self._fields[name]

    def _wrong(self, name: str, expected: str, value: Any) -> ValueError:
        got = (
            f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        )
        return ValueError(f"{self._place}{name} must be {expected}, got {got}")


def scalar(value: Any, place: str) -> Any:
    """Text, a number or a truth value as a Python object; anything else is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"{place} must hold text, numbers or truth values, got {type(value).__name__}")
    return value
