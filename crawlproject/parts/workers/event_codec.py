"""What workers of one crawl publish, as bytes.

A message is a list, ``[VERSION, kind, ...]``, as a line of JSON. A fetch is sent as its history line, with what the parts add to
it. Its links follow, compressed: a worker that inherits its hosts needs them, and few others. Where the ordering learns from
pages, the message states what the page was worth if the ordering learns sums (``orderings/summing.py``). Otherwise it includes
the page as it was read and judged, without its text: reading it again would cost each worker what fetching it costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.records import FetchEvent, Link, Page, Span, Visit
from crawlproject.storage.read import visit_from
from crawlproject.zstandard import Packer, zstd

VERSION = 5
FETCH, REFUSED, POSTPONED, HOST_POSTPONED, PART = "fetch", "refused", "postponed", "host postponed", "part"
SUMS = "sums"
LARGEST = 1 << 16  # bytes of a message; a larger one is sent without its page

_DAMAGE = zstd.ZstdError, ValueError, TypeError, KeyError, AttributeError, BadCrawlDir
_pack = Packer()
_UNPACKED = 1 << 24  # bytes, at most


class UnreadableMessage(Exception):
    """A message of another version, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Message:
    """``event`` is a fetch, with what the parts have ``published`` about it, by their names. ``content`` is that of a part's own
    message, or sums.

    ``name`` is the part of a part's message; else a URL or a host.
    """

    kind: str
    name: str = ""
    event: FetchEvent | None = None
    published: Mapping[str, Any] = field(default_factory=dict)
    content: Any = None


def dump_fetch(event: FetchEvent, published: Mapping[str, Any], *, with_page: bool) -> bytes:
    """Encode a fetch. ``with_page``: with its page, unless that is very large."""
    page = event.page() if with_page else None
    told = _line(VERSION, FETCH, event.visit, published)
    if page is not None:
        message = told + _pack(_line(None, _page_fields(page)))
        if len(message) <= LARGEST:
            return message
    return told + _pack(_line(list(event.links), None))


def dump_name(kind: str, name: str) -> bytes:
    """Encode a URL that is refused or postponed, or a host that is postponed."""
    return _line(VERSION, kind, name)


def dump_part(part: str, content: Any) -> bytes:
    """Encode a message of the part with this name."""
    return _line(VERSION, PART, [part, content])


def dump_sums(difference: Any) -> bytes:
    """Encode what is new in the sums of the ordering."""
    return _line(VERSION, SUMS, difference)


def load(message: bytes) -> Message:
    """Decode a message. Raises ``UnreadableMessage``, as do the links and the page of its event when they are first used."""
    try:
        line, _, behind = message.partition(b"\n")
        version, kind, *rest = orjson.loads(line)
        if version != VERSION:
            raise UnreadableMessage(f"of version {version!r}")
        if kind == FETCH:
            visit, published = rest
            return _fetch(visit, published, behind)
        (content,) = rest
        if kind == PART:
            part, content = content
            return Message(kind, str(part), content=content)
        if kind == SUMS:
            return Message(kind, content=content)
        if kind in (REFUSED, POSTPONED, HOST_POSTPONED):
            return Message(kind, str(content))
    except _DAMAGE as damage:
        raise UnreadableMessage(repr(damage)) from damage
    raise UnreadableMessage(f"of kind {kind!r}")


def _line(*content: Any) -> bytes:
    return orjson.dumps(content, default=list, option=orjson.OPT_APPEND_NEWLINE)


def _fetch(visit_line: Any, published: Any, behind: bytes) -> Message:
    visit = visit_from(visit_line, "a message of another worker")
    links = ToldLinks(visit, behind)
    told = FetchEvent(visit, links if visit.is_page else (), lambda: links.page)
    return Message(FETCH, event=told, published=dict(published))


class ToldLinks(Sequence[str]):
    """The links of a page, and the page if it was sent: decoded from what is ``behind`` the rest of its message."""

    def __init__(self, visit: Visit, behind: bytes) -> None:
        self._visit = visit
        self._behind = behind

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return self._read[0][place]

    def __len__(self) -> int:
        return len(self._read[0])

    @property
    def page(self) -> Page | None:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Sequence[str], Page | None]:
        try:
            targets, fields = orjson.loads(zstd.ZstdDecompressor().decompress(self._behind, _UNPACKED))
            page = None if fields is None else _page(self._visit, *fields)
            return list(targets) if page is None else [link.url for link in page.links], page
        except _DAMAGE as damage:
            raise UnreadableMessage(repr(damage)) from damage


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
