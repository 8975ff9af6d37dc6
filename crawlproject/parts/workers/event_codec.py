"""What workers of one crawl publish, as bytes.

A message is a list, ``[VERSION, kind, ...]``, as JSON, compressed. A fetch is sent as its history line, what it linked to, and
what the parts add to it. Where the ordering learns from pages, it adds what the page was worth if what it learns are sums
(``orderings/summing.py``); else the page goes along as it was read and judged, without its text: reading it again would cost each
worker what fetching it costs.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.records import FetchEvent, Link, Page, Span, Visit
from crawlproject.storage.read import visit_from

VERSION = 3
FETCH, REFUSED, POSTPONED, HOST_POSTPONED, PART = "fetch", "refused", "postponed", "host postponed", "part"
SUMS = "sums"
LARGEST = 1 << 16  # bytes of a message; a larger one goes without its page

_FASTEST = 1  # of zlib's levels: a tenth larger, three times as fast
_UNPACKED = 1 << 24  # bytes, at most


class UnreadableMessage(Exception):
    """A message of another version, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Message:
    """``event`` of a fetch, with what the parts have ``published`` of it, by their names; ``content`` of
    a part's own message, or sums.

    Else ``name`` is a URL or a host; of a part's message the part.
    """

    kind: str
    name: str = ""
    event: FetchEvent | None = None
    published: Mapping[str, Any] = field(default_factory=dict)
    content: Any = None


def dump_fetch(event: FetchEvent, published: Mapping[str, Any], *, with_page: bool) -> bytes:
    """A fetch. ``with_page``: the page as well, unless it is very large."""
    visit, page = event.visit, event.page() if with_page else None
    if page is not None:
        message = _packed(FETCH, visit, None, published, _page_fields(page))
        if len(message) <= LARGEST:
            return message
    return _packed(FETCH, visit, list(event.links), published, None)


def dump_name(kind: str, name: str) -> bytes:
    """A URL that is refused or postponed, or a host that is."""
    return _packed(kind, name)


def dump_part(part: str, content: Any) -> bytes:
    """What the part of this name says."""
    return _packed(PART, [part, content])


def dump_sums(difference: Any) -> bytes:
    """What is new of the sums of the ordering."""
    return _packed(SUMS, difference)


def load(message: bytes) -> Message:
    """Raises ``UnreadableMessage``."""
    try:
        unpacker = zlib.decompressobj()
        version, kind, *rest = orjson.loads(unpacker.decompress(message, _UNPACKED))
        if version != VERSION:
            raise UnreadableMessage(f"of version {version!r}")
        if kind == FETCH:
            return _fetch(*rest)
        (content,) = rest
        if kind == PART:
            part, content = content
            return Message(kind, str(part), content=content)
        if kind == SUMS:
            return Message(kind, content=content)
        if kind in (REFUSED, POSTPONED, HOST_POSTPONED):
            return Message(kind, str(content))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError, BadCrawlDir) as damage:
        raise UnreadableMessage(repr(damage)) from damage
    raise UnreadableMessage(f"of kind {kind!r}")


def _packed(*content: Any) -> bytes:
    return zlib.compress(orjson.dumps([VERSION, *content], default=list), _FASTEST)


def _fetch(visit_line: Any, targets: Any, published: Any, fields: Any) -> Message:
    visit = visit_from(visit_line, "a message of another worker")
    page = None if fields is None else _page(visit, *fields)
    links: Sequence[str] = ()
    if visit.is_page:
        links = targets if page is None else [link.url for link in page.links]
    return Message(FETCH, event=FetchEvent(visit, links, lambda: page), published=dict(published))


def _page_fields(page: Page) -> list[Any]:
    links = [
        (link.url, link.anchor, *link.anchor_span, *link.context_span, link.context_score, link.tag_path)
        for link in page.links
    ]
    return [page.terms, links, page.inherited, page.language, page.indexable]


def _page(
    visit: Visit, terms: list[str], links: list[Any], inherited: list[float], language: str, indexable: bool
) -> Page:
    return Page(
        url=visit.url,
        title=visit.title,
        language=language,
        terms=terms,
        counts=Counter(terms),
        links=tuple(
            Link(url, anchor, Span(start, end), Span(first, last), score, path)
            for url, anchor, start, end, first, last, score, path in links
        ),
        depth=visit.depth,
        parent=visit.parent,
        score=visit.score,
        relevance=visit.relevance,
        inherited=tuple(inherited),
        indexable=indexable,
        duplicate_of=visit.duplicate_of,
        replaces=visit.replaces,
        spam=visit.spam,
        signs=visit.signs,
        kind=visit.kind,
    )
