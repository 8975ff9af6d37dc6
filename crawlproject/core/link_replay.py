"""Shows an ordering the links of pages that were fetched before a resume."""

from __future__ import annotations

from contextlib import nullcontext

from crawlproject.core.frontier_recovery import Recovery, linked_from, target_of
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.services import Services
from crawlproject.frontier.changes import larger_of_each
from crawlproject.records import CrawlUrl, FetchEvent, Page


class LinkReplay:
    """Shows the ordering of ``feed`` the links of each page again, in order.

    After each page, the ordering revises scores, as it did in the live crawl. Only the last revisions are passed on to the
    frontier, which may have missed them if the process was killed; it has all earlier ones, or better ones since.

    Refusals have no line in the history: a link that is barred was refused when it was found, and a link that neither waits
    nor was fetched was refused at its turn. The ordering learns about the latter at the end, when all fetches are known. A link
    that is neither barred nor in the frontier is offered again, because earlier versions put some aside. With a ``recovery``,
    all links are offered again.

    A person's judgments came after the pages were scored, so the scores in the frontier are out of date: the scores of all
    links are then collected here, and passed on at the end. ``rescores``: do so even without a judgment.
    """

    def __init__(
        self, services: Services, feed: OrderingFeed, recovery: Recovery | None = None, *, rescores: bool = False
    ) -> None:
        self._services = services
        self._feed = feed
        self._ordering = feed.ordering
        self._recovery = recovery
        self.linked: dict[str, tuple[float, ...]] = {}  # the URLs that were offered, with their inherited values
        self._missing: dict[str, CrawlUrl] = {}
        self._revised: list[tuple[str, float]] = []
        self._judged = rescores or bool(feed.judgments)
        self._scores: dict[str, float] = {}  # of all links, if pages were judged

    def follow(self, event: FetchEvent) -> None:
        """Replay the links of a page or sitemap, or the target of a redirect, that were offered to the frontier."""
        visit, recovery = event.visit, self._recovery
        if visit.redirect:
            unknown = self._offer(visit.redirect, visit.depth, self.linked.get(visit.url, ()))
            if recovery and (unknown or visit.redirect in self._services.frontier):
                recovery.offer(target_of(visit))
            self._note_score(visit.redirect, visit.score)
        if not visit.leads_on:
            return
        if visit.repeats:
            self._recover_copied(event)
        else:
            page = event.page()
            if page is None and not recovery:
                return
            with self._services.frontier.batch() if recovery else nullcontext():
                self._follow_links(page or linked_from(visit, event.links))
        self._revised = list(self._ordering.revise())
        if self._judged:
            self._scores.update(self._revised)

    def _recover_copied(self, event: FetchEvent) -> None:
        """Recover the links of a duplicate, which the ordering never sees."""
        if self._recovery:
            page = event.page() or linked_from(event.visit, event.links)
            with self._services.frontier.batch():
                for url in self._feed.copied(page):
                    if not self._services.admission.rules.is_barred(url.url, url.depth):
                        self._recovery.offer(url)

    def _follow_links(self, page: Page) -> None:
        recovery, frontier = self._recovery, self._services.frontier
        for url in self._feed.follow(page):
            if url is None:
                continue
            unknown = self._offer(url.url, url.depth, url.inherited)
            self._note_score(url.url, url.score)
            if recovery and (unknown or url.url in frontier):
                recovery.offer(url)
            elif unknown:
                self._missing.setdefault(url.url, url)

    def finish(self) -> None:
        """Finish the recovery, pass the scores on, and offer missing links: all events were replayed."""
        if self._recovery:
            self._recovery.finish()
        self.pass_on()
        services = self._services
        most = services.options.frontier_max_urls
        for missing in self._missing.values():
            if missing.url not in services.frontier and not 0 < most <= len(services.frontier):
                services.admission.offer(missing)

    def pass_on(self) -> None:
        """Pass the scores and the floor on to the frontier, and the refused URLs to the ordering."""
        services = self._services
        revised = self._scores.items() if self._judged else self._revised
        services.admission.revise(revised, anew=self._judged)  # this also passes on the floor, which no frontier keeps
        known, waiting = services.peers.known(services.frontier, self.linked)
        for url in self.linked:
            fetched = url in waiting or url in services.folder.history or services.frontier.leased(url)
            if url in known and not fetched:
                self._ordering.refused(url)

    def _note_score(self, url: str, score: float) -> None:
        if self._judged:
            self._scores[url] = max(score, self._scores.get(url, score))

    def _offer(self, url: str, depth: int, inherited: tuple[float, ...]) -> bool:
        """Note a link. Return whether the frontier does not know the URL, although no rule bars it."""
        self.linked[url] = larger_of_each(self.linked.get(url, inherited), inherited)
        if url in self._services.frontier:
            return False
        barred = self._services.admission.rules.is_barred(url, depth)
        if barred:
            self._ordering.refused(url)
        return not barred
