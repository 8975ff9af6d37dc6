"""Search impact (paper 004 section 4.1; S. Pandey, C. Olston: Crawl Ordering by Search Impact, WSDM 2008)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappush, heapreplace
from math import ceil, exp

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import WaitingUrls
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import CrawlUrl, Link, Page

LEVELS = 4  # levels of cues above 0
PRIOR = (0.01, 0.25, 0.5, 0.75, 1.0)  # expected score of each level at the start: the level itself
_SAME = 0.01  # a gain that changed by at most this share is not revised

Cues = tuple[int, ...]


class SearchImpact(BaseOrdering):
    """How much a URL is expected to improve the first ``results`` results of each query.

    The queries are those of ``TOPIC_QUERIES``, or else the keywords of the topic, all equally frequent. The score of a page
    for a query is their cosine. ``worst`` is the score of the last of the query's first ``results`` results so far, 0 while
    there are fewer. Before a page is fetched, its cue is the cosine of the anchor with the query or the share of the query's
    terms that are in the URL, whichever is larger, rounded up to a level of 0, 1/4, 1/2, 3/4 or 1. ``expected`` is the mean
    score of the pages fetched so far with a cue of this level; the level itself (0.01 for level 0) counts as one additional
    page, so that early estimates follow the cue.

    A page better than ``worst`` improves the results by the difference. If scores are distributed exponentially with mean
    ``expected``, the mean of ``max(0, score - worst)`` is ``expected * exp(-worst / expected)``. The score of a URL is the
    sum of these gains over all queries, weighted by query frequency relative to the mean. The plain difference of
    ``expected`` and ``worst`` would be 0 for nearly all URLs once all queries have good results; with this gain, better cues
    still come first.

    URLs with equal cues have equal gains. Waiting URLs get new gains when the number of fetches has grown by the share
    ``growth``.
    """

    learns = True

    def __init__(self, context: OrderingContext, *, results: int = 10, growth: float = 0.1) -> None:
        super().__init__(context)
        self.results = results
        self.growth = growth
        analyzer = context.judge.analyzer
        asked = context.queries or dict.fromkeys(context.topic.keywords, 1.0)
        self._names = [query for query in asked if analyzer.terms(query)]
        mean = sum(asked[name] for name in self._names) / max(1, len(self._names))
        self._weights = [asked[name] / mean for name in self._names]
        self._queries = [TopicJudge([name], analyzer) for name in self._names]
        self._vocabulary = set().union(*(query.query for query in self._queries))
        self._no_cues = (0,) * len(self._queries)
        self._best: list[list[float]] = [[] for _ in self._queries]  # heaps of the scores of the first results
        self._sums = list(PRIOR)
        self._pages = [1] * len(PRIOR)
        self._ends = 0  # fetches that have ended
        self._due_at = 1.0
        self._cues: WaitingUrls[Cues] = WaitingUrls()
        for seed in context.topic.seeds:
            self._cues.end(seed)  # a seed keeps its score
        self._waiting: dict[Cues, dict[str, None]] = {}
        self._told: dict[Cues, float] = {}

    def score(self, page: Page, link: Link) -> float:
        cues = self._cues_of(page, link)
        if not self._cues.has_ended(link.url):
            cues = self._wait(link.url, cues)
        return sum(self._gains(cues))

    def seed_score(self, url: str) -> float:
        return float(len(self._queries))

    def observe(self, page: Page) -> None:
        """Add the page to the results of every query, and learn from its cues."""
        scores = [query.relevance(page.counts) for query in self._queries]
        for best, score in zip(self._best, scores, strict=True):
            if len(best) < self.results:
                heappush(best, score)
            elif best and score > best[0]:
                heapreplace(best, score)
        self._ends += 1
        for level, score in zip(self._leave(page.url), scores, strict=False):
            self._sums[level] += score
            self._pages[level] += 1

    def redirected(self, url: str, target: str) -> None:
        self._ends += 1
        cues = self._leave(url)
        if url in self.context.topic.seeds:
            self._leave(target)
        elif cues and not self._cues.has_ended(target):
            self._wait(target, cues)

    def failed(self, url: str) -> None:
        self._ends += 1
        self._leave(url)

    def refused(self, url: str) -> None:
        self._leave(url)

    def revise(self) -> Iterable[tuple[str, float]]:
        if self._ends < self._due_at:
            return
        self._due_at = self._ends * (1 + self.growth)
        for cues, urls in self._waiting.items():
            gain = sum(self._gains(cues))
            if abs(gain - self._told.get(cues, 0.0)) > _SAME * gain:
                self._told[cues] = gain
                yield from ((url, gain) for url in urls)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The gain for each query, scaled to the score of the URL if gains have changed since."""
        gains = list(self._gains(self._cues.get(url.url) or ()))
        if url.parent is None or not sum(gains):
            return {}
        parts = zip(self._names, (gain * url.score / sum(gains) for gain in gains), strict=True)
        return dict(sorted(parts, key=lambda part: -part[1]))

    def _cues_of(self, page: Page, link: Link) -> Cues:
        start, end = link.anchor_span
        anchor = page.terms[start:end]
        address = set(self.context.judge.analyzer.terms(link.url.partition("://")[2]))
        if self._vocabulary.isdisjoint(anchor) and self._vocabulary.isdisjoint(address):
            return self._no_cues
        levels = []
        for query in self._queries:
            in_url = sum(term in address for term in query.query) / len(query.query)
            in_anchor = query.span_score(page.terms, link.anchor_span) if any(map(query.query.get, anchor)) else 0.0
            levels.append(ceil(LEVELS * max(in_url, in_anchor) - 1e-9))
        return tuple(levels)

    def _gains(self, cues: Cues) -> Iterator[float]:
        for level, best, weight in zip(cues, self._best, self._weights, strict=False):
            expected = self._sums[level] / self._pages[level]
            worst = best[0] if len(best) >= self.results > 0 else 0.0
            yield weight * expected * exp(-worst / expected) if expected > 0 else 0.0

    def _wait(self, url: str, cues: Cues) -> Cues:
        """Store ``url`` under the best cue seen for each query; return these cues."""
        before = self._cues.get(url)
        if before is not None:
            cues = tuple(map(max, before, cues))
            if cues == before:
                return cues
            self._forget(url, before)
        forgotten = self._cues.put(url, cues)
        if forgotten is not None:
            self._forget(*forgotten)
        self._waiting.setdefault(cues, {})[url] = None
        return cues

    def _leave(self, url: str) -> Cues:
        """``url`` no longer waits; return its cues, empty if it did not wait."""
        cues = self._cues.end(url) or ()
        if cues:
            self._forget(url, cues)
        return cues

    def _forget(self, url: str, cues: Cues) -> None:
        urls = self._waiting[cues]
        del urls[url]
        if not urls:
            del self._waiting[cues]
            self._told.pop(cues, None)
