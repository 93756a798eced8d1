"""Saving the rows on the workers to a folder, and bringing them back on another cluster."""

import os
import secrets
from pathlib import Path
from typing import Any

from localbayes.classifiers import LazyClassifier
from localbayes.distributed import saved_parts
from localbayes.distributed.dask.connection import Cluster, Progress, result, results, watch
from localbayes.distributed.dask.remote_rows import RemoteRows
from localbayes.distributed.dask.task_graph import Graph
from localbayes.distributed.row_files import RowFile

__all__ = ["load_rows", "save_rows"]


def save_rows(rows: RemoteRows, folder: Path, progress: Progress | None) -> list[RowFile]:
    """Write every part to a folder.

    A worker that sees the folder writes its parts itself. Those of other workers are fetched, one at a time.
    """
    mark = folder / f".{secrets.token_hex(8)}.mark"
    mark.touch()
    graph = Graph(rows.graph())
    near = dict(rows.places())
    written = [
        graph.call(
            "save-rows", saved_parts.write_part, part.key, str(folder), k, mark.name, near=near[part.key]
        )
        for k, part in enumerate(rows.parts)
    ]
    names = [f"part {k} of {len(written)}" for k in range(len(written))]
    with rows.cluster.started(graph, written) as futures:
        files = results(futures, names, "save rows", progress)
    for k, part in enumerate(rows.parts):
        if files[k] is None:
            files[k] = saved_parts.write_part(result(part, names[k]), str(folder), k, mark.name)
    mark.unlink()
    return files


def load_rows(
    cluster: Cluster,
    estimator: LazyClassifier,
    folder: str | os.PathLike[str],
    files: list[RowFile],
    progress: Progress | None,
) -> list[Any]:
    """Parts on the workers, mapped from the files of a folder that all of them see."""
    graph = Graph()
    model = graph.put("model", estimator.without_rows())
    place = os.path.abspath(folder)
    parts = [
        graph.call("load-rows", saved_parts.read_part, model, place, graph.put("file", file))
        for file in files
    ]
    totals = [graph.call("count-classes", saved_parts.class_totals, part) for part in parts]
    names = [f"{file.name} in {os.fspath(folder)}" for file in files]
    with cluster.started(graph, [*parts, *totals]) as futures:
        held, counted = futures[: len(parts)], futures[len(parts) :]
        watch(held, names, "load rows", progress)
        saved_parts.check_totals(estimator, sum(results(counted, names, "", None)))
    return held
