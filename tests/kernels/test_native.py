"""The guard of the kernel's instructions: what it lets pass, what it refuses, and what it then says."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

NATIVE = Path(__file__).resolve().parents[1] / "native"


@pytest.fixture(scope="module")
def guard() -> ModuleType:
    spec = importlib.util.spec_from_file_location("native_run", NATIVE / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RECORDED = {"compiler": "g++ 12", "bounds": {"letters": 1000, "rows": 2000}}


def test_work_within_its_bound_passes(guard):
    """A kernel that needs as many instructions as recorded, but no more, is accepted."""
    text = guard.verdict({"letters": 1000, "rows": 1500}, RECORDED, "g++ 12")
    assert text.splitlines() == [
        "letters: 1,000 instructions, bound 1,000",
        "rows: 1,500 instructions, bound 2,000",
    ]


def test_more_work_than_recorded_is_refused_by_name(guard):
    """One piece of work above its bound fails the check, and the message names it and not the others."""
    with pytest.raises(guard.Failed, match=r"than its bound for rows\. Find what made it slower"):
        guard.verdict({"letters": 1000, "rows": 2001}, RECORDED, "g++ 12")


def test_another_compiler_is_named_as_a_possible_reason(guard):
    """Compilers differ in instructions: the message says that the bound came from another one."""
    with pytest.raises(guard.Failed, match=r"another compiler \(g\+\+ 12; this is g\+\+ 14\).*--record"):
        guard.verdict({"letters": 1001}, RECORDED, "g++ 14")


def test_work_without_a_bound_is_refused(guard):
    """A new piece of work must be recorded before it can pass."""
    with pytest.raises(guard.Failed, match=r"no bound is recorded for 'columns'"):
        guard.verdict({"columns": 1}, RECORDED, "g++ 12")


def test_every_piece_of_work_has_a_recorded_bound(guard):
    """The recorded file covers exactly what is counted."""
    recorded = json.loads((NATIVE / "instructions.json").read_text(encoding="utf-8"))
    assert set(recorded["bounds"]) == set(guard.WORKS)


@pytest.mark.parametrize(("required", "code"), [("0", 0), ("1", 1)])
def test_absent_valgrind_is_said_and_fails_only_where_required(guard, monkeypatch, capsys, required, code):
    """Without valgrind a developer is told what to install; continuous integration fails."""
    monkeypatch.setattr(guard.shutil, "which", lambda program: None)
    monkeypatch.setattr(guard.sys, "argv", ["run.py", "instructions"])
    monkeypatch.setenv("LOCALBAYES_REQUIRE_VALGRIND", required)
    assert guard.main() == code
    said = capsys.readouterr()
    assert "apt-get install valgrind" in (said.err if code else said.out)


def test_options_are_those_of_the_build(guard):
    """The checks compile each instruction set with the options that CMakeLists.txt gives it."""
    common, own = guard.build_options()
    assert {"-std=c++20", "-O3", "-ffp-contract=off"} <= set(common)
    assert "-mavx2" in own["isa_avx2.cpp"]
    assert "-mavx512vpopcntdq" in own["isa_avx512.cpp"]
