"""A WARC file (ISO 28500) as a web.

``response`` records are served with their HTTP status and headers, ``resource`` records as a 200 with the record's content
type, ``revisit`` records with their own status and headers and the payload of the original record. Other records are not
served, but a ``request`` record shows whether its response is the answer to a POST. Reading a page takes one seek and parses
one record. robots.txt is a record like any other; if it was not archived it is a 404, which allows everything.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from crawlproject.errors import BadWeb
from crawlproject.records import Reply
from crawlproject.webs.base import not_held, spellings
from crawlproject.webs.warc_end import Break, first_break
from crawlproject.webs.warc_index import (
    Capture,
    RecordLocation,
    SentRequest,
    WarcIndex,
    by_request,
    identities,
    index_path,
    keep_index,
    load_index,
    sent_of,
)

_DAMAGED = 502  # the status for a record that can no longer be read
MAX_BODY = 64 * 2**20  # largest decoded body that is served, in bytes: limits an archived gzip bomb
_HEADER_ROOM = 2**20  # bytes that are read of a record in addition to its body
_RECORD_BEGINNINGS = (b"WARC/", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")  # plain, gzip, zstd, LZ4
_EXAMINED = (b"WARC/", b"\x1f\x8b")
_SERVED = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.revisit)
_IDENTICAL = "identical-payload-digest"  # end of the profile URI of revisits with an identical payload

# Headers that describe the bytes on the wire, not the decoded body that is served.
_DROPPED = frozenset(
    ("connection", "content-encoding", "content-length", "keep-alive", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade")
)  # fmt: skip


class WarcWeb:
    """The web in the WARC at ``path``.

    The first opening reads the whole file and writes an index to ``cache_dir``; later ones open the index. Of a truncated or
    damaged file the intact records are served, with a note in ``warnings``. Raises ``BadWeb`` for a file that is not a WARC,
    contains no page, or is compressed as a whole, so that no record can be read separately.
    """

    def __init__(self, path: Path, *, cache_dir: Path) -> None:
        self._index = _open_index(path, cache_dir)
        self._file = path.open("rb", buffering=0)
        self.warnings: Sequence[str] = self._index.warnings
        self.urls = self._index.urls

    def get(self, url: str) -> Reply:
        place = self._find(url)
        return not_held(url) if place is None else self._reply(url, place)

    def _reply(self, url: str, place: RecordLocation) -> Reply:
        reply = _reply(url, _bytes_at(self._file, place))
        if place.payload is None or reply.status == _DAMAGED:
            return reply
        original = _reply(url, _bytes_at(self._file, place.payload))
        return original if original.status == _DAMAGED else replace(reply, body=original.body)

    def __contains__(self, url: str) -> bool:
        return self._find(url) is not None

    def close(self) -> None:
        self._index.close()
        self._file.close()

    def _find(self, url: str) -> RecordLocation | None:
        for name in spellings(url):
            try:
                return self._index[name]
            except KeyError:
                continue
        return None


def _open_index(path: Path, cache_dir: Path) -> WarcIndex:
    place = f"web {str(path)!r}"
    try:
        kept = index_path(path, cache_dir)
        index = load_index(kept)
        if index is None:
            with path.open("rb") as file:
                warnings: list[str] = []
                index = keep_index(kept, by_request(_captures(file, place, warnings)), warnings)
    except OSError as unreadable:
        raise BadWeb(place, f"cannot be read: {unreadable}") from None
    return index


def _captures(file: BinaryIO, place: str, warnings: list[str]) -> Iterator[Capture | SentRequest]:
    """The served records of a WARC and the requests with other methods, in file order; damage is added to ``warnings``."""
    found = skipped = 0
    last: _Seen | None = None  # its length is known when the next record begins
    damage = ""
    try:
        for record in ArchiveIterator(file, parse_http=True, auto_decode="none"):
            if last is not None:
                skipped += last.is_skipped
                if last.capture is not None:
                    found += 1
                    yield last.capture._replace(length=record.stream_pos - last.start)
                if last.sent is not None:
                    yield last.sent
            last = _seen(record)
    except OSError as broken:
        damage = f" ({broken})"
        if last is None:
            raise BadWeb(place, f"not a WARC file{damage}") from None
    if last is not None:
        _check_reachable(file, last.start, place)
        if (end := _break(file, last.start, damage)) is not None:
            warnings.append(_told(end, damage))
        if end is None or end.start > last.start:
            skipped += last.is_skipped
            if last.capture is not None:
                found += 1
                yield last.capture
            if last.sent is not None:
                yield last.sent
    if skipped:
        warnings.append(f"records without a URL or an HTTP status: {skipped}; they are not served")
    if not found:
        wish = "holds no page: expected a WARC file with response records"
        raise BadWeb(place, "; ".join((wish, *warnings)))


class _Seen(NamedTuple):
    """A record of any type at byte ``start``. ``is_skipped``: its type is served, but the record cannot be.

    ``capture`` is set for a served record, ``sent`` for a request with a method other than GET and HEAD.
    """

    start: int
    capture: Capture | None
    is_skipped: bool
    sent: SentRequest | None


def _seen(record: WarcRecord) -> _Seen:
    capture = _capture(record)
    return _Seen(record.stream_pos, capture, capture is None and record.record_type in _SERVED, sent_of(record))


def _break(file: BinaryIO, start: int, damage: str) -> Break | None:
    """Where the archive stops being intact, at or after the record at ``start``; None if it is intact to its end."""
    file.seek(start)
    if file.read(5).startswith(_EXAMINED):
        end = first_break(file, start)
        return Break(start, cut=False) if end is None and damage else end
    return None if _is_whole(file, start) and not damage else Break(start, cut=not damage)


def _told(end: Break, damage: str) -> str:
    """The warning about a break. It names no URL, since the URL may have been cut off too."""
    where = f"the record that begins at byte {end.start}"
    if end.cut:
        return f"the archive is cut short: it ends inside {where}, which is not served"
    return f"the archive is damaged{damage}: nothing is served from {where} on"


def _capture(record: WarcRecord) -> Capture | None:
    """The index entry of a record, with an upper bound for its length; None if the record is not served."""
    url = (record.headers.get("WARC-Target-URI") or "").strip("<> ")
    if record.record_type not in _SERVED or not url.startswith(("http://", "https://")):
        return None
    bound = record.content_length + _HEADER_ROOM
    if record.record_type == WarcRecordType.resource:
        return Capture(url, 200, "", record.stream_pos, bound)
    status = _status(record)
    if status is None:
        return None
    location = record.http_headers.get("Location") or ""
    digest = record.headers.get("WARC-Payload-Digest") or ""
    revisit = record.record_type == WarcRecordType.revisit
    if revisit and not (record.headers.get("WARC-Profile") or "").endswith(_IDENTICAL):
        return None
    return Capture(url, status, location, record.stream_pos, bound, digest, revisit, *identities(record))


def _check_reachable(file: BinaryIO, start: int, place: str) -> None:
    """Raise ``BadWeb`` unless records are compressed separately, as WARC 1.0 annex D requires."""
    file.seek(start)
    if not file.read(5).startswith(_RECORD_BEGINNINGS):
        raise BadWeb(place, "compressed as one piece: decompress it, or compress it record by record")


def _is_whole(file: BinaryIO, start: int) -> bool:
    file.seek(start)
    try:
        record = _first_record(file)
        size = record.content_length
        while chunk := record.reader.read(2**16):
            size -= len(chunk)
    except OSError:
        return False
    return size == 0


def _bytes_at(file: io.FileIO, place: RecordLocation) -> bytes:
    """The bytes of a record, by one ``pread``: it shares no file position, so threads may read concurrently."""
    return os.pread(file.fileno(), min(place.length, MAX_BODY + _HEADER_ROOM), place.start)


def _reply(url: str, raw: bytes) -> Reply:
    """The reply in one record; a 502 if the record was damaged after indexing."""
    # Many tools archive the decoded body with the headers of the encoded one: hence the second attempt.
    for encodings in ("all", "none"):
        try:
            return _decoded(url, raw, encodings)
        except OSError:
            continue
    return Reply(url, _DAMAGED)


def _decoded(url: str, raw: bytes, encodings: Literal["all", "none"]) -> Reply:
    record = _first_record(io.BytesIO(raw))
    if record.record_type == WarcRecordType.resource:
        headers = {"content-type": record.headers.get("Content-Type") or "application/octet-stream"}
        return Reply(url, 200, headers, record.reader.read(MAX_BODY))
    record.parse_http(auto_decode=encodings)
    status = _status(record)
    if status is None:
        raise OSError("not an HTTP response")
    body = record.reader.read(MAX_BODY)
    return Reply(url, status, _served_headers(record.http_headers), body)


def _status(record: WarcRecord) -> int | None:
    """The status of an HTTP response; None if it is not a response or has an invalid status (RFC 9110 section 15)."""
    status: int | None = record.http_headers.status_code if record.http_headers is not None else None
    return status if status is not None and 100 <= status <= 999 else None


def _first_record(file: BinaryIO) -> WarcRecord:
    for record in ArchiveIterator(file, parse_http=False):
        return record
    raise OSError("not a WARC record")


def _served_headers(headers: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Headers with lower-case names; repeated headers are joined as RFC 9110 section 5.3 allows."""
    served: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        if key not in _DROPPED:
            served[key] = f"{served[key]}, {value}" if key in served else value
    return served
