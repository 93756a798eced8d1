"""The same counts, added up by Dask: tables larger than a machine, query loads larger than its cores.

``Distributed`` wraps any classifier of the library; ``commands`` spreads queries to one that was fitted
elsewhere. ``parts`` cuts Dask collections into tasks, ``graph``
names them, ``work`` is what runs on the workers, ``domains`` is what all their rows say of columns,
``queries`` sends queries to them, ``counts`` is how a formula of the lazy family asks rows that are
elsewhere, ``left_out`` how it chooses kappa by them, ``tasks`` runs whole tasks, ``cluster`` talks to the
scheduler.
"""

from importlib.util import find_spec

if find_spec("dask") is None or find_spec("distributed") is None:
    raise ImportError("localbayes.scale needs dask and distributed: install the extra 'dask'")

from localbayes.scale.cluster import connect
from localbayes.scale.commands import classify
from localbayes.scale.model import Distributed
from localbayes.scale.tasks import run_tasks, share

__all__ = ["Distributed", "classify", "connect", "run_tasks", "share"]
