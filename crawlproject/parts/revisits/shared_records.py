"""What the workers of one crawl share of its collection, and know of pages and listings that any of them may visit next.

Each worker knows all pages and learns from all visits, so each plans as one alone would. The frontier gives each visit to one of
them, and with it, attached to the URL, what the last visit has left: whoever comes late, or missed messages, makes no visit
with less. Its text may be on another machine; then a sketch of it tells what a change is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple, fields, replace
from heapq import merge
from pathlib import Path
from typing import Any, NamedTuple, Self, get_type_hints

from crawlproject.core.peers import Peers
from crawlproject.errors import BadCrawlDir
from crawlproject.parts.revisits.base import Table
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.text_difference import TextSketch, read_sketch, sketch_of
from crawlproject.records import REVISIT, Visit
from crawlproject.storage.page_files import PAGES
from crawlproject.storage.read import read_visits
from crawlproject.urls.hosts import page_name, page_path

SHARED = "shared"  # in place of the row, where workers that count rows for themselves share a frontier
logger = logging.getLogger(__name__)

_REMEMBERED = 10_000  # pages that were leased: more than there are leases


class SharedPage(NamedTuple):
    """A page after its last visit. Its row is -1: each worker counts rows for itself.

    ``holder`` is the worker that has stored this version, ``sketch`` that of its text, as written; empty: not known.
    """

    page: CollectedPage
    holder: str
    sketch: str

    @classmethod
    def of(cls, page: CollectedPage, holder: str, sketch: str) -> Self:
        return cls(replace(page, row=-1), holder, sketch)

    @classmethod
    def checked(cls, *values: Any) -> Self:
        """As a message has it. Raises ``TypeError`` and ``ValueError`` for values of another kind."""
        *page, holder, sketch = _checked(_PAGE, values)
        return cls(CollectedPage(-1, *page), holder, sketch)

    def message(self) -> list[Any]:
        """As other workers are told: the fields of the page but its row, then ``holder`` and ``sketch``."""
        return [COLLECTED, *astuple(self.page)[1:], self.holder, self.sketch]


class SharedListing(NamedTuple):
    """A sitemap or feed after its last reading; ``interval`` in seconds, ``due`` in seconds since the epoch."""

    url: str
    kind: str
    depth: int
    interval: float
    due: float
    etag: str
    last_modified: str

    @classmethod
    def checked(cls, *values: Any) -> Self:
        """As ``SharedPage.checked``."""
        return cls(*_checked(_LISTING, values))

    def message(self) -> list[Any]:
        """As other workers are told."""
        return [LISTED, *self]


NAME = "revisits"  # of the part, in messages
COLLECTED, LISTED, RETIRED = "collected", "listed", "retired"  # what a message is about


_KINDS = get_type_hints(CollectedPage)
_PAGE = (*(_KINDS[field.name] for field in fields(CollectedPage)[1:]), str, str)
_LISTING = tuple(get_type_hints(SharedListing).values())


def _checked(kinds: tuple[type, ...], values: tuple[Any, ...]) -> Iterator[Any]:
    return (kind(value) for kind, value in zip(kinds, values, strict=True))


def score_of(due: float) -> float:
    """Of the visits of a host that are due, the one comes first that has been due for longest: so no page starves.

    What a page is worth is in ``due`` already, in seconds since the epoch. 0 to 1, for times up to the year 2286.
    """
    return max(0.0, 1.0 - due / 1e10)


def revisit_key(url: str, variant: str) -> str:
    """The key of the revisits of a page in the frontier (``OwnCollection.variant``)."""
    return f"{url}#{REVISIT}/{variant}"


class OwnCollection:
    """The collection of a crawl that is alone: nobody else visits its pages."""

    def variant(self, page: CollectedPage) -> str:
        """By what the frontier tells the revisits of a page from its other URLs."""
        return str(page.row)

    def is_news(self, row: int, number: int) -> bool:
        """Whether the policy has not learned yet from this visit of a page, nor from a later one; now it has."""
        return True

    def knows(self, row: int) -> bool:
        """Whether the policy has learned from any visit of a page."""
        return True

    def stored(self, row: int, holder: str) -> None:
        """The worker ``holder`` has stored the last version of the page in this row; empty: not known who."""

    def visits(self) -> Iterator[tuple[Visit, str]]:
        """The visits in all folders of workers that are here, in the order of time, with the name of the worker."""
        return iter(())

    def attach(self, page: CollectedPage, text: str | None = None) -> None:
        """Attach to the next visit of a page what its last one has left. ``text``: of the version that is stored now."""

    def attach_listing(self, key: str, listing: SharedListing) -> None:
        """Attach to the next reading of a listing what its last one has left."""

    def retired(self, page: CollectedPage) -> None:
        """This worker has let a page go."""

    def was_attached(self, shared: SharedPage) -> None:
        """The next visit of this page is this worker's."""

    def attached(self, url: str) -> SharedPage | None:
        """What the last visit of a leased page has left, if it came with the lease."""
        return None

    def has_stored(self, url: str) -> bool:
        """Whether this worker has stored the last version of a leased page."""
        return True

    def text_before(self, shared: SharedPage, text_of: Callable[[bytes], str]) -> tuple[str | None, TextSketch | None]:
        """The text of the stored version, None if it is in no folder here, and its sketch."""
        return None, None

    def text_is(self, shared: SharedPage, text: str) -> None:
        """Nobody knew the text of the stored version: what changes from this one on is found."""


