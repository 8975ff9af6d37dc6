"""What the ``request`` records of a WARC say of the responses beside them: which ones answer a POST.

Tools write a request before its response or behind it, and name one in the other (``WARC-Concurrent-To``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

from crawlproject.urls.canonical import canonical_or_none, canonical_url
from crawlproject.urls.post import POST, body_name, post_url
from crawlproject.webs.warc_index import Capture

MOST_SENT = 2**16  # bytes of a body that are looked at, as by the server


class SentRequest(NamedTuple):
    """A request by another method than GET: ``url`` is the ``post_url`` of a POST, or empty."""

    url: str
    identity: str
    concurrent: str


def sent_of(record: WarcRecord) -> SentRequest | None:
    """What a record says of a response; None for a GET, and for what is no HTTP request."""
    if record.record_type != WarcRecordType.request or record.http_headers is None:
        return None
    method = (record.http_headers.status_line or "GET").partition(" ")[0]
    if method in ("GET", "HEAD"):
        return None
    place = canonical_or_none(canonical_url, (record.headers.get("WARC-Target-URI") or "").strip("<> "))
    url = ""
    if method == POST and place:
        url = post_url(place, body_name(record.reader.read(MOST_SENT)))
    return SentRequest(url, *identities(record))


def identities(record: WarcRecord) -> tuple[str, str]:
    """``WARC-Record-ID`` and ``WARC-Concurrent-To`` of a record; empty where it has none."""
    identity, concurrent = (record.headers.get(name) or "" for name in ("WARC-Record-ID", "WARC-Concurrent-To"))
    return identity.strip(), concurrent.strip()


def by_request(parts: Iterable[Capture | SentRequest]) -> Iterator[Capture]:
    """The captures of an archive in file order. What answers a POST is known by its ``post_url``; what answers another method is
    left out."""
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
