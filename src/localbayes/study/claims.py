"""Claims: which process works on which unit of a store."""

from __future__ import annotations

import time

from localbayes.study.owner import Owner, this_process
from localbayes.study.store_file import StoreFile

__all__ = ["Claims"]

LEASE_SECONDS = 3600.0
CLAIM = "dataset = ? AND task = ? AND run = ?"
Key = tuple[str, str, int]


class Claims(StoreFile):
    """The part of a store that keeps processes from doing the same work; see `Store`."""

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

    def _held(self, key: Key, me: Owner) -> bool:
        row = self._db.execute(f"SELECT owner, heartbeat FROM claims WHERE {CLAIM}", key).fetchone()
        owner = _owner(row[0]) if row is not None else None
        if owner is None or owner == me:
            return False
        alive = owner.alive()
        if alive is not None:
            return alive
        # Of a process that cannot be seen only the time of its last write is known. It loses its claim after
        # an hour without one. A time of more than an hour ahead is no time of a write.
        return isinstance(row[1], (int, float)) and abs(time.time() - row[1]) < LEASE_SECONDS

    def release(self, dataset: str, task: str, run: int) -> None:
        """Give up a claim of this process."""
        with self.transaction():
            self._db.execute(
                f"DELETE FROM claims WHERE {CLAIM} AND owner = ?",
                (dataset, task, run, str(this_process())),
            )

    def claims_of(self, pid: int) -> list[Key]:
        """Return the claims of a process of this machine."""
        host = this_process().host
        rows = self._db.execute("SELECT dataset, task, run, owner FROM claims").fetchall()
        owned = ((row[:3], _owner(row[3])) for row in rows)
        return [key for key, owner in owned if owner and owner.pid == pid and owner.host == host]

    def _renew(self, key: Key) -> None:
        self._db.execute(
            f"UPDATE claims SET heartbeat = ? WHERE {CLAIM} AND owner = ?",
            (time.time(), *key, str(this_process())),
        )


def _owner(text: object) -> Owner | None:
    """Read who holds a claim; None if the text is damaged, so that the claim does not count."""
    try:
        return Owner.parse(str(text))
    except (ValueError, TypeError):
        return None
