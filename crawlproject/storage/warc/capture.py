"""Converts an exchange to WARC records: response or revisit, and request; and to its line in the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crawlproject.storage.warc.exchange import Exchange, content_type, request_block, response_block
from crawlproject.storage.warc.record import (
    IDENTICAL,
    FirstCapture,
    WrittenRecord,
    date_of,
    digest_of,
    identity_of,
    record,
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A response or revisit in an archive: ``length`` bytes of ``file`` from ``offset``.

    ``mime`` is ``warc/revisit`` for a revisit, as in CDX files. ``key`` identifies the fetch of the crawl; see
    ``CrawlArchive``. ``end`` is the offset behind the records of the exchange.
    """

    url: str
    date: str
    status: int
    mime: str
    digest: str
    file: str
    offset: int
    length: int
    end: int
    key: str = ""

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> IndexEntry:
        """Raises ``TypeError`` for missing or unknown fields."""
        return cls(**line)


class ArchivedPayloads:
    """The last ``most`` archived payloads, so that a duplicate becomes a revisit."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._known: dict[str, FirstCapture] = {}

    def get(self, digest: str) -> FirstCapture | None:
        return self._known.get(digest)

    def add(self, digest: str, original: FirstCapture) -> None:
        self._known.setdefault(digest, original)
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]

    def note(self, entry: IndexEntry) -> None:
        """Add an entry of the archive that is being resumed."""
        if entry.mime != "warc/revisit":
            self.add(entry.digest, FirstCapture(entry.url, entry.date))


def capture(
    exchange: Exchange, originals: ArchivedPayloads, *, file: str, offset: int, warcinfo: str, key: str = ""
) -> tuple[tuple[WrittenRecord, ...], IndexEntry]:
    """The records of an exchange to be written to ``file`` at ``offset``, and the index entry that finds them."""
    block, start = response_block(exchange)
    digest, date = digest_of(block[start:]), date_of(exchange.at)
    original = originals.get(digest) if block[start:] else None
    identity = identity_of(warcinfo, file, offset, exchange.url)
    fields = {"WARC-Date": date, "WARC-Target-URI": exchange.url}
    response_fields = {
        **fields,
        "WARC-IP-Address": exchange.ip,
        "WARC-Warcinfo-ID": f"<{warcinfo}>",
        "WARC-Payload-Digest": digest,
        "Content-Type": "application/http; msgtype=response",
    }
    if original:
        main = _revisit(response_fields, block[:start], original, identity)
    else:
        response_fields["WARC-Truncated"] = "length" if exchange.truncated else ""
        main = record("response", response_fields, block, identity=identity)
        if block[start:]:
            originals.add(digest, FirstCapture(exchange.url, date))
    records = [main]
    if exchange.request is not None:
        request_fields = {
            **fields,
            "WARC-Warcinfo-ID": f"<{warcinfo}>",
            "WARC-Concurrent-To": f"<{identity}>",
            "Content-Type": "application/http; msgtype=request",
        }
        request_identity = identity_of(identity, "request")
        records.append(record("request", request_fields, request_block(exchange), identity=request_identity))
    mime = "warc/revisit" if original else content_type(exchange.headers) or "unk"
    end = offset + sum(len(each.data) for each in records)
    entry = IndexEntry(exchange.url, date, exchange.status, mime, digest, file, offset, len(main.data), end, key)
    return tuple(records), entry


def _revisit(fields: dict[str, str], headers: bytes, original: FirstCapture, identity: str) -> WrittenRecord:
    fields = {
        **fields,
        "WARC-Profile": IDENTICAL,
        "WARC-Refers-To-Target-URI": original.url,
        "WARC-Refers-To-Date": original.date,
    }
    return record("revisit", fields, headers, identity=identity)
