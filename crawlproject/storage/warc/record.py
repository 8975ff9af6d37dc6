"""WARC records: header and block in one gzip member per record (ISO 28500:2017); and the exchanges they hold.

An exchange is a request and its response, as sent or as reconstructed afterwards.
"""

from __future__ import annotations

import zlib
from base64 import b32encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import md5, sha1
from http import HTTPStatus
from typing import NamedTuple
from uuid import UUID

import orjson

from crawlproject.records import Visit
from crawlproject.urls.post import FORM_TYPE, POST, body_name, post_of, post_url

VERSION = "WARC/1.1"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
Header = tuple[bytes, bytes]

_LEVEL = 3  # gzip level: 10 % larger than level 6, but 0.3 instead of 0.5 ms per page
# Encodings that the virtual web and replay tools can decode; bodies in any other encoding are archived decoded.
_KNOWN_ENCODINGS = frozenset((b"", b"identity", b"gzip", b"x-gzip", b"deflate"))
_SECRET = frozenset((b"authorization", b"cookie", b"proxy-authorization"))
_ORIGINAL = b"X-Archive-Orig-"


class FirstCapture(NamedTuple):
    """URL and date of the first capture of a payload."""

    url: str
    date: str


class WrittenRecord(NamedTuple):
    """A serialised record, with the URN that identifies it."""

    data: bytes
    identity: str


def record(kind: str, fields: Mapping[str, str], block: bytes, *, identity: str) -> WrittenRecord:
    """Serialise a record of type ``kind``. ``identity`` is its URN; ``fields`` are the headers specific to the type."""
    lines = [VERSION, f"WARC-Type: {kind}", f"WARC-Record-ID: <{identity}>"]
    lines += [f"{name}: {_one_line(value)}" for name, value in fields.items() if value]
    lines += [f"WARC-Block-Digest: {digest_of(block)}", f"Content-Length: {len(block)}"]
    head = "\r\n".join(lines).encode("utf-8", "replace")
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)  # 31: gzip format, without a time stamp
    data = packer.compress(head + b"\r\n\r\n" + block + b"\r\n\r\n") + packer.flush()
    return WrittenRecord(data, identity)


def warcinfo(fields: Mapping[str, object], *, name: str, at: float, identity: str) -> WrittenRecord:
    """The first record of a file, which describes it. Values that are not strings are written as JSON."""
    block = warc_fields(
        (key, value if isinstance(value, str) else orjson.dumps(value, default=str).decode())
        for key, value in fields.items()
    )
    headers = {"WARC-Date": date_of(at), "WARC-Filename": name, "Content-Type": "application/warc-fields"}
    return record("warcinfo", headers, block, identity=identity)


def warc_fields(fields: Iterable[tuple[str, str]]) -> bytes:
    """A block of type ``application/warc-fields``."""
    return "".join([f"{name}: {_one_line(value)}\r\n" for name, value in fields]).encode("utf-8", "replace")


def identity_of(*parts: object) -> str:
    """A URN that is a function of ``parts``."""
    digest = md5("\n".join(map(str, parts)).encode("utf-8", "replace"), usedforsecurity=False).digest()
    return UUID(bytes=digest, version=4).urn


def digest_of(payload: bytes) -> str:
    """The SHA-1 digest in base 32, prefixed with ``sha1:``, as used in WARC files and their indexes."""
    return "sha1:" + b32encode(sha1(payload, usedforsecurity=False).digest()).decode()


