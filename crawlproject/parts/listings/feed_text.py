"""Repairs malformed feeds, so that an XML parser can read them.

Many feeds have faults that XML does not allow: a PHP warning before the declaration, HTML in a title, HTML entities,
bytes in another encoding than the declared one. A fault is repaired if the intention is clear, in time linear in the
number of bytes. Document types are ignored.
"""

from __future__ import annotations

import re
from html import escape
from html.entities import html5

from crawlproject.pages.html.encoding import FALLBACK, decode

_HEAD = 20_000  # first characters, within which the root must begin
_ROOT = re.compile(r"<(?:\w+:)?(?:rss|feed|rdf|channel)[\s>]", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)(#?\w{1,31};)?")
_NO_TAG = re.compile(r"<(?![A-Za-z/!?])")
_UNQUOTED = re.compile(r"(<[A-Za-z][\w:.-]*\s[^<>\"']*=)([^\s<>\"']+)")
# HTML elements in titles and texts, which become text; without those that feeds have, too (title, link, source, summary).
_HTML = re.compile(
    r"<(?=/?(?:x?html:)?(?:a|abbr|article|aside|b|big|blockquote|body|br|center|cite|code|dd|del|div|dl|dt|em|embed|figcaption"
    r"|figure|font|footer|form|h[1-6]|header|hr|i|iframe|img|input|ins|label|li|main|nav|object|ol|p|pre|q|s|script|section|small"
    r"|span|strike|strong|style|su[bp]|svg|table|tbody|td|th|thead|tr|tt|u|ul|video)[\s/>])",
    re.IGNORECASE,
)


def mended(body: bytes) -> bytes:
    """The unpacked ``body`` from its root element on, repaired, in UTF-8; empty if there is no root near the beginning."""
    text = _decoded(body)
    root = _ROOT.search(text, 0, _HEAD)
    if root is None:
        return b""
    text = _without_comments(_without_cdata(_CONTROL.sub("", text[root.start() :])))
    text = _REFERENCE.sub(_reference, _UNQUOTED.sub(r'\1"\2"', _HTML.sub("&lt;", _NO_TAG.sub("&lt;", text))))
    return text.encode("utf-8", "replace")


def _decoded(body: bytes) -> str:
    """The text, decoded as for a page. If it claims to be UTF-8, lines that are not are decoded as windows-1252."""
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
    """``text`` with CDATA sections replaced by escaped text, even if they are nested or do not end."""
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
