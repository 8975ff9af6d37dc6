"""What the workers of one crawl share about its collection, and about the pages and listings that any of them may visit next.

Each worker knows all pages and learns from all visits, so each plans like a single worker. The frontier gives each visit to
one worker, together with the record of the last visit, which is attached to the URL. So a worker that joined late or missed
messages knows no less. The last text may be on another machine; then a sketch of it shows what has changed.
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

SHARED = "shared"  # in place of the row: workers that share a frontier number rows each for themselves
logger = logging.getLogger(__name__)

_REMEMBERED = 10_000  # leased pages: more than there are leases


class SharedPage(NamedTuple):
    """A page after its last visit. Its row is -1, since each worker numbers rows for itself.

    ``holder`` is the worker that stored this version, ``sketch`` the written sketch of its text; each is empty if not known.
    """

    page: CollectedPage
    holder: str
    sketch: str

    @classmethod
    def of(cls, page: CollectedPage, holder: str, sketch: str) -> Self:
        return cls(replace(page, row=-1), holder, sketch)

    @classmethod
    def checked(cls, *values: Any) -> Self:
        """Build a page from the values of a message. Raises ``TypeError`` and ``ValueError`` for values of another kind."""
        *page, holder, sketch = _checked(_PAGE, values)
        return cls(CollectedPage(-1, *page), holder, sketch)

    def message(self) -> list[Any]:
        """The message to other workers: the fields of the page without its row, then ``holder`` and ``sketch``."""
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
        """The message to other workers."""
        return [LISTED, *self]


NAME = "revisits"  # the part, in messages
COLLECTED, LISTED, RETIRED, UNLISTED = "collected", "listed", "retired", "unlisted"  # the kinds of messages


_KINDS = get_type_hints(CollectedPage)
_PAGE = (*(_KINDS[field.name] for field in fields(CollectedPage)[1:]), str, str)
_LISTING = tuple(get_type_hints(SharedListing).values())


def _checked(kinds: tuple[type, ...], values: tuple[Any, ...]) -> Iterator[Any]:
    return (kind(value) for kind, value in zip(kinds, values, strict=True))


def score_of(due: float) -> float:
    """Of the due visits of a host, the one that has been due for longest comes first, so no page starves.

    ``due``, in seconds since the epoch, already reflects what a page is worth. 0 to 1, for times up to the year 2286.
    """
    return max(0.0, 1.0 - due / 1e10)


def revisit_key(url: str, variant: str) -> str:
    """The frontier key of the revisits of a page (``OwnCollection.variant``)."""
    return f"{url}#{REVISIT}/{variant}"


class OwnCollection:
    """The collection of a crawl with a single worker: no other worker visits its pages."""

    def variant(self, page: CollectedPage) -> str:
        """The part of a frontier key that distinguishes the revisits of a page from its other URLs."""
        return str(page.row)

    def is_news(self, row: int, number: int) -> bool:
        """Whether the policy has not yet learned from this visit of a page or a later one. Marks the visit as learned."""
        return True

    def knows(self, row: int) -> bool:
        """Whether the policy has learned from any visit of a page."""
        return True

    def stored(self, row: int, holder: str) -> None:
        """Note that the worker ``holder`` stored the last version of the page in this row; empty: not known which worker."""

    def visits(self) -> Iterator[tuple[Visit, str]]:
        """The visits in all workers' folders on this machine, in the order of time, each with the name of its worker."""
        return iter(())

    def attach(self, page: CollectedPage, text: str | None = None) -> None:
        """Attach the record of the last visit of a page to its next visit. ``text``: of the version that is stored now."""

    def attach_listing(self, key: str, listing: SharedListing) -> None:
        """Attach the record of the last reading of a listing to its next reading."""

    def retired(self, page: CollectedPage) -> None:
        """Note that this worker has retired a page."""

    def was_attached(self, shared: SharedPage) -> None:
        """Remember the record of a page whose next visit is this worker's."""

    def attached(self, url: str) -> SharedPage | None:
        """The record of the last visit of a leased page, if it came with the lease."""
        return None

    def has_stored(self, url: str) -> bool:
        """Whether this worker has stored the last version of a leased page."""
        return True

    def text_before(self, shared: SharedPage, text_of: Callable[[bytes], str]) -> tuple[str | None, TextSketch | None]:
        """The text of the stored version, None if no folder on this machine has it, and its sketch."""
        return None, None

    def text_is(self, shared: SharedPage, text: str) -> None:
        """Take ``text`` as that of the stored version, which no worker knew, so that later changes are found."""


class SharedCollection(OwnCollection):
    """The collection as the worker ``name`` sees it, whose folder is ``folder``."""

    def __init__(self, name: str, folder: Path, peers: Peers) -> None:
        self._name = name
        self._folder = folder
        self._peers = peers
        # 6 bytes a page: the last visit that the policy learned from, and the index in ``_holders`` of the worker that stores it
        self._learned = Table(number=("u4", 0), holder=("u2", 0))
        self._holders = ["", name]
        self._attached: dict[str, SharedPage] = {}  # leased pages, until their visits end

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
        self._peers.attach(self._key(page), NAME, None, page.number + 0.5)  # newer than the record of the same visit
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
        # a file whose text has another sketch holds another version
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
        logger.warning("The earlier visits of the worker %s are ignored: %s", folder.name, damage)
