"""What is fetched again: pages and listings, at the times that the revisits say."""

from __future__ import annotations

from crawlproject.core.kinds.handler import Handler
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.records import CrawlUrl, Page, Visit


class RefetchHandler(Handler):
    """How such a URL waits: it was admitted once, and counts for no budget of its site."""

    def __init__(self, services: Services, revisits: Revisits) -> None:
        self._services = services
        self._admission = services.admission
        self._frontier = services.frontier
        self._revisits = revisits

    def offer(self, url: CrawlUrl) -> bool:
        return self._frontier.put(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        return self._admission.rules.late_refusal(url.url)

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        return steps.stored(visit, inherited, self._services.folder.pages.load)
