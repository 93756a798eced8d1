"""Dask collections and Parquet files, cut into the parts that tasks work on."""

import os
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph
from dask.utils import key_split

from localbayes.distributed.dask.task_graph import Graph

__all__ = ["Parts", "is_lazy", "labelled_parts", "query_parts"]


@dataclass
class Parts:
    """The parts of a table as keys of a Dask graph.

    Attributes
    ----------
    graph : dict
        Tasks that load the parts.
    keys : list
        Key of every part: of a table, or of a pair of a table and its class.
    names : list of str
        What to call each part in an error.
    lengths : list of int or None
        Rows of every part, None where Dask does not know.
    sample : DataFrame or ndarray
        A table without rows and the columns of the parts.
    """

    graph: dict[Any, Any]
    keys: list[Any]
    names: list[str]
    lengths: list[int | None]
    sample: Any


def is_lazy(X: Any) -> bool:
    """Whether X is a Dask collection or names Parquet files."""
    return _is_path(X) or dask.is_dask_collection(X)


def labelled_parts(X: Any, y: Any, target: str | None, columns: Any = None, weights: Any = None) -> Parts:
    """Parts of a table, its class and perhaps its weights.

    Parameters
    ----------
    X : Dask DataFrame, Dask array, or path of Parquet files
        The table.
    y : Dask Series or Dask array
        Classes, cut at the same rows.
    target : str, optional
        Name of the class column, in place of y.
    columns : sequence of str, optional
        Columns that are wanted of Parquet files.
    weights : str, Dask Series or Dask array, optional
        Name of the column of weights, or weights cut at the same rows.
    """
    files = None
    if _is_path(X):
        X, files = _read_parquet(X, columns)
    if not _is_frame(X) and not _is_array(X):
        raise TypeError(
            "X must be a Dask DataFrame, a Dask array or the path of Parquet files, "
            f"got {type(X).__name__}; fit the classifier itself on a table in memory"
        )
    named = weights if isinstance(weights, str) else None
    if target is not None:
        _check_target(X, y, target)
    if named is not None:
        _check_weight_name(X, named, target)
    features = X.drop(columns=[c for c in (target, named) if c is not None]) if _is_frame(X) else X
    if target is not None:
        _check_width(features, f" besides the class, {target!r}")
        split = _map_parts(_split, features, X, target=target, weight=named)
        return _with_weights(_parts(features, *_optimised(split), files), features, weights)
    if y is None:
        raise ValueError("the class is missing: pass y, or the name of its column as target")
    if not _is_column(y):
        raise TypeError(
            f"y must be a Dask Series or a Dask array that is cut as X is, got {type(y).__name__}; "
            "pass the name of the class column as target if it is a column of X"
        )
    features, y = _one_column_block(features), _like(y, features, "y")
    _check_width(features)
    _check_same_parts(features, y, "y")
    table = X if named is not None else features
    return _with_weights(_parts(features, *_pairs(features, table, y, named), files), features, weights)


def _with_weights(parts: Parts, X: Any, weights: Any) -> Parts:
    """The same parts with weights that are cut as X is, if there are any."""
    if weights is None or isinstance(weights, str):
        return parts
    if not _is_column(weights):
        raise TypeError(
            "sample_weight must be the name of a column of X, or a Dask Series or a Dask array that is cut "
            f"as X is, got {type(weights).__name__}"
        )
    weights = _like(weights, X, "sample_weight")
    _check_same_parts(X, weights, "sample_weight")
    loading, keys = _optimised(weights)
    graph = Graph(parts.graph, loading)
    parts.keys = [
        graph.call("add-weights", _add_weights, *pair) for pair in zip(parts.keys, keys, strict=True)
    ]
    parts.graph = graph
    return parts


def _add_weights(part: tuple[Any, ...], weights: Any) -> tuple[Any, ...]:
    return (*part, weights)


