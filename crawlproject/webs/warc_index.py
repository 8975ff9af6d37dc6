"""The index of a WARC: a small SQLite file that says where in the archive the reply to a URL begins.

It is built once in one pass and kept in a cache folder under a name made of the archive's path, size and time of
change. A half-built index never shows: it is written beside its place and renamed into it.

A revisit record has no payload of its own: beside its place stands that of the record whose payload has the same digest.

Every record is entered under its exact URL, and under its canonical URL when nothing better claims that name. Of
several records with one URL the last capture wins. Ranks decide who is better: an exact name, then a page (2xx), then
the rest. A redirect to another spelling of its own URL is left out: see ``crawlproject.webs.base``.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import canonical_url

FORMAT = 2  # raise it when the tables or the rules of ranking change: older indexes are then built anew
EXACT, PAGE, OTHER = 3, 2, 1  # ranks of a name

_TABLES = """
    CREATE TABLE names (
        name TEXT PRIMARY KEY, start INTEGER, length INTEGER, payload_start INTEGER, payload_length INTEGER, rank INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE warnings (sentence TEXT);
    CREATE TEMPORARY TABLE payloads (digest TEXT PRIMARY KEY, start INTEGER, length INTEGER) WITHOUT ROWID;
"""
_PUT = """
    INSERT INTO names VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET start = excluded.start, length = excluded.length, rank = excluded.rank,
        payload_start = excluded.payload_start, payload_length = excluded.payload_length
    WHERE excluded.rank >= rank
"""
_GET = "SELECT start, length, payload_start, payload_length FROM names WHERE name = ?"


class Capture(NamedTuple):
    """A record of an archive: ``length`` bytes from ``start`` on, still compressed. ``location`` may be empty.

    ``payload`` is the digest of the payload as the archive tells it, or empty; ``revisit`` says that the payload is in
    another record.
    """

    url: str
    status: int
    location: str
    start: int
    length: int
    payload: str = ""
    revisit: bool = False


class RecordLocation(NamedTuple):
    """Where a record lies in the archive's file, in bytes; of a revisit also where the record with its payload lies."""

    start: int
    length: int
    payload_start: int | None = None
    payload_length: int | None = None

    @property
    def payload(self) -> RecordLocation | None:
        """The record that has the payload, when it is another one."""
        if self.payload_start is None or self.payload_length is None:
            return None
        return RecordLocation(self.payload_start, self.payload_length)


class WarcIndex:
    """URL -> place in the archive."""

    def __init__(self, database: sqlite3.Connection, warnings: tuple[str, ...] = ()) -> None:
        self._database = database
        stored = (sentence for (sentence,) in database.execute("SELECT sentence FROM warnings"))
        self.warnings = (*stored, *warnings)

    def __getitem__(self, name: str) -> RecordLocation:
        """Raises ``KeyError``."""
        row = self._database.execute(_GET, (_storable(name),)).fetchone()
        if row is None:
            raise KeyError(name)
        return RecordLocation(*row)

    def urls(self) -> Iterator[str]:
        """The exact URLs of the archive."""
        for (name,) in self._database.execute("SELECT name FROM names WHERE rank = ?", (EXACT,)):
            yield name

    def close(self) -> None:
        self._database.close()


def index_path(archive: Path, cache_dir: Path) -> Path:
    """Where the index of ``archive``, as it is now, is kept."""
    stat = archive.stat()
    key = f"{FORMAT}\n{archive.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}"
    digest = hashlib.md5(key.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()
    return cache_dir / f"{archive.name}.{digest[:16]}.index"


def load_index(path: Path) -> WarcIndex | None:
    """The index kept at ``path``; None when there is none or it is damaged."""
    if not path.is_file():
        return None
    try:
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        return WarcIndex(sqlite3.connect(uri, uri=True, check_same_thread=False))
    except sqlite3.DatabaseError:
        return None


def keep_index(path: Path, captures: Iterator[Capture], warnings: list[str]) -> WarcIndex:
    """Build an index at ``path``; in memory, with a warning, when nothing can be written there.

    ``warnings`` is read after the last capture, so that the reader of the archive can add to it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    except OSError as refused:
        database = sqlite3.connect(":memory:", check_same_thread=False)
        _fill(database, captures, warnings)
        return WarcIndex(
            database, (f"no index can be kept in {path.parent} ({refused.strerror}): it is built each time",)
        )
    os.close(handle)
    part = Path(name)
    try:
        with closing(sqlite3.connect(part)) as database:
            _fill(database, captures, warnings)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    index = load_index(path)
    assert index is not None, "an index that was just written can be read"
    return index


def _fill(database: sqlite3.Connection, captures: Iterator[Capture], warnings: list[str]) -> None:
    # Nobody else sees the file and a lost one is built again: no journal, no sync.
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)
    with database:
        lost = 0
        for capture in captures:
            payload = _payload(database, capture)
            if capture.revisit and payload is None:
                lost += 1
                continue
            database.executemany(_PUT, _names(capture, payload))
        if lost:
            warnings.append(f"revisits of pages that are not in the archive: {lost}; they are not served")
        database.executemany("INSERT INTO warnings VALUES (?)", ((sentence,) for sentence in warnings))


def _payload(database: sqlite3.Connection, capture: Capture) -> RecordLocation | None:
    """Where the payload of a revisit is; None when it is nowhere, and for what has its own, which is noted."""
    if capture.revisit:
        found = database.execute("SELECT start, length FROM payloads WHERE digest = ?", (capture.payload,)).fetchone()
        return RecordLocation(*found) if found else None
    if capture.payload:
        row = (capture.payload, capture.start, capture.length)
        database.execute("INSERT OR IGNORE INTO payloads VALUES (?, ?, ?)", row)
    return None


def _names(
    capture: Capture, payload: RecordLocation | None
) -> Iterator[tuple[str, int, int, int | None, int | None, int]]:
    """The rows of a capture: none for a redirect to its own canonical URL."""
    place = capture.start, capture.length, *(payload[:2] if payload else (None, None))
    canonical = _canonical_or_empty(capture.url)
    if canonical and 300 <= capture.status < 400 and _canonical_or_empty(capture.location, capture.url) == canonical:
        return
    yield _storable(capture.url), *place, EXACT
    if canonical and canonical != capture.url:
        yield _storable(canonical), *place, PAGE if 200 <= capture.status < 300 else OTHER


def _canonical_or_empty(url: str, base: str | None = None) -> str:
    try:
        return canonical_url(url, base) if url else ""
    except InvalidUrl:
        return ""


def _storable(name: str) -> str:
    """SQLite stores UTF-8: lone surrogates cannot be a name in it."""
    return name.encode("utf-8", "replace").decode("utf-8")
