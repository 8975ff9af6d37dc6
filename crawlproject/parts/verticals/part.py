"""Series of pages, URLs that show what other URLs show, and custom templates of sites."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from crawlproject.core.part import Part, Setup
from crawlproject.options import Options
from crawlproject.parts.verticals.options import VerticalOptions
from crawlproject.parts.verticals.series import FIRST, may_follow, next_page
from crawlproject.parts.verticals.site_template import SiteTemplates, chosen_templates
from crawlproject.records import PLANTED, CrawlUrl, FetchEvent, Page

if TYPE_CHECKING:
    from crawlproject.parts.verticals.redundancy.redundant_urls import RedundantUrls


class Verticals(Part):
    """Present where ``CRAWL_SERIES``, ``TRAP_REDUNDANT`` or ``CRAWL_SITE_TEMPLATES`` asks for it.

    Of a series of relevant pages, ``CRAWL_SERIES`` are fetched in order, before everything else.
    """

    name = "verticals"

    def __init__(self, setup: Setup, templates: SiteTemplates) -> None:
        options, known = setup.options.of(VerticalOptions), setup.frontier.__contains__
        self._templates = templates
        self._longest = options.crawl_series
        self._relevant = options.page_relevant
        self._positions: dict[str, int] = {}  # next page of a series -> its position
        self._redundant: RedundantUrls | None = None
        if options.learns_redundant or templates:  # else its modules are not imported
            from crawlproject.parts.verticals.redundancy.redundant_urls import RedundantUrls

            learns = options.learns_redundant
            self._redundant = RedundantUrls(templates, known, learns=learns, planted=self._positions.__contains__)
        if self._redundant is not None and options.learns_redundant:
            from crawlproject.parts.verticals.redundancy.shown_content import ShownContent

            self.examine = ShownContent(self._redundant.leads_on, known).inspect  # type: ignore[method-assign]
        learns_nothing = self._redundant is None and not self._longest
        off = {"refusal": self._redundant is None, "learn": learns_nothing, "links": not self._longest}
        self.idle = [hook for hook, is_off in off.items() if is_off]

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["related"] if options.of(VerticalOptions).crawl_series else []

    @classmethod
    def make(cls, setup: Setup) -> Verticals | None:
        options = setup.options.of(VerticalOptions)
        templates = chosen_templates(options)
        wanted = options.crawl_series or options.learns_redundant or templates
        return cls(setup, templates) if wanted else None

    def refusal(self, url: str, depth: int) -> str:
        return self._redundant.refusal(url) if self._redundant is not None and depth else ""

    def learn(self, event: FetchEvent) -> None:
        visit = event.visit
        if visit.number > 1:
            return
        if self._longest and visit.is_page and visit.parent and may_follow(visit.parent, visit.url):
            self._positions.setdefault(visit.url, self._positions.get(visit.parent, FIRST) + 1)
        if self._redundant is not None:
            self._redundant.learn(event)

    def links(self, page: Page) -> Iterable[CrawlUrl]:
        """The next page of a series, before all other URLs; no ordering revises its place, so the series is read in order."""
        if page.relevance < self._relevant:
            return
        links = ((link.url, link.anchor) for link in page.links)
        own = self._templates.of(page.url)
        following = (own.next if own else next_page)(page.url, links, page.related)
        position = self._positions.get(page.url, FIRST) + 1
        if following and position <= self._longest:
            self._positions.setdefault(following, position)
            depth, worth = max(1, page.depth), page.relevance
            yield CrawlUrl(following, worth, depth, page.url, context_score=worth, precedence=PLANTED)
