"""From the rows of a store to the big table, failures and reliability."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from localbayes._warnings import warn
from localbayes.study.accuracy_table import Cell, Table
from localbayes.study.benchmark import current
from localbayes.study.builtin_columns import FLAGSHIPS
from localbayes.study.measures import MEASURES
from localbayes.study.scoring import N_BINS
from localbayes.study.store import FoldRow, Store
from localbayes.weka import corrected_paired_ttest

__all__ = ["Failure", "Reliability", "Summary", "read_table", "summarise"]

SIGNIFICANCE = 0.05
Folds = dict[tuple[int, int], FoldRow]


@dataclass(frozen=True)
class Failure:
    """The folds of one data set and column that failed in the same way."""

    dataset: str
    column: str
    folds: int
    error: str


@dataclass(frozen=True)
class Reliability:
    """How often a column is right at a stated probability: confidence, accuracy and rows of each bin."""

    column: str
    log_loss: float
    bins: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class Summary:
    """What a store gives: the table, failures, reliability, versions of localbayes, raw tables or not."""

    table: Table
    failures: tuple[Failure, ...]
    reliability: tuple[Reliability, ...]
    versions: tuple[str, ...]
    raw: bool = False


def read_table(store: Store, reference: str | None = None) -> Table:
    """Return the table of a store: mean, deviation and mark of every data set and column.

    Parameters
    ----------
    store : Store
        An open store.
    reference : str, optional
        Column that the others are compared with, by the corrected paired t-test on the folds that both have.
        Default the benchmark's reference, or LocalBayes or LCWNB where no set of the benchmark was measured,
        or the first column with results if that has none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from localbayes.study import make_plan, run_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "study.db")
    ...     outcome = run_study(make_plan(["iris"], ["NB"]), file)
    ...     with Store(file) as store:
    ...         cell = read_table(store).cells["iris", "NB"]
    >>> outcome.rows, round(cell.mean, 2)
    (100, 94.33)
    """
    return summarise(store, reference).table


def summarise(store: Store, reference: str | None = None) -> Summary:
    """Read a store once and summarise it; see `read_table`."""
    cells: dict[tuple[str, str], Folds] = defaultdict(dict)
    failed: dict[tuple[str, str, str], int] = defaultdict(int)
    versions, n_folds = set(), store.n_folds
    for row in store.rows():
        versions.add(row.version)
        if row.error is None:
            _refuse_impossible(row, store, n_folds)
            cells[row.dataset, row.method][row.run, row.fold] = row
        else:
            failed[row.dataset, row.method, row.error] += 1
    present = {column for _, column in cells} | {column for _, column, _ in failed}
    columns = [c for c in current().default_columns if c in present]
    columns += [c for c, _ in store.methods() if c in present and c not in columns]
    sets = tuple(store.sets())
    own = not any(s.published and any(s.name == name for name, _ in cells) for s in sets)
    measured = [c for c in columns if any(key[1] == c for key in cells)]
    chosen = _reference(measured, reference, store, own)
    ratio = 1 / (n_folds - 1)
    done = {key: _cell(folds, cells.get((key[0], chosen)), ratio, store) for key, folds in cells.items()}
    return Summary(
        Table(sets, tuple(columns), done, chosen),
        tuple(Failure(d, c, count, error) for (d, c, error), count in sorted(failed.items())),
        tuple(
            found
            for column in columns
            if (folds := [f.values() for (_, c), f in cells.items() if c == column])
            and (found := _reliability(column, folds, store))
        ),
        tuple(sorted(versions)),
        store.raw,
    )


def _reference(measured: Sequence[str], wanted: str | None, store: Store, own: bool) -> str:
    usual = current().reference
    if own and wanted is None and measured:
        # In a study of one's own data the default classifier leads, whatever the benchmark compares with.
        return next((c for c in (*FLAGSHIPS, usual) if c in measured), measured[0])
    if not measured or (wanted or usual) in measured:
        return wanted or usual
    if wanted is not None:
        raise ValueError(
            f"the store {store.path} has no results of the column {wanted!r}: "
            f"the reference can be {', '.join(measured)}"
        )
    if usual and len(measured) > 1:
        warn(
            f"{usual} has no results in {store.path}, so marks refer to {measured[0]}: "
            "choose another column with --reference"
        )
    return measured[0]


def _refuse_impossible(row: FoldRow, store: Store, n_folds: int) -> None:
    """Refuse a store with a fold that no run has, without test rows, or with counts that cannot be."""
    if row.run < 0 or not 0 <= row.fold < n_folds:
        raise _damaged(row, store, f"expected a run of at least 1 and a fold from 0 to {n_folds - 1}")
    counts = (row.correct, row.correct_ties_well, row.correct_ties_badly)
    whole = all(isinstance(n, int) for n in (row.tested, *counts))
    if not (whole and row.tested > 0 and all(0 <= (n or 0) <= row.tested for n in counts)):
        right = "/".join(map(str, counts))
        raise _damaged(row, store, f"{right} of {row.tested} rows are correct")


def _damaged(row: FoldRow, store: Store, words: str) -> ValueError:
    place = f"{row.method} on {row.dataset}, run {row.run}, fold {row.fold}"
    return store.damaged(f"{place}: {words}", "; delete that row and run again")


def _cell(folds: Folds, reference: Folds | None, ratio: float, store: Store) -> Cell:
    rows = list(folds.values())
    per_cent = _per_cent(rows)
    test = None
    common = sorted(folds.keys() & reference.keys()) if reference and reference is not folds else []
    if reference and len(common) > 1:
        mine, theirs = _per_cent(folds[key] for key in common), _per_cent(reference[key] for key in common)
        test = corrected_paired_ttest(mine, theirs, ratio)
    mark = ""
    if test and test.pvalue < SIGNIFICANCE:
        mark = "better" if test.difference > 0 else "worse"
    tested = np.array([row.tested for row in rows])
    losses = [row.log_loss for row in rows if row.log_loss is not None]
    nan = float("nan")
    return Cell(
        mean=float(per_cent.mean()),
        sd=float(per_cent.std(ddof=1)) if len(rows) > 1 else 0.0,
        folds=len(rows),
        mark=mark,
        difference=test.difference if test else nan,
        statistic=test.statistic if test else nan,
        pvalue=test.pvalue if test else nan,
        low=float((100 * np.array([row.correct_ties_badly for row in rows]) / tested).mean()),
        high=float((100 * np.array([row.correct_ties_well for row in rows]) / tested).mean()),
        log_loss=float(np.mean(losses)) if len(losses) == len(rows) else nan,
        fit_seconds=sum(row.fit_seconds or 0.0 for row in rows),
        predict_seconds=sum(row.predict_seconds or 0.0 for row in rows),
        measures=_measures(rows, store),
    )


def _measures(rows: Sequence[FoldRow], store: Store) -> dict[str, float]:
    """Return the mean of every measure that all folds have."""
    kept = [_kept_measures(row, store) for row in rows]
    names = [m.name for m in MEASURES if all(m.name in values for values in kept)]
    return {name: float(np.mean([values[name] for values in kept])) for name in names}


def _kept_measures(row: FoldRow, store: Store) -> dict[str, float]:
    if row.measures is None:
        return {}
    try:
        return {str(name): float(value) for name, value in json.loads(row.measures).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise _damaged(row, store, f"measures are {row.measures[:30]!r}") from error


def _per_cent(rows: Iterable[FoldRow]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([100 * (row.correct or 0) / row.tested for row in rows])


def _reliability(column: str, sets: Sequence[Iterable[FoldRow]], store: Store) -> Reliability | None:
    """Pool the bins of a column; every data set weighs the same in its log loss, every row in its bins."""
    total = np.zeros((N_BINS, 3))
    losses = []
    for folds in sets:
        rows = [row for row in folds if row.bins is not None and row.log_loss is not None]
        if not rows:
            return None
        losses.append(float(np.mean([row.log_loss for row in rows if row.log_loss is not None])))
        total += np.sum([_bins(row, store) for row in rows], axis=0)
    used = total[total[:, 0] > 0]
    bins = tuple((float(s / n), float(h / n), int(n)) for n, s, h in used)
    return Reliability(column, float(np.mean(losses)), bins)


def _bins(row: FoldRow, store: Store) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    try:
        return np.array(json.loads(row.bins or ""), dtype=np.float64).reshape(N_BINS, 3)
    except (ValueError, TypeError) as error:
        raise _damaged(row, store, f"bins are {str(row.bins)[:30]!r}") from error
