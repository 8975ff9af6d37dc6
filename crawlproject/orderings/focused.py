"""The focused crawler (paper 000 section 3.3, paper 004 section 4.2.1; Chakrabarti, van den Berg and Dom, WWW8, 1999)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import WaitingUrls
from crawlproject.orderings.link_graph import LinkGraph, adjacency, hits
from crawlproject.orderings.taxonomy import Taxonomy, taxonomy_of
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of

_FOCUS = ("soft", "hard", "parents")


class _Worth(NamedTuple):
    """The worth of a waiting URL: the best ``R`` of its linking pages, and the score that a hub gave it (0: none)."""

    page: float
    hub: float = 0.0

    @property
    def score(self) -> float:
        return max(self)


class Focused(BaseOrdering):
    """``R(p)`` of the page p that holds the link: the sum of ``P(c|p)`` over the good classes c (000 eq. 6).

    A tree of naive Bayes classifiers separates the good classes, those of ``examples.positive``, from the others; see
    ``taxonomy_of``, which may draw ``sample`` pages from the archive. With the ``focus`` "soft", all links are followed;
    with "hard", only links of pages whose likeliest class is good; with "parents", also links of pages whose likeliest class
    is a parent topic of a good one, as 004 describes it.

    A distiller finds hubs after ``distill_every`` pages (0: never), and again whenever the crawl has grown by a tenth and by
    at least that many pages. Waiting links of the best ``hubs`` hubs are raised to the score of the hub relative to that of
    the best hub, unless they score higher already.

    Raises ``BadSetting`` when there is nothing to learn from.
    """

    needs_archive = True
    needs_extra = "learn"
    reads_examples = True
    learns = True

    def __init__(
        self,
        context: OrderingContext,
        *,
        focus: str = "soft",
        sample: int = 400,
        distill_every: int = 100,
        hubs: int = 10,
    ) -> None:
        super().__init__(context)
        if focus not in _FOCUS:
            raise BadSetting("setting ORDERING_FOCUS", f"expected {', '.join(_FOCUS)}; not {focus!r}")
        self.focus = focus
        self.sample = sample
        self.distill_every = distill_every
        self.hubs = hubs
        self._taxonomy: Taxonomy = taxonomy_of(context, sample)
        self._distiller = Distiller()
        self._next_distillation = distill_every
        self._waiting: WaitingUrls[_Worth] = WaitingUrls()
        self._raised: list[tuple[str, float]] = []
        self._page: Page | None = None  # the latest page, its R, and whether its links are followed
        self._relevance = 0.0
        self._followed = True

    def observe(self, page: Page) -> None:
        self._waiting.end(page.url)
        self._look_at(page)
        links = [link.url for link in page.links]
        self._distiller.add(page.url, links, host=host_of(page.url), relevance=self._relevance)
        if self.distill_every and self._distiller.pages >= self._next_distillation:
            self._next_distillation = self._distiller.pages + max(self.distill_every, self._distiller.pages // 10)
            self._raised = list(self._raise_links_of_hubs())

    def score(self, page: Page, link: Link) -> float | None:
        if page is not self._page:
            self._look_at(page)
        if not self._followed:
            return None
        known = self._waiting.get(link.url)
        worth = _Worth(self._relevance) if known is None else known._replace(page=max(known.page, self._relevance))
        if not self._waiting.has_ended(link.url):
            self._waiting.put(link.url, worth)
        return worth.score

    def revise(self) -> Iterable[tuple[str, float]]:
        raised, self._raised = self._raised, []
        return raised

    def redirected(self, url: str, target: str) -> None:
        self._distiller.merge(url, target)
        self._waiting.move(url, target)

    def failed(self, url: str) -> None:
        self._waiting.end(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        worth = self._waiting.get(url.url)
        if worth is None or worth.hub <= worth.page:
            return {}
        return {"page": worth.page, "hub": url.score - worth.page}

    def _look_at(self, page: Page) -> None:
        self._page = page
        self._relevance = self._taxonomy.relevance(page.counts)
        self._followed = self.focus == "soft" or self._taxonomy.is_good(page.counts)
        if self.focus == "parents":
            self._followed = self._followed or self._taxonomy.is_parent(page.counts)

    def _raise_links_of_hubs(self) -> Iterable[tuple[str, float]]:
        for score, targets in self._distiller.best_hubs(self.hubs):
            for target in targets:
                worth = self._waiting.get(target)
                if worth is not None and score > worth.score:
                    self._waiting.put(target, worth._replace(hub=score))
                    yield target, score


class Distiller:
    """Finds hubs among the fetched pages by Kleinberg's algorithm, with two changes against topic drift.

    The forward weight of a link is the relevance of its target, the backward weight that of its source. Only links between
    fetched pages of different hosts count, so that a site cannot vote for itself.
    """

    def __init__(self) -> None:
        self._graph: LinkGraph[str] = LinkGraph()
        self._relevance: dict[int, float] = {}  # R of fetched pages, by their id in the graph
        self._hosts: dict[int, str] = {}

    @property
    def pages(self) -> int:
        """Fetched pages so far."""
        return len(self._relevance)

    def add(self, url: str, targets: Iterable[str], *, host: str, relevance: float) -> None:
        """Add a fetched page of ``host`` with its link targets and relevance R, 0 to 1."""
        self._graph.add_page(url, targets)
        number = self._graph.id_of(url)
        self._relevance[number] = relevance
        self._hosts[number] = host

    def merge(self, url: str, target: str) -> None:
        self._graph.merge(url, target)

    def best_hubs(self, count: int) -> Iterator[tuple[float, Sequence[str]]]:
        """At most ``count`` hubs, best first: the score relative to the best hub, and the URLs that the hub links to."""
        sources, targets = self._graph.edges()
        place = np.full(len(self._graph), -1, np.int32)
        fetched = np.fromiter(self._relevance, np.int32, self.pages)
        place[fetched] = np.arange(self.pages, dtype=np.int32)
        relevance = np.fromiter(self._relevance.values(), np.float64, self.pages)
        _, hosts = np.unique(list(self._hosts.values()), return_inverse=True)

        known = (place[sources] >= 0) & (place[targets] >= 0)
        rows, columns = place[sources[known]], place[targets[known]]
        between = hosts[rows] != hosts[columns]
        rows, columns = rows[between], columns[between]
        forward = adjacency(rows, columns, self.pages, relevance[columns])
        backward = adjacency(rows, columns, self.pages, relevance[rows])
        scores, _ = hits(forward, backward, tolerance=1e-6)

        best = np.argsort(-scores, kind="stable")[:count]
        for hub in best[scores[best] > 0]:
            linked = targets[sources == fetched[hub]]
            yield float(scores[hub] / scores[best[0]]), [self._graph.nodes[target] for target in linked]
