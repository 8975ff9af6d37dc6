"""The focused crawler (paper 000 section 3.3, paper 004 section 4.2.1; Chakrabarti, van den Berg and Dom, WWW8, 1999)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.graph.distiller import Distiller
from crawlproject.orderings.learning.examples import taxonomy_of
from crawlproject.orderings.learning.taxonomy import Taxonomy
from crawlproject.orderings.learning.waiting_urls import WaitingUrls
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import host_of

_FOCUS = ("soft", "hard", "parents")


class _Worth(NamedTuple):
    """A waiting URL: the best ``R`` of its linking pages, and the score given by a hub (0: none)."""

    page: float
    hub: float = 0.0

    @property
    def score(self) -> float:
        return max(self)


class Focused(BaseOrdering):
    """``R(p)`` of the page p that holds the link: the sum of ``P(c|p)`` over the good classes c (000 eq. 6).

    A naive Bayes classifier separates the good classes, those of ``examples.positive``, from the others; ``taxonomy_of``
    says where they come from, with ``sample`` pages drawn from the archive. ``focus`` is "soft", "hard" or
    "parents"; with "hard", links are followed only if the likeliest class of their page is good; with "parents", also if it is
    a parent topic of a good one, as 004 describes it.

    A distiller finds hubs after ``distill_every`` pages (0: never), and again each time the crawl has grown by a tenth and
    at least that many pages. Waiting links of the best ``hubs`` are raised to the hub score relative to the best hub,
    unless they score higher already.

    Raises ``BadSetting`` when there is nothing to learn from.
    """

    needs_archive = True
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
        self._page: Page | None = None  # whose links are scored now, its R, and whether they are followed
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
