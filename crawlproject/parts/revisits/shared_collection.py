"""What the workers of one crawl share of its collection.

Each worker knows all pages and learns from all visits, so each plans as one alone would. The frontier gives each visit to one of
them, and with it, attached to the URL, what the last visit has left: whoever comes late, or missed messages, makes no visit
with less. Its text may be on another machine; then a sketch of it tells what a change is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from heapq import merge
from pathlib import Path

from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.keys import revisit_key
from crawlproject.parts.revisits.shared_records import SharedListing, SharedPage
from crawlproject.parts.revisits.table import Table
from crawlproject.parts.revisits.text_sketch import TextSketch, read_sketch, sketch_of
from crawlproject.parts.workers.event_codec import RETIRED, dump_listing, dump_page, dump_url
from crawlproject.parts.workers.host_shares import HostShares
from crawlproject.parts.workers.merge_workers import PAGES, workers_of
from crawlproject.records import Visit
from crawlproject.storage.read import read_visits
from crawlproject.urls.naming import page_name, page_path

logger = logging.getLogger(__name__)

_REMEMBERED = 10_000  # pages that were leased: more than there are leases


class SharedCollection:
    """The part of the worker called ``name``, whose folder is ``folder``. ``shares`` says which hosts it looks after."""

    def __init__(self, name: str, folder: Path, frontier: SharedFrontier) -> None:
        self.shares = HostShares(name.encode())
        self._name = name
        self._folder = folder
        self._frontier = frontier
        self._learned = Table(number=("u4", 0))  # 4 bytes a page: the last visit that the policy has learned from
        self._told: dict[str, SharedPage] = {}  # pages that were leased, until their visits end

    # ------------------------------------------------------------ learning

    def is_news(self, row: int, number: int) -> bool:
        """Whether the policy has not learned yet from this visit of a page, nor from a later one; now it has."""
        self._learned.grow(row + 1)
        if number <= self._learned["number"][row]:
            return False
        self._learned["number"][row] = number
        return True

    def knows(self, row: int) -> bool:
        """Whether the policy has learned from any visit of a page."""
        return row < self._learned.rows and bool(self._learned["number"][row])

    def visits(self) -> Iterator[tuple[Visit, bool]]:
        """The visits in all folders of workers that are here, in the order of time, and whether they are of this worker."""
        others = [path for path in workers_of(self._folder.parent.parent) if path != self._folder]
        own = ((visit, True) for visit in read_visits(self._folder))
        return merge(own, *map(_noted, others), key=lambda noted: noted[0].at)

    # ------------------------------------------------------------ what others have to know

    def tell(self, page: CollectedPage, sketch: TextSketch | None = None, *, holder: str = "") -> None:
        """Attach to the next visit of a page what its last one has left. ``sketch``: of a text that this worker has stored."""
        known = self._told.pop(page.url, None)
        if sketch is not None:
            message = SharedPage.of(page, self._name, sketch.written())
        else:
            holder = known.holder if known else holder or self._name
            message = SharedPage.of(page, holder, known.sketch if known else "")
        self._attach(page, b"" if page.is_away else dump_page(message))

    def retired(self, page: CollectedPage) -> None:
        """This worker has let a page go."""
        self._told.pop(page.url, None)
        self._attach(page, b"", 0.5)  # of the same visit, but it counts
        self._frontier.publish(page.url, self._name.encode() + b"\n" + dump_url(RETIRED, page.url))

    def tell_listing(self, key: str, listing: SharedListing) -> None:
        """Attach to the next reading of a listing what its last one has left."""
        self._frontier.attach(key, self._name.encode() + b"\n" + dump_listing(listing), listing.due - listing.interval)

    def _attach(self, page: CollectedPage, message: bytes, more: float = 0.0) -> None:
        key = revisit_key(page.url, page.row, shared=True)
        self._frontier.attach(key, message and self._name.encode() + b"\n" + message, page.number + more)

    # ------------------------------------------------------------ before a visit

    def was_told(self, told: SharedPage) -> None:
        """The next visit of this page is this worker's."""
        self._told.pop(told.page.url, None)
        self._told[told.page.url] = told
        if len(self._told) > _REMEMBERED:
            del self._told[next(iter(self._told))]

    def told(self, url: str) -> SharedPage | None:
        """What the last visit of a leased page has left."""
        return self._told.get(url)

    def has_stored(self, url: str) -> bool:
        """Whether this worker has stored the last version of a leased page."""
        told = self._told.get(url)
        return told is not None and told.holder == self._name

    def text_before(self, told: SharedPage, text_of: Callable[[bytes], str]) -> tuple[str | None, TextSketch | None]:
        """The text of the stored version, None if it is in no folder here, and its sketch.

        A file whose text has another sketch is of another version.
        """
        sketch = read_sketch(told.sketch)
        place = self._folder.parent / Path(told.holder).name / PAGES / page_path(page_name(told.page.url))
        with suppress(OSError):
            text = text_of(place.read_bytes())
            if sketch is None or sketch_of(text).digest == sketch.digest:
                return text, sketch
        return None, sketch

    # ------------------------------------------------------------ the frontier

    def missing(self, keys: list[str]) -> set[str]:
        """Those of these keys that the server does not know. Not to be asked after the crawl has begun."""
        return {key for key, state in self._frontier.states(keys).items() if not state}

    def pages(self) -> int:
        """Pages that all workers have stored."""
        return self._frontier.pages()

    def set_pace(self, rate: float) -> None:
        """So many fetches a second are for all workers together; 0: any number."""
        self._frontier.set_pace(rate)

    def workers(self, now: float) -> int:
        """Workers that were heard of lately, this one included: the hosts of others are theirs from now on."""
        self.shares.pass_time(now)
        return len(self.shares)

    def is_own(self, host: str) -> bool:
        """Whether this worker keeps the times of a host's pages true."""
        return self.shares.is_own(host)

    def nothing_due(self, until: float) -> bool:
        """Whether the server had nothing to give before ``until`` when it was asked last."""
        due = self._frontier.last_due()
        return due is None or due > until


def _noted(folder: Path) -> Iterator[tuple[Visit, bool]]:
    try:
        yield from ((visit, False) for visit in read_visits(folder))
    except BadCrawlDir as damage:
        logger.warning("What the worker %s has seen before is left out: %s", folder.name, damage)
