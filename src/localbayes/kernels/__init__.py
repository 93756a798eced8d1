"""The compiled kernels: a thin, typed face of C++ that only ``localbayes.counts`` calls.

``match.hpp`` describes the layout of the rows and the algorithm in prose. Every instruction set gives the
same bits. The best one the machine has is used; the environment variable ``LOCALBAYES_ISA`` (``portable``,
``avx2`` or ``avx512``) forces one.
"""

import os
from typing import Any

import localbayes.kernels._kernels as _kernels

__all__ = ["compiled", "isa", "isas", "use_isa"]

# The compiled module itself: arrays in, arrays out. Its functions are described in ``module.cpp``.
compiled: Any = _kernels


def isas() -> list[str]:
    """Instruction sets this machine has, best first."""
    return list(_kernels.isas())


def isa() -> str:
    """Name of the instruction set in use."""
    return str(_kernels.isa())


def use_isa(name: str) -> None:
    """Use one instruction set from now on; results are the same, only the speed differs.

    Parameters
    ----------
    name : str
        One of ``isas()``.

    Examples
    --------
    >>> before = isa()
    >>> use_isa("portable")
    >>> isa()
    'portable'
    >>> use_isa(before)
    """
    if name not in isas():
        raise ValueError(f"instruction set must be one of {', '.join(isas())} on this machine, got {name!r}")
    _kernels.use_isa(isas().index(name))


if os.environ.get("LOCALBAYES_ISA"):
    use_isa(os.environ["LOCALBAYES_ISA"])
