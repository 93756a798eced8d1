"""The store of a study: one SQLite file, a row per data set, method, run and fold."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from itertools import product, takewhile
from pathlib import Path
from typing import Any

from localbayes.study.own_code import without_addresses
from localbayes.study.owner import Owner, this_process
from localbayes.study.table import SetInfo

__all__ = ["FoldRow", "Store"]

SCHEMA_VERSION = 1
BUSY_SECONDS = 60.0
LEASE_SECONDS = 3600.0
_SHOWN_LENGTH = 60

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sets (
    dataset TEXT PRIMARY KEY, n INTEGER NOT NULL, m INTEGER NOT NULL, r INTEGER NOT NULL,
    paper INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS methods (method TEXT PRIMARY KEY, position INTEGER NOT NULL, about TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS folds (
    dataset TEXT NOT NULL, method TEXT NOT NULL, run INTEGER NOT NULL, fold INTEGER NOT NULL,
    tested INTEGER NOT NULL, correct INTEGER, correct_ties_well INTEGER, correct_ties_badly INTEGER,
    log_loss REAL, bins TEXT, fit_seconds REAL, predict_seconds REAL, error TEXT, version TEXT NOT NULL,
    PRIMARY KEY (dataset, method, run, fold)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    dataset TEXT NOT NULL, task TEXT NOT NULL, run INTEGER NOT NULL, owner TEXT NOT NULL,
    heartbeat REAL NOT NULL,
    PRIMARY KEY (dataset, task, run)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS invocations (
    id INTEGER PRIMARY KEY, started REAL NOT NULL, seconds REAL, folds INTEGER, about TEXT NOT NULL);
"""


