"""Orderings by the relevance of the page that holds the link, alone or with the words around the link.

Naive best-first (paper 000 section 3.1, eq. 1; paper 003 section 4.3); Best-N-First (paper 001 section 3, Figure 1), which
explores more by deciding less often; the DOM crawler (paper 003 section 4.4); and the Hub-Seeking crawler (paper 003 section
4.5), for which pages that link to several seed hosts are hubs.
"""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of


class BestFirst(BaseOrdering):
    """The score of a link is the relevance of its page: the cosine of page and keywords, both as term frequencies."""

    def score(self, page: Page, link: Link) -> float:
        return page.relevance


class BestNFirst(BestFirst):
    """Best-first that fetches the ``n`` best URLs, in random order, before it considers new scores.

    The default of ``n``, 256, is the best in the paper (BFS256). The frontier forms the batch: ``FRONTIER_COMMIT``, if above
    1, takes precedence over ``n`` and works with any ordering.
    """

    def __init__(self, context: OrderingContext, *, n: int = 256) -> None:
        super().__init__(context)
        self.commit = n


class Dom(BaseOrdering):
    """``alpha * page + (1 - alpha) * context``, both cosines with the keywords.

    The context is the text under the aggregation node, which ``ORDERING_AGGREGATION_LEVEL`` sets for the whole crawl.
    ``alpha`` is 0.25 as in the paper; 1 gives naive best-first.
    """

    def __init__(self, context: OrderingContext, *, alpha: float = 0.25) -> None:
        super().__init__(context)
        self.alpha = alpha

    def score(self, page: Page, link: Link) -> float:
        return self.alpha * page.relevance + (1 - self.alpha) * link.context_score

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if url.parent is None:
            return {}
        context = (1 - self.alpha) * url.context_score
        return {"context": context, "page": url.score - context}


def hub_score(n: int) -> float:
    """``n (n - 1) / (1 + n^2)`` for a page that links to ``n`` seed hosts (paper 003 Figure 3)."""
    return n * (n - 1) / (1 + n * n)


class HubSeeking(Dom):
    """``max(hub_score, dom score)`` (eq. 5): all links of a hub are followed before most others.

    The host of the page itself does not count: a page rarely links to two entities of one area, which is why the score is
    high, but every page links to its own site. With ``hosts`` ``all`` it counts, to the letter of section 4.5. The host that
    a seed redirects to counts as the host of that seed.
    """

    learns = True

    def __init__(self, context: OrderingContext, *, alpha: float = 0.25, hosts: str = "others") -> None:
        super().__init__(context, alpha=alpha)
        if hosts not in ("others", "all"):
            raise BadSetting("setting ORDERING_HOSTS", f"expected others or all; not {hosts!r}")
        self.hosts = hosts
        self._seeds = set(context.topic.seeds)
        self._hosts = {host: host for host in map(host_of, self._seeds)}  # seed hosts by all names, redirects included
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
        own = None if self.hosts == "all" else self._hosts.get(host_of(page.url))
        self._hub_score = hub_score(len(found - {None, own}))

    def redirected(self, url: str, target: str) -> None:
        if url in self._seeds:
            self._seeds.add(target)
            self._hosts.setdefault(host_of(target), self._hosts[host_of(url)])

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        if any(url.score == hub_score(n) for n in range(2, len(self._hosts) + 1)):
            return {"hub": url.score}
        return super().explain(url)
