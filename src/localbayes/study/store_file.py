"""The file of a store: opening it for writing or for reading alone, its schema, what a damaged one says."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["StoreFile", "storable"]

SCHEMA_VERSION = 1
BUSY_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sets (
    dataset TEXT PRIMARY KEY, n INTEGER NOT NULL, m INTEGER NOT NULL, r INTEGER NOT NULL,
    published INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS methods (method TEXT PRIMARY KEY, position INTEGER NOT NULL, about TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS folds (
    dataset TEXT NOT NULL, method TEXT NOT NULL, run INTEGER NOT NULL, fold INTEGER NOT NULL,
    tested INTEGER NOT NULL, correct INTEGER, correct_ties_well INTEGER, correct_ties_badly INTEGER,
    log_loss REAL, bins TEXT, fit_seconds REAL, predict_seconds REAL, error TEXT, version TEXT NOT NULL,
    measures TEXT,
    PRIMARY KEY (dataset, method, run, fold)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    dataset TEXT NOT NULL, task TEXT NOT NULL, run INTEGER NOT NULL, owner TEXT NOT NULL,
    heartbeat REAL NOT NULL,
    PRIMARY KEY (dataset, task, run)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS invocations (
    id INTEGER PRIMARY KEY, started REAL NOT NULL, seconds REAL, folds INTEGER, about TEXT NOT NULL);
"""

# Columns that came later; a store without them is read as if they were empty.
_LATER = {"folds": {"measures": "TEXT"}}
# What SQLite says of a file or folder that it may not write to.
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold: lone surrogates, as in a file name of odd bytes, are written out.

    Examples
    --------
    >>> storable("caf\\udce9")
    'caf\\\\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class StoreFile:
    """An open SQLite file with the tables of a store; see `Store`."""

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise ValueError(f"there is no store {self.path}: make one with `localbayes study run`")
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder of the store {self.path} does not exist: make it first")
        try:
            self._db = self._connect(str(self.path))
            self._prepare_or_close()
        except sqlite3.Error as error:
            if create or _primary_code(error) not in _UNWRITABLE:
                raise self._unusable(error) from error
            self._open_for_reading()

    def _connect(self, place: str, uri: bool = False) -> sqlite3.Connection:
        try:
            db = sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, uri=uri)
        except sqlite3.Error as error:
            if self.path.is_dir() or not self.path.exists():
                message = f"cannot open the store {self.path} ({error}): give another file"
                raise ValueError(message) from error
            raise
        db.text_factory = self._text
        return db

    def _text(self, content: bytes) -> str:
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise self.damaged(f"it holds {content[:30]!r}, which is not UTF-8") from None

    def _open_for_reading(self) -> None:
        """Open a store that may not be written to, in a read-only folder, say."""
        place = "file:" + quote(str(self.path.absolute()))
        log = self.path.with_name(self.path.name + "-wal")
        # Without a log the file is whole. An immutable file needs no lock and no other file beside it.
        mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
        try:
            self._db = self._connect(f"{place}?{mode}", uri=True)
            self._prepare_or_close(writable=False)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _prepare_or_close(self, writable: bool = True) -> None:
        try:
            self._prepare(writable)
        except BaseException:
            self._db.close()
            raise

    def _unusable(self, error: sqlite3.Error) -> ValueError:
        reason = " ".join(str(error).split())
        return ValueError(f"{self.path} is not a usable study store ({reason}): give another file")

    def damaged(self, words: str, remedy: str = ": use another store") -> ValueError:
        """Return the error that says what is wrong with the content of the store."""
        return ValueError(f"the store {self.path} is damaged, {words}{remedy}")

    def _prepare(self, writable: bool) -> None:
        self._db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        version = self._version()
        if version not in (None, SCHEMA_VERSION):
            raise ValueError(
                f"the store {self.path} has schema {version}, this version of localbayes reads "
                f"{SCHEMA_VERSION}: use a new store"
            )
        if writable:
            if self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            if version is None:
                self._make_tables()
            self._add_later_columns()

    def _make_tables(self) -> None:
        with self.transaction():
            for statement in _SCHEMA.split(";\n"):
                self._db.execute(statement)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))

    def _add_later_columns(self) -> None:
        for table, columns in _LATER.items():
            if set(columns) <= self._columns(table):
                continue
            with self.transaction():
                for name in columns.keys() - self._columns(table):
                    self._db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}")

    def _columns(self, table: str) -> set[str]:
        return {row[1] for row in self._db.execute(f"PRAGMA table_info({table})")}

    def _version(self) -> int | None:
        tables = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        if "meta" not in tables or "folds" not in tables:
            raise ValueError(f"{self.path} is an SQLite file of something else: give another file as store")
        version = self._number("schema")
        if version is None:
            raise self.damaged("its schema is not noted")
        return version

    def _number(self, key: str) -> int | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is not None and not (isinstance(row[0], str) and row[0].isascii() and row[0].isdecimal()):
            raise self.damaged(f"its {key} is {row[0]!r}, expected a number")
        return None if row is None else int(row[0])

    def _check(self, row: Sequence[Any], kinds: Sequence[tuple[type, ...]], what: str) -> None:
        """Refuse a row with a value of a type that no run writes."""
        for value, kind in zip(row, kinds, strict=True):
            if not isinstance(value, kind):
                expected = " or ".join(k.__name__.replace("NoneType", "nothing") for k in kind)
                raise self.damaged(f"{what} has {value!r:.40} where {expected} is expected")

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


def _primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's code of an error without the details."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
