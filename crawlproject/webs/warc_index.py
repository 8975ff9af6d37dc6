"""The index of a WARC: a small SQLite file that maps a URL to the offset of its reply in the archive.

The index is built in one pass and cached under a name derived from path, size and modification time of the archive. It is
written under a temporary name and renamed, so that it is never seen incomplete.

A revisit record has no payload; its row also contains the location of the record whose payload has the same digest.

Each record is indexed under its exact URL, and under its canonical URL unless a record with a better rank has that name.
Ranks, best first: exact URL, page (2xx), anything else. Of several records with one URL, the last capture wins. A redirect
to a variant of its own URL is left out; see ``crawlproject.webs.base``. The answer to a POST is only indexed under its
``post_url``, and is not listed among the exact URLs. The ``request`` records show which responses answer a POST: tools write
a request directly before or after its response, and one of the two names the other (``WARC-Concurrent-To``).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import canonical_or_none, canonical_url
from crawlproject.urls.post import POST, body_name, is_post, post_url

FORMAT = 4  # increase it when tables or ranking change, so that older indexes are rebuilt
EXACT, PAGE, OTHER = 3, 2, 1  # ranks of a name
MOST_SENT = 2**16  # bytes of a request body that are read, as many as the server reads

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
    """A record of an archive: ``length`` compressed bytes from ``start``.

    ``location`` is the target of a redirect, or empty. ``payload`` is the digest of the payload in the record's headers, or
    empty; ``revisit``: the payload is in another record. ``identity`` and ``concurrent`` are the ``WARC-Record-ID`` and
    ``WARC-Concurrent-To`` of the record.
    """

    url: str
    status: int
    location: str
    start: int
    length: int
    payload: str = ""
    revisit: bool = False
    identity: str = ""
    concurrent: str = ""


class RecordLocation(NamedTuple):
    """The location of a record in the archive, in bytes; for a revisit also that of the record with the payload."""

    start: int
    length: int
    payload_start: int | None = None
    payload_length: int | None = None

    @property
    def payload(self) -> RecordLocation | None:
        """The record with the payload, if it is another one."""
        if self.payload_start is None or self.payload_length is None:
            return None
        return RecordLocation(self.payload_start, self.payload_length)


class WarcIndex:
    """Maps a URL to the location of its record in the archive."""

    def __init__(self, database: sqlite3.Connection, warnings: tuple[str, ...] = ()) -> None:
        self._database = database
        stored = (sentence for (sentence,) in database.execute("SELECT sentence FROM warnings"))
        self.warnings = (*stored, *warnings)

    def __getitem__(self, name: str) -> RecordLocation:
        """The location of a name. Raises ``KeyError``."""
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
    """The path of the index for the current state of ``archive``."""
    stat = archive.stat()
    key = f"{FORMAT}\n{archive.resolve()}\n{stat.st_size}\n{stat.st_mtime_ns}"
    digest = hashlib.md5(key.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()
    return cache_dir / f"{archive.name}.{digest[:16]}.index"


def load_index(path: Path) -> WarcIndex | None:
    """Open the index at ``path``; None if it is missing or damaged."""
    if not path.is_file():
        return None
    try:
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        return WarcIndex(sqlite3.connect(uri, uri=True, check_same_thread=False))
    except sqlite3.DatabaseError:
        return None


def keep_index(path: Path, captures: Iterator[Capture], warnings: list[str]) -> WarcIndex:
    """Build an index at ``path``, or in memory, with a warning, if ``path`` is not writable.

    ``warnings`` is read after the last capture, so that the reader of the archive can add to it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    except OSError as refused:
        database = sqlite3.connect(":memory:", check_same_thread=False)
        _fill(database, captures, warnings)
        return WarcIndex(
            database, (f"cannot save the index in {path.parent} ({refused.strerror}); it is rebuilt each time",)
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
    assert index is not None, "a new index is readable"
    return index


def _fill(database: sqlite3.Connection, captures: Iterator[Capture], warnings: list[str]) -> None:
    # No other process sees the file, and a lost one is rebuilt: no journal, no sync.
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
    """The location of the payload of a revisit, or None. The payloads of other records are stored for later revisits."""
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
    if is_post(capture.url):
        yield capture.url, *place, OTHER
        return
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
    """The name as SQLite can store it: lone surrogates, which UTF-8 cannot encode, are replaced."""
    return name.encode("utf-8", "replace").decode("utf-8")


class SentRequest(NamedTuple):
    """A request with a method other than GET and HEAD: ``url`` is the ``post_url`` of a POST, else empty."""

    url: str
    identity: str
    concurrent: str


def sent_of(record: WarcRecord) -> SentRequest | None:
    """The request in a record; None for GET, and for a record that is not an HTTP request."""
    if record.record_type != WarcRecordType.request or record.http_headers is None:
        return None
    method = (record.http_headers.status_line or "GET").partition(" ")[0]
    if method == "GET":
        return None
    place = canonical_or_none(canonical_url, (record.headers.get("WARC-Target-URI") or "").strip("<> "))
    url = ""
    if method == POST and place:
        url = post_url(place, body_name(record.reader.read(MOST_SENT)))
    return SentRequest(url, *identities(record))


def identities(record: WarcRecord) -> tuple[str, str]:
    """``WARC-Record-ID`` and ``WARC-Concurrent-To`` of a record, each empty if missing."""
    identity, concurrent = (record.headers.get(name) or "" for name in ("WARC-Record-ID", "WARC-Concurrent-To"))
    return identity.strip(), concurrent.strip()


def by_request(parts: Iterable[Capture | SentRequest]) -> Iterator[Capture]:
    """The captures of an archive in file order; the answer to a POST gets its ``post_url``.

    Answers to other methods are left out.
    """
    held: Capture | None = None  # its request may come next
    sent: SentRequest | None = None
    for part in parts:
        if isinstance(part, SentRequest):
            sent = part
            if held is not None and _belong(sent, held):
                held = _answer(held, sent)
            continue
        if held is not None:
            yield held
        held = _answer(part, sent) if sent is not None and _belong(sent, part) else part
        sent = None
    if held is not None:
        yield held


def _belong(sent: SentRequest, capture: Capture) -> bool:
    named = (sent.concurrent, capture.identity), (capture.concurrent, sent.identity)
    return any(one and one == other for one, other in named)


def _answer(capture: Capture, sent: SentRequest) -> Capture | None:
    return capture._replace(url=sent.url) if sent.url else None
