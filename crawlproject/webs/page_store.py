"""Stores the parsed pages of a web in a file, so that later rehearsals need not parse them again.

The file is a SQLite database, which several processes may use at once and which survives a killed process. It is only a
cache: damage, another version or a full disk cost time but never stop a rehearsal.

A stored page is small, fast to load, and safe, since it contains no code. Terms are numbers in a vocabulary of the page, so
each distinct term is written once. Loaded terms, URLs and tag paths are interned, so pages share equal strings in memory.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from array import array
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from sys import intern
from typing import Any

import orjson

from crawlproject.records import Link, Page, Reply, Span
from crawlproject.storage.append_log import json_of

MAX_BYTES = 2**30  # size limit of a file, in bytes; nothing is added to a full file

_WAITING = 200  # pages that are buffered and written in one transaction
_PATIENCE = 20.0  # seconds to wait for another writer
_DAMAGE = (ValueError, TypeError, IndexError, OverflowError, zlib.error)
_TABLES = """
    CREATE TABLE stamp (stamp TEXT);
    CREATE TABLE pages (
        url TEXT PRIMARY KEY, status INTEGER, seconds REAL, kept INTEGER, targets BLOB, rest BLOB
    ) WITHOUT ROWID;
"""
_NUMBER = "I"  # unsigned, 4 bytes on every platform that CPython runs on
_PER_LINK = 5  # anchor start and end, context start and end, tag path
_LEVEL = 1  # of zlib, which halves the size and detects damage by its checksum


class PageStore:
    """Maps URLs to replies and pages, in the file at ``path``.

    ``stamp`` identifies everything that influences parsing; a file with another stamp is rebuilt. The reply of a stored page
    keeps its status and seconds, but no headers and no body. At ``max_bytes``, no pages are added.
    """

    def __init__(self, path: Path, stamp: str, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._stamp = stamp
        self._max_bytes = max_bytes
        self._waiting: dict[str, tuple[str, int, float, bool, bytes, bytes]] = {}
        self._database = self._opened()
        self._known: set[str] = set()  # stored URLs, asked first: most URLs of a crawl are not stored
        self._look()

    def get(self, url: str) -> tuple[Reply, Page] | None:
        """A stored page; None if it is missing or damaged."""
        row = self._row("SELECT status, seconds, targets, rest FROM pages WHERE url = ?", url)
        if row is None:
            return None
        status, seconds, targets, rest = row
        try:
            return Reply(url, status, seconds=seconds), unpack(url, targets, rest)
        except _DAMAGE:
            return None

    def targets(self, url: str) -> list[str] | None:
        """The link targets of a page, in order: cheaper than loading the whole page."""
        row = self._row("SELECT targets FROM pages WHERE url = ?", url)
        try:
            return None if row is None else unpack_targets(row[0])
        except _DAMAGE:
            return None

    def kept(self, url: str) -> bool | None:
        """``is_kept`` of a stored page; None if it is missing."""
        row = self._row("SELECT kept FROM pages WHERE url = ?", url)
        return None if row is None else bool(row[0])

    def put(self, url: str, reply: Reply, page: Page) -> None:
        """Store a page that is not judged yet. Pages are written in batches, at the latest by ``flush``."""
        if self._database is None:
            return
        with suppress(UnicodeEncodeError):
            url.encode()  # SQLite stores UTF-8; a page whose URL cannot be encoded is parsed each time
            self._waiting[url] = (url, reply.status, reply.seconds, is_kept(page), *pack(page))
            if len(self._waiting) >= _WAITING:
                self.flush()

    def flush(self) -> None:
        """Write buffered pages, and find out which pages other processes have written."""
        rows, self._waiting = list(self._waiting.values()), {}
        if not rows or self._database is None:
            return
        try:
            if self.path.stat().st_size < self._max_bytes:
                with self._database:
                    self._database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?)", rows)
                self._look()
        except (sqlite3.Error, OSError) as failure:
            self._give_up(failure)

    def close(self) -> None:
        """Write buffered pages and close the file; idempotent."""
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
        """Find out which pages are stored, including those of other processes."""
        if self._database is not None:
            try:
                self._known = {url for (url,) in self._database.execute("SELECT url FROM pages")}
            except (sqlite3.Error, UnicodeDecodeError) as failure:
                self._give_up(failure)

    def _give_up(self, failure: Exception) -> None:
        """Continue without the file. A damaged file is removed, so that the next rehearsal rebuilds it."""
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None
        if not isinstance(failure, sqlite3.OperationalError):  # a locked file or full disk: the file is intact
            self._remove()

    def _opened(self) -> sqlite3.Connection | None:
        """The database with our stamp; None if it cannot be opened or created."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self._connected() or self._made()
        except (sqlite3.Error, OSError):
            return None

    def _connected(self) -> sqlite3.Connection | None:
        """The existing database, if it is intact and has our stamp."""
        if not self.path.exists():
            return None
        database = self._connection()
        with suppress(sqlite3.DatabaseError):
            if database.execute("SELECT stamp FROM stamp").fetchall() == [(self._stamp,)]:
                return _unsynced(database)
        database.close()
        return None

    def _made(self) -> sqlite3.Connection:
        """Create a database under a temporary name and rename it, so that it is never seen incomplete."""
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


