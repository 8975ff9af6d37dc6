"""The look-ahead: a crawl that starts over at each current page but keeps the pages it knows, and the suggestions from it.

The fetches on behalf of a person are limited per current page and per minute. Pages ahead that match the interests are
suggested, with the reason.
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
)  # until there is a current page; it has no seeds, as these would widen the address policy
# Features that learn about sites over hours do not help within a few fetches, and must not affect the pages of one person.
SETTINGS: dict[str, Any] = {
    "FRONTIER": "memory",
    "FRONTIER_BATCH_SIZE": 1,  # the site of the current page may use the whole budget
    "TRAP_MAX_URLS_PER_HOST": 0,  # links are offered again for each current page
    "TRAP_TEMPLATES": False,
    "TRAP_REDUNDANT": "always",
    "CRAWL_SITE_BUDGET": 0.0,
    "CRAWL_MAX_PAGES": 0,
    "CRAWL_MAX_SECONDS": 0.0,
    "CRAWL_MIN_HARVEST": 0.0,
    "CRAWL_MAX_OUTAGE": 0.0,  # wait for ever
    "CRAWL_REVISIT": "",
    "CRAWL_SITEMAPS": 0,
    "CRAWL_FEEDS": 0,
    "CRAWL_FRONT_PAGES": False,  # clicks are counted by links only
    "CRAWL_SERIES": 0,
    "CRAWL_FORMS": 0,
    "CRAWL_RENDER": "never",
    "CRAWL_WARC": False,
    "CRAWL_LOGINS": "",  # fetch pages as anybody sees them
    "CRAWL_MIRROR": "",
    "TOPIC_RELEVANCE": "terms",  # another judge may be a remote service, which would see what the person reads
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
LEAST = 0.15  # smallest likeness of a suggested page


def choose_following(topic: Topic, known: PriorKnowledge) -> Following:
    """The ordering of a look-ahead, for ``assemble(choose=...)``. It wraps the one in ``ORDERING``. Raises ``BadInput``."""
    return Following(topic, known.judge, partial(choose_ordering, known=known))


@dataclass(frozen=True, slots=True)
class Ahead:
    """A page that is ``clicks`` links ahead of the current page; ``via`` is the text of the first link on the path."""

    page: Page
    clicks: int
    via: str


class LookAhead:
    """Looks ahead up to ``clicks`` links from the current page. The crawl must have been assembled with ``choose_following``
    and with an ``AheadPace`` as its only brake.
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
        """Look ahead from ``url``, a canonical URL, from now on. Remembered pages are not fetched again.

        Raises ``BadInput`` if no keyword has a term, and ``StorageFailed``.
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
        """Fetch nothing until there is another current page."""
        self._frontier.clear()
        self.pace.stop()

    def ahead(self, url: str) -> Iterator[Ahead]:
        """The known pages ahead of ``url``, nearest first."""
        return (ahead for ahead in self._walk(url, self.clicks) if ahead.clicks)

    def _walk(self, url: str, clicks: int) -> Iterator[Ahead]:
        """The page at ``url`` and the known pages up to ``clicks`` links from it, breadth first."""
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
    """A brake that allows ``per_page`` fetches for each current page, and ``per_minute`` fetches in any 60 seconds.

    A fetch of robots.txt counts. Nothing is fetched before there is a current page, nor while ``paused``.
    """

    def __init__(self, per_page: int, per_minute: int) -> None:
        self.paused = False
        self.per_page = per_page
        self.spent = per_page  # fetches for the current page
        self.total = 0  # fetches in the session
        self._per_minute = per_minute
        self._latest: deque[float] = deque(maxlen=per_minute)

    def begin(self) -> None:
        """There is another current page."""
        self.spent = 0

    def stop(self) -> None:
        """There is no current page any more."""
        self.spent = self.per_page

    def next_time(self) -> float:
        """When the next fetch may begin; infinity if no more are allowed for this page."""
        if self.paused or self.spent >= self.per_page:
            return math.inf
        return self._latest[0] + 60.0 if len(self._latest) == self._per_minute else 0.0

    def taken(self, now: float) -> None:
        """Count a fetch, which begins ``now``."""
        self.spent += 1
        self.total += 1
        self._latest.append(now)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page that is ``clicks`` links ahead, starting with the link ``via``. ``because``: the interests that it shares."""

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
    """The ``most`` pages most similar to the interests, best first; none below ``least``, none with a URL in ``without``."""
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
