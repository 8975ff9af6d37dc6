"""The Hub-Seeking crawler (paper 003 section 4.5): pages that link to several seed hosts are hubs."""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.dom import Dom
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of


def hub_score(n: int) -> float:
    """``n (n - 1) / (1 + n^2)`` for a page that links to ``n`` seed hosts (paper 003 Figure 3)."""
    return n * (n - 1) / (1 + n * n)


class HubSeeking(Dom):
    """``max(hub_score, dom score)`` (eq. 5): all links of a hub are followed before most others.

    The host of the page itself does not count: the score is to be high because a page rarely points to two entities of one
    area, but every page points to its own site. A seed host is also known by the host that its seed redirects to.
    """

    learns = True

    def __init__(self, context: OrderingContext, *, alpha: float = 0.25) -> None:
        super().__init__(context, alpha=alpha)
        self._seeds = set(context.topic.seeds)
        self._hosts = {host: host for host in map(host_of, self._seeds)}  # of seeds, by the names they are known by
        self._page = ""
        self._hub_score = 0.0

    def score(self, page: Page, link: Link) -> float:
        if page.url != self._page:
            self.observe(page)
        return max(self._hub_score, super().score(page, link))

    def observe(self, page: Page) -> None:
        """Count the seed hosts once per page, not per link."""
        self._page = page.url
        found = {self._hosts.get(host_of(link.url)) for link in page.links}
        self._hub_score = hub_score(len(found - {None, self._hosts.get(host_of(page.url))}))

    def redirected(self, url: str, target: str) -> None:
        if url in self._seeds:
            self._seeds.add(target)
            self._hosts.setdefault(host_of(target), self._hosts[host_of(url)])

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if any(url.score == hub_score(n) for n in range(2, len(self._hosts) + 1)):
            return {"hub": url.score}
        return super().explain(url)
