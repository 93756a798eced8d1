"""A table as an ARFF file declares it: typed columns with their domains, without pandas."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Attribute", "Kind", "Table", "digest", "to_frame"]

Kind = Literal["nominal", "numeric", "string", "date"]

_DIGEST_VERSION = b"localbayes table 1\n"


@dataclass(frozen=True)
class Attribute:
    """Name and declared domain of one column.

    Parameters
    ----------
    name : str
        Name of the column, unique in its table.
    kind : {"nominal", "numeric", "string", "date"}
        What the cells are.
    values : tuple of str
        The declared values of a nominal attribute in declared order, observed or not; else empty.
    date_format : str, optional
        The format that a date attribute declares.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    date_format: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """Columns with their declarations, rows in file order.

    Parameters
    ----------
    relation : str
        Name of the table.
    attributes : tuple of Attribute
        One declaration per column.
    columns : tuple of ndarray
        Nominal: int32 codes into ``values``, -1 where missing. Numeric: float64, NaN where missing.
        String and date: objects, the text as written, None where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from localbayes.datasets.table import Attribute, Table
    >>> colour = Attribute("colour", "nominal", ("red", "green"))
    >>> len(Table("things", (colour,), (np.array([0, 1, -1], dtype=np.int32),)))
    3
    """

    relation: str
    attributes: tuple[Attribute, ...]
    columns: tuple[NDArray[Any], ...]

    def __post_init__(self) -> None:
        if not self.attributes or len(self.attributes) != len(self.columns):
            raise ValueError(
                f"a table needs one column per attribute and at least one: got {len(self.attributes)} "
                f"attributes and {len(self.columns)} columns"
            )
        lengths = sorted({len(column) for column in self.columns})
        if len(lengths) > 1:
            raise ValueError(f"columns must be equally long, got lengths {lengths}")
        if len({attribute.name for attribute in self.attributes}) < len(self.attributes):
            raise ValueError("attribute names must be unique")

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def names(self) -> list[str]:
        """Names of the attributes in order."""
        return [attribute.name for attribute in self.attributes]


def digest(table: Table) -> str:
    """Return the SHA-256 of what a table says, whatever the file looked like.

    Kinds, declared values, cells and the order of rows and columns count. Names of the table and of its
    attributes, comments, quoting and the spelling of numbers (1, 1.0, 1e0; -0 is 0) do not.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import io
    >>> from localbayes.datasets.arff import read_arff
    >>> a = io.StringIO("@relation a\\n@attribute x real\\n@data\\n1.0\\n")
    >>> b = io.StringIO("% other spelling\\n@RELATION b\\n@ATTRIBUTE x INTEGER\\n@DATA\\n1\\n")
    >>> digest(read_arff(a)) == digest(read_arff(b))
    True
    """
    total = hashlib.sha256(_DIGEST_VERSION)
    total.update(struct.pack("<QQ", len(table), len(table.attributes)))
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        total.update(attribute.kind.encode() + b"\n")
        if attribute.kind == "nominal":
            total.update(struct.pack("<Q", len(attribute.values)))
            for value in attribute.values:
                total.update(_counted(value))
            total.update(column.astype("<i4").tobytes())
        elif attribute.kind == "numeric":
            # Adding 0.0 turns -0.0 into 0.0; every missing cell gets the same bits.
            numbers = np.where(np.isnan(column), np.nan, column + 0.0)
            total.update(numbers.astype("<f8").tobytes())
        else:
            for text in column:
                total.update(b"?" if text is None else b"=" + _counted(text))
    return total.hexdigest()


def _counted(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(encoded)) + encoded


def to_frame(table: Table) -> pd.DataFrame:
    """Turn a table into a DataFrame.

    Nominal columns become ``category`` with the declared categories in declared order, numeric columns
    float64 with NaN for missing, string and date columns text.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    DataFrame
        One column per attribute.

    Examples
    --------
    >>> import io
    >>> from localbayes.datasets.arff import read_arff
    >>> text = "@relation t\\n@attribute c {red, green, blue}\\n@data\\ngreen\\n?\\n"
    >>> to_frame(read_arff(io.StringIO(text)))["c"].cat.categories.tolist()
    ['red', 'green', 'blue']
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("data sets come as DataFrames, which need pandas: pip install pandas") from error
    columns: dict[str, Any] = {}
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        if attribute.kind == "nominal":
            dtype = pd.CategoricalDtype(list(attribute.values))
            columns[attribute.name] = pd.Categorical.from_codes(column, dtype=dtype)
        elif attribute.kind == "numeric":
            columns[attribute.name] = column
        else:
            columns[attribute.name] = column.tolist()
    return pd.DataFrame(columns, index=pd.RangeIndex(len(table)), copy=True)
