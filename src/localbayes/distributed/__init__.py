"""The same formulas on tables larger than a machine and query loads larger than its cores.

``part_learning``, ``left_out_work`` and ``part_work`` are what is done with one part of a table,
``part_counts`` how counts of parts are added up, ``domains`` what all parts together say of columns and
classes, ``row_files`` and ``model_folder`` how parts are kept in files: plain functions that know no engine.
``files`` runs them one after the other on one machine, ``dask`` on a Dask cluster. Only ``dask`` needs Dask.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localbayes.distributed.dask.classify import classify
    from localbayes.distributed.dask.connection import connect
    from localbayes.distributed.dask.distributed_model import Distributed
    from localbayes.distributed.dask.whole_tasks import run_tasks, share
    from localbayes.distributed.files import fit_files
    from localbayes.distributed.model_folder import load_folder

__all__ = ["Distributed", "classify", "connect", "fit_files", "load_folder", "run_tasks", "share"]

# Where names are; those that need Dask are imported when they are asked for.
_PLACES = {
    "Distributed": "dask.distributed_model",
    "classify": "dask.classify",
    "connect": "dask.connection",
    "fit_files": "files",
    "load_folder": "model_folder",
    "run_tasks": "dask.whole_tasks",
    "share": "dask.whole_tasks",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = _PLACES[name]
    if place.startswith("dask") and any(find_spec(module) is None for module in ("dask", "distributed")):
        raise ImportError(
            f"localbayes.distributed.{name} needs dask and distributed: install the extra 'dask'"
        )
    value = getattr(import_module(f"{__name__}.{place}"), name)
    globals()[name] = value
    return value
