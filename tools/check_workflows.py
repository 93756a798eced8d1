"""Checks that cibuildwheel would build one wheel of the stable ABI for every platform of the workflow.

python tools/check_workflows.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent
# Where cibuildwheel has another name for an architecture than the workflow.
ARCHITECTURES = {"x64": "AMD64"}


def identifiers(platform: str) -> list[str]:
    """What cibuildwheel would build for a platform such as linux-aarch64; nothing is built."""
    system, _, architecture = platform.partition("-")
    words = ["--platform", system, "--archs", ARCHITECTURES.get(architecture, architecture)]
    command = [sys.executable, "-m", "cibuildwheel", *words, "--print-build-identifiers", ROOT]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.split()


def main() -> int:
    """Print what would be built; 0 if it is one wheel of cp311 for every platform."""
    workflow = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "wheels.yml")
    platforms = [entry["platform"] for entry in workflow["jobs"]["wheel"]["strategy"]["matrix"]["include"]]
    wrong = 0
    for platform in platforms:
        found = identifiers(platform)
        fine = len(found) == 1 and found[0].startswith("cp311-")
        wrong += not fine
        print(f"{platform}: {' '.join(found) or 'nothing'}{'' if fine else ', expected one wheel of cp311'}")
    return 1 if wrong or not platforms else 0


if __name__ == "__main__":
    sys.exit(main())
