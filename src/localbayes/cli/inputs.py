"""From the DATA argument and the options beside it to features and classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from localbayes.datasets.reading import Reading, read_table, split_target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

__all__ = ["Columns", "data_path", "features_for", "input_name", "read_labelled", "reading"]


def data_path(data: Path) -> Path:
    """Return the file that is meant: an embedded or a downloaded set may be given by its name.

    Examples
    --------
    >>> data_path(Path("vote")).name, data_path(Path("vote.csv")).name
    ('vote.arff', 'vote.csv')
    """
    from localbayes.datasets import EMBEDDED, PAPER_SETS, embedded_path
    from localbayes.datasets.registry import no_such

    name = str(data)
    if name == "-" or data.exists():
        return data
    if name in EMBEDDED:
        return embedded_path(name)
    if name in PAPER_SETS:
        from localbayes.datasets.download import cache_dir

        downloaded = cache_dir() / f"{name}.arff"
        if not downloaded.is_file():
            raise ValueError(f"{name} does not come with the package: localbayes data download {name}")
        return downloaded
    if not data.suffix and data.name == name:
        raise ValueError(no_such("file or embedded set is called", name, EMBEDDED))
    return data


def input_name(data: Path) -> str:
    """Name of an input for the first line of an answer."""
    return "standard input" if str(data) == "-" else data.name


def reading(sep: str | None, encoding: str | None, na: list[str] | None, decimal: str) -> Reading:
    """Collect the options that say how a file is written."""
    return Reading(sep, encoding, tuple(na or ()), decimal)


class Columns:
    """Which columns take part, and which of them are categories.

    Parameters
    ----------
    categorical : list of str, optional
        Columns of numbers that are categories, or ``all``.
    drop, keep : list of str, optional
        Columns to leave out; the only ones to use.
    """

    def __init__(
        self,
        categorical: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        keep: Sequence[str] | None = None,
    ) -> None:
        self.categorical = list(categorical or [])
        self.drop = list(drop or [])
        self.keep = list(keep or [])
        self.left_out: list[str] = []
        if self.drop and self.keep:
            raise ValueError("--drop and --keep exclude each other; give one of them")

    def text_columns(self, target: str | None) -> Callable[[str], bool]:
        """Say which columns are read as text because ``--categorical`` names them."""
        listed = set(self.categorical)
        return lambda name: name != target and (name in listed or "all" in listed)

    def select(self, X: pd.DataFrame) -> pd.DataFrame:
        """Take the features that take part; a name that is no feature is refused."""
        from localbayes.datasets.registry import no_such

        for option in ("categorical", "drop", "keep"):
            for name in getattr(self, option):
                if name not in X.columns and (option, name) != ("categorical", "all"):
                    raise ValueError(f"--{option}: " + no_such("feature is called", name, X.columns))
        kept = [name for name in X.columns if (name in self.keep if self.keep else name not in self.drop)]
        if not kept:
            raise ValueError("--drop leaves no column to learn from; keep at least one")
        self.left_out = [name for name in X.columns if name not in set(kept)]
        # Of this type, columns are used even if they look like ids.
        return X[kept].astype({name: "category" for name in kept if name in self.categorical})


def read_labelled(
    data: Path, target: str | None, columns: Columns, how: Reading, skip_unlabelled: bool = False
) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Read features and classes; rows without a class are left out if asked for, and counted on stderr."""
    if target is None and data_path(data) == data:
        raise ValueError("Missing option '--target' / '-t': name the column with the class")
    path = data_path(data)
    frame = read_table(path, columns.text_columns(target), how)
    X, y = split_target(frame, target, path, skip_unlabelled=skip_unlabelled)
    if len(X) < len(frame):
        left_out = len(frame) - len(X)
        typer.echo(f"left out {left_out} of {len(frame)} rows, which have no value in {y.name!r}", err=True)
    return columns.select(X), y


def features_for(model: Any, model_file: Path, data: Path, how: Reading) -> tuple[Any, pd.DataFrame]:
    """Columns that a model was fitted on, in its order, and the whole table."""
    from localbayes.datasets.registry import close_names
    from localbayes.encoding.columns import CategoricalColumn

    encoder = model.encoder_
    if encoder is None:
        raise ValueError(f"{model_file} was fitted on codes, not on a table: use it from Python")
    names = getattr(model, "feature_names_in_", None)
    path = data_path(data)
    if names is None:
        frame = read_table(path, how=how)
        return frame.to_numpy(dtype=object, na_value=float("nan")), frame
    categories = {
        str(name)
        for name, column in zip(encoder.names, encoder.columns, strict=True)
        if isinstance(column, CategoricalColumn)
    }
    # As text, so that a file in which all values look like numbers keeps their spelling.
    frame = read_table(path, categories.__contains__, how)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        more = f" ({len(absent)} of the model's {len(names)} columns are missing)" if absent[1:] else ""
        close = close_names(absent[0], frame.columns)
        hint = f"; did you mean {close}?" if close else ""
        raise ValueError(
            f"{data} lacks the column {absent[0]!r}, with which {model_file} was fitted{more}{hint}"
        )
    return frame[list(names)], frame
