"""The context focused crawler (paper 000 section 3.4, paper 004 section 4.2.1; Diligenti and others, VLDB 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.context_graph.context_layers import merged_context_graph
from crawlproject.orderings.context_graph.crawl_layers import CrawlLayers
from crawlproject.orderings.context_graph.term_selection import distinctive_terms
from crawlproject.orderings.learning.examples import drawn_pages, good_pages
from crawlproject.orderings.learning.naive_bayes import Counts, NaiveBayes
from crawlproject.records import Link, Page


class ContextGraph(BaseOrdering):
    """A queue for each distance: links of pages that look ``l`` links away from the topic, the nearest ``l`` first.

    The context graph of the archive has layers 0 to ``layers``, with at most ``layer_pages`` pages each. Layer 0 are the
    topic's positive examples, or those that ``good_pages`` finds among ``sample`` random pages. The ``terms`` most
    distinctive terms of layer 0 are the vocabulary. Naive Bayes with equal priors gives ``P(c_l|p)`` of each layer; a page
    belongs to the likeliest one, or to *other*, which comes last, when its probability is below ``confidence``. With m
    layers in all, the score is ``(m - l + P(c_l|p)) / (m + 1)``, where l of *other* is m: bands of equal width, ordered
    by probability inside.

    With ``train_every``, the classifier is also trained in the course of the crawl (004, footnote 4): on the latest
    ``layer_pages`` pages of each distance to pages of at least ``threshold`` relevance, in the latest ``kept_pages`` pages. It is
    trained after so many pages, then whenever the crawl has grown by a tenth. It needs no archive then: until it has learned,
    pages on the topic are layer 0, and all others *other*.

    Raises ``BadSetting`` without an archive, and for one with no page that links to layer 0.
    """

    needs_archive = True
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
        self._documents: list[list[Counts]] = []  # of the archive, by layer
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
        self._latest: tuple[Page | None, float] = None, 0.0  # whose links are scored now, and their score

    def observe(self, page: Page) -> None:
        if self._crawl is None:
            return
        self._crawl.add(page, on_topic=page.relevance >= self.threshold)
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
        """A classifier of these layers; None where there are fewer than two."""
        documents = {str(number): texts for number, texts in enumerate(layers) if texts}
        if "0" not in documents or len(documents) < 2:
            return None
        corpus = [counts for texts in documents.values() for counts in texts]
        return NaiveBayes(documents, vocabulary=distinctive_terms(documents["0"], corpus, self.terms))

    def _score_of_links(self, page: Page) -> float:
        if self._classifier is None:
            return (page.relevance + (self._bands - 1) * (page.relevance >= self.threshold)) / self._bands
        found = self._classifier.probabilities(page.counts)
        layer = max(found, key=lambda name: found[name])
        place = int(layer) if found[layer] >= self.confidence else self._bands - 1
        return (self._bands - 1 - place + found[layer]) / self._bands


def _missing(wish: str) -> BadSetting:
    return BadSetting("ordering context_graph", wish)