def is_kept(page: Page) -> bool:
    """Whether a crawl counts this as a page: it may be indexed, and is not a redirect in disguise."""
    return page.indexable and not page.redirect


def _unsynced(database: sqlite3.Connection) -> sqlite3.Connection:
    """Switch off syncing: a system crash may damage the file, but rebuilding it then is cheaper than syncing always."""
    database.execute("PRAGMA synchronous = OFF")
    return database


def pack(page: Page) -> tuple[bytes, bytes]:
    """Serialise the link targets, and the rest of the page.

    Signs found by parsing are included; text, date, judgements and what the crawl adds are not.
    """
    vocabulary = {term: number for number, term in enumerate(dict.fromkeys(page.terms))}
    paths = {path: number for number, path in enumerate(dict.fromkeys(link.tag_path for link in page.links))}
    numbers = array(_NUMBER, map(vocabulary.__getitem__, page.terms))
    for link in page.links:
        numbers.extend((*link.anchor_span, *link.context_span, paths[link.tag_path]))
    anchors = [link.anchor for link in page.links]
    head = [
        page.title,
        page.language,
        page.indexable,
        len(page.terms),
        list(vocabulary),
        anchors,
        list(paths),
        dict(page.signs),
        page.redirect,
    ]
    texts = json_of(head)
    body = len(texts).to_bytes(4, "little") + texts + numbers.tobytes()
    return pack_targets(link.url for link in page.links), zlib.compress(body, _LEVEL)


def unpack(url: str, targets: bytes, rest: bytes) -> Page:
    """Load the page. Raises ``ValueError``, ``TypeError``, ``IndexError`` or ``zlib.error`` for damaged bytes."""
    body = zlib.decompress(rest)
    start = 4 + int.from_bytes(body[:4], "little")
    title, language, indexable, count, words, anchors, tag_paths, signs, redirect = orjson.loads(body[4:start])
    numbers = array(_NUMBER)
    numbers.frombytes(body[start:])
    vocabulary = list(map(intern, words))
    terms = [vocabulary[number] for number in numbers[:count]]
    paths = list(map(intern, tag_paths))
    spans = iter(numbers[count:])
    quintuples = zip(*[spans] * _PER_LINK, strict=True)
    links = [
        Link(target, anchor, Span(start, end), Span(context_start, context_end), 0.0, paths[path])
        for target, anchor, (start, end, context_start, context_end, path) in zip(
            unpack_targets(targets), anchors, quintuples, strict=True
        )
    ]
    return Page(
        url=url,
        title=title,
        language=language,
        terms=terms,
        counts=Counter(terms),
        links=tuple(links),
        indexable=indexable,
        signs=signs,
        redirect=redirect,
    )


def pack_targets(targets: Any) -> bytes:
    """Serialise URLs, in order."""
    return json_of(list(targets))


def unpack_targets(targets: bytes) -> list[str]:
    """Load URLs. Raises ``ValueError`` or ``TypeError`` for damaged bytes."""
    return list(map(intern, orjson.loads(targets)))
