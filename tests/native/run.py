"""Builds and runs the checks of the C++ kernel that need no Python inside.

    python tests/native/run.py sanitize               # plain loops against the kernel, under ASan and UBSan
    python tests/native/run.py compare                # the same without them; RUNNER may name an emulator
    python tests/native/run.py arm                    # the same here and on an emulated ARM: the same bits
    python tests/native/run.py compile                # compile and link these checks only
    python tests/native/run.py instructions           # instructions of a fixed piece of work against a bound
    python tests/native/run.py instructions --record  # set the bound to what is measured now, plus 5 %

`instructions` needs valgrind. Where that is absent it says so and passes, unless
LOCALBAYES_REQUIRE_VALGRIND is 1. The compiler is $CXX or g++, which may compile for another machine; its
options are those of CMakeLists.txt, so that what is checked is what is shipped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNELS = ROOT / "src" / "localbayes" / "kernels"
BOUNDS = HERE / "instructions.json"
WORKS = (
    "letters",
    "rows",
    "all",
    "missing",
    "runs",
    "weights",
    "ordered",
    "wide",
    "columns",
    "exponents",
    "neighbours",
)
CHECKS = ["check.cpp", "check_pairs.cpp", "check_learning.cpp"]
SLACK = 1.05
SANITIZE = ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


# Debian's g++-aarch64-linux-gnu and qemu-user.
ARM = {"CXX": "aarch64-linux-gnu-g++", "RUNNER": "qemu-aarch64 -L /usr/aarch64-linux-gnu"}


class Failed(Exception):
    """A check that failed; the text says why and what to do."""


def machine() -> str:
    """The processor that the compiler compiles for: "x86_64", "aarch64", ..."""
    return run(compiler(), "-dumpmachine").stdout.split("-")[0].replace("arm64", "aarch64")


def is_x86() -> bool:
    """Whether the sources for x86 are part of the build."""
    return machine() == "x86_64"


def is_arm() -> bool:
    """Whether the source for 64-bit ARM is part of the build."""
    return machine() == "aarch64"


def build_options() -> tuple[list[str], dict[str, list[str]]]:
    """Compiler options of CMakeLists.txt: for all sources, and by source."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    lists = {name: words.split() for name, words in re.findall(r"set\((\w+_OPTIONS)\s+([^)]*)\)", text)}
    if "KERNEL_OPTIONS" not in lists:
        raise Failed(
            "CMakeLists.txt has no set(KERNEL_OPTIONS ...); tests/native/run.py reads its options there"
        )
    own = {
        name: lists[options]
        for name, options in re.findall(
            r"\$\{KERNELS\}/(\w+\.cpp)\s+PROPERTIES\s+COMPILE_OPTIONS\s+\"\$\{(\w+)\}\"", text
        )
    }
    return ["-std=c++20", *lists["KERNEL_OPTIONS"]], own


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it printed; fail with its last lines if it does."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise Failed(f"{' '.join(words[:1] + words[-1:])} ended with {done.returncode}:\n{said}")
    return done


def compiler() -> str:
    """Name of the compiler."""
    return os.environ.get("CXX", "g++")


def match_sources() -> list[str]:
    """Sources of the match counts."""
    x86 = ["isa_avx2.cpp", "isa_avx512.cpp"] if is_x86() else []
    common = ["layout.cpp", "check_rows.cpp", "repeats.cpp", "distance.cpp"]
    return [*common, "isa.cpp", "isa_portable.cpp", *x86]


def build(programs: list[str], folder: Path, extra: list[str], emulate: bool = False) -> list[Path]:
    """Compile the kernel, AVX-512 emulated or not, and programs of this folder; return their executables."""
    common, own = build_options()
    folder.mkdir(parents=True, exist_ok=True)
    names = match_sources()
    if is_x86():
        common.append("-DLOCALBAYES_X86")
    if is_arm():
        common.append("-DLOCALBAYES_NEON")
        names.append("isa_neon.cpp")
    if emulate:
        own["isa_avx512.cpp"] = [f"-I{HERE / 'emulated'}"]

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        options = [*common, *extra, *own.get(source.name, []), f"-I{KERNELS}", f"-I{HERE}"]
        run(compiler(), *options, "-c", source, "-o", target)
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [*(KERNELS / name for name in names), *(HERE / name for name in programs)]
        objects = list(pool.map(compile_one, sources))
    kernel = objects[: -len(programs)]
    executables = []
    for own_object in objects[-len(programs) :]:
        executables.append(own_object.with_suffix(""))
        run(compiler(), *extra, *kernel, own_object, "-o", executables[-1])
    return executables


def lacks_avx512() -> bool:
    """Whether this is an x86 machine that cannot run the AVX-512 path."""
    cpu = Path("/proc/cpuinfo")
    return is_x86() and not (cpu.exists() and "avx512_vpopcntdq" in cpu.read_text(encoding="utf-8").split())


def sanitize(tables: int) -> None:
    """Check the kernel against plain loops under AddressSanitizer and UBSan."""
    emulate = lacks_avx512()
    folder = ROOT / "build" / "native" / "sanitize"
    check, pairs, learning = build(CHECKS, folder, SANITIZE, emulate)
    print(run(check, tables).stdout, end="", flush=True)
    if emulate:
        print(run(check, tables, "portable", "avx512").stdout.rstrip(), "(emulated: this machine lacks it)")
    print(run(pairs, 5 * tables).stdout, end="", flush=True)
    print(run(learning, 5 * tables).stdout, end="")


