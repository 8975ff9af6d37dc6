"""A frontier that has lost its files is filled again from the history, the stored pages and their links.

The history is what counts as done (ADR 4), and a frontier knows every URL of it. One that does not know the last of them was
removed, or comes from an older copy of the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from crawlproject.core.services import Services
from crawlproject.frontier.base import Frontier
from crawlproject.records import RETRY_AFTER, CrawlUrl, Link, Page, Span, Visit
from crawlproject.storage.read import read_visits

_STEP = 1000  # URLs that become durable together


def has_lost_urls(services: Services) -> bool:
    """Whether the frontier does not know what was fetched last: also one in a server, which may have been cleared."""
    last = services.folder.history.last_url
    return bool(last) and last not in services.frontier


class FrontierRecovery:
    """Puts the URLs of one crawl back into its frontier: first what was fetched, then what the pages link to.

    The URL that was fetched last becomes known at the end only: so an interrupted recovery begins anew.
    """

    def __init__(self, services: Services, now: float) -> None:
        self._services = services
        self._frontier: Frontier = services.frontier
        self._last = services.folder.history.last_url
        self._before = len(self._frontier)
        self._now = now
        done = (visit for visit in read_visits(services.folder.path) if visit.url != self._last)
        while some := list(islice(done, _STEP)):
            with self._frontier.batch():
                for visit in some:
                    self._done(visit)

    def offer(self, url: CrawlUrl) -> None:
        """What a page, a sitemap or a redirect led to."""
        if url.url != self._last:
            self._services.admission.offer(url)

    def finish(self) -> None:
        """Everything was offered."""
        services = self._services
        for visit in read_visits(services.folder.path):
            if visit.url == self._last:
                self._done(visit)
        found = len(self._frontier) - self._before
        where = "its server" if services.peers.has_server else str(services.folder.path / "frontier")
        services.folder.warnings.append(
            f"the frontier in {where} had lost its URLs: from {len(services.folder.history)} "
            f"fetches and their links it was made again, {found} URLs wait"
        )

    def _done(self, visit: Visit) -> None:
        rests_from = min(visit.at, self._now) + visit.signs.get(RETRY_AFTER, 0.0)
        self._frontier.done(visit.url, rests_from, visit.seconds)


def target_of(visit: Visit) -> CrawlUrl:
    """What a redirect led to, as ``PageHandler.redirect`` offers it."""
    return CrawlUrl(visit.redirect, visit.score, visit.depth, visit.parent, visit.anchor, visit.context_score)


def linked_from(visit: Visit, targets: Sequence[str]) -> Page:
    """A page whose file is not there, with the links of the link log: their anchors are not known, nor the text."""
    nothing = Span(0, 0)
    links = tuple(Link(url, "", nothing, nothing) for url in targets)
    page = Page(visit.url, visit.title, links=links, depth=visit.depth, parent=visit.parent, score=visit.score)
    return replace(page, relevance=visit.relevance, spam=visit.spam, signs=visit.signs)