def date_of(at: float) -> str:
    """``2024-03-09T08:00:00Z`` of seconds since 1970."""
    return datetime.fromtimestamp(max(0.0, at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_of(date: str) -> str:
    """``20240309080000`` of ``2024-03-09T08:00:00Z``."""
    return "".join(character for character in date if character.isdigit())[:14]


def _one_line(value: str) -> str:
    return " ".join(value.split()) if not value.isprintable() else value


def joined(records: Sequence[WrittenRecord]) -> bytes:
    """The bytes of several records."""
    return b"".join([each.data for each in records])


@dataclass(frozen=True, slots=True)
class Exchange:
    """``url`` as requested; ``body`` as received, with the transfer encoding removed but not the content encoding.

    ``at`` is the end of the fetch in seconds since 1970. ``request`` holds the headers sent, or None if unknown; then no
    request record is written. ``truncated`` says that the body was not read to its end. ``sent`` is the body of a POST.
    """

    url: str
    status: int
    headers: tuple[Header, ...]
    body: bytes
    at: float
    reason: str = ""
    method: str = "GET"
    request: tuple[Header, ...] | None = None
    ip: str = ""
    truncated: bool = False
    sent: bytes = b""

    @property
    def identity(self) -> str:
        """``url``, for a POST as ``post_url`` writes it."""
        return post_url(self.url, body_name(self.sent)) if self.method == POST and "#" not in self.url else self.url

    def can_be_undone(self) -> bool:
        """Whether every reader of the archive can decode the body."""
        encoding = b",".join(value for name, value in self.headers if name.lower() == b"content-encoding")
        encoded = encoding.strip().lower()
        return encoded in _KNOWN_ENCODINGS and not (self.truncated and encoded)

    def decoded(self, body: bytes) -> Exchange:
        """The same exchange with a decoded body; the encoding header is kept under another name."""
        headers = tuple(
            (_ORIGINAL + name if name.lower() == b"content-encoding" else name, value) for name, value in self.headers
        )
        return replace(self, headers=headers, body=body)


def reconstructed(visit: Visit, body: bytes = b"") -> Exchange:
    """The exchange of a fetch, reconstructed from the history: status, content type, and redirect target."""
    headers: list[Header] = []
    if visit.content_type:
        headers.append((b"Content-Type", visit.content_type.encode("latin-1", "replace")))
    elif visit.md5:
        headers.append((b"Content-Type", b"text/html" if b"<" in body else b"text/plain"))
    status = visit.status
    if visit.redirect:
        headers.append((b"Location", visit.redirect.encode("utf-8", "replace")))
        status = status if 300 <= status < 400 else 301  # a page with a meta refresh
    if post := post_of(visit.url):
        said, sent = ((b"Content-Type", FORM_TYPE.encode()),), post.body.encode()
        return Exchange(post.url, status, tuple(headers), body, visit.at, method=POST, request=said, sent=sent)
    return Exchange(visit.url, status, tuple(headers), body, visit.at)


def response_block(exchange: Exchange) -> tuple[bytes, int]:
    """The HTTP response as the block of a record, and the offset of the payload in it.

    Transfer headers are kept under another name, since the transfer encoding is removed; the length is that of the body.
    """
    lines = [f"HTTP/1.1 {exchange.status} {exchange.reason or phrase(exchange.status)}".encode("latin-1", "replace")]
    length = str(len(exchange.body)).encode()
    said = False
    for name, value in exchange.headers:
        kind = name.lower()
        if kind == b"content-length" and value.strip() == length and not said:
            said = True
        elif kind in (b"transfer-encoding", b"content-length"):
            name = _ORIGINAL + name
        lines.append(_header(name, value))
    if not said:
        lines.append(b"Content-Length: " + length)
    head = b"\r\n".join(lines) + b"\r\n\r\n"
    return head + exchange.body, len(head)


def request_block(exchange: Exchange) -> bytes:
    """The HTTP request as the block of a record, without secrets (cookies, passwords)."""
    _, _, rest = exchange.url.partition("://")
    host, slash, path = rest.partition("/")
    host, question, query = host.partition("?")
    target = f"{slash or '/'}{path}" if not question else f"/?{query}{slash}{path}"
    lines = [f"{exchange.method} {target} HTTP/1.1".encode("latin-1", "replace")]
    headers = exchange.request or ()
    if not any(name.lower() == b"host" for name, _ in headers):
        lines.append(b"Host: " + host.rpartition("@")[2].encode("latin-1", "replace"))
    if exchange.sent and not any(name.lower() == b"content-length" for name, _ in headers):
        lines.append(b"Content-Length: %d" % len(exchange.sent))
    lines += [_header(name, value) for name, value in headers if name.lower() not in _SECRET]
    return b"\r\n".join(lines) + b"\r\n\r\n" + exchange.sent


def content_type(headers: Iterable[Header]) -> str:
    """The media type in the headers, in lower case; empty if there is none."""
    for name, value in headers:
        if name.lower() == b"content-type":
            return value.partition(b";")[0].strip().lower().decode("latin-1")
    return ""


def phrase(status: int) -> str:
    """The usual reason phrase of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _header(name: bytes, value: bytes) -> bytes:
    """A header line; line breaks in the value are folded."""
    return b" ".join((name + b": " + value).split(b"\r")).replace(b"\n", b" ")
