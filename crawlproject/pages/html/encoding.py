"""Determines the encoding of a page, in the same order as browsers.

The order is: byte order mark, charset of the HTTP header, declaration in the first bytes of the document, guess (WHATWG
HTML, "Determining the character encoding"). The guess is UTF-8 if the whole body is valid UTF-8. Otherwise Firefox's
detector guesses from the first ``LOOKED_AT`` bytes, or it is windows-1252 if these have fewer than ``LETTERS`` non-ASCII
letters. Only the encodings of the WHATWG Encoding Standard are honoured: Python knows others (``unicode_escape``,
``punycode``, ``hex``) that a page must not be able to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote_from_bytes

from chardetng_py import detect
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding, to_unicode

from crawlproject.records import Reply

FALLBACK = "cp1252"
LETTERS = 4  # non-ASCII bytes that are letters in windows-1252, not a pilcrow or a no-break space
LOOKED_AT = 100_000  # bytes that a guess is based on: its cost grows with them, 2 ms for this many

# Names as `codecs.lookup(label).name` spells them, after w3lib's translation (latin-1 to cp1252, gbk to gb18030, ...).
_WEB_ENCODINGS = frozenset((
    "big5hkscs", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258",
    "cp866", "cp874", "cp932", "cp949", "euc_jp", "gb18030", "iso2022_jp", "iso8859-2", "iso8859-3",
    "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-10", "iso8859-13", "iso8859-14",
    "iso8859-15", "iso8859-16", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman", "utf-16-be", "utf-16-le",
    "utf-8",
))  # fmt: skip
_MEDIA_TYPE = re.compile(r"\s*([\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+)", re.ASCII)
_UNKNOWN = ("unknown/unknown", "application/unknown", "*/*")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_EAST_ASIAN = re.compile(rb"\x1b\$|[\x80-\x9f\xa1-\xff]{4}")  # an escape sequence, or two letters of two bytes
_ISO_2022_JP = b"\x1b$"  # begins Japanese letters among bytes that are all ASCII
_NO_LETTERS = bytes(
    byte for byte in range(256) if byte < 128 or not bytes((byte,)).decode(FALLBACK, "ignore").isalpha()
)
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))


def media_type(content_type: str) -> str:
    """Return ``text/html`` for ``Text/HTML; charset=x``; empty if the header names no media type.

    It is read as browsers do (WHATWG MIME Sniffing sections 4.4 and 5.1): anything may follow the name, and "unknown"
    types count as none.
    """
    found = _MEDIA_TYPE.match(content_type)
    name = found[1].lower() if found else ""
    return "" if name in _UNKNOWN else name


def is_page(reply: Reply, content_types: Iterable[str]) -> bool:
    """Whether a reply is a page: it has a 2xx status, and its content type, if it has one, is in ``content_types``."""
    named = media_type(reply.headers.get("content-type", ""))
    return 200 <= reply.status < 300 and (not named or named in content_types)


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the name of the encoding of ``body``, and its text.

    ``content_type`` is the value of the HTTP header. Bytes that are invalid in the encoding become U+FFFD. Raises nothing.
    """
    encoding, body = _declared(body, content_type)
    if not encoding and (whole := _utf8(body)) is not None:
        encoding, body = "utf-8", whole
    encoding = encoding or _guessed(body)
    return encoding, to_unicode(body, encoding)


def as_utf8(body: bytes, content_type: str = "") -> tuple[str, bytes]:
    """The same as ``decode``, with the text as valid UTF-8: mostly ``body`` itself, which only has to be validated."""
    encoding, body = _declared(body, content_type)
    if encoding in ("", "utf-8") and (whole := _utf8(body)) is not None:
        return "utf-8", whole
    encoding = encoding or _guessed(body)
    return encoding, to_unicode(body, encoding).encode("utf-8")


def of_form(accept_charset: str, page: str) -> str:
    """Return the encoding in which a form is sent: the first known one in ``accept_charset``, else that of its ``page``.

    UTF-8 takes the place of UTF-16.
    """
    accepted = map(resolve_encoding, accept_charset.replace(",", " ").split())
    encoding = next((name for name in accepted if name in _WEB_ENCODINGS), page)
    return "utf-8" if encoding.startswith("utf-") else encoding


def encode_query(href: str, encoding: str) -> str:
    """Percent-encode the non-ASCII letters in the query of ``href`` in the encoding of its page, as browsers do.

    Not for pages in UTF-8 or UTF-16, whose queries browsers send as UTF-8. Letters that the encoding lacks become
    ``&#1234;`` (WHATWG URL section 1.3).
    """
    if href.isascii():
        return href
    reference, hash_mark, fragment = href.partition("#")
    path, mark, query = reference.partition("?")
    query = _NOT_ASCII.sub(lambda run: quote_from_bytes(run[0].encode(encoding, "xmlcharrefreplace"), safe=""), query)
    return path + mark + query + hash_mark + fragment


def _declared(body: bytes, content_type: str) -> tuple[str, bytes]:
    """Return the declared encoding, empty if none is declared, and ``body`` without its byte order mark."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return encoding, body[len(mark) :]
    return _from_header(content_type) or _from_document(body) or "", body


def _utf8(body: bytes) -> bytes | None:
    """Return ``body`` without a partial character at its end, or None if it is not UTF-8."""
    if body.isascii():
        return None if _ISO_2022_JP in body else body
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return body[: wrong.start] if wrong.reason == "unexpected end of data" else None
    return body


def _guessed(body: bytes) -> str:
    body = body[:LOOKED_AT]
    if len(body.translate(None, _NO_LETTERS)) < LETTERS and not _EAST_ASIAN.search(body):
        return FALLBACK
    name = resolve_encoding(detect(body, allow_utf8=False))
    return name if name in _WEB_ENCODINGS else FALLBACK


@lru_cache(maxsize=100)
def _from_header(content_type: str) -> str | None:
    name = http_content_type_encoding(content_type)
    if name == "utf-16":  # the standard's label "utf-16" is little-endian
        return "utf-16-le"
    return name if name in _WEB_ENCODINGS else None


def _from_document(body: bytes) -> str | None:
    name = html_body_declared_encoding(body)
    if name is not None and name.startswith("utf-16"):  # impossible, since the declaration was readable as ASCII
        return "utf-8"
    return name if name in _WEB_ENCODINGS else None
