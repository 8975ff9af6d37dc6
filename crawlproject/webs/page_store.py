"""Pages of a web, read, in a file: what one rehearsal parsed, the next one loads.

The file is a SQLite database, so several processes may use it at once and a killed one leaves it whole. It is a cache:
whatever is wrong with it (damage, another version, a full disk) costs time and never a rehearsal.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from crawlproject.records import Page
from crawlproject.webs.base import Reply
from crawlproject.webs.page_format import pack, unpack, unpack_targets

MAX_BYTES = 2**30  # of a file: when it is full, nothing more is added
_WAITING = 200  # pages that are written in one transaction
_PATIENCE = 20.0  # seconds to wait for another process that writes

_DAMAGE = (ValueError, TypeError, IndexError, OverflowError, zlib.error)
_TABLES = """
    CREATE TABLE stamp (stamp TEXT);
    CREATE TABLE pages (
        url TEXT PRIMARY KEY, status INTEGER, seconds REAL, targets BLOB, rest BLOB
    ) WITHOUT ROWID;
"""


class PageStore:
    """URL -> reply and page, in the file at ``path``.

    ``stamp`` names everything that decides what a page is read as; a file with another stamp is made anew. The reply of
    a stored page keeps its status and its seconds, no headers and no body.
    """

    def __init__(self, path: Path, stamp: str, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._stamp = stamp
        self._max_bytes = max_bytes
        self._waiting: dict[str, tuple[str, int, float, bytes, bytes]] = {}
        self._database = self._opened()
        self._known: set[str] = set()  # most URLs that a crawl asks for are not here, and a set says so soonest
        self._look()

    def get(self, url: str) -> tuple[Reply, Page] | None:
        """A page that was put here; None when there is none, or it is damaged."""
        row = self._row("SELECT status, seconds, targets, rest FROM pages WHERE url = ?", url)
        if row is None:
            return None
        status, seconds, targets, rest = row
        try:
            return Reply(url, status, seconds=seconds), unpack(url, targets, rest)
        except _DAMAGE:
            return None

    def targets(self, url: str) -> list[str] | None:
        """What the links of a page lead to, in order: less work than the whole page."""
        row = self._row("SELECT targets FROM pages WHERE url = ?", url)
        try:
            return None if row is None else unpack_targets(row[0])
        except _DAMAGE:
            return None

    def put(self, url: str, reply: Reply, page: Page) -> None:
        """Keep a page that is not judged yet; it is written with others, at the latest by ``flush``."""
        if self._database is None:
            return
        with suppress(UnicodeEncodeError):
            url.encode()  # SQLite stores UTF-8; a URL that cannot be spelled in it is read each time
            self._waiting[url] = (url, reply.status, reply.seconds, *pack(page))
            if len(self._waiting) >= _WAITING:
                self.flush()

    def flush(self) -> None:
        """Write what waits, and note what other processes wrote."""
        rows, self._waiting = list(self._waiting.values()), {}
        if not rows or self._database is None:
            return
        try:
            if self.path.stat().st_size < self._max_bytes:
                with self._database:
                    self._database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)", rows)
                self._look()
        except (sqlite3.Error, OSError) as failure:
            self._give_up(failure)

    def close(self) -> None:
        """Write what waits, and let the file go. Closing twice does no harm."""
        self.flush()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _row(self, query: str, url: str) -> tuple[Any, ...] | None:
        if self._database is None or url not in self._known:
            return None
        try:
            row: tuple[Any, ...] | None = self._database.execute(query, (url,)).fetchone()
        except sqlite3.Error as failure:
            self._give_up(failure)
            return None
        return row

    def _look(self) -> None:
        """Note which pages are there, also those that other processes wrote."""
        if self._database is not None:
            try:
                self._known = {url for (url,) in self._database.execute("SELECT url FROM pages")}
            except (sqlite3.Error, UnicodeDecodeError) as failure:
                self._give_up(failure)

    def _give_up(self, failure: Exception) -> None:
        """Go on without the file. A damaged one is removed, so that the next rehearsal makes it anew."""
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None
        if not isinstance(failure, sqlite3.OperationalError):  # which is a locked or full disk: the file is whole
            self._remove()

    def _opened(self) -> sqlite3.Connection | None:
        """The database with our stamp; None when none can be had."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self._connected() or self._made()
        except (sqlite3.Error, OSError):
            return None

    def _connected(self) -> sqlite3.Connection | None:
        """The database that is there, when it is ours and whole."""
        if not self.path.exists():
            return None
        database = self._connection()
        with suppress(sqlite3.DatabaseError):
            if database.execute("SELECT stamp FROM stamp").fetchall() == [(self._stamp,)]:
                return _unsynced(database)
        database.close()
        return None

    def _made(self) -> sqlite3.Connection:
        """A new database: filled beside its place and renamed into it, so that nobody sees half of it."""
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        self._remove()
        try:
            with closing(sqlite3.connect(part)) as database, database:
                database.executescript(_TABLES)
                database.execute("INSERT INTO stamp VALUES (?)", (self._stamp,))
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)
        return _unsynced(self._connection())

    def _connection(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_PATIENCE)

    def _remove(self) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)


def _unsynced(database: sqlite3.Connection) -> sqlite3.Connection:
    """A crash of the whole machine may damage the file: then it is made anew, which costs less than every sync."""
    database.execute("PRAGMA synchronous = OFF")
    return database
