"""Intelligent crawling (paper 004 section 4.2.1.2; Aggarwal, Al-Garawi and Yu 2001, reference [5] there)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.learning import TermIds, WaitingUrls
from crawlproject.records import CrawlUrl, Link, Page

TURNS = 16  # pages in turn whose links are rescored after each page
REVISIONS = 256  # links rescored after each page, at most
STEP = 0.05  # scores are multiples of this
WORDS = 128  # most frequent words of a page that count as evidence
TOKENS = 24  # tokens of a URL
SOURCES = 8  # linking pages stored per URL, the first ones
KINDS = ("content", "url", "links", "siblings")
BOUND = 10.0  # largest logarithm of a ratio
SHARE = 64  # links of one page that are rescored at once, at most

_TOKEN = re.compile(r"[^\W\d_]{2,}")
_FIRST = 1024  # initial capacity, in pieces of evidence


class Intelligent(BaseOrdering):
    """The weighted sum of the logarithms of four interest ratios, each learned while crawling.

    ``content``: words of the pages that link to the URL. ``url``: tokens of the URL. ``links``: whether these pages are
    relevant themselves. ``siblings``: how many of the fetched links of these pages were relevant. See ``InterestRatios``
    for the ratio and its ``significance``, 2 standard deviations in the source. The ratios of several words are multiplied,
    and so are those of several tokens. Over several linking pages, ``content`` and ``links`` are averaged and siblings are
    pooled.

    The learned predicate: the relevance of a page is above ``threshold`` and above the mean of all pages so far. The mean
    adapts it to topics with many or few keywords. With weights of 1, the score is the logarithm of the product of all
    ratios.

    The topic enters only through the relevance of pages. Without evidence every link scores 0, and equal scores are fetched
    first in, first out: the crawl starts breadth-first.
    """

    learns = True

    def __init__(
        self,
        context: OrderingContext,
        *,
        threshold: float = 0.0,
        significance: float = 2.0,
        content_weight: float = 1.0,
        url_weight: float = 1.0,
        link_weight: float = 1.0,
        sibling_weight: float = 1.0,
    ) -> None:
        super().__init__(context)
        self.threshold = threshold
        self.significance = significance
        self.content_weight = content_weight
        self.url_weight = url_weight
        self.link_weight = link_weight
        self.sibling_weight = sibling_weight
        self._words = InterestRatios(significance)
        self._tokens = InterestRatios(significance)
        self._origins = InterestRatios(significance)
        self._origin = self._origins.numbers(["irrelevant page", "relevant page"])
        self._waiting: WaitingUrls[Candidate] = WaitingUrls()
        self._turns: dict[LinkSource, None] = {}  # sources with waiting links, least recently revised first
        self._touched: dict[LinkSource, None] = {}  # sources of the latest page
        self._relevance = 0.0
        self._pages = 0
        self._weights = np.array([content_weight, url_weight, link_weight, sibling_weight])
        self._page: Page | None = None  # the latest page, and the scores of its links
        self._latest: dict[str, float] = {}

    # ------------------------------------------------------------ the contract

    def score(self, page: Page, link: Link) -> float:
        if page is not self._page:
            self._find_links(page, self._is_relevant(page))
        return self._latest.get(link.url, 0.0)

    def seed_score(self, url: str) -> float:
        """Above the sum of the bounds, so above any link."""
        return BOUND * float(np.abs(self._weights).sum()) + 1.0

    def observe(self, page: Page) -> None:
        relevant = self._is_relevant(page)
        self._pages += 1
        self._relevance += page.relevance
        self._learn(page.url, relevant)
        self._find_links(page, relevant)

    def revise(self) -> Iterable[tuple[str, float]]:
        sources = self._next_sources()
        for source, content in zip(sources, self._words.sums([source.words for source in sources]), strict=True):
            source.content = float(content)
        return self._scores(islice(links_in_turn(sources), REVISIONS))

    def redirected(self, url: str, target: str) -> None:
        candidate = self._end(url)
        if candidate and not self._waiting.has_ended(target) and self._waiting.get(target) is None:
            self._wait(target, candidate)

    def failed(self, url: str) -> None:
        self._end(url)

    def explain(self, url: CrawlUrl) -> Mapping[str, float]:
        """The contribution of each kind of evidence; ``before``: changes since the score was given, and rounding."""
        candidate = self._waiting.get(url.url)
        if candidate is None:
            return {}
        parts = dict(zip(KINDS, map(float, self._parts([candidate])[0]), strict=True))
        parts["before"] = url.score - sum(parts.values())
        return dict(sorted(parts.items(), key=lambda part: -part[1]))

    # ------------------------------------------------------------ learning

    def _is_relevant(self, page: Page) -> bool:
        mean = self._relevance / self._pages if self._pages else 0.0
        return page.relevance > max(self.threshold, mean)

    def _learn(self, url: str, relevant: bool) -> None:
        """Count the evidence for a URL whose relevance is now known."""
        candidate = self._end(url)
        if candidate is None:
            return
        sources = candidate.sources
        words = sources[0].words if len(sources) == 1 else np.unique(np.concatenate([s.words for s in sources]))
        self._words.count(words, relevant)
        self._tokens.count(candidate.tokens, relevant)
        self._origins.count(self._origin[sorted({int(source.relevant) for source in sources})], relevant)
        for source in sources:
            source.fetched += 1
            source.hits += relevant
            self._touched[source] = None

    def _end(self, url: str) -> Candidate | None:
        candidate = self._waiting.end(url)
        for source in candidate.sources if candidate else ():
            self._leave(source, url)
        return candidate

    def _leave(self, source: LinkSource, url: str) -> None:
        source.waiting.pop(url, None)
        if not source.waiting:
            self._turns.pop(source, None)

    # ------------------------------------------------------------ links

    def _find_links(self, page: Page, relevant: bool) -> None:
        self._page = page
        frequent = sorted(page.counts, key=page.counts.__getitem__, reverse=True)[:WORDS]
        source = LinkSource(self._words.numbers(frequent), relevant)
        source.content = float(self._words.logarithms(source.words).sum())
        urls = dict.fromkeys(link.url for link in page.links)
        for url in urls:
            candidate = self._waiting.get(url)
            if candidate is not None:
                if len(candidate.sources) < SOURCES:
                    candidate.sources.append(source)
                    source.waiting[url] = None
            elif not self._waiting.has_ended(url):
                tokens = dict.fromkeys(_TOKEN.findall(url.partition("://")[2].lower()))
                self._wait(url, Candidate([source], self._tokens.numbers(islice(tokens, TOKENS))))
        if source.waiting:
            self._turns[source] = None
        self._latest = dict(self._scores(urls))

    def _wait(self, url: str, candidate: Candidate) -> None:
        for source in candidate.sources:
            source.waiting[url] = None
            self._turns.setdefault(source)
        forgotten = self._waiting.put(url, candidate)
        for source in forgotten[1].sources if forgotten else ():
            self._leave(source, forgotten[0] if forgotten else "")

    # ------------------------------------------------------------ scores

    def _parts(self, candidates: Sequence[Candidate]) -> np.ndarray:
        """The contributions of each kind of evidence (columns, as in ``KINDS``) to each candidate (rows)."""
        content = [sum([source.content for source in found.sources]) / len(found.sources) for found in candidates]
        against, in_favour = self._origins.logarithms(self._origin)
        favour = [sum([source.relevant for source in found.sources]) / len(found.sources) for found in candidates]
        siblings = log_interest(
            np.array([sum([source.hits for source in found.sources]) for found in candidates]),
            np.array([sum([source.fetched for source in found.sources]) for found in candidates]),
            self._tokens.share,
            self.significance,
        )
        logarithms = (
            np.array(content),
            self._tokens.sums([found.tokens for found in candidates]),
            against + (in_favour - against) * np.array(favour),
            siblings,
        )
        return self._weights * np.column_stack(logarithms).clip(-BOUND, BOUND)

    def _next_sources(self) -> list[LinkSource]:
        """The pages whose links are rescored: those with a link that was just fetched, and those whose turn it is."""
        sources = [source for source in self._touched if source.waiting]
        self._touched.clear()
        sources += [source for source in islice(self._turns, TURNS) if source not in sources]
        for source in sources:
            self._turns.pop(source, None)
            self._turns[source] = None
        return sources

    def _scores(self, urls: Iterable[str]) -> list[tuple[str, float]]:
        """The waiting URLs among ``urls``, with scores rounded to ``STEP``: unchanged scores cost the frontier nothing."""
        known = [(url, found) for url in urls if (found := self._waiting.get(url)) is not None]
        if not known:
            return []
        sums = self._parts([found for _, found in known]).sum(axis=1)
        return list(zip([url for url, _ in known], (np.rint(sums / STEP) * STEP).tolist(), strict=True))


@dataclass(slots=True, eq=False)
class LinkSource:
    """A fetched page with waiting links: its evidence, and the results of its fetched links."""

    words: np.ndarray
    relevant: bool
    content: float = 0.0
    fetched: int = 0
    hits: int = 0
    waiting: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Candidate:
    """A waiting URL: the pages that link to it, and its tokens."""

    sources: list[LinkSource]
    tokens: np.ndarray


def links_in_turn(sources: Iterable[LinkSource]) -> Iterator[str]:
    """Up to ``SHARE`` waiting links of each page, the least recently scored first."""
    for source in sources:
        for url in list(islice(source.waiting, SHARE)):
            source.waiting[url] = source.waiting.pop(url)
            yield url


class InterestRatios:
    """Counts of evidence over fetched pages, and the ratios ``I(C, E) = P(C and E) / (P(C) P(E))`` that follow from them.

    C means that a page is relevant; E is a piece of evidence about it, such as a word of the page that links to it. A ratio
    above 1 speaks for a link, one below 1 against it. At most ``limit`` pieces of evidence get a number; later ones are
    ignored. A ratio is used only if the relevant pages with E differ from chance by ``significance`` standard deviations.
    """

    def __init__(self, significance: float, limit: int = 500_000) -> None:
        self.significance = significance
        self._numbers = TermIds(limit)
        self._seen = np.zeros(_FIRST)
        self._relevant = np.zeros(_FIRST)
        self.pages = 0
        self.relevant_pages = 0

    @property
    def share(self) -> float:
        """P(C): the share of relevant pages among the counted pages."""
        return self.relevant_pages / self.pages if self.pages else 0.0

    def numbers(self, evidence: Iterable[str]) -> np.ndarray:
        """The numbers of pieces of evidence, in order; a new piece gets the next number."""
        found = self._numbers.of(evidence)
        while len(self._seen) < len(self._numbers.numbers):
            self._seen = np.concatenate([self._seen, np.zeros_like(self._seen)])
            self._relevant = np.concatenate([self._relevant, np.zeros_like(self._relevant)])
        return found[found > 0]

    def count(self, numbers: np.ndarray, relevant: bool) -> None:
        """Count a fetched page with this evidence; ``numbers`` contains each piece once."""
        self.pages += 1
        self.relevant_pages += relevant
        self._seen[numbers] += 1
        self._relevant[numbers] += relevant

    def logarithms(self, numbers: np.ndarray) -> np.ndarray:
        """``ln I`` of each piece of evidence; 0 for one that is not significant."""
        return log_interest(self._relevant[numbers], self._seen[numbers], self.share, self.significance)

    def sums(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """The sum of ``logarithms`` for each row of numbers."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        totals = np.concatenate([[0.0], self.logarithms(np.concatenate(rows)).cumsum()]) if rows else np.zeros(1)
        ends = lengths.cumsum()
        return totals[ends] - totals[ends - lengths]


def log_interest(relevant: np.ndarray, seen: np.ndarray, share: float, significance: float) -> np.ndarray:
    """``ln I`` of pieces of evidence that ``seen`` pages had, ``relevant`` of which were relevant; ``share`` is P(C).

    ``I = P(C | E) / P(C)``. One page of average relevance is added to the counts of each piece, so that no ratio is 0 or
    unbounded. If E were independent of C, ``relevant`` would be binomial with ``seen`` trials and probability ``share``; a
    ratio is used only if it deviates from the mean by ``significance`` standard deviations or more.
    """
    if not 0 < share < 1:
        return np.zeros(len(seen))
    ratios = (relevant + share) / (seen + 1) / share
    deviations = np.abs(relevant - seen * share)
    significant = (seen > 0) & (deviations >= significance * np.sqrt(seen * share * (1 - share)))
    return np.where(significant, np.log(ratios), 0.0)
