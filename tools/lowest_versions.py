"""Writes the oldest versions that pyproject.toml allows as a file of constraints for pip.

    python tools/lowest_versions.py > lowest.txt
    pip install --constraint lowest.txt localbayes[all]

Dependencies of users count, with all extras that they may ask for; tools of developers do not.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOR_DEVELOPERS = ("test", "bench")
# No dependency, but users bring their tables.
BROUGHT_ALONG = ("polars",)


def lowest(project: dict[str, object]) -> list[str]:
    """One line for every dependency of users: its name and the oldest version that is allowed.

    >>> lowest({"dependencies": ["numpy>=2.0,<3"], "optional-dependencies": {"b": ["x[y]>=1", "me[b]"]},
    ...         "name": "me"})
    ['numpy==2.0', 'x==1']
    """
    wanted: list[str] = list(project["dependencies"])  # type: ignore[call-overload]
    for extra, more in project["optional-dependencies"].items():  # type: ignore[attr-defined]
        wanted += [one for one in more if extra not in FOR_DEVELOPERS or one.startswith(BROUGHT_ALONG)]
    lines = []
    for requirement in wanted:
        parts = re.fullmatch(r"([\w.-]+)(\[[\w,-]+\])?\s*(?:>=([\w.]+))?(,.*)?", requirement)
        if parts is None or (parts[3] is None and parts[1] != project["name"]):
            raise SystemExit(
                f"{requirement!r} in pyproject.toml: expected name>=version; write the oldest one that works"
            )
        if parts[1] != project["name"]:
            lines.append(f"{parts[1]}=={parts[3]}")
    return sorted(set(lines))


def constraints() -> str:
    """The text of the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return "\n".join([*lowest(project), ""])


if __name__ == "__main__":
    sys.stdout.write(constraints())