def query_parts(X: Any, columns: Any) -> Parts:
    """Parts of a table of queries; ``columns`` names the columns learned from, if they have names."""
    files = None
    if _is_path(X):
        X, files = _read_parquet(X, columns)
    if not _is_frame(X) and not _is_array(X):
        raise TypeError(f"X must be a table, a Dask DataFrame or a Dask array, got {type(X).__name__}")
    X = _one_column_block(X)
    parts = _parts(X, *_optimised(X), files)
    if _is_frame(X):
        graph, names = Graph(parts.graph), list(X.columns)
        parts.keys = [
            graph.call("take-columns", _take_columns, key, names, part)
            for key, part in zip(parts.keys, parts.names, strict=True)
        ]
        parts.graph = graph
    return parts


def _optimised(*collections: Any) -> tuple[dict[Any, Any], list[Any]]:
    """Graph of a frame, or of arrays that share tasks, and the keys of the last one's parts."""
    if len(collections) == 1 and not _is_array(collections[0]):
        # Dask would read small Parquet files together, of a table and its class not the same ones.
        with dask.config.set({"optimization.tune.active": False}):
            frame = collections[0].optimize()
        return dict(frame.__dask_graph__()), list(flatten(frame.__dask_keys__()))
    keys = [list(flatten(c.__dask_keys__())) for c in collections]
    merged = HighLevelGraph.merge(*(c.__dask_graph__() for c in collections))
    return dict(collections[0].__dask_optimize__(merged, [k for part in keys for k in part])), keys[-1]


def _pairs(X: Any, table: Any, y: Any, weight: str | None) -> tuple[dict[Any, Any], list[Any]]:
    """Graph and keys of tuples of a part of the table, its class and perhaps its weights."""
    if _is_frame(X) and _is_series(y):
        # In one expression, so that Dask loads once what both need.
        return _optimised(_map_parts(_pair, X, table, y, weight=weight))
    if _is_array(X) and _is_array(y):
        loading, labels = _optimised(X, y)
        tables = list(flatten(X.__dask_keys__()))
    else:
        loading, tables = _optimised(table)
        other, labels = _optimised(y)
        loading.update(other)
    graph, columns = Graph(loading), list(X.columns) if _is_frame(X) else None
    return graph, [
        graph.call("pair-up", _pair, *keys, columns, weight) for keys in zip(tables, labels, strict=True)
    ]


def _map_parts(function: Any, X: Any, *collections: Any, **options: Any) -> Any:
    """What a function gives for the parts of collections and the columns of X."""
    import dask.dataframe as dd

    options |= {"columns": list(X.columns), "align_dataframes": False, "enforce_metadata": False}
    return dd.map_partitions(function, *collections, meta=X._meta.iloc[:, 0], **options)


def _pair(table: Any, labels: Any, columns: list[Any] | None, weight: str | None) -> tuple[Any, ...]:
    rows = table if columns is None else _take_columns(table, columns)
    return rows, labels, *_column_of_weights(table, weight)


def _split(table: Any, columns: list[Any], target: str, weight: str | None) -> tuple[Any, ...]:
    labels = _take_columns(table, [target])[target]
    return _take_columns(table, columns), labels, *_column_of_weights(table, weight)


def _column_of_weights(table: Any, weight: str | None) -> list[Any]:
    return [] if weight is None else [_take_columns(table, [weight])[weight]]


def _take_columns(table: Any, columns: list[Any], part: str = "") -> Any:
    """Columns by their names: parts may have them in any order, and others besides."""
    if list(table.columns) == columns:
        return table
    lacking = [c for c in columns if c not in table.columns]
    if lacking:
        raise ValueError(f"the column {lacking[0]!r} is missing here" + (f" ({part})" if part else ""))
    return table[columns]


def _parts(X: Any, graph: dict[Any, Any], keys: list[Any], files: list[str] | None) -> Parts:
    frame = _is_frame(X)
    lengths: list[int | None] = [None] * len(keys)
    if not frame:
        lengths = [None if n != n else int(n) for n in X.chunks[0]]
    sample = X._meta if frame else np.empty((0, X.shape[1]), dtype=X.dtype)
    if files is None or len(files) != len(keys):
        files = [key_split(key) for key in keys]
    names = [f"partition {k} of {len(keys)}, {file}" for k, file in enumerate(files)]
    return Parts(graph, keys, names, lengths, sample)


