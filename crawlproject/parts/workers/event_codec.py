"""What workers of one crawl tell each other, as bytes.

A message is a list, ``[VERSION, kind, ...]``, as JSON, compressed. A fetch is sent as its history line, what it linked to, and
the sketch of a page that is no duplicate. Where the ordering learns from pages, the page goes along as it was read and judged,
without its text: reading it again would cost each worker what fetching it costs.
"""

from __future__ import annotations

import zlib
from binascii import Error as BadBase64
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.parts.duplicates.sketch_store import OriginalPage, read_original, written_original
from crawlproject.parts.probes.probe_log import Finding
from crawlproject.parts.revisits.shared_records import SharedListing, SharedPage
from crawlproject.records import FetchEvent, Link, Page, Span, Visit
from crawlproject.storage.read import visit_from

VERSION = 1
FETCH, FINDING, REFUSED, POSTPONED, BLOCKED = "fetch", "finding", "refused", "postponed", "blocked"
COLLECTED, LISTED, RETIRED = "collected", "listed", "retired"  # of pages and listings that are visited again
LARGEST = 1 << 16  # bytes of a message; a larger one goes without its page

_FASTEST = 1  # of zlib's levels: a tenth larger, three times as fast
_UNPACKED = 1 << 24  # bytes, at most


class UnreadableMessage(Exception):
    """A message of another version, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Message:
    """``event`` and ``sketch`` of a fetch, ``finding`` of a probe; else ``name`` is a URL, or a host blocked ``until`` a time.

    ``page`` and ``listing`` are what is known of one that is visited again.
    """

    kind: str
    name: str = ""
    until: float = 0.0
    event: FetchEvent | None = None
    sketch: OriginalPage | None = None
    finding: Finding | None = None
    page: SharedPage | None = None
    listing: SharedListing | None = None


def dump_fetch(event: FetchEvent, sketch: OriginalPage | None, *, with_page: bool) -> bytes:
    """A fetch. ``with_page``: the page as well, unless it is very large."""
    visit, page = event.visit, event.page() if with_page else None
    line = written_original(sketch) if sketch is not None else None
    if page is not None:
        message = _packed(FETCH, visit, None, line, _page_fields(page))
        if len(message) <= LARGEST:
            return message
    return _packed(FETCH, visit, list(event.links), line, None)


def dump_finding(finding: Finding) -> bytes:
    """What a probe found."""
    return _packed(FINDING, asdict(finding))


def dump_url(kind: str, url: str) -> bytes:
    """A URL that is refused, postponed or retired."""
    return _packed(kind, url)


def dump_block(host: str, until: float) -> bytes:
    """A host that is blocked, until so many seconds since the epoch."""
    return _packed(BLOCKED, [host, until])


def dump_page(page: SharedPage) -> bytes:
    """A page of the collection after its last visit."""
    return _packed(COLLECTED, page.values())


def dump_listing(listing: SharedListing) -> bytes:
    """A listing after its last reading."""
    return _packed(LISTED, list(listing))


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
        if kind == FINDING:
            return Message(kind, finding=Finding(**content))
        if kind == COLLECTED:
            return Message(kind, page=SharedPage.checked(*content))
        if kind == LISTED:
            return Message(kind, listing=SharedListing.checked(*content))
        if kind in (REFUSED, POSTPONED, RETIRED):
            return Message(kind, str(content))
        if kind == BLOCKED:
            host, until = content
            return Message(kind, str(host), until=float(until))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError, BadCrawlDir, BadBase64) as damage:
        raise UnreadableMessage(repr(damage)) from damage
    raise UnreadableMessage(f"of kind {kind!r}")


def _packed(*content: Any) -> bytes:
    return zlib.compress(orjson.dumps([VERSION, *content], default=list), _FASTEST)


def _fetch(visit_line: Any, targets: Any, sketch: Any, fields: Any) -> Message:
    visit = visit_from(visit_line, "a message of another worker")
    page = None if fields is None else _page(visit, *fields)
    links: Sequence[str] = ()
    if visit.is_page:
        links = targets if page is None else [link.url for link in page.links]
    return Message(
        FETCH, event=FetchEvent(visit, links, lambda: page), sketch=read_original(sketch) if sketch else None
    )


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
        spam=visit.spam,
        signs=visit.signs,
    )
