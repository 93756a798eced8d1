"""Data sets: nine that come with the package, the paper's 36, and any ARFF file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from localbayes.datasets.arff import ArffError, read_arff, write_arff
from localbayes.datasets.registry import PAPER_SETS, ContentError, find, no_such, read_checked
from localbayes.datasets.table import Attribute, Table, digest, to_frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "EMBEDDED",
    "PAPER_SETS",
    "ArffError",
    "Attribute",
    "ContentError",
    "Table",
    "digest",
    "embedded_path",
    "load",
    "load_arff",
    "load_paper_set",
    "read_arff",
    "to_frame",
    "write_arff",
]

EMBEDDED = (
    "breast-cancer",
    "credit-g",
    "diabetes",
    "glass",
    "ionosphere",
    "iris",
    "labor",
    "soybean",
    "vote",
)
"""Names of the data sets that come with the package."""


def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Load a data set that comes with the package.

    Parameters
    ----------
    name : str
        One of `EMBEDDED`.

    Returns
    -------
    X : DataFrame
        Nominal attributes as ``category`` with declared categories, numeric ones as float64.
    y : Series
        The class, ``category`` with the declared classes.

    Examples
    --------
    >>> from localbayes.datasets import load
    >>> X, y = load("iris")
    >>> X.shape, y.cat.categories.tolist()
    ((150, 4), ['Iris-setosa', 'Iris-versicolor', 'Iris-virginica'])
    """
    return load_arff(embedded_path(name))


def embedded_path(name: str) -> Path:
    """Return the ARFF file of a data set that comes with the package.

    Parameters
    ----------
    name : str
        One of `EMBEDDED`.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from localbayes.datasets import embedded_path
    >>> embedded_path("iris").name
    'iris.arff'
    """
    if name not in EMBEDDED:
        raise ValueError(no_such("embedded data set is called", name, EMBEDDED))
    return Path(__file__).parent / "embedded" / f"{name}.arff"


def load_arff(path: str | os.PathLike[str], target: str | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Load any ARFF file as features and target.

    Parameters
    ----------
    path : path
        The file.
    target : str, optional
        Name of the target attribute; the last attribute if not given.

    Returns
    -------
    X : DataFrame
        All other attributes: nominal as ``category`` with the declared categories in declared order, numeric
        as float64 with NaN for missing, string and date as text.
    y : Series
        The target, converted likewise.

    Raises
    ------
    ArffError
        If the file is not valid ARFF.
    ValueError
        If there is no such attribute.

    Examples
    --------
    >>> from localbayes.datasets import embedded_path, load_arff
    >>> X, y = load_arff(embedded_path("vote"), target="crime")
    >>> y.name, "Class" in X.columns
    ('crime', True)
    """
    table = read_arff(path)
    if target is not None and target not in table.names:
        raise ValueError(f"{os.fspath(path)}: " + no_such("attribute is called", target, table.names))
    return _split(table, target)


def load_paper_set(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> tuple[pd.DataFrame, pd.Series]:
    """Load one of the paper's 36 data sets, checked, without the attributes that identify a row.

    Sources in order: the file in `data_dir`, the cache, OpenML (which fills the cache), the embedded copy.
    A file in `data_dir` with other content than Weka's copy is refused.

    Parameters
    ----------
    name : str
        A key of `PAPER_SETS`.
    data_dir : path, optional
        Folder with ``<name>.arff`` files.
    cache : path, optional
        Folder for downloads; default ``$LOCALBAYES_CACHE`` or the user's cache folder.
    download : bool
        Whether OpenML may be asked.

    Returns
    -------
    X, y : DataFrame, Series
        As from `load_arff`.

    Raises
    ------
    ContentError
        If the content found is not the registered one.
    DownloadError
        If the set is nowhere on this machine and cannot be downloaded.

    Examples
    --------
    >>> from localbayes.datasets import load_paper_set
    >>> X, y = load_paper_set("glass", download=False)
    >>> X.shape
    (214, 9)
    """
    paper_set = find(name)
    table = _paper_table(name, data_dir, cache, download)
    absent = [attribute for attribute in paper_set.dropped if attribute not in table.names]
    if absent:
        raise ContentError(f"{name}: " + no_such("attribute is called", absent[0], table.names))
    X, y = _split(table, None)
    return X.drop(columns=list(paper_set.dropped)), y


def _paper_table(
    name: str,
    data_dir: str | os.PathLike[str] | None,
    cache: str | os.PathLike[str] | None,
    download: bool,
) -> Table:
    from localbayes.datasets.download import DownloadError, cached, fetch

    paper_set = find(name)
    if data_dir is not None:
        if not Path(data_dir).is_dir():
            raise ValueError(f"{os.fspath(data_dir)} is not a folder; expected one with {name}.arff in it")
        path = Path(data_dir) / f"{name}.arff"
        if path.exists():
            return read_checked(path, paper_set)
    found = cached(name, cache)
    if found is not None:
        return found
    refused: Exception | None = None
    if download:
        try:
            # With a copy in the package a slow or absent network is not worth waiting for.
            return fetch(name, cache, attempts=1, timeout=5.0) if name in EMBEDDED else fetch(name, cache)
        except (OSError, ContentError) as error:
            refused = error
    if name in EMBEDDED:
        return read_checked(embedded_path(name), paper_set)
    if refused is not None:
        raise refused
    raise DownloadError(
        f"{name} is not on this machine: give a folder with {name}.arff in it, "
        f"or run `localbayes data download {name}`"
    )


def _split(table: Table, target: str | None) -> tuple[pd.DataFrame, pd.Series]:
    frame = to_frame(table)
    y = frame.pop(target if target is not None else table.names[-1])
    return frame, y