def _check_target(X: Any, y: Any, target: str) -> None:
    if y is not None:
        raise ValueError("pass either y or target, the name of the class column, not both")
    if not _is_frame(X):
        raise TypeError("target names a column, which a Dask array does not have; pass y")
    if target not in X.columns:
        raise ValueError(f"target names the column {target!r}, which the table lacks: {list(X.columns)[:10]}")


def _check_weight_name(X: Any, weight: str, target: str | None) -> None:
    if not _is_frame(X):
        raise TypeError("sample_weight names a column, which a Dask array does not have; pass a Dask array")
    if weight not in X.columns:
        raise ValueError(
            f"sample_weight names the column {weight!r}, which the table lacks: {list(X.columns)[:10]}"
        )
    if weight == target:
        raise ValueError(f"sample_weight and target both name the column {weight!r}")


def _check_same_parts(X: Any, column: Any, name: str) -> None:
    if X.npartitions != column.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions and {name} has {column.npartitions}; cut both at the same rows"
        )


def _check_width(X: Any, besides: str = "") -> None:
    if not (len(X.columns) if _is_frame(X) else X.shape[1]):
        raise ValueError(f"X has no column to learn from{besides}")


def _one_column_block(X: Any) -> Any:
    if _is_frame(X):
        return X
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got a Dask array of shape {X.shape}")
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def _like(y: Any, X: Any, name: str) -> Any:
    """A Dask array cut at the rows of X, where the rows are known."""
    if _is_series(y):
        return y
    if y.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got a Dask array of shape {y.shape}")
    known = not _is_frame(X) and not np.isnan(X.chunks[0]).any() and not np.isnan(y.chunks[0]).any()
    if known and sum(X.chunks[0]) != sum(y.chunks[0]):
        raise ValueError(f"X has {sum(X.chunks[0])} rows and {name} has {sum(y.chunks[0])}")
    return y.rechunk((X.chunks[0],)) if known and X.chunks[0] != y.chunks[0] else y


def _is_path(X: Any) -> bool:
    one = isinstance(X, str | os.PathLike)
    return one or (isinstance(X, list) and bool(X) and all(isinstance(p, str | os.PathLike) for p in X))


def _is_array(X: Any) -> bool:
    import dask.array as da

    return isinstance(X, da.Array)


def _is_frame(X: Any) -> bool:
    import dask.dataframe as dd

    return isinstance(X, dd.DataFrame)


def _is_column(y: Any) -> bool:
    return _is_series(y) or _is_array(y)


def _is_series(X: Any) -> bool:
    import dask.dataframe as dd

    return isinstance(X, dd.Series)


def _read_parquet(path: Any, columns: Any = None) -> tuple[Any, list[str]]:
    """A Dask DataFrame, of the given columns if any are, and the files it comes from."""
    import dask.dataframe as dd
    from fsspec.core import get_fs_token_paths  # type: ignore[import-untyped]

    paths = [os.fspath(p) for p in path] if isinstance(path, list) else os.fspath(path)
    fs, _, found = get_fs_token_paths(paths, mode="rb")
    files = [f for p in found for f in (sorted(fs.find(p)) if fs.isdir(p) else [p])]
    files = [f for f in files if fs.exists(f)]
    if not files:
        raise FileNotFoundError(f"no Parquet files at {path!r}")
    try:
        frame = dd.read_parquet(paths)
    except ValueError as error:
        reason = " ".join(str(error).split("Original Message: ")[-1].split())
        raise ValueError(
            f"cannot read {path!r} as Parquet; read other files with Dask and pass its table ({reason})"
        ) from error
    if columns is not None:
        lacking = [c for c in columns if c not in frame.columns]
        if lacking:
            raise ValueError(f"the Parquet files lack the column {lacking[0]!r}, which was there in fit")
        frame = frame[list(columns)]
    return frame, [f for f in files if f.endswith((".parquet", ".parq", ".pq"))] or files
