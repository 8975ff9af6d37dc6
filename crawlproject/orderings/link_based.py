"""Orderings that score a URL by the links seen so far (for ``PageRank`` see ``pagerank.py``).

Backlink count: the number of fetched pages that link to the URL (paper 002 sections 2 and 6, Figure 2). Trans-domain
indegree (paper 004 section 4.1; D. Fetterly, N. Craswell, V. Vinay, SIGIR 2009). OPIC: importance as cash that flows along
links (paper 004 sections 4.1 and 4.3; S. Abiteboul, M. Preda, G. Cobena: WWW 2003). Largest site first (paper 004 section
4.1; R. Baeza-Yates and others: Crawling a Country, WWW 2005).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import ClassVar, Generic

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.link_graph import Node
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import domain_of, host_of


class LinkBased(BaseOrdering):
    """The score of a URL is its ``worth``, whichever page links to it.

    Each new link is scored with the current worth of its URL, and the frontier keeps the higher of two scores, so a worth
    that only grows with links is always up to date. After a redirect, which moves the links of one URL to another, the score
    of the target is revised. Seeds come first and keep their scores, however few links lead to them.

    ``part`` names what is counted. ``seeds`` are the seeds of the topic and the URLs they redirect to.
    """

    learns = True
    part: ClassVar[str]

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self.seeds = set(context.topic.seeds)
        self._targets: dict[str, None] = {}  # targets of redirects since the last revision

    def worth(self, url: str) -> float:
        """The score of a URL from the links seen so far."""
        raise NotImplementedError

    def score(self, page: Page, link: Link) -> float:
        return self.worth(link.url)

    def redirected(self, url: str, target: str) -> None:
        if url in self.seeds:
            self.seeds.add(target)
        self._targets[target] = None

    def revise(self) -> Iterable[tuple[str, float]]:
        targets, self._targets = self._targets, {}
        return [(url, self.worth(url)) for url in targets if url not in self.seeds]

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        return {} if url.parent is None else {self.part: url.score}


class BacklinkCount(LinkBased):
    """``IB'(P)``: the number of fetched pages with a link to P.

    A page counts once, however often it links. Memory: one number per known URL. Also known as indegree (paper 004 4.1).
    """

    part = "backlinks"

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._backlinks: Counter[str] = Counter()
        self._moved: dict[str, str] = {}  # redirects, without loops

    def worth(self, url: str) -> float:
        return float(self._backlinks[url])

    def observe(self, page: Page) -> None:
        linked = self.counted(page)
        moved = sorted(self._moved.keys() & linked)
        if moved:
            linked = {self._end_of(url) for url in linked}
            self._targets.update(dict.fromkeys(map(self._end_of, moved)))
        self._backlinks.update(linked)

    def counted(self, page: Page) -> Set[str]:
        """The URLs whose count this page raises."""
        return {link.url for link in page.links}

    def redirected(self, url: str, target: str) -> None:
        """The target gets the links of ``url``, also those of pages to come."""
        super().redirected(url, target)
        end = self._end_of(target)
        if end != url:
            self._moved[url] = end
            self._targets[end] = None
            self._backlinks[end] += self._backlinks.pop(url, 0)

    def _end_of(self, url: str) -> str:
        while (target := self._moved.get(url)) is not None:
            url = target
        return url


class TransDomainIndegree(BacklinkCount):
    """The number of fetched pages of other registrable domains that link to a URL.

    Links within a site do not count, since menus give each page of a site as many backlinks as the site has pages.
    """

    part = "links from other domains"

    def counted(self, page: Page) -> Set[str]:
        own = domain_of(page.url)
        return {link.url for link in page.links if domain_of(link.url) != own}


class Opic(LinkBased):
    """The score of a waiting URL is its cash.

    Each seed starts with cash 1; a fetched page distributes its cash equally over its distinct links. This
    estimates PageRank without random jumps, at the cost of one addition per link. The cash of a waiting URL never shrinks.
    """

    part = "cash"

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._cash: OpicCash[str] = OpicCash(context.topic.seeds)

    def worth(self, url: str) -> float:
        return self._cash.of(url)

    def observe(self, page: Page) -> None:
        self._cash.spend(page.url, (link.url for link in page.links))

    def redirected(self, url: str, target: str) -> None:
        super().redirected(url, target)
        self._cash.merge(url, target)


class OpicCash(Generic[Node]):
    """``cash`` is what a page received since its last fetch.

    Each of ``holders`` starts with cash 1. A fetched page distributes its cash equally over the pages it links to. Cash that
    reaches a fetched page stays there, since a batch crawl fetches nothing twice; the cash of a page without links is lost.
    So the total never exceeds the number of holders.
    """

    def __init__(self, holders: Iterable[Node] = ()) -> None:
        self.cash: dict[Node, float] = dict.fromkeys(holders, 1.0)

    def spend(self, node: Node, targets: Iterable[Node]) -> Sequence[Node]:
        """Distribute the cash of the fetched ``node``; return its distinct targets."""
        distinct = list(dict.fromkeys(targets))
        amount = self.cash.pop(node, 0.0)
        for target in distinct:
            self.cash[target] = self.cash.get(target, 0.0) + amount / len(distinct)
        return distinct

    def of(self, node: Node) -> float:
        """The cash of a node; 0 for a node that has received none."""
        return self.cash.get(node, 0.0)

    def merge(self, node: Node, into: Node) -> float:
        """``node`` redirects to ``into``: transfer its cash and return the cash of ``into``."""
        amount = self.cash.pop(node, 0.0)
        self.cash[into] = self.cash.get(into, 0.0) + amount
        return self.cash[into]


class LargestSiteFirst(LinkBased):
    """The score of a URL is the number of URLs of its host that were found and not fetched yet.

    Every link and every fetch changes this number, and with it the scores of all URLs of a host. To limit the cost, the
    scores of a host are revised only when the number has grown or shrunk by the share ``growth`` since the last revision. So
    no score is wrong by more than this share, and each link or fetch causes about ``1 / growth`` revisions on average,
    however large the host.
    """

    part = "waiting on the host"

    def __init__(self, context: OrderingContext, *, growth: float = 0.25) -> None:
        super().__init__(context)
        self.growth = growth
        self._known: set[str] = set()
        self._waiting: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._scored: dict[str, int] = {}
        self._touched: dict[str, None] = {}
        for seed in context.topic.seeds:
            self._found(seed)

    def worth(self, url: str) -> float:
        host = host_of(url)
        return float(self._scored.get(host) or len(self._waiting.get(host, ())))

    def observe(self, page: Page) -> None:
        self._gone(page.url)
        for link in page.links:
            self._found(link.url)

    def redirected(self, url: str, target: str) -> None:
        super().redirected(url, target)
        self._gone(url)
        self._found(target)

    def failed(self, url: str) -> None:
        self._gone(url)

    def revise(self) -> Iterable[tuple[str, float]]:
        """New scores for the URLs of each host whose number has left the range around its last score."""
        yield from super().revise()
        touched, self._touched = self._touched, {}
        for host in touched:
            waiting = self._waiting.get(host)
            if waiting and self._is_far(len(waiting), self._scored.get(host, 0)):
                self._scored[host] = len(waiting)
                yield from ((url, float(len(waiting))) for url in waiting if url not in self.seeds)

    def _is_far(self, number: int, scored: int) -> bool:
        return number > scored * (1 + self.growth) or scored > number * (1 + self.growth)

    def _found(self, url: str) -> None:
        if url not in self._known:
            self._known.add(url)
            host = host_of(url)
            self._waiting[host][url] = None
            self._touched[host] = None

    def _gone(self, url: str) -> None:
        self._known.add(url)
        host = host_of(url)
        waiting = self._waiting.get(host, {})
        waiting.pop(url, None)
        if waiting:
            self._touched[host] = None
        else:
            self._waiting.pop(host, None)
            self._scored.pop(host, None)
