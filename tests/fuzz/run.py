"""Runs the fuzzers: numbered cases in worker processes under a watchdog.

    python tests/fuzz/run.py models --cases 5000               # damaged model files
    python tests/fuzz/run.py all --cases 500                   # 500 cases of every kind
    python tests/fuzz/run.py models tables --sanitized         # with the extension under ASan and UBSan
    python tests/fuzz/run.py models --first 1234 --cases 1     # one case again

The number of a case is its seed, so the same numbers give the same cases. A case fails if it raises what it
may not, ends the process, takes longer than --seconds, or takes more memory than --megabytes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import select
import shutil
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KINDS = {
    "models": "fuzz.model_files",
    "data": "fuzz.data_files",
    "stores": "fuzz.stores",
    "tables": "fuzz.random_tables",
}
SANITIZE = "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
# Cases that break the promise on purpose, for a test of the watchdog.
BROKEN = {"selftest": "fuzz.broken"}


@dataclass
class Result:
    """Outcomes of the cases of one kind, and what failed."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def fail(self, number: int, reason: str) -> None:
        """Note a case that broke the promise, and say so at once."""
        self.outcomes["FAILED"] += 1
        self.failures.append((number, reason))
        print(f"  case {number}: {reason}", flush=True)

    def add(self, other: Result) -> None:
        self.outcomes += other.outcomes
        self.failures += other.failures


def work(module: str, numbers: range, megabytes: int) -> None:
    """Do cases one by one, in a worker process; print a line for each."""
    warnings.simplefilter("ignore")
    check = importlib.import_module(module).check
    limit = int(megabytes) << 20
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)  # what a case prints is no outcome
    print("ready", file=out, flush=True)
    for number in numbers:
        try:
            outcome = check(number)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            outcome = "FAILED " + " ".join(text.split())[:300]
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if peak > limit:
            outcome = f"FAILED took {peak >> 20} MB of memory"
        print(number, outcome, file=out, flush=True)
        if peak > limit:
            return


def watch(module: str, numbers: range, options: argparse.Namespace, environment: dict[str, str]) -> Result:
    """Have cases done by a worker; one that hangs or dies is noted and the next one goes on after it."""
    result, rest = Result(), numbers
    while len(rest):
        words = [sys.executable, __file__, "--work", module, rest.start, rest.stop, rest.step]
        worker = subprocess.Popen(
            [str(word) for word in [*words, options.megabytes]],
            stdout=subprocess.PIPE,
            stderr=None if options.verbose else subprocess.DEVNULL,
            env=environment,
            preexec_fn=None if options.sanitized else lambda: _limit_memory(options.megabytes),
        )
        done, reason = _follow(worker, rest, result, options.seconds)
        rest = rest[done:]
        if reason and len(rest):
            result.fail(rest[0], reason)
            rest = rest[1:]
    return result


def _follow(
    worker: subprocess.Popen[bytes], numbers: range, result: Result, seconds: float
) -> tuple[int, str]:
    """Read the lines of a worker; how many cases it did, and why it did not do the next one."""
    assert worker.stdout is not None
    done, pending, limit = 0, b"", seconds + 120  # imports come first
    while True:
        ready, _, _ = select.select([worker.stdout], [], [], limit)
        if not ready:
            worker.kill()
            worker.wait()
            return done, f"hangs for more than {seconds:g} seconds"
        chunk = os.read(worker.stdout.fileno(), 1 << 16)
        if not chunk:
            break
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            limit = seconds
            if line == b"ready":
                continue
            number, outcome = line.decode().split(" ", 1)
            assert int(number) == numbers[done], line
            done += 1
            if outcome.startswith("FAILED"):
                result.fail(int(number), outcome[7:])
            else:
                result.outcomes[outcome] += 1
            if sum(result.outcomes.values()) % 1000 == 0:
                print(f"  up to case {int(number)}: {dict(result.outcomes)}", flush=True)
    code = worker.wait()
    return done, f"ended its process ({code})" if code else ""


def _limit_memory(megabytes: int) -> None:
    most = (megabytes << 20) * 8  # address space, of which a case may only touch a part
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def sanitized_package() -> dict[str, str]:
    """Build the extension under AddressSanitizer and UBSan; the environment in which Python uses it."""
    folder = ROOT / "build" / "sanitized"
    # -O1 stands behind the -O3 of CMakeLists.txt, and so counts.
    rule = f"<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> {SANITIZE} -o <OBJECT> -c <SOURCE>"
    configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=None", "-DLOCALBAYES_SPLIT=OFF"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_CXX_COMPILE_OBJECT={rule}"]
    configure += [f"-DCMAKE_MODULE_LINKER_FLAGS={SANITIZE}"]
    for command in (configure, ["cmake", "--build", folder, "--parallel", str(os.cpu_count())]):
        done = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(
                f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}"
            )
    package = folder / "package" / "localbayes"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        ROOT / "src" / "localbayes",
        package,
        ignore=shutil.ignore_patterns("*.so", "*.cpp", "*.hpp", "__pycache__"),
    )
    for extension in folder.glob("_kernels*.so"):
        shutil.copy(extension, package / "kernels")
    compiler = os.environ.get("CXX", "g++")
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout
        for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")
    ]
    return {
        "PYTHONPATH": os.pathsep.join(
            [str(package.parent), str(ROOT / "tests"), str(ROOT / "tests" / "helpers")]
        ),
        "LD_PRELOAD": " ".join(library.strip() for library in libraries),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:hard_rss_limit_mb=4000",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def main() -> int:
    """Run the kinds asked for; 0 if every case kept the promise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="+", choices=[*KINDS, *BROKEN, "all"])
    parser.add_argument("--cases", type=int, default=1000, help="cases of each kind (default 1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=30.0, help="most seconds for one case")
    parser.add_argument("--megabytes", type=int, default=1500, help="most memory of a worker")
    parser.add_argument("--sanitized", action="store_true", help="build the extension under ASan and UBSan")
    parser.add_argument("--verbose", action="store_true", help="show what workers write to standard error")
    options = parser.parse_args()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
    if options.sanitized:
        environment |= sanitized_package()
    else:
        paths = [str(ROOT / "tests"), str(ROOT / "tests" / "helpers"), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    failed = False
    for kind in KINDS if "all" in options.kinds else options.kinds:
        started = time.perf_counter()
        numbers = range(options.first, options.first + options.cases)
        parts = [numbers[k :: options.jobs] for k in range(options.jobs)]
        result = Result()
        with ThreadPoolExecutor(options.jobs) as pool:
            module = (KINDS | BROKEN)[kind]
            for part in pool.map(watch, repeat(module), parts, repeat(options), repeat(environment)):
                result.add(part)
        took = time.perf_counter() - started
        print(f"{kind}: {sum(result.outcomes.values()):,} cases in {took:.0f} s; {dict(result.outcomes)}")
        failed |= bool(result.failures)
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], range(*map(int, sys.argv[3:6])), int(sys.argv[6]))
    else:
        sys.exit(main())
