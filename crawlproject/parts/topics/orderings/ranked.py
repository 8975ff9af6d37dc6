"""Several topics with any ordering: an instance for each topic, and their scores on one scale.

Each published ordering has its own scale, so a score counts by its rank: the share of the waiting URLs that the topic's ordering
scores lower. ``adaptive`` predicts worth, and needs no ranks (``adaptive_for_topics.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.pages.text.relevance import with_context_score
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.score_table import ScoreTable
from crawlproject.records import JUDGED, CrawlUrl, Link, Page

Vector = npt.NDArray[np.float64]

REVISE_EVERY = 16  # pages between two rankings of all waiting URLs
UNRANKED = 0.5  # the rank of a score before there is anything to compare it with


class RankedTopics(BaseOrdering):
    """The value of a link is the sum of its ranks for the topics, weighted by ``share``.

    ``make`` builds the ordering of one topic, an instance of ``cls``, from its context. A link that no topic's ordering follows
    is not followed. Links inherit ``(length, values of the first topic, values of the second, ...)``.
    """

    learns = True

    def __init__(
        self,
        context: OrderingContext,
        share: FairShare,
        cls: type[BaseOrdering],
        make: Callable[[OrderingContext], BaseOrdering],
    ) -> None:
        super().__init__(context)
        for name in ("reads_tag_paths", "reads_forms", "reads_examples", "needs_archive"):
            setattr(self, name, getattr(cls, name))
        self.commit = cls.commit
        self.share = share
        self._make = make
        self._orderings: list[BaseOrdering] = []  # in the order of ``share``
        self._judges: list[Any] = []
        self._places: list[int] = []  # of each topic's values among the inherited ones
        self._next_place = 0
        self._table = ScoreTable()
        self._pages = self._revised_at = 0
        self._latest: tuple[Page, list[Page]] | None = None
        self._links: dict[str, int] = {}  # link of the latest page -> its number

    # ------------------------------------------------------------ topics

    def join(self, context: OrderingContext, weight: float = 1.0, place: int | None = None) -> None:
        """Add a topic: links that are found from now on are scored for it, too. Its ``place`` among all that ever joined is the
        next one, unless it is given. Raises ``ValueError`` as ``FairShare.join``.
        """
        ordering = self._make(context)
        self.share.join(context.topic.name, weight)
        self._orderings.append(ordering)
        self._judges.append(context.judge)
        self._next_place = max(self._next_place, 0 if place is None else place)
        self._places.append(self._next_place if place is None else place)
        self._next_place += 1
        self._table.add_topic()
        self.commit = max(self.commit, ordering.commit)
        self.weigh_anew()

    def leave(self, name: str) -> None:
        """Remove a topic."""
        index = self.share.names.index(name)
        self.share.leave(name)
        del self._orderings[index], self._judges[index], self._places[index]
        self._table.remove_topic(index)
        self.weigh_anew()

    def weigh_anew(self) -> None:
        """Rank all waiting URLs again when the frontier asks next, since the weights have changed."""
        self._latest = None
        self._revised_at = -REVISE_EVERY

    def learn_earlier(self, name: str, page: Page) -> None:
        """Let a topic that joined learn from a page that was fetched before, and score those of its links that still wait."""
        index = self.share.names.index(name)
        ordering, seen = self._orderings[index], self._as_seen(index, page)
        ordering.observe(seen)
        for link in seen.links:
            if link.url in self._table and (score := ordering.score(seen, link)) is not None:
                self._table.note(link.url, {index: score})

    # ------------------------------------------------------------ scores

    def score(self, page: Page, link: Link) -> float | None:
        pages = self._seen(page)
        if link.url not in self._links:
            return None
        place = self._links[link.url]
        scores: dict[int, float] = {}
        for index, (ordering, seen) in enumerate(zip(self._orderings, pages, strict=True)):
            score = ordering.score(seen, seen.links[place])
            if score is not None:
                scores[index] = score
        if not scores:
            return None
        return self._table.tell(link.url, float(self.share.values(self._table.ranks_of(link.url, scores, UNRANKED))))

    def revise(self) -> Iterator[tuple[str, float]]:
        for index, ordering in enumerate(self._orderings):
            for url, score in ordering.revise():
                self._table.set(url, index, score)
        if self._pages - self._revised_at >= REVISE_EVERY or self._pages < REVISE_EVERY:
            self._revised_at = self._pages
            yield from self._table.rank(self.share.values)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """What each topic adds, by its name, and by how much the score was out of date."""
        ranks = self._table.ranks(url.url)
        if ranks is None:
            return {}
        parts = dict(zip(self.share.names, (self.share.weights * ranks).tolist(), strict=True))
        parts["learned since"] = url.score - sum(parts.values())
        return dict(sorted(((name, part) for name, part in parts.items() if part), key=lambda item: -item[1]))

    # ------------------------------------------------------------ events of the crawl

    def observe(self, page: Page) -> None:
        self._pages += 1
        ranks = self._table.ranks(page.url)
        if len(self._orderings) > 1:
            relevance = np.array([page.topics.get(name, 0.0) for name in self.share.names])
            self.share.fetched(relevance if ranks is None else ranks)
        for ordering, seen in zip(self._orderings, self._seen(page), strict=True):
            ordering.observe(seen)
        self._table.remove(page.url)

    def listed(self, page: Page) -> None:
        for ordering, seen in zip(self._orderings, self._seen(page), strict=True):
            ordering.listed(seen)
        self._table.remove(page.url)

    def implied(self, page: Page) -> None:
        for ordering, seen in zip(self._orderings, self._seen(page), strict=True):
            ordering.implied(seen)

    def inherited_for_links(self, page: Page) -> tuple[float, ...]:
        found = [o.inherited_for_links(seen) for o, seen in zip(self._orderings, self._seen(page), strict=True)]
        length = max(map(len, found), default=0)
        if not length:
            return ()
        values = [0.0] * (length * (max(self._places) + 1))
        for place, own in zip(self._places, found, strict=True):
            values[place * length : place * length + len(own)] = own
        return (float(length), *values)

    def failed(self, url: str) -> None:
        self._table.remove(url)
        for ordering in self._orderings:
            ordering.failed(url)

    def refused(self, url: str) -> None:
        self._table.remove(url)
        for ordering in self._orderings:
            ordering.refused(url)

    def too_deep(self, url: str) -> None:
        self._table.remove(url)
        for ordering in self._orderings:
            ordering.too_deep(url)

    def postponed(self, url: str) -> None:
        for ordering in self._orderings:
            ordering.postponed(url)

    def host_blocked(self, host: str) -> None:
        for ordering in self._orderings:
            ordering.host_blocked(host)

    def redirected(self, url: str, target: str) -> None:
        self._table.rename(url, target)
        for ordering in self._orderings:
            ordering.redirected(url, target)

    # ------------------------------------------------------------ inside

    def _seen(self, page: Page) -> list[Page]:
        """The page as each topic sees it."""
        if self._latest is None or self._latest[0] is not page:
            self._links = {}
            for number, link in enumerate(page.links):
                self._links.setdefault(link.url, number)
            self._latest = page, [self._as_seen(index, page) for index in range(len(self._orderings))]
        return self._latest[1]

    def _as_seen(self, index: int, page: Page) -> Page:
        name, trust = self.share.names[index], 1.0 - page.spam
        scores = self._judges[index].context_scores(page.terms, [link.context_span for link in page.links])
        found = zip(page.links, scores, strict=True)
        links = tuple(with_context_score(link, score * trust) for link, score in found)
        relevance = page.topics.get(name, 0.0) * trust
        if JUDGED in page.signs:  # "relevant" holds for the topic to which the page is closest
            closest = page.topics.get(name, 0.0) >= max(page.topics.values(), default=0.0)
            relevance = page.signs[JUDGED] if closest or not page.signs[JUDGED] else relevance
        return replace(page, relevance=relevance, links=links, inherited=self._inherited(index, page.inherited))

    def _inherited(self, index: int, values: tuple[float, ...]) -> tuple[float, ...]:
        """One topic's part of what a page inherited; empty when the topic joined later."""
        if not values:
            return ()
        length = int(values[0])
        first = 1 + self._places[index] * length
        return values[first : first + length]
