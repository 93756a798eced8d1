"""The store of a study: one SQLite file, a row per data set, method, run and fold."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import product, takewhile
from types import NoneType
from typing import Any

from localbayes.study.accuracy_table import SetInfo
from localbayes.study.claims import Claims
from localbayes.study.own_code import without_addresses
from localbayes.study.store_file import storable

__all__ = ["FoldRow", "Store"]

_SHOWN_LENGTH = 60


@dataclass(frozen=True)
class FoldRow:
    """What one column did on one fold; `error` tells why the counts are missing, if they are.

    `bins` holds ten [count, sum of confidence, correct], by the probability of the predicted class, as JSON.
    `measures` holds further measures by name, as JSON.

    Examples
    --------
    >>> row = FoldRow("iris", "NB", run=1, fold=0, tested=15, correct=14)
    >>> with Store(":memory:") as store:
    ...     store.add([row])
    ...     list(store.rows()) == [row]
    True
    """

    dataset: str
    method: str
    run: int
    fold: int
    tested: int
    correct: int | None = None
    correct_ties_well: int | None = None
    correct_ties_badly: int | None = None
    log_loss: float | None = None
    bins: str | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    error: str | None = None
    version: str = ""
    measures: str | None = None


_COLUMNS = [f.name for f in fields(FoldRow)]
_INSERT = (
    f"INSERT INTO folds ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    "ON CONFLICT (dataset, method, run, fold) DO NOTHING"
)
_TEXT, _WHOLE, _REAL, _ABSENT = (str,), (int,), (float, int), (NoneType,)
_KINDS = {
    **dict.fromkeys(("dataset", "method", "version"), _TEXT),
    **dict.fromkeys(("run", "fold"), _WHOLE),
    **dict.fromkeys(("log_loss", "fit_seconds", "predict_seconds"), _REAL + _ABSENT),
    **dict.fromkeys(("error", "measures"), _TEXT + _ABSENT),
    # Counts and bins are looked at where the table is made.
    **dict.fromkeys(("tested", "correct", "correct_ties_well", "correct_ties_badly", "bins"), (object,)),
}


class Store(Claims):
    """An open store. Any number of processes may have the same file open.

    Parameters
    ----------
    path : path
        The SQLite file.
    create : bool
        Make the file if it does not exist; otherwise its absence is an error.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> with Store(path) as store:
    ...     store.add([FoldRow("iris", "NB", run=1, fold=0, tested=15, correct=14)])
    ...     store.done("iris", ["NB"], 1)
    {('NB', 0)}
    """

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fix_folds(self, n_folds: int) -> None:
        """Make `n_folds` the number of folds of this store, or refuse if it is another."""
        with self.transaction():
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('n_folds', ?)", (str(n_folds),))
        if self.n_folds != n_folds:
            raise ValueError(
                f"the store {self.path} has runs of {self.n_folds} folds, got {n_folds}: use another store"
            )

    def fix_input(self, raw: bool) -> None:
        """Make raw or filtered tables what methods are given in this store, or refuse if it is the other."""
        with self.transaction():
            empty = self._db.execute("SELECT 1 FROM folds LIMIT 1").fetchone() is None
            # Results without the note are from a time when all tables were filtered.
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('raw', ?)", (str(int(raw and empty)),))
        if self.raw and not raw:
            raise ValueError(
                f"the store {self.path} has results on raw tables, got filtered ones: add --raw or use "
                "another store"
            )
        if raw and not self.raw:
            raise ValueError(
                f"the store {self.path} has results on filtered tables, got raw ones: leave out --raw or use "
                "another store"
            )

    @property
    def raw(self) -> bool:
        """Whether methods were given raw tables."""
        return bool(self._number("raw"))

    @property
    def n_folds(self) -> int:
        """Number of folds of each run."""
        return self._number("n_folds") or 10

    def add_set(self, info: SetInfo, digest: str) -> None:
        """Register a data set, or refuse one whose content differs from what the store was made with."""
        with self.transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO sets VALUES (?, ?, ?, ?, ?, ?)",
                (info.name, info.n, info.m, info.r, int(info.published), digest),
            )
            known = self._db.execute("SELECT digest FROM sets WHERE dataset = ?", (info.name,)).fetchone()[0]
        if known != digest:
            raise ValueError(
                f"data set {info.name!r} differs from the one in the store {self.path}: "
                "rename it or use another store"
            )

    def sets(self) -> list[SetInfo]:
        """Return the data sets, sorted by name."""
        found = []
        for row in self._db.execute("SELECT * FROM sets"):
            self._check(row, (_TEXT, _WHOLE, _WHOLE, _WHOLE, _WHOLE, _TEXT), f"the data set {row[0]!r:.60}")
            name, n, m, r, published, _ = row
            found.append(SetInfo(name, n, m, r, bool(published)))
        return sorted(found, key=lambda s: (s.name.casefold(), s.name))

    def add_methods(self, columns: Sequence[tuple[str, str]], reworded: Collection[str] = ()) -> None:
        """Register columns (name, description) in the order of their first appearance.

        A column whose description differs from that of the results which the store has of it is refused: it
        is another classifier. The descriptions of the columns in `reworded` may differ.
        """
        with self.transaction():
            for name, about in columns:
                self._db.execute(
                    "INSERT OR IGNORE INTO methods SELECT ?, coalesce(max(position), 0) + 1, ? FROM methods",
                    (name, about),
                )
                if name not in reworded:
                    self._describe(name, about)

    def _describe(self, name: str, about: str) -> None:
        known = self._db.execute("SELECT about FROM methods WHERE method = ?", (name,)).fetchone()[0]
        # Without a description, which a Method need not have, nothing can be told apart.
        if not known or not about or without_addresses(known) == without_addresses(about):
            return
        results = "SELECT 1 FROM folds WHERE method = ? AND error IS NULL LIMIT 1"
        if self._db.execute(results, (name,)).fetchone():
            old, new = _where_different(without_addresses(known), without_addresses(about))
            raise ValueError(
                f"the column {name!r} of the store {self.path} has results of {old}, got {new}: "
                "use another store or give the column another name"
            )
        self._db.execute("UPDATE methods SET about = ? WHERE method = ?", (about, name))

    def methods(self) -> list[tuple[str, str]]:
        """Return the columns and their descriptions, in the order in which they came."""
        rows = list(self._db.execute("SELECT method, about FROM methods ORDER BY position"))
        for row in rows:
            self._check(row, (_TEXT, _TEXT), f"the column {row[0]!r:.60}")
        return rows

    def add(self, rows: Iterable[FoldRow], claim: tuple[str, str, int] | None = None) -> None:
        """Write rows in one transaction, and renew the claim under which they were made."""
        with self.transaction():
            self._db.executemany(_INSERT, [_storable(row) for row in rows])
            if claim is not None:
                self._renew(claim)

    def done(self, dataset: str, methods: Sequence[str], run: int) -> set[tuple[str, int]]:
        """Return the (method, fold) pairs of one run that have a row."""
        marks = ", ".join("?" * len(methods))
        query = f"SELECT method, fold FROM folds WHERE dataset = ? AND run = ? AND method IN ({marks})"
        return set(self._db.execute(query, (dataset, run, *methods)))

    def rows(self) -> Iterator[FoldRow]:
        """Yield every row, sorted by data set, method, run and fold."""
        present = self._columns("folds")
        columns = [name for name in _COLUMNS if name in present]
        kinds = [_KINDS[name] for name in columns]
        query = f"SELECT {', '.join(columns)} FROM folds ORDER BY dataset, method, run, fold"
        for values in self._db.execute(query):
            what = "{1} on {0}, run {2}, fold {3}".format(*values)
            self._check(values, kinds, what)
            row = FoldRow(**dict(zip(columns, values, strict=True)))
            numbers = (row.log_loss, row.fit_seconds, row.predict_seconds)
            if not all(math.isfinite(number) for number in numbers if number is not None):
                raise self.damaged(f"{what} has {numbers} where finite numbers are expected")
            yield row

    def other_versions(self, datasets: Sequence[str], methods: Sequence[str], version: str) -> list[str]:
        """Return the versions of localbayes, other than this one, that made rows of the named columns."""
        query = (
            "SELECT DISTINCT version FROM folds WHERE dataset = ? AND method = ? AND version NOT IN ('', ?)"
        )
        return sorted(
            {
                found
                for pair in product(datasets, methods)
                for (found,) in self._db.execute(query, (*pair, version))
            }
        )

    def forget_errors(self, datasets: Sequence[str], methods: Sequence[str]) -> None:
        """Delete failed rows so that they are tried again."""
        with self.transaction():
            self._db.executemany(
                "DELETE FROM folds WHERE error IS NOT NULL AND dataset = ? AND method = ?",
                product(datasets, methods),
            )

    def count_errors(self, datasets: Sequence[str], methods: Sequence[str], runs: int) -> int:
        """Return how many folds of the first runs have failed."""
        query = (
            "SELECT count(*) FROM folds WHERE error IS NOT NULL AND dataset = ? AND method = ? AND run <= ?"
        )
        return sum(
            self._db.execute(query, (dataset, method, runs)).fetchone()[0]
            for dataset in datasets
            for method in methods
        )

    def begin_invocation(self, about: dict[str, Any]) -> int:
        """Note that a run begins, and on what; return its number."""
        with self.transaction():
            cursor = self._db.execute(
                "INSERT INTO invocations (started, about) VALUES (?, ?)", (time.time(), json.dumps(about))
            )
        return int(cursor.lastrowid or 0)

    def end_invocation(self, number: int, seconds: float, folds: int) -> None:
        """Note how long a run took and how many fold rows it added."""
        with self.transaction():
            self._db.execute(
                "UPDATE invocations SET seconds = ?, folds = ? WHERE id = ?", (seconds, folds, number)
            )

    def invocations(self) -> list[dict[str, Any]]:
        """Return what is known of every run on this store."""
        rows = self._db.execute("SELECT started, seconds, folds, about FROM invocations ORDER BY id")
        found = []
        for started, seconds, folds, about in rows:
            self._check((started, seconds, about), (_REAL, _REAL + _ABSENT, _TEXT), "a note of a run")
            try:
                time.gmtime(started)
                found.append({"started": started, "seconds": seconds, "folds": folds, **json.loads(about)})
            except (ValueError, TypeError, OverflowError, OSError) as error:
                raise self.damaged(f"what it notes of its runs cannot be read ({error})") from error
        return found


def _storable(row: FoldRow) -> tuple[Any, ...]:
    return tuple(storable(value) if isinstance(value, str) else value for value in astuple(row))


def _where_different(old: str, new: str) -> tuple[str, str]:
    """Shorten two descriptions to the part in which they differ."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    begin = max(0, same - _SHOWN_LENGTH // 2)

    def part(text: str) -> str:
        end = begin + _SHOWN_LENGTH
        return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")

    return part(old), part(new)