class SharedCollection(OwnCollection):
    """The part of the worker called ``name``, whose folder is ``folder``."""

    def __init__(self, name: str, folder: Path, peers: Peers) -> None:
        self._name = name
        self._folder = folder
        self._peers = peers
        # 6 bytes a page: the last visit that the policy has learned from, and the place in ``_holders`` of who stores it
        self._learned = Table(number=("u4", 0), holder=("u2", 0))
        self._holders = ["", name]
        self._attached: dict[str, SharedPage] = {}  # pages that were leased, until their visits end

    def variant(self, page: CollectedPage) -> str:
        return SHARED

    # ------------------------------------------------------------ learning

    def is_news(self, row: int, number: int) -> bool:
        self._learned.grow(row + 1)
        if number <= self._learned["number"][row]:
            return False
        self._learned["number"][row] = number
        return True

    def knows(self, row: int) -> bool:
        return row < self._learned.rows and bool(self._learned["number"][row])

    def stored(self, row: int, holder: str) -> None:
        if holder not in self._holders:
            self._holders.append(holder)
        self._learned.grow(row + 1)
        self._learned["holder"][row] = self._holders.index(holder)

    def _holder(self, row: int) -> str:
        return self._holders[self._learned["holder"][row]] if row < self._learned.rows else ""

    def visits(self) -> Iterator[tuple[Visit, str]]:
        own = ((visit, self._name) for visit in read_visits(self._folder))
        return merge(own, *map(_noted, self._peers.folders()), key=lambda noted: noted[0].at)

    # ------------------------------------------------------------ what others have to know

    def attach(self, page: CollectedPage, text: str | None = None) -> None:
        known = self._attached.pop(page.url, None)
        if text is not None:
            shared = SharedPage.of(page, self._name, sketch_of(text).written())
        else:
            shared = SharedPage.of(page, *((known.holder, known.sketch) if known else (self._holder(page.row), "")))
        self._peers.attach(self._key(page), NAME, None if page.is_away else shared.message(), page.number)

    def retired(self, page: CollectedPage) -> None:
        self._attached.pop(page.url, None)
        self._peers.attach(self._key(page), NAME, None, page.number + 0.5)  # of the same visit, but it counts
        self._peers.publish(NAME, page.url, [RETIRED, page.url])

    def attach_listing(self, key: str, listing: SharedListing) -> None:
        self._peers.attach(key, NAME, listing.message(), listing.due - listing.interval)

    def _key(self, page: CollectedPage) -> str:
        return revisit_key(page.url, SHARED)

    # ------------------------------------------------------------ before a visit

    def was_attached(self, shared: SharedPage) -> None:
        self._attached.pop(shared.page.url, None)
        self._attached[shared.page.url] = shared
        if len(self._attached) > _REMEMBERED:
            del self._attached[next(iter(self._attached))]

    def attached(self, url: str) -> SharedPage | None:
        return self._attached.get(url)

    def has_stored(self, url: str) -> bool:
        shared = self._attached.get(url)
        return shared is not None and shared.holder == self._name

    def text_before(self, shared: SharedPage, text_of: Callable[[bytes], str]) -> tuple[str | None, TextSketch | None]:
        # a file whose text has another sketch is of another version
        sketch = read_sketch(shared.sketch)
        place = self._folder.parent / Path(shared.holder).name / PAGES / page_path(page_name(shared.page.url))
        with suppress(OSError):
            text = text_of(place.read_bytes())
            if sketch is None or sketch_of(text).digest == sketch.digest:
                return text, sketch
        return None, sketch

    def text_is(self, shared: SharedPage, text: str) -> None:
        self.was_attached(shared._replace(sketch=sketch_of(text).written()))


def _noted(folder: Path) -> Iterator[tuple[Visit, str]]:
    try:
        yield from ((visit, folder.name) for visit in read_visits(folder))
    except BadCrawlDir as damage:
        logger.warning("What the worker %s has seen before is left out: %s", folder.name, damage)
