"""Which responses of a WARC answer another request than a GET: the request records beside them say so."""

from __future__ import annotations

from hashlib import sha1
from typing import NamedTuple

from fastwarc.warc import WarcRecord, WarcRecordType

_SERVED = ("GET", "HEAD")
_POST = "POST"
MOST_SENT = 2**20  # bytes of the body of a request that are read


class Asked(NamedTuple):
    """A request record: its identity, those it belongs to, its method, and the digest of its body if it is a POST."""

    identity: str
    concurrent: str
    method: str
    digest: str

    @property
    def is_get(self) -> bool:
        return self.method in _SERVED

    def belongs_to(self, identity: str, concurrent: str) -> bool:
        """Whether the response with these headers answers it; tools write either of the two first, and refer either way."""
        return bool(self.concurrent and self.concurrent == identity) or bool(concurrent and concurrent == self.identity)


def asked_by(record: WarcRecord) -> Asked | None:
    """The request in a record; None for any other record."""
    if record.record_type != WarcRecordType.request or record.http_headers is None:
        return None
    method = (record.http_headers.status_line or "").partition(" ")[0].upper()
    digest = body_digest(record.reader.read(MOST_SENT)) if method == _POST else ""
    return Asked(record.record_id or "", record.headers.get("WARC-Concurrent-To") or "", method, digest)


def body_digest(body: bytes) -> str:
    """What two equal bodies of requests have in common."""
    return sha1(body[:MOST_SENT], usedforsecurity=False).hexdigest()


def post_name(url: str, digest: str) -> str:
    """The name under which the answer to a POST is kept: no URL is like it."""
    return f"{_POST} {digest} {url}"