def compile_checks() -> tuple[str, list[Path]]:
    """Compile and link the checks for the machine of $CXX; its name and the executables."""
    target = run(compiler(), "-dumpmachine").stdout.strip()
    executables = build(CHECKS, ROOT / "build" / "native" / target, [])
    print(f"the kernel and its checks compile and link for {target} ({compiler_version()})", flush=True)
    return target, executables


def compare(tables: int) -> str:
    """Check the kernel against plain loops as it is shipped, on the machine of $CXX; the digest."""
    target, (check, *others) = compile_checks()
    runner = shlex.split(os.environ.get("RUNNER", ""))
    said = run(*runner, check, tables).stdout
    print(f"{target}: {said}", end="", flush=True)
    for other in others:
        print(f"{target}: {run(*runner, other, 5 * tables).stdout}", end="", flush=True)
    return said.split()[-1]


def arm(tables: int) -> None:
    """Check the kernel on an emulated 64-bit ARM, and that its results are those of this machine."""
    here = compare(tables)
    os.environ.update(ARM)
    if compare(tables) != here:
        raise Failed("the results on aarch64 are not those of this machine; see the digests above")
    print("aarch64 has the bits of this machine")


def count_instructions(executable: Path, work: str) -> int:
    """Instructions of one piece of work, as callgrind counts them."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured"]
    collected = re.search(r"Collected : (\d+)", run(*tool, executable, work).stderr)
    if collected is None or int(collected[1]) == 0:
        raise Failed("callgrind did not see the function `measured` of tests/native/work.cpp")
    return int(collected[1])


def compiler_version() -> str:
    """First line of what the compiler says of itself."""
    return run(compiler(), "--version").stdout.splitlines()[0]


def verdict(counts: dict[str, int], recorded: dict[str, Any], version: str) -> str:
    """A line for each piece of work; raise Failed where one exceeds its bound."""
    lines, above = [], []
    for work, count in counts.items():
        bound = recorded["bounds"].get(work)
        if bound is None:
            raise Failed(
                f"no bound is recorded for {work!r}: run `tests/native/run.py instructions --record`"
            )
        lines.append(f"{work}: {count:,} instructions, bound {bound:,}")
        if count > bound:
            above.append(work)
    text = "\n".join(lines)
    if not above:
        return text
    reason = f"{text}\nthe kernel needs more instructions than its bound for {', '.join(above)}. "
    if version != recorded["compiler"]:
        reason += (
            f"The bound was recorded with another compiler ({recorded['compiler']}; this is {version}): "
            "if the sources are the same, record again with `tests/native/run.py instructions --record`."
        )
    else:
        reason += (
            "Find what made it slower (callgrind_annotate helps); if the cost is meant, "
            "record it with `tests/native/run.py instructions --record` and say why in the commit."
        )
    raise Failed(reason)


def instructions(record: bool) -> None:
    """Count instructions and compare them with their bounds, or set these."""
    if shutil.which("valgrind") is None:
        message = "instructions are not counted: valgrind is absent (apt-get install valgrind)"
        if os.environ.get("LOCALBAYES_REQUIRE_VALGRIND") == "1":
            raise Failed(message)
        print(message)
        return
    (executable,) = build(["work.cpp"], ROOT / "build" / "native" / "work", ["-g1"])
    counts = {work: count_instructions(executable, work) for work in WORKS}
    version = compiler_version()
    if record:
        bounds = {work: int(count * SLACK) for work, count in counts.items()}
        text = json.dumps({"compiler": version, "bounds": bounds}, indent=1)
        BOUNDS.write_text(text + "\n", encoding="utf-8")
    print(verdict(counts, json.loads(BOUNDS.read_text(encoding="utf-8")), version))


def main() -> int:
    """Run one check; 0 if it passes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    sanitizing = commands.add_parser("sanitize", help="compare with plain loops under ASan and UBSan")
    sanitizing.add_argument("--tables", type=int, default=120, help="random tables to try (default 120)")
    comparing = commands.add_parser(
        "compare", help="compare with plain loops on the machine $CXX compiles for"
    )
    comparing.add_argument("--tables", type=int, default=120, help="random tables to try (default 120)")
    emulating = commands.add_parser("arm", help="the same here and on an emulated 64-bit ARM")
    emulating.add_argument("--tables", type=int, default=120, help="random tables to try (default 120)")
    commands.add_parser("compile", help="compile and link the checks, and run nothing")
    counting = commands.add_parser("instructions", help="count instructions and compare with their bound")
    counting.add_argument(
        "--record", action="store_true", help="set the bound to what is measured, plus 5 %%"
    )
    options = parser.parse_args()
    try:
        if options.command == "sanitize":
            sanitize(options.tables)
        elif options.command == "compare":
            compare(options.tables)
        elif options.command == "compile":
            compile_checks()
        elif options.command == "arm":
            arm(options.tables)
        else:
            instructions(options.record)
    except Failed as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
