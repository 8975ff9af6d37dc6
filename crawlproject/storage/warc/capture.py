"""Converts an exchange to WARC records: response or revisit, and request; and to its line in the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crawlproject.storage.warc.record import (
    IDENTICAL,
    NOT_MODIFIED,
    Exchange,
    FirstCapture,
    WrittenRecord,
    content_type,
    date_of,
    digest_of,
    identity_of,
    record,
    request_block,
    response_block,
    warc_fields,
)
from crawlproject.urls.post import post_of


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A response or revisit in an archive: ``length`` bytes of ``file`` from ``offset``. ``url`` is ``Exchange.identity``.

    ``mime`` is ``warc/revisit`` for a revisit, as in CDX files. ``key`` identifies the fetch of the crawl; see
    ``CrawlArchive``. ``end`` is the offset after the records of the exchange.
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


_NOT_MODIFIED = 304


class ArchivedPayloads:
    """The last ``most`` archived payloads, so that duplicates become revisits; and the last payload of each URL."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._known: dict[str, FirstCapture] = {}
        self._of_url: dict[str, str] = {}  # digests

    def get(self, digest: str) -> FirstCapture | None:
        return self._known.get(digest)

    def of_url(self, url: str) -> tuple[str, FirstCapture | None]:
        """Digest and first capture of the last payload of ``url``; ("", None) if unknown."""
        digest = self._of_url.get(url, "")
        return (digest, self._known[digest]) if digest in self._known else ("", None)

    def add(self, url: str, digest: str, date: str) -> None:
        """Note that ``url`` was answered with this payload."""
        post = post_of(url)
        self._known.setdefault(digest, FirstCapture(post.url if post else url, date))
        self._of_url.pop(url, None)
        self._of_url[url] = digest
        for kept in (self._known, self._of_url):
            if len(kept) > self._most:
                del kept[next(iter(kept))]

    def note(self, entry: IndexEntry) -> None:
        """Add an entry of the archive that is being resumed."""
        if entry.mime != "warc/revisit" or entry.digest in self._known:
            self.add(entry.url, entry.digest, entry.date)


def capture(
    exchange: Exchange,
    originals: ArchivedPayloads,
    *,
    file: str,
    offset: int,
    warcinfo: str,
    key: str = "",
    about: Sequence[tuple[str, str]] = (),
) -> tuple[tuple[WrittenRecord, ...], IndexEntry]:
    """The records of an exchange to be written to ``file`` at ``offset``, and the index entry that locates them.

    ``about`` are the fields of a ``metadata`` record that refers to the response.
    """
    block, start = response_block(exchange)
    digest, date = digest_of(block[start:]), date_of(exchange.at)
    unchanged = exchange.status == _NOT_MODIFIED
    original = originals.get(digest) if block[start:] else None
    if unchanged:  # nothing was sent: the record is about the previous payload
        known, original = originals.of_url(exchange.identity)
        digest = known or digest
    identity = identity_of(warcinfo, file, offset, exchange.url)
    fields = {"WARC-Date": date, "WARC-Target-URI": exchange.url}
    response_fields = {
        **fields,
        "WARC-IP-Address": exchange.ip,
        "WARC-Warcinfo-ID": f"<{warcinfo}>",
        "WARC-Payload-Digest": digest,
        "Content-Type": "application/http; msgtype=response",
    }
    if original or unchanged:
        profile = NOT_MODIFIED if unchanged else IDENTICAL
        main = _revisit(response_fields, block[:start], profile, original, identity)
    else:
        response_fields["WARC-Truncated"] = "length" if exchange.truncated else ""
        main = record("response", response_fields, block, identity=identity)
    if block[start:]:
        originals.add(exchange.identity, digest, date)
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
    if about:
        records.append(_metadata(fields, about, identity, warcinfo))
    mime = "warc/revisit" if original or unchanged else content_type(exchange.headers) or "unk"
    end = offset + sum(len(each.data) for each in records)
    entry = IndexEntry(exchange.identity, date, exchange.status, mime, digest, file, offset, len(main.data), end, key)
    return tuple(records), entry


def _metadata(fields: dict[str, str], about: Sequence[tuple[str, str]], response: str, warcinfo: str) -> WrittenRecord:
    """A description of a response as in Heritrix: ``application/warc-fields`` (ISO 28500:2017, 6.6)."""
    fields = {
        **fields,
        "WARC-Warcinfo-ID": f"<{warcinfo}>",
        "WARC-Concurrent-To": f"<{response}>",
        "WARC-Refers-To": f"<{response}>",
        "Content-Type": "application/warc-fields",
    }
    return record("metadata", fields, warc_fields(about), identity=identity_of(response, "metadata"))


def _revisit(
    fields: dict[str, str], headers: bytes, profile: str, original: FirstCapture | None, identity: str
) -> WrittenRecord:
    fields = {
        **fields,
        "WARC-Profile": profile,
        "WARC-Refers-To-Target-URI": original.url if original else "",
        "WARC-Refers-To-Date": original.date if original else "",
        "WARC-Payload-Digest": fields["WARC-Payload-Digest"] if original else "",
    }
    return record("revisit", fields, headers, identity=identity)
