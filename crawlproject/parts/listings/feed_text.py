"""Feeds as their publishers' programs write them, made ready for a reader of XML.

Many have faults that XML does not forgive: a warning of PHP before the declaration, HTML in a title, entities of HTML,
bytes in another encoding than the declared one. Each is mended where it can be told from what is meant, in time that grows
with the bytes. Nothing of a document type is looked at.
"""

from __future__ import annotations

import re
from html import escape
from html.entities import html5

from crawlproject.pages.html.encoding import FALLBACK, decode

_HEAD = 20_000  # characters in which the root has to begin
_ROOT = re.compile(r"<(?:\w+:)?(?:rss|feed|rdf|channel)[\s>]", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)(#?\w{1,31};)?")
_NO_TAG = re.compile(r"<(?![A-Za-z/!?])")
_UNQUOTED = re.compile(r"(<[A-Za-z][\w:.-]*\s[^<>\"']*=)([^\s<>\"']+)")
# HTML in titles and texts is text with markup in it. Without the elements that feeds have, too (title, link, source, summary).
_HTML = re.compile(
    r"<(?=/?(?:x?html:)?(?:a|abbr|article|aside|b|big|blockquote|body|br|center|cite|code|dd|del|div|dl|dt|em|embed|figcaption"
    r"|figure|font|footer|form|h[1-6]|header|hr|i|iframe|img|input|ins|label|li|main|nav|object|ol|p|pre|q|s|script|section|small"
    r"|span|strike|strong|style|su[bp]|svg|table|tbody|td|th|thead|tr|tt|u|ul|video)[\s/>])",
    re.IGNORECASE,
)


def mended(body: bytes) -> bytes:
    """``body``, unpacked, from its root on, in UTF-8; empty when it has none near its beginning."""
    text = _decoded(body)
    root = _ROOT.search(text, 0, _HEAD)
    if root is None:
        return b""
    text = _without_comments(_without_cdata(_CONTROL.sub("", text[root.start() :])))
    text = _REFERENCE.sub(_reference, _UNQUOTED.sub(r'\1"\2"', _HTML.sub("&lt;", _NO_TAG.sub("&lt;", text))))
    return text.encode("utf-8", "replace")


def _decoded(body: bytes) -> str:
    """The text, in the encoding that a page would have. Bytes that are no UTF-8 in what says it is are windows-1252."""
    if b"\0" in body[:2]:  # UTF-16 without a byte order mark
        return body.decode("utf-16-le" if body[1:2] == b"\0" else "utf-16-be", "replace")
    encoding, text = decode(body)
    if encoding == "utf-8" and "\ufffd" in text:
        text = "".join(_either(line) for line in body.splitlines(keepends=True))
    return text


def _either(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode(FALLBACK, "replace")


def _without_cdata(text: str) -> str:
    """CDATA as text with references, also when one stands in another, or does not end."""
    first, *others = text.split("<![CDATA[")
    for number, piece in enumerate(others):
        inside, _, behind = piece.partition("]]>")
        others[number] = escape(inside, quote=False) + behind
    return first + "".join(others)


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + "".join([piece.partition("-->")[2] for piece in others])


def _reference(found: re.Match[str]) -> str:
    name: str = found[1] or ""
    if not name.startswith("#"):
        return escape(html5[name]) if name in html5 else "&amp;" + name
    digits = name[1:-1]
    try:
        code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    except ValueError:
        return "&amp;" + name
    return "" if _CONTROL.match(chr(code) if code < 0x110000 else "\0") else escape(chr(code))
