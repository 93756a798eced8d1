"""`localbayes methods` and `localbayes info`."""

from __future__ import annotations

import typer

__all__ = ["info", "methods"]

_NEEDED = ("numpy", "scipy", "scikit-learn", "skops")
_OPTIONAL = {
    "pandas": "tables",
    "pyarrow": "Parquet",
    "polars": "polars tables",
    "matplotlib": "plots",
    "jinja2": "pages of the study and of explanations",
    "dask": "clusters",
    "distributed": "clusters",
}


def methods() -> None:
    """List the classifiers, a line each."""
    from localbayes.classifiers import METHODS

    width = max(map(len, METHODS))
    for name, cls in METHODS.items():
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        typer.echo(f"{name:{width}}  {summary}")


def info() -> None:
    """Show versions, the instruction set in use and the optional packages found."""
    import os
    import platform

    from localbayes import __version__, kernels

    lines = [
        ("localbayes", __version__),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("cores", str(os.cpu_count())),
        ("instruction set", f"{kernels.isa()} (available: {', '.join(kernels.isas())})"),
        *((name, _version(name) or "not installed") for name in _NEEDED),
        *((name, _version(name) or f"not installed ({purpose})") for name, purpose in _OPTIONAL.items()),
    ]
    for name, value in lines:
        typer.echo(f"{name:15}  {value}")


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
