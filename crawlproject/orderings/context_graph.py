"""The context focused crawler (paper 000 section 3.4, paper 004 section 4.2.1; Diligenti and others, VLDB 2000).

A classifier learns layers of pages, by their distance to pages on the topic: those of an archive, and those of the crawl so
far (paper 004, footnote 4). Its vocabulary is the terms that distinguish the layer on the topic from the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from math import log
from random import Random
from typing import NamedTuple

import numpy as np

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext, PageArchive
from crawlproject.orderings.link_graph import LinkGraph, archive_graph
from crawlproject.orderings.taxonomy import Counts, NaiveBayes, drawn_pages, good_pages
from crawlproject.records import Link, Page

_ROUNDING = 1e-9


class ContextGraph(BaseOrdering):
    """A queue for each distance: links of pages that look ``l`` links away from the topic, the lowest ``l`` first.

    The context graph of the archive has layers 0 to ``layers``, with at most ``layer_pages`` pages each. Layer 0 holds the
    topic's positive examples, or the pages that ``good_pages`` finds among ``sample`` random pages. The ``terms`` most
    distinctive terms of layer 0 are the vocabulary. Naive Bayes with equal priors gives ``P(c_l|p)`` of each layer. A page
    belongs to the likeliest layer, or to *other*, which comes last, when the probability of that layer is below
    ``confidence`` or no higher than for a page without any of these terms. With m layers in all, the score is
    ``(m - l + P(c_l|p)) / (m + 1)``, where l of *other* is m: bands of equal width, each ordered by probability.

    With ``train_every`` above 0, the classifier is also trained during the crawl (004, footnote 4), and then needs no
    archive. Besides the archive, it learns from the latest ``kept_pages`` pages: up to ``layer_pages`` pages at each
    distance from pages with a relevance above ``threshold``. It is trained after ``train_every`` pages, then whenever
    the crawl has grown by a tenth and at least that many pages. Before the first training, pages on the topic are layer 0
    and all others *other*.

    Without ``train_every``, raises ``BadSetting`` for a missing archive and for one with no page that links to layer 0.
    """

    needs_archive = True
    needs_extra = "learn"
    reads_examples = True

    def __init__(
        self,
        context: OrderingContext,
        *,
        sample: int = 400,
        layers: int = 4,
        layer_pages: int = 300,
        terms: int = 300,
        confidence: float = 0.25,
        train_every: int = 0,
        threshold: float = 0.05,
        kept_pages: int = 3000,
    ) -> None:
        super().__init__(context)
        self.sample = sample
        self.layers = layers
        self.layer_pages = layer_pages
        self.terms = terms
        self.confidence = confidence
        self.train_every = train_every
        self.threshold = threshold
        self.kept_pages = kept_pages
        self.learns = train_every > 0
        self._documents: list[list[Counts]] = []  # the documents of the archive, by layer
        if context.archive is not None:
            core = good_pages(context, () if context.positive else drawn_pages(context, sample))
            graph = merged_context_graph(context, context.archive, core, layers=layers, layer_pages=layer_pages)
            self._documents = [[page.counts for page in pages] for pages in graph]
        if not self.learns and context.archive is None:
            raise _missing("learns from pages that link to pages on the topic: set ORDERING_ARCHIVE to a web with both")
        if not self.learns and len(self._documents) < 2:
            raise _missing("finds no page in the archive that links to the seeds, to a relevant page or to an example")
        self._bands = 2 + (layers if self.learns else len(self._documents) - 1)
        self._classifier = self._trained(self._documents)
        self._crawl = CrawlLayers(layers, kept_pages) if self.learns else None
        self._observed, self._next_training = 0, train_every
        self._latest: tuple[Page | None, float] = None, 0.0  # the latest page, and the score of its links

    def observe(self, page: Page) -> None:
        if self._crawl is None:
            return
        self._crawl.add(page, on_topic=page.relevance > self.threshold)
        self._observed += 1
        if self._observed >= self._next_training:
            self._next_training += max(self.train_every, self._observed // 10)
            own = self._crawl.layers(self.layer_pages)
            nothing: list[Counts] = []
            both = zip_longest(self._documents, own, fillvalue=nothing)
            self._classifier = self._trained([[*archived, *crawled] for archived, crawled in both])

    def redirected(self, url: str, target: str) -> None:
        if self._crawl is not None:
            self._crawl.redirected(url, target)

    def score(self, page: Page, link: Link) -> float:
        if self._latest[0] is not page:
            self._latest = page, self._score_of_links(page)
        return self._latest[1]

    def _trained(self, layers: Sequence[Sequence[Counts]]) -> NaiveBayes | None:
        """A classifier of these layers; None without layer 0 or without another layer."""
        documents = {str(number): texts for number, texts in enumerate(layers) if texts}
        if "0" not in documents or len(documents) < 2:
            return None
        corpus = [counts for texts in documents.values() for counts in texts]
        return NaiveBayes(documents, vocabulary=distinctive_terms(documents["0"], corpus, self.terms))

    def _score_of_links(self, page: Page) -> float:
        if self._classifier is None:
            return (page.relevance + (self._bands - 1) * (page.relevance > self.threshold)) / self._bands
        found = self._classifier.probabilities(page.counts)
        layer = max(found, key=lambda name: found[name])
        is_known = found[layer] > 1.0 / len(found) + _ROUNDING  # a page without any term has the priors
        place = int(layer) if is_known and found[layer] >= self.confidence else self._bands - 1
        return (self._bands - 1 - place + found[layer]) / self._bands


def _missing(wish: str) -> BadSetting:
    return BadSetting("ordering context_graph", wish)


def merged_context_graph(
    context: OrderingContext, archive: PageArchive, core: Sequence[Page], *, layers: int, layer_pages: int
) -> list[Sequence[Page]]:
    """The layers of the merged context graphs of the pages of ``core``, at most ``layers`` deep; layer 0 is ``core``.

    Merged layer l contains the pages of layer l of every graph, so a page may be in several layers. Each layer, merged or
    not, is a random sample of at most ``layer_pages`` pages, and only in-links of the sample are followed. The list ends
    before the first empty layer.
    """
    found = [core]
    graph = archive_graph(archive)
    merged: list[set[int]] = [set() for _ in range(layers)]
    nodes = [number for page in core if (number := graph.find(page.url)) is not None]
    for node in nodes:
        for layer, numbers in zip(merged, _context_graph(graph, node, layer_pages, context.random), strict=False):
            layer.update(numbers)
    for layer in merged:
        drawn = _sample(layer, layer_pages, context.random)
        pages = [page for number in drawn if (page := archive.page(graph.nodes[number])) and page.counts]
        if not pages:
            break
        found.append(pages)
    return found


def _context_graph(graph: LinkGraph[str], node: int, layer_pages: int, random: Random) -> Iterator[Sequence[int]]:
    """The layers around one page, up to an empty one: new pages that link to the sample of the previous layer."""
    sources, targets = graph.edges()
    taken: Sequence[int] = [node]
    seen = np.zeros(len(graph), dtype=bool)
    seen[node] = True
    while len(taken):
        inlinks = np.unique(sources[np.isin(targets, taken) & ~seen[sources]])
        seen[inlinks] = True
        taken = _sample(inlinks.tolist(), layer_pages, random)
        yield taken


def _sample(numbers: Collection[int], most: int, random: Random) -> Sequence[int]:
    return sorted(numbers if len(numbers) <= most else random.sample(sorted(numbers), most))


class _FetchedPage(NamedTuple):
    counts: Counts
    links: tuple[str, ...]


class CrawlLayers:
    """The latest ``pages`` pages by their distance to the nearest page on the topic, up to ``farthest`` links.

    A distance is the length of the shortest path among these pages, and falls when a shorter path is found. The links and
    terms of each page are kept: about 6 kB per page.
    """

    def __init__(self, farthest: int, pages: int) -> None:
        self._farthest = farthest
        self._most = pages
        self._seen: dict[str, _FetchedPage] = {}  # the oldest first
        self._sources: defaultdict[str, list[str]] = defaultdict(list)  # pages by what they link to
        self._distances: dict[str, int] = {}
        self._moved: dict[str, str] = {}  # redirects, without loops

    def add(self, page: Page, *, on_topic: bool) -> None:
        """Add a fetched page; a page that was added before stays unchanged."""
        url = page.url
        if url in self._seen:
            return
        links = tuple(dict.fromkeys(target for link in page.links if (target := self._end_of(link.url)) != url))
        self._seen[url] = _FetchedPage(page.counts, links)
        for target in links:
            self._sources[target].append(url)
        beyond = self._farthest + 1
        nearest = 0 if on_topic else 1 + min((self._distances.get(target, beyond) for target in links), default=beyond)
        self._come_nearer(url, nearest)
        if len(self._seen) > self._most:
            self._forget(next(iter(self._seen)))

    def redirected(self, url: str, target: str) -> None:
        """Links to ``url`` lead to ``target``, also those of pages to come."""
        target = self._end_of(target)
        if target == url:
            return
        self._moved[url] = target
        for source in self._sources.pop(url, ()):
            self._sources[target].append(source)
            seen = self._seen[source]
            self._seen[source] = seen._replace(links=tuple(target if link == url else link for link in seen.links))
            if target in self._distances:
                self._come_nearer(source, self._distances[target] + 1)

    def layers(self, most: int) -> list[list[Counts]]:
        """The term counts of the latest ``most`` pages at each distance, from 0 up to the first distance without pages."""
        found: list[list[Counts]] = [[] for _ in range(self._farthest + 1)]
        for url in reversed(self._seen):
            distance = self._distances.get(url)
            if distance is not None and len(found[distance]) < most and self._seen[url].counts:
                found[distance].append(self._seen[url].counts)
        return found[: next((number for number, layer in enumerate(found) if not layer), len(found))]

    def _end_of(self, url: str) -> str:
        while (target := self._moved.get(url)) is not None:
            url = target
        return url

    def _come_nearer(self, url: str, distance: int) -> None:
        """Lower the distance of ``url`` to ``distance``, if it is higher, and that of pages that lead to it accordingly."""
        waiting = deque([(url, distance)])
        while waiting:
            url, distance = waiting.popleft()
            if distance > self._farthest or distance >= self._distances.get(url, self._farthest + 1):
                continue
            self._distances[url] = distance
            waiting += [(source, distance + 1) for source in self._sources.get(url, ())]

    def _forget(self, url: str) -> None:
        for target in self._seen.pop(url).links:
            others = [source for source in self._sources.pop(target, ()) if source != url]
            if others:
                self._sources[target] = others
        self._distances.pop(url, None)


def distinctive_terms(documents: Iterable[Counts], corpus: Iterable[Counts], count: int) -> tuple[str, ...]:
    """The ``count`` terms with the highest TF-IDF in ``documents``, taken as one long document, best first.

    The weight of a term is ``tf * ln((1 + n) / (1 + df))``, where ``df`` is the number of the n documents of ``corpus`` that
    contain it. Ties are in alphabetical order; a term that occurs in all documents is left out.
    """
    frequencies: Counter[str] = Counter()
    for document in documents:
        frequencies.update(document)
    held = Counter(chain.from_iterable(texts := list(corpus)))
    weights = {term: tf * log((1 + len(texts)) / (1 + held[term])) for term, tf in frequencies.items()}
    best = sorted((term for term, weight in weights.items() if weight > 0), key=lambda term: (-weights[term], term))
    return tuple(best[:count])
