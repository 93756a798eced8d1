"""From the rows of a store to the big table and everything else that the report shows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from localbayes._warnings import warn
from localbayes.study.scoring import N_BINS
from localbayes.study.store import FoldRow, Store
from localbayes.study.table import PAPER_COLUMNS, REFERENCE, Cell, Table
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
    """How often a column is right when it says it is sure: confidence, accuracy and rows of each bin."""

    column: str
    log_loss: float
    bins: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class Summary:
    """What a store says."""

    table: Table
    failures: tuple[Failure, ...]
    reliability: tuple[Reliability, ...]
    versions: tuple[str, ...]


def read_table(store: Store, reference: str | None = None) -> Table:
    """Return the table of a store: mean, deviation and mark of every data set and column.

    Parameters
    ----------
    store : Store
        An open store.
    reference : str, optional
        Column that the others are compared with, by the corrected paired t-test on the folds that both have.
        Default LCWNB5, or the first with results if it has none.

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
    >>> outcome.rows, round(cell.mean, 2)  # the paper prints 94.33
    (100, 94.33)
    """
    return summarise(store, reference).table


def summarise(store: Store, reference: str | None = None) -> Summary:
    """Read a store once and summarise it; see `read_table`."""
    cells: dict[tuple[str, str], Folds] = defaultdict(dict)
    failed: dict[tuple[str, str, str], int] = defaultdict(int)
    versions = set()
    for row in store.rows():
        versions.add(row.version)
        if row.error is None:
            _refuse_impossible(row, store)
            cells[row.dataset, row.method][row.run, row.fold] = row
        else:
            failed[row.dataset, row.method, row.error] += 1
    present = {column for _, column in cells} | {column for _, column, _ in failed}
    columns = [c for c in PAPER_COLUMNS if c in present]
    columns += [c for c, _ in store.methods() if c in present and c not in columns]
    chosen = _reference([c for c in columns if any(key[1] == c for key in cells)], reference, store)
    ratio = 1 / (store.n_folds - 1)
    done = {key: _cell(folds, cells.get((key[0], chosen)), ratio) for key, folds in cells.items()}
    return Summary(
        Table(tuple(store.sets()), tuple(columns), done, chosen),
        tuple(Failure(d, c, count, error) for (d, c, error), count in sorted(failed.items())),
        tuple(
            found
            for column in columns
            if (sets := [f.values() for (_, c), f in cells.items() if c == column])
            and (found := _reliability(column, sets, store))
        ),
        tuple(sorted(versions)),
    )


def _reference(measured: Sequence[str], wanted: str | None, store: Store) -> str:
    if not measured or (wanted or REFERENCE) in measured:
        return wanted or REFERENCE
    if wanted is not None:
        raise ValueError(
            f"the store {store.path} has no results of the column {wanted!r}: "
            f"the reference can be {', '.join(measured)}"
        )
    if len(measured) > 1:
        warn(
            f"{REFERENCE} has no results in {store.path}, so marks refer to {measured[0]}: "
            "choose another column with --reference"
        )
    return measured[0]


def _refuse_impossible(row: FoldRow, store: Store) -> None:
    """Refuse a store in which a fold has no test rows, or counts that cannot be."""
    counts = (row.correct, row.correct_ties_well, row.correct_ties_badly)
    whole = all(isinstance(n, int) for n in (row.tested, *counts))
    if not (whole and row.tested > 0 and all(0 <= (n or 0) <= row.tested for n in counts)):
        right = "/".join(map(str, counts))
        raise _damaged(row, store, f"{right} of {row.tested} rows are correct")


def _damaged(row: FoldRow, store: Store, words: str) -> ValueError:
    place = f"{row.method} on {row.dataset}, run {row.run}, fold {row.fold}"
    return ValueError(f"the store {store.path} is damaged, {place}: {words}; delete that row and run again")


def _cell(folds: Folds, reference: Folds | None, ratio: float) -> Cell:
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
    )


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
