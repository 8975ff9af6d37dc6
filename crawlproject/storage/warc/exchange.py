"""A request and the response to it, as they were on the wire or as far as they can be told afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from http import HTTPStatus

from crawlproject.records import Visit

Header = tuple[bytes, bytes]

# What the virtual web and every replay tool can undo; bodies in any other encoding are archived decoded.
_KNOWN_ENCODINGS = frozenset((b"", b"identity", b"gzip", b"x-gzip", b"deflate"))
_SECRET = frozenset((b"authorization", b"cookie", b"proxy-authorization"))
_ORIGINAL = b"X-Archive-Orig-"


@dataclass(frozen=True, slots=True)
class Exchange:
    """``url`` as it was asked for; ``body`` as received: transfer encoding undone, content encoding not.

    ``at`` is the end of the fetch in seconds since 1970. ``request`` are the headers that were sent; None when nobody
    knows, and then no request record is written. ``truncated`` says that the body was not read to its end.
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

    def can_be_undone(self) -> bool:
        """Whether the content encoding of the body can be undone by everyone who reads the archive."""
        encoding = b",".join(value for name, value in self.headers if name.lower() == b"content-encoding")
        encoded = encoding.strip().lower()
        return encoded in _KNOWN_ENCODINGS and not (self.truncated and encoded)

    def decoded(self, body: bytes) -> Exchange:
        """The same with the content encoding undone; its header is kept under another name."""
        headers = tuple(
            (_ORIGINAL + name if name.lower() == b"content-encoding" else name, value) for name, value in self.headers
        )
        return replace(self, headers=headers, body=body)


def reconstructed(visit: Visit, body: bytes = b"") -> Exchange:
    """The exchange of a fetch as far as the history tells: status, content type, and where a redirect led."""
    headers: list[Header] = []
    if visit.content_type:
        headers.append((b"Content-Type", visit.content_type.encode("latin-1", "replace")))
    elif visit.md5:
        headers.append((b"Content-Type", b"text/html" if b"<" in body else b"text/plain"))
    status = visit.status
    if visit.redirect:
        headers.append((b"Location", visit.redirect.encode("utf-8", "replace")))
        status = status if 300 <= status < 400 else 301  # a page that a refresh sent on
    return Exchange(visit.url, status, tuple(headers), body, visit.at)


def response_block(exchange: Exchange) -> tuple[bytes, int]:
    """The HTTP response as the block of a record, and where in it the payload begins.

    Headers about the transfer are kept under another name, since the transfer is undone; the length is that of the body.
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
    """The HTTP request as the block of a record, without what must stay secret (cookies, passwords)."""
    _, _, rest = exchange.url.partition("://")
    host, slash, path = rest.partition("/")
    host, question, query = host.partition("?")
    target = f"{slash or '/'}{path}" if not question else f"/?{query}{slash}{path}"
    lines = [f"{exchange.method} {target} HTTP/1.1".encode("latin-1", "replace")]
    headers = exchange.request or ()
    if not any(name.lower() == b"host" for name, _ in headers):
        lines.append(b"Host: " + host.rpartition("@")[2].encode("latin-1", "replace"))
    lines += [_header(name, value) for name, value in headers if name.lower() not in _SECRET]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def content_type(headers: Iterable[Header]) -> str:
    """The media type that the headers name, in lower case; empty when they name none."""
    for name, value in headers:
        if name.lower() == b"content-type":
            return value.partition(b";")[0].strip().lower().decode("latin-1")
    return ""


def phrase(status: int) -> str:
    """What usually stands behind a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _header(name: bytes, value: bytes) -> bytes:
    """A header line: a value that would begin another line is folded into one."""
    return b" ".join((name + b": " + value).split(b"\r")).replace(b"\n", b" ")
