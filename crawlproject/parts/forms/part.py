"""Content behind search forms: forms on relevant pages are asked, and their result pages lead to items (paper 004 section 7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from crawlproject.core.kinds.handler import Handler
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Services
from crawlproject.options import Options
from crawlproject.parts.forms.forms import Forms
from crawlproject.parts.forms.handler import QueryHandler
from crawlproject.parts.forms.options import FormOptions
from crawlproject.parts.forms.result_page import is_view
from crawlproject.records import QUERY, CrawlUrl, FetchEvent, Page


class FormPart(Part):
    """There where ``CRAWL_FORMS`` is more than 0."""

    name = "forms"
    _services: Services

    def __init__(self, setup: Setup) -> None:
        self._agent = setup.agent
        self.forms = Forms(
            setup.topic,
            setup.options.of(FormOptions),
            self._offer,
            setup.canonicalize,
            setup.frontier,
            setup.judge,
            setup.folder.pages.load,
        )

    @classmethod
    def reads(cls, options: Options) -> Collection[str]:
        return ["forms"] if options.of(FormOptions).crawl_forms else []

    @classmethod
    def make(cls, setup: Setup) -> FormPart | None:
        return cls(setup) if setup.options.of(FormOptions).crawl_forms else None

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {QUERY: QueryHandler(services, self.forms, self._agent)}

    def begin(self, now: float) -> None:
        self.forms.resume()

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1:
            self.forms.learn(event)

    def followed(self, page: Page) -> Page:
        """A result page leads to its items. Its other views are fetched as queries, or not at all."""
        if page.kind != QUERY:
            return page
        return replace(page, links=tuple(link for link in page.links if not is_view(link.url, page.url)))

    def before_links(self, page: Page) -> Iterable[CrawlUrl]:
        """Queries are offered first: what a result page links to may be its next page."""
        self.forms.ask()
        return ()

    def counters(self) -> Mapping[str, int]:
        return self.forms.counters()

    def _offer(self, url: CrawlUrl) -> bool:
        return self._services.admission.offer(url)
