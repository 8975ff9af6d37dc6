"""The similarity-based crawlers of paper 002 section 7, Figures 4 and 5: a hot queue, and a queue for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.baselines import BreadthFirst
from crawlproject.orderings.learning import WaitingUrls
from crawlproject.orderings.link_based import BacklinkCount
from crawlproject.orderings.pagerank import PageRank
from crawlproject.pages.text.keyword_match import HotPages, KeywordMatcher
from crawlproject.records import ACTIVE, CrawlUrl, Link, Page

HOT = 1e9  # above any backlink count, below the seeds
RISES, STAYS = "rises", "stays"  # what a waiting URL does when it is found again on a hot path
RESTS: dict[str, type[BaseOrdering]] = {
    "breadth_first": BreadthFirst,
    "backlink_count": BacklinkCount,
    "pagerank": PageRank,
}


class KeywordQueue(BaseOrdering):
    """``HOT + rest`` for a hot URL, ``rest`` for any other: two queues in one, both ordered by ``rest``.

    A URL is hot when a keyword is in its anchor or in the URL itself, or when it is fewer than ``distance`` links away from
    a hot page. A page is hot when a keyword is in its title, or ``occurrences`` times in its body. Links inherit the
    distance of their page from the nearest hot page on any path known so far. ``distance`` 0 gives Figure 4.

    A keyword is a phrase of the topic. In an anchor or a title its stems must be consecutive; in a URL its words may be
    anywhere. ``rest`` is the name of another ordering of the paper: ``breadth_first``, ``backlink_count`` or ``pagerank``.
    With ``found_again`` ``rises``, a URL that is found again on a hot path moves to the hot queue; with ``stays`` it remains
    in the queue that it joined first, as in the figures. Other values raise ``BadSetting``.
    """

    learns = True
    needs_extra = "learn"

    def __init__(
        self,
        context: OrderingContext,
        *,
        rest: str = "pagerank",
        distance: int = 3,
        occurrences: int = 10,
        found_again: str = RISES,
    ) -> None:
        super().__init__(context)
        if rest not in RESTS:
            raise BadSetting("setting ORDERING_REST", f"expected one of {', '.join(RESTS)}; not {rest!r}")
        if found_again not in (RISES, STAYS):
            raise BadSetting("setting ORDERING_FOUND_AGAIN", f"expected {RISES} or {STAYS}; not {found_again!r}")
        self.found_again = found_again
        self.rest = rest
        self.distance = distance
        self.occurrences = occurrences
        self._rest = RESTS[rest](context)
        self._keywords = KeywordMatcher(context.topic.keywords, context.judge.analyzer)
        self._is_hot_page = HotPages(self._keywords, context.judge.analyzer, occurrences)
        self._hot: WaitingUrls[bool] = WaitingUrls()  # is a waiting URL hot? False is stored only with ``stays``
        self._page: Page | None = None
        self._distance = 0

    def score(self, page: Page, link: Link) -> float | None:
        rest = self._rest.score(page, link)
        if rest is None or self._hot.has_ended(link.url):
            return rest
        is_hot = self._hot.get(link.url)
        if is_hot is None or (not is_hot and self.found_again == RISES):
            is_hot = self._is_hot(page, link)
            if is_hot or self.found_again == STAYS:
                self._hot.put(link.url, is_hot)
        return HOT + rest if is_hot else rest

    def observe(self, page: Page) -> None:
        self._hot.end(page.url)
        self._rest.observe(page)

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        """Minus the distance of ``page`` from the nearest hot page: 0 for a hot page, at least minus ``distance``."""
        return (float(-self._distance_of(page)),)

    def revise(self) -> Iterable[tuple[str, float]]:
        for url, score in self._rest.revise():
            yield url, HOT + score if self._hot.get(url) else score

    def redirected(self, url: str, target: str) -> None:
        self._hot.move(url, target)
        self._rest.redirected(url, target)

    def failed(self, url: str) -> None:
        self._hot.end(url)
        self._rest.failed(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if url.parent is None or url.precedence < ACTIVE:
            return {}
        if url.score < HOT:
            return self._rest.explain(url)
        return {"hot": HOT, **self._rest.explain(replace(url, score=url.score - HOT))}

    def _is_hot(self, page: Page, link: Link) -> bool:
        start, end = link.anchor_span
        anchor = page.terms[start:end]
        return (
            self._distance_of(page) + 1 < self.distance
            or self._keywords.in_url(link.url)
            or bool(self._keywords.occurrences(anchor))
        )

    def _distance_of(self, page: Page) -> int:
        """The distance of ``page`` from the nearest hot page; computed once per page, not per link."""
        if page is not self._page:
            inherited = 1 - int(page.inherited[0]) if page.inherited else self.distance
            self._page = page
            self._distance = 0 if self._is_hot_page(page) else min(inherited, self.distance)
        return self._distance
