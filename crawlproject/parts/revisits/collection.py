"""The pages that a crawl visits again: ``collection.sqlite``.

The file has a row for each page, as its last visit left it. It can be rebuilt from the history. It is on disk because ten
million pages do not fit in memory, and in SQLite because its rows change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.records import BACK, CHANGED, GONE, MISSING, MOVED, Visit
from crawlproject.storage.append_log import TailPosition, TailReader
from crawlproject.storage.logs import AWAY, RETIRED, read_changes
from crawlproject.storage.read import HISTORY, visit_from
from crawlproject.urls.post import is_post

NAME = "collection.sqlite"
_VERSION = 1
_COMMIT_EVERY = 200  # visits; those that a killed crawl had not committed are read from the history again

PRESENT = ""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS page (
    row INTEGER PRIMARY KEY, name BLOB UNIQUE NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL, state TEXT NOT NULL,
    number INTEGER NOT NULL, version INTEGER NOT NULL, at REAL NOT NULL, changed REAL NOT NULL, weight REAL NOT NULL,
    digest TEXT NOT NULL, etag TEXT NOT NULL, last_modified TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS worth ON page (weight, row DESC) WHERE state NOT IN ('gone', 'moved', 'retired');
CREATE TABLE IF NOT EXISTS place (offset INTEGER NOT NULL, lines INTEGER NOT NULL, tail TEXT NOT NULL) STRICT;
"""
_THERE = "state NOT IN ('gone', 'moved', 'retired')"  # not made from ``AWAY``: it must match the condition of the index
_FIELDS = "row, url, depth, state, number, version, at, changed, weight, digest, etag, last_modified"
_MARKS = ", ".join("?" * 13)  # for a row and its name


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """A page of the collection after its last visit.

    ``row`` numbers the pages from 0 in the order of their first visits. ``depth`` is that of the first visit. ``state`` is
    ``PRESENT``, ``MISSING`` or one of ``AWAY``. ``number`` and ``version`` count visits and texts from 1. ``at`` is the end of
    the last visit that showed something, ``changed`` the end of the visit that brought this version. ``weight`` is the
    relevance of that version; ``digest``, ``etag`` and ``last_modified`` are those of its body.
    """

    row: int
    url: str
    depth: int
    state: str
    number: int
    version: int
    at: float
    changed: float
    weight: float
    digest: str
    etag: str
    last_modified: str

    @property
    def is_away(self) -> bool:
        return self.state in AWAY


