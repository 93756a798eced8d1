"""The work of a study: data sets times methods times runs, cut into units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from localbayes.study.benchmark import current
from localbayes.study.builtin_columns import RAW_COLUMNS, resolve
from localbayes.study.methods import Method
from localbayes.study.store import Store
from localbayes.study.study_sets import SetSource, find_sets

__all__ = ["Plan", "Unit", "make_plan"]


class Unit(NamedTuple):
    """One run of one method on one data set: the work that is claimed at once."""

    source: SetSource
    method: Method
    run: int

    @property
    def key(self) -> tuple[str, str, int]:
        """Name of the unit in the store."""
        return self.source.name, self.method.name, self.run


@dataclass(frozen=True)
class Plan:
    """The whole work of a study; see `make_plan`.

    Examples
    --------
    >>> plan = make_plan(["iris", "labor"], ["NB", "LCWNB5"], runs=2)
    >>> [column for column, _ in plan.columns], len(plan.units())
    (['NB', 'LCWNB5'], 8)
    """

    sources: tuple[SetSource, ...]
    methods: tuple[Method, ...]
    runs: int = 10
    n_folds: int = 10
    raw: bool = False

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Every column with its description."""
        return [
            (column, about)
            for method in self.methods
            for column, about in zip(method.columns, method.about or ("",) * len(method.columns), strict=True)
        ]

    def units(self) -> list[Unit]:
        """Return the units, large data sets first, so that the processes end together."""
        ordered = sorted(self.sources, key=lambda source: -source.size)
        runs = range(1, self.runs + 1)
        return [Unit(s, method, run) for s in ordered for method in self.methods for run in runs]

    def lacking(self, unit: Unit, store: Store) -> int:
        """Return how many rows of a unit the store does not have yet."""
        done = store.done(unit.source.name, unit.method.columns, unit.run)
        wanted = {(column, fold) for column in unit.method.columns for fold in range(self.n_folds)}
        return len(wanted - done)


def make_plan(
    sets: Sequence[str] | None = None,
    methods: Sequence[str | Method] | None = None,
    *,
    runs: int = 10,
    folds: int = 10,
    data_dir: str | Path | None = None,
    target: str | None = None,
    raw: bool = False,
) -> Plan:
    """Plan a study.

    Parameters
    ----------
    sets : sequence of str, optional
        Names of the benchmark's sets or paths of data files; see
        `localbayes.study.study_sets.find_sets`.
    methods : sequence of str or Method, optional
        Columns; see `localbayes.study.builtin_columns.resolve`. Default: the benchmark's, or of raw tables
        `localbayes.study.builtin_columns.RAW_COLUMNS`.
    runs, folds : int
        Number of runs of cross-validation, and of folds in each.
    data_dir : path, optional
        Folder with data files; see `localbayes.study.study_sets.find_sets`.
    target : str, optional
        Class column of data files of one's own; default the last.
    raw : bool
        Whether methods get the tables as they are, numbers as numbers and missing values as missing, and
        prepare them from training rows; otherwise whole tables are filtered first, see
        `localbayes.study.study_sets.prepare`.

    Examples
    --------
    >>> plan = make_plan(["iris"], ["NB", "AODE"], runs=2)
    >>> len(plan.units())
    4
    """
    if runs < 1:
        raise ValueError(f"runs must be >= 1, got {runs}")
    if folds < 2:
        raise ValueError(f"folds must be >= 2, got {folds}")
    folder = Path(data_dir) if data_dir is not None else None
    sources = find_sets(list(sets or []), folder, target, raw=raw)
    wanted = methods or (RAW_COLUMNS if raw else current().default_columns)
    return Plan(tuple(sources), tuple(resolve(wanted)), runs, folds, raw)
