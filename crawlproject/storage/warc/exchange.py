"""A request and its response, as sent or as reconstructed afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from http import HTTPStatus

from crawlproject.records import Visit
from crawlproject.urls.post import FORM_TYPE, POST, body_name, post_of, post_url

Header = tuple[bytes, bytes]

# Encodings that the virtual web and replay tools can decode; bodies in any other encoding are archived decoded.
_KNOWN_ENCODINGS = frozenset((b"", b"identity", b"gzip", b"x-gzip", b"deflate"))
_SECRET = frozenset((b"authorization", b"cookie", b"proxy-authorization"))
_ORIGINAL = b"X-Archive-Orig-"


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
        """The same with a decoded body; the header is kept under another name."""
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
