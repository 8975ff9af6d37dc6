"""Reads seeds from files that users have: a list of URLs, bookmarks or feeds in OPML, the sitemap of a site."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from crawlproject.errors import BadInput, InvalidUrl
from crawlproject.urls.canonical import canonical_url, with_scheme

_QUOTED = 200  # most characters of an entry in a message
_OF_OUTLINE = ("htmlUrl", "url", "xmlUrl")  # attributes of OPML: the page rather than its feed


def read_seed_list(place: str) -> list[str]:
    """The distinct URLs in a file, or on standard input (``-``), as they are written.

    Text has one URL per line; text after a space, and lines that begin with ``#``, are comments. XML is OPML or a sitemap
    (https://www.sitemaps.org/protocol.html). Raises ``BadInput`` for what is no URL, with its line, and if there is no URL.
    """
    try:
        data = sys.stdin.buffer.read() if place == "-" else Path(place).read_bytes()
    except OSError as error:
        raise BadInput(f"list of seeds {place}", f"cannot be read: {error}") from None
    is_xml = data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    found = list(dict.fromkeys(_of_xml(data, place) if is_xml else _of_lines(data, place)))
    if not found:
        raise BadInput(f"list of seeds {place}", "expected a URL a line, OPML or a sitemap; it has no URL")
    return found


def _of_lines(data: bytes, place: str) -> Iterator[str]:
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield _checked(words[0], line.strip(), f"list of seeds {place}, line {number}")


def _of_xml(data: bytes, place: str) -> Iterator[str]:
    try:
        root = ElementTree.fromstring(data)  # expat expands no external entities, and limits internal ones
    except (ElementTree.ParseError, LookupError, ValueError) as damage:  # the last two: an unsupported encoding
        raise BadInput(f"list of seeds {place}", f"expected OPML or a sitemap: {damage}") from None
    if _local(root.tag) == "sitemapindex":
        raise BadInput(f"list of seeds {place}", "is an index of sitemaps; name one of those that it lists")
    return (_checked(url, url, f"list of seeds {place}") for url in _of_elements(root.iter()))


def _of_elements(elements: Iterable[ElementTree.Element]) -> Iterator[str]:
    for element in elements:
        if _local(element.tag) == "outline":
            if url := next(filter(None, map(element.get, _OF_OUTLINE)), None):
                yield url.strip()
        elif _local(element.tag) == "loc" and element.text:
            yield element.text.strip()


def _checked(url: str, entry: str, place: str) -> str:
    """The URL as it is written. Raises ``BadInput``, which quotes the entry."""
    try:
        canonical_url(with_scheme(url))
    except InvalidUrl as wrong:
        raise BadInput(place, f"expected a URL to crawl, not {entry[:_QUOTED]!r}: {wrong.why}") from None
    return url


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
