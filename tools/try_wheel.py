"""Installs a wheel into an empty environment without a compiler, and runs the tests that need no tools there.

python tools/try_wheel.py dist/localbayes-*.whl             # newest versions of all dependencies
python tools/try_wheel.py dist/localbayes-*.whl --lowest    # oldest versions that pyproject.toml allows
python tools/try_wheel.py dist/localbayes-*.whl --python python3.13
python tools/try_wheel.py dist/localbayes-*.whl --python newest    # the newest interpreter of this machine
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import lowest_versions

ROOT = Path(__file__).resolve().parent.parent
# What the tests import and users need not have. The peers of other tests are left out.
TOOLS = ("pytest>=9", "pytest-timeout", "pytest-xdist", "hypothesis", "psutil", "polars")
FAST = (
    "classifiers/test_common.py",
    "classifiers/test_lcwnb.py",
    "classifiers/test_local_bayes.py",
    "classifiers/test_missing.py",
    "cli/test_fit_predict.py",
    "cli/test_one_meaning.py",
    "counts",
    "datasets/test_reading.py",
    "distributed/test_parts.py",
    "encoding",
    "explain/test_explain_page.py",
    "kernels",
    "persistence",
    "study/test_run.py",
    "weka",
)
NO_TOOLS = "not weka and not chromium and not cluster"
# Names of interpreters, the newest first. Names of versions that do not exist yet cost nothing.
INTERPRETERS = tuple(f"python3.{minor}" for minor in range(20, 10, -1))
# Says what is tried, and that it is the installed package and not the sources beside it.
SAY = """
import platform, sys
from importlib.metadata import version
import localbayes
assert localbayes.__file__.startswith(sys.prefix), localbayes.__file__
names = ("localbayes", "nanobind-backend", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "polars")
print(f"CPython {platform.python_version()}:", ", ".join(f"{name} {version(name)}" for name in names))
"""


def newest_python() -> str:
    """The newest interpreter that makes environments: on PATH, or among the versions of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for name in INTERPRETERS:
        for path in (shutil.which(name), *root.glob(f"versions/*/bin/{name}")):
            # A shim of pyenv stands on PATH for versions that are not in use, and fails.
            if path and subprocess.run([path, "-c", "import ensurepip"], capture_output=True).returncode == 0:
                return str(path)
    return sys.executable


def main() -> int:
    """Build the environment and run the tests; 0 if all pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--lowest", action="store_true", help="the oldest versions of all dependencies")
    parser.add_argument("--python", default=sys.executable, help="interpreter, or newest (default: this one)")
    parser.add_argument("--jobs", default="2", help="processes for the tests (default 2)")
    options = parser.parse_args()

    interpreter = newest_python() if options.python == "newest" else options.python
    folder = ROOT / "build" / ("try-lowest" if options.lowest else "try-newest")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([interpreter, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    # Nothing but the environment itself is on PATH. Tests that compare with other programs are not asked for.
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("LOCALBAYES_REQUIRE", "PYTHONPATH"))
    }
    environment["PATH"] = str(python.parent)
    for compiler in ("c++", "g++", "clang++", "cc", "cmake", "ninja"):
        assert shutil.which(compiler, path=environment["PATH"]) is None, compiler

    def run(*words: object) -> None:
        subprocess.run([str(word) for word in words], check=True, env=environment, cwd=ROOT)

    began = time.monotonic()
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--upgrade", "pip")
    install = [
        *pip,
        "install",
        "--quiet",
        "--only-binary",
        ":all:",
        f"{options.wheel.resolve()}[all]",
        *TOOLS,
    ]
    if options.lowest:
        (folder / "lowest.txt").write_text(lowest_versions.constraints(), encoding="utf-8")
        install += ["--constraint", folder / "lowest.txt"]
    run(*install)
    run(*pip, "check")
    run(python, "-c", SAY)
    installed = time.monotonic()
    tests = [ROOT / "tests" / name for name in FAST]
    run(python, "-m", "pytest", "-q", "-n", options.jobs, "--dist", "loadfile", "-m", NO_TOOLS, *tests)
    print(f"installed in {installed - began:.0f} s, tested in {time.monotonic() - installed:.0f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        print(f"{' '.join(map(str, failure.cmd[:6]))} ... ended with {failure.returncode}", file=sys.stderr)
        sys.exit(1)
