"""The former name of ``localbayes.distributed``."""

from localbayes._warnings import warn
from localbayes.distributed import Distributed, classify, connect, run_tasks, share

__all__ = ["Distributed", "classify", "connect", "run_tasks", "share"]

warn("localbayes.scale is now localbayes.distributed; import from there", DeprecationWarning)