class Collection:
    """The pages of a crawl folder. Raises ``StorageFailed`` and ``BadCrawlDir``.

    It follows ``history.jsonl``: ``catch_up`` reads the new lines. A history that was replaced is read from its start.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._reporting():
            self._db = sqlite3.connect(folder / NAME, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = OFF")  # a file that a power failure damages is rebuilt
            if self._db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                self._db.executescript("DROP TABLE IF EXISTS page; DROP TABLE IF EXISTS place;")
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version = {_VERSION}")
            place = self._db.execute("SELECT offset, lines, tail FROM place").fetchone()
            self._begin()
        self._history = TailReader(folder / HISTORY, TailPosition(*place) if place else TailPosition())
        if self._history.restarted:
            self._db.execute("DELETE FROM page")
        self._size = self._number_of("SELECT coalesce(max(row) + 1, 0) FROM page")
        self.present = self._number_of(f"SELECT count(*) FROM page WHERE {_THERE}")  # pages now in the collection
        afresh = place is None or self._history.restarted
        self.catch_up()
        if afresh:  # the history does not record which pages the crawl itself retired
            for change in read_changes(folder):
                if change.change == RETIRED and (page := self.find(change.url)) and page.at <= change.at:
                    self.retire(page.row)

    def __len__(self) -> int:
        """The number of pages ever in the collection, which is the next row. O(1)."""
        return self._size

    def __getitem__(self, row: int) -> CollectedPage:
        """Raises ``KeyError``."""
        found = self._db.execute(f"SELECT {_FIELDS} FROM page WHERE row = ?", (row,)).fetchone()
        if found is None:
            raise KeyError(row)
        return CollectedPage(*found)

    def find(self, url: str) -> CollectedPage | None:
        """The page of a canonical URL, if it was ever in the collection."""
        found = self._db.execute(f"SELECT {_FIELDS} FROM page WHERE name = ?", (_name(url),)).fetchone()
        return CollectedPage(*found) if found else None

    def pages(self, start: int = 0) -> Iterator[CollectedPage]:
        """The pages from row ``start`` on, in the order of their first visits."""
        rows = self._db.execute(f"SELECT {_FIELDS} FROM page WHERE row >= ? ORDER BY row", (start,))
        return (CollectedPage(*found) for found in rows)

    def worst(self, n: int) -> Sequence[CollectedPage]:
        """The ``n`` pages of the collection that are worth least; among equals the latest comes first. O(n log pages)."""
        query = f"SELECT {_FIELDS} FROM page WHERE {_THERE} ORDER BY weight, row DESC LIMIT ?"
        return [CollectedPage(*found) for found in self._db.execute(query, (n,))]

    # ------------------------------------------------------------ changes

    def catch_up(self) -> None:
        """Read the lines that were added to the history since the last call."""
        with self._reporting():
            for line in self._history:
                self._apply(visit_from(line, self._history.here))
            if self._since_commit >= _COMMIT_EVERY:
                self._commit()

    def hear(self, visit: Visit) -> None:
        """Apply another worker's visit: the page has a row here, too."""
        with self._reporting():
            self._apply(visit)
            if self._since_commit >= _COMMIT_EVERY:
                self._commit()

    def adopt(self, page: CollectedPage) -> None:
        """Take over another worker's newer record of a page. The page keeps its row here, or gets one."""
        with self._reporting():
            there = self.find(page.url)
            row = self._size if there is None else there.row
            self._size += there is None
            self.present += (not page.is_away) - (there is not None and not there.is_away)
            values = (row, _name(page.url), *(getattr(page, name) for name in _FIELDS.split(", ")[1:]))
            self._db.execute(f"INSERT OR REPLACE INTO page VALUES ({_MARKS})", values)
            self._since_commit += 1

    def none_after(self, now: float) -> None:
        """Let no visit have ended after ``now``: the clock was set back since."""
        with self._reporting():
            self._db.execute("UPDATE page SET at = ?, changed = min(changed, ?) WHERE at > ?", (now, now, now))

    def retire(self, row: int) -> None:
        """Mark the page in this row as retired: it leaves the collection."""
        with self._reporting():
            found = self._db.execute(f"UPDATE page SET state = ? WHERE row = ? AND {_THERE}", (RETIRED, row))
            self.present -= found.rowcount

    def close(self) -> None:
        with self._reporting():
            self._commit()
            self._db.close()

    # ------------------------------------------------------------ inside

    def _apply(self, visit: Visit) -> None:
        self._since_commit += 1
        if visit.number == 1:
            if is_collected(visit):
                self._add(visit)
            return
        values: dict[str, object] = {"number": visit.number}
        if visit.change:
            values |= {"state": visit.change if visit.change in (MISSING, GONE, MOVED) else PRESENT, "at": visit.at}
        if visit.etag or visit.last_modified:
            values |= {"etag": visit.etag, "last_modified": visit.last_modified}
        if visit.digest:
            values |= {"digest": visit.digest}
        if visit.change in (CHANGED, BACK):
            values |= {"version": visit.version, "changed": visit.at, "weight": visit.relevance}
        name = _name(visit.url)
        was = self._db.execute(f"SELECT {_THERE}, number FROM page WHERE name = ?", (name,)).fetchone()
        if was is None or was[1] >= visit.number:
            return  # another worker has visited the page since
        if "state" in values:
            self.present += (values["state"] not in AWAY) - was[0]
        names = ", ".join(f"{column} = ?" for column in values)
        self._db.execute(f"UPDATE page SET {names} WHERE name = ?", (*values.values(), name))

    def _add(self, visit: Visit) -> None:
        page = self._size, _name(visit.url), visit.url, visit.depth, PRESENT, 1, 1
        shown = visit.at, visit.at, visit.relevance, visit.digest, visit.etag, visit.last_modified
        added = self._db.execute(f"INSERT OR IGNORE INTO page VALUES ({_MARKS})", (*page, *shown))
        self._size += added.rowcount
        self.present += added.rowcount

    def _number_of(self, query: str) -> int:
        return int(self._db.execute(query).fetchone()[0])

    def _begin(self) -> None:
        self._since_commit = 0
        self._db.execute("BEGIN")

    def _commit(self) -> None:
        self._db.execute("DELETE FROM place")
        self._db.execute("INSERT INTO place VALUES (?, ?, ?)", self._history.place)
        self._db.execute("COMMIT")
        self._begin()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            path = self._folder / NAME
            if isinstance(error, sqlite3.OperationalError):
                raise StorageFailed(f"cannot write to {path}: {error}") from error
            raise BadCrawlDir(str(path), f"{error}; remove the file, and it is rebuilt from the history") from error


def is_collected(visit: Visit) -> bool:
    """Whether the first visit of a page adds it to the collection: a POST is never repeated."""
    return bool(visit.md5) and not visit.is_left_out and not is_post(visit.url)


def _name(url: str) -> bytes:
    """The MD5 of a URL, as in the names of page files."""
    return md5(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
