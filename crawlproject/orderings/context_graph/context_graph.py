"""The context focused crawler (paper 000 section 3.4, paper 004 section 4.2.1; Diligenti and others, VLDB 2000)."""

from __future__ import annotations

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.context_graph.context_layers import merged_context_graph
from crawlproject.orderings.context_graph.term_selection import distinctive_terms
from crawlproject.orderings.learning.examples import drawn_pages, good_pages
from crawlproject.orderings.learning.naive_bayes import NaiveBayes
from crawlproject.records import Link, Page


class ContextGraph(BaseOrdering):
    """A queue for each distance: links of pages that look ``l`` links away from the topic, the nearest ``l`` first.

    The context graph of the archive has layers 0 to ``layers``, with at most ``layer_pages`` pages each. Layer 0 are the
    topic's positive examples, or those that ``good_pages`` finds among ``sample`` random pages. The ``terms`` most
    distinctive terms of layer 0 are the vocabulary. Naive Bayes with equal priors gives ``P(c_l|p)`` of each layer; a page
    belongs to the likeliest one, or to *other*, which comes last, when its probability is below ``confidence``. With m
    layers in all, the score is ``(m - l + P(c_l|p)) / (m + 1)``, where l of *other* is m: bands of equal width, ordered
    by probability inside.

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
    ) -> None:
        super().__init__(context)
        self.sample = sample
        self.layers = layers
        self.layer_pages = layer_pages
        self.terms = terms
        self.confidence = confidence
        if context.archive is None:
            raise _missing("learns from pages that link to pages on the topic: set ORDERING_ARCHIVE to a web with both")
        core = good_pages(context, () if context.positive else drawn_pages(context, sample))
        graph = merged_context_graph(context, context.archive, core, layers=layers, layer_pages=layer_pages)
        if len(graph) < 2:
            raise _missing("finds no page in the archive that links to the seeds, to a relevant page or to an example")
        documents = {str(layer): [page.counts for page in pages] for layer, pages in enumerate(graph)}
        corpus = [counts for texts in documents.values() for counts in texts]
        self._classifier = NaiveBayes(documents, vocabulary=distinctive_terms(documents["0"], corpus, terms))
        self._bands = len(graph) + 1
        self._latest: tuple[Page | None, float] = None, 0.0  # whose links are scored now, and their score

    def score(self, page: Page, link: Link) -> float:
        if self._latest[0] is not page:
            self._latest = page, self._score_of_links(page)
        return self._latest[1]

    def _score_of_links(self, page: Page) -> float:
        found = self._classifier.probabilities(page.counts)
        layer = max(found, key=lambda name: found[name])
        place = int(layer) if found[layer] >= self.confidence else self._bands - 1
        return (self._bands - 1 - place + found[layer]) / self._bands


def _missing(wish: str) -> BadSetting:
    return BadSetting("ordering context_graph", wish)
