"""The look-ahead: a crawl that begins anew at each page at hand, and keeps what it knows; and what it suggests.

Only so much may be fetched on behalf of a person: so much a page at hand, and so much a minute. Suggested are the pages
ahead that are worth a person's while, with the reason.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from crawlproject.companion.following import Following
from crawlproject.companion.interests import Interests, page_vector
from crawlproject.core.crawl import Crawl
from crawlproject.core.prior_knowledge import PriorKnowledge, choose_ordering
from crawlproject.frontier.core import FrontierCore
from crawlproject.pages.text.vectors import DocumentFrequencies
from crawlproject.records import Page, Topic

NO_TOPIC = Topic(
    "companion", ("companion",), ()
)  # before there is a page at hand; seeds would widen the address policy
# What a crawl learns of sites in hours is no help within a few fetches, and must not bind the pages of one person.
SETTINGS: dict[str, Any] = {
    "FRONTIER": "memory",
    "FRONTIER_BATCH_SIZE": 1,  # the reader's site may fill the budget
    "TRAP_MAX_URLS_PER_HOST": 0,  # links are offered again for each page at hand
    "TRAP_TEMPLATES": False,
    "TRAP_REDUNDANT": "always",
    "CRAWL_SITE_BUDGET": 0.0,
    "CRAWL_MAX_PAGES": 0,
    "CRAWL_MAX_SECONDS": 0.0,
    "CRAWL_MIN_HARVEST": 0.0,
    "CRAWL_MAX_OUTAGE": 0.0,  # waits for ever
    "CRAWL_REVISIT": "",
    "CRAWL_SITEMAPS": 0,
    "CRAWL_FEEDS": 0,
    "CRAWL_FRONT_PAGES": False,  # so many clicks ahead is by links
    "CRAWL_SERIES": 0,
    "CRAWL_FORMS": 0,
    "CRAWL_RENDER": "never",
    "CRAWL_WARC": False,
    "CRAWL_LOGINS": "",  # what is fetched is what anybody sees
    "CRAWL_MIRROR": "",
    "TOPIC_RELEVANCE": "terms",  # another judge may be at an address, and would see what is read
    "CRAWL_CLOAKING_PROBE": 0.0,
    "CRAWL_SOFT_404_PROBE": 0,
    "CRAWL_CHANGE_HOOK": "",
    "CRAWL_WEBSUB_CALLBACK": "",
    "CRAWL_PROGRESS_SECONDS": 0.0,
    "CRAWL_METRICS_PORT": 0,
    "CRAWL_METRICS_FILE": "",
    "DASHBOARD": False,
}
SHOWN = 5  # suggestions at a time
LEAST = 0.15  # likeness from which a page is suggested


def choose_following(topic: Topic, known: PriorKnowledge) -> Following:
    """The ordering of a look-ahead, for ``assemble(choose=...)``; in it the one that ``ORDERING`` names. Raises ``BadInput``."""
    return Following(topic, known.judge, partial(choose_ordering, known=known))


@dataclass(frozen=True, slots=True)
class Ahead:
    """A page that lies ``clicks`` ahead of the page at hand; ``via`` is the text of the first link on the way."""

    page: Page
    clicks: int
    via: str


class LookAhead:
    """Looks ahead up to ``clicks`` links from the page at hand, with a crawl that was assembled with ``choose_following`` and
    an ``AheadPace`` as its only brake.
    """

    def __init__(self, crawl: Crawl, clicks: int) -> None:
        assert isinstance(crawl.ordering, Following) and isinstance(crawl.frontier, FrontierCore)
        [pace] = crawl.brakes
        assert isinstance(pace, AheadPace)
        self.crawl = crawl
        self.pace = pace
        self.clicks = clicks
        self.following = crawl.ordering
        self._frontier = crawl.frontier

    def move(self, url: str, keywords: Sequence[str]) -> None:
        """Look ahead from ``url``, a canonical URL, from now on. What is remembered is not fetched again.

        Raises ``BadInput`` when no keyword has a term, and ``StorageFailed``.
        """
        self._frontier.clear()
        for gone in self.following.dropped():
            self._frontier.forget(gone)
        self.following.turn_to(url, keywords)
        self.pace.begin()
        if self.following.page(url) is None:
            self.crawl.admission.offer(self.crawl.admission.seed_record(url))
            return
        for ahead in self._walk(url, self.clicks - 1):
            page = self.following.judged(replace(ahead.page, depth=ahead.clicks))
            self.following.begin(page.url)
            self.crawl.services.feed.observe(page)
            with self._frontier.batch():
                self.crawl.steps.follow(page)

    def stop(self) -> None:
        """Fetch nothing until there is another page at hand."""
        self._frontier.clear()
        self.pace.stop()

    def ahead(self, url: str) -> Iterator[Ahead]:
        """The known pages ahead of ``url``, the nearest first."""
        return (ahead for ahead in self._walk(url, self.clicks) if ahead.clicks)

    def _walk(self, url: str, clicks: int) -> Iterator[Ahead]:
        """``url`` and the known pages at most ``clicks`` links behind it, breadth first."""
        start = self.following.page(url)
        if start is None:
            return
        waiting = deque([Ahead(start, 0, "")])
        seen = {start.url, url}
        while waiting:
            found = waiting.popleft()
            yield found
            for link in found.page.links if found.clicks < clicks else ():
                if link.url in seen:
                    continue
                seen.add(link.url)
                page = self.following.page(link.url)
                if page is not None and (page.url == link.url or page.url not in seen):
                    seen.add(page.url)
                    waiting.append(Ahead(page, found.clicks + 1, found.via or link.anchor))


class AheadPace:
    """A brake of a crawl. ``per_page``: fetches for each page at hand; ``per_minute``: in any 60 seconds.

    The robots.txt of a host counts as a fetch. Nothing is fetched before the first page at hand, nor while it is ``paused``.
    """

    def __init__(self, per_page: int, per_minute: int) -> None:
        self.paused = False
        self.per_page = per_page
        self.spent = per_page  # for the page at hand
        self.total = 0  # of the session
        self._per_minute = per_minute
        self._latest: deque[float] = deque(maxlen=per_minute)

    def begin(self) -> None:
        """There is another page at hand."""
        self.spent = 0

    def stop(self) -> None:
        """There is no page at hand any more."""
        self.spent = self.per_page

    def next_time(self) -> float:
        """When the next fetch may begin; infinity: not for this page."""
        if self.paused or self.spent >= self.per_page:
            return math.inf
        return self._latest[0] + 60.0 if len(self._latest) == self._per_minute else 0.0

    def taken(self, now: float) -> None:
        """A fetch begins."""
        self.spent += 1
        self.total += 1
        self._latest.append(now)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page that lies ``clicks`` ahead, the first of them on the link ``via``. ``because``: words of the person that it has."""

    url: str
    title: str
    score: float
    clicks: int
    via: str
    because: tuple[str, ...]


def suggest(
    ahead: Iterable[Ahead],
    interests: Interests,
    frequencies: DocumentFrequencies,
    *,
    without: Collection[str] = (),
    word_of: Callable[[str], str] = str,
    most: int = SHOWN,
    least: float = LEAST,
) -> list[Suggestion]:
    """The ``most`` pages that are most like the interests, best first; none below ``least``, none of ``without``."""
    found = []
    for place in ahead:
        if place.page.url in without:
            continue
        vector = page_vector(place.page.counts, frequencies)
        score = interests.likeness(vector)
        if score >= least:
            found.append((score, place, vector))
    found.sort(key=lambda item: (-item[0], item[1].clicks, item[1].page.url))
    return [
        Suggestion(
            place.page.url,
            place.page.title or place.via or place.page.url,
            score,
            place.clicks,
            place.via,
            tuple(map(word_of, interests.shared(vector))),
        )
        for score, place, vector in found[:most]
    ]