@dataclass(frozen=True)
class FoldRow:
    """What one column did on one fold; `error` tells why the counts are missing, if they are.

    `bins` holds ten [count, sum of confidence, correct], by the probability of the predicted class, as JSON.

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


_CLAIM = "dataset = ? AND task = ? AND run = ?"
_COLUMNS = ", ".join(f.name for f in fields(FoldRow))
_INSERT = (
    f"INSERT INTO folds ({_COLUMNS}) VALUES ({', '.join('?' * len(fields(FoldRow)))}) "
    "ON CONFLICT (dataset, method, run, fold) DO NOTHING"
)


class Store:
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

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise ValueError(f"there is no store {self.path}: make one with `localbayes study run`")
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder of the store {self.path} does not exist: make it first")
        try:
            self._db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise ValueError(f"cannot open the store {self.path} ({error}): give another file") from error
        try:
            self._prepare()
        except ValueError:
            self._db.close()
            raise
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise ValueError(
                f"{self.path} is not a usable study store ({error}): give another file"
            ) from error

    def _prepare(self) -> None:
        self._db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        version = self._version()
        if version not in (None, SCHEMA_VERSION):
            raise ValueError(
                f"the store {self.path} has schema {version}, this version of localbayes reads "
                f"{SCHEMA_VERSION}: use a new store"
            )
        if self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if version is None:
            with self.transaction():
                for statement in _SCHEMA.split(";\n"):
                    self._db.execute(statement)
                self._db.execute("INSERT OR IGNORE INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))

    def _version(self) -> int | None:
        tables = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        if "meta" not in tables or "folds" not in tables:
            raise ValueError(f"{self.path} is an SQLite file of something else: give another file as store")
        version = self._number("schema")
        if version is None:
            raise ValueError(f"the store {self.path} is damaged, its schema is not noted: use another store")
        return version

    def _number(self, key: str) -> int | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is not None and not str(row[0]).isdecimal():
            raise ValueError(
                f"the store {self.path} is damaged, its {key} is {row[0]!r}, expected a number: "
                "use another store"
            )
        return None if row is None else int(row[0])

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write inside one transaction, or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def fix_folds(self, n_folds: int) -> None:
        """Make `n_folds` the number of folds of this store, or refuse if it is another."""
        with self.transaction():
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('n_folds', ?)", (str(n_folds),))
        if self.n_folds != n_folds:
            raise ValueError(
                f"the store {self.path} has runs of {self.n_folds} folds, got {n_folds}: use another store"
            )

    @property
    def n_folds(self) -> int:
        """Number of folds of each run."""
        return self._number("n_folds") or 10

    def add_set(self, info: SetInfo, digest: str) -> None:
        """Register a data set, or refuse one whose content differs from what the store was made with."""
        with self.transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO sets VALUES (?, ?, ?, ?, ?, ?)",
                (info.name, info.n, info.m, info.r, int(info.paper), digest),
            )
            known = self._db.execute("SELECT digest FROM sets WHERE dataset = ?", (info.name,)).fetchone()[0]
        if known != digest:
            raise ValueError(
                f"data set {info.name!r} differs from the one in the store {self.path}: "
                "rename it or use another store"
            )

    def sets(self) -> list[SetInfo]:
        """Return the data sets, sorted by name as in the paper."""
        rows = self._db.execute("SELECT dataset, n, m, r, paper FROM sets")
        found = [SetInfo(name, n, m, r, bool(paper)) for name, n, m, r, paper in rows]
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
        return list(self._db.execute("SELECT method, about FROM methods ORDER BY position"))

    def add(self, rows: Iterable[FoldRow], claim: tuple[str, str, int] | None = None) -> None:
        """Write rows in one transaction, and renew the claim under which they were made."""
        with self.transaction():
            self._db.executemany(_INSERT, [astuple(row) for row in rows])
            if claim is not None:
                self._db.execute(
                    f"UPDATE claims SET heartbeat = ? WHERE {_CLAIM} AND owner = ?",
                    (time.time(), *claim, str(this_process())),
                )

    def done(self, dataset: str, methods: Sequence[str], run: int) -> set[tuple[str, int]]:
        """Return the (method, fold) pairs of one run that have a row."""
        marks = ", ".join("?" * len(methods))
        query = f"SELECT method, fold FROM folds WHERE dataset = ? AND run = ? AND method IN ({marks})"
        return set(self._db.execute(query, (dataset, run, *methods)))

    def rows(self) -> Iterator[FoldRow]:
        """Yield every row, sorted by data set, method, run and fold."""
        for row in self._db.execute(f"SELECT {_COLUMNS} FROM folds ORDER BY dataset, method, run, fold"):
            yield FoldRow(*row)

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

    def free(self, dataset: str, task: str, run: int) -> bool:
        """Whether no other living process works on it."""
        return not self._held((dataset, task, run), this_process())

    def claim(self, dataset: str, task: str, run: int) -> bool:
        """Take a piece of work unless a living process has it; True if it is now ours."""
        me = this_process()
        key = (dataset, task, run)
        if self._held(key, me):
            return False
        with self.transaction():
            if self._held(key, me):
                return False
            self._db.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", (*key, str(me), time.time())
            )
        return True

    def _held(self, key: tuple[str, str, int], me: Owner) -> bool:
        row = self._db.execute(f"SELECT owner, heartbeat FROM claims WHERE {_CLAIM}", key).fetchone()
        if row is None or (owner := Owner.parse(row[0])) == me:
            return False
        alive = owner.alive()
        # Of a process that cannot be seen nothing is known but when it last wrote: it loses its claim after
        # an hour's silence.
        return row[1] + LEASE_SECONDS > time.time() if alive is None else alive

    def release(self, dataset: str, task: str, run: int) -> None:
        """Give up a claim of this process."""
        with self.transaction():
            self._db.execute(
                f"DELETE FROM claims WHERE {_CLAIM} AND owner = ?",
                (dataset, task, run, str(this_process())),
            )

    def claims_of(self, pid: int) -> list[tuple[str, str, int]]:
        """Return the claims of a process of this machine."""
        host = this_process().host
        rows = self._db.execute("SELECT dataset, task, run, owner FROM claims").fetchall()
        owned = ((row[:3], Owner.parse(row[3])) for row in rows)
        return [key for key, owner in owned if owner.pid == pid and owner.host == host]

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
        try:
            return [{"started": s, "seconds": t, "folds": f, **json.loads(about)} for s, t, f, about in rows]
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"the store {self.path} is damaged, what it notes of its runs cannot be read ({error}): "
                "use another store"
            ) from error


def _where_different(old: str, new: str) -> tuple[str, str]:
    """Shorten two descriptions to the part in which they differ."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    begin = max(0, same - _SHOWN_LENGTH // 2)

    def part(text: str) -> str:
        end = begin + _SHOWN_LENGTH
        return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")

    return part(old), part(new)
