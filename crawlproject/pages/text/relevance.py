"""How close a page, and the context of each of its links, is to the topic's keywords."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from crawlproject.errors import BadInput
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.span_statistics import span_squared_norms
from crawlproject.pages.text.terms import Terms
from crawlproject.pages.text.vectors import cosine_of, dot, squared_norm
from crawlproject.records import Link, Page, Span


class TopicJudge:
    """Cosine similarity of TF vectors with the topic's keywords (paper 000 equation 1).

    ``query`` is the TF vector of the keywords. ``by_meaning`` says whether texts that share no term with the keywords may
    be close to them. Raises ``BadInput`` when no term is left of the keywords.
    """

    by_meaning = False

    def __init__(self, keywords: Sequence[str], analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self.turn_to(keywords)

    def turn_to(self, keywords: Sequence[str]) -> None:
        """Judge by other keywords from now on; one that is given twice weighs twice. Raises ``BadInput`` as the constructor."""
        words = [keywords] if isinstance(keywords, str) else keywords
        self.query: Counter[str] = Counter(self.analyzer.terms(" ".join(words)))
        if not self.query:
            wish = f"wants a word that is no stop word of {self.analyzer.language!r}, got {list(words)}"
            raise BadInput("keywords", wish)
        self._query_norm = squared_norm(self.query)

    def similarity(self, text: str) -> float:
        """The cosine of any text with the keywords, 0 to 1."""
        return self.relevance(Counter(self.analyzer.terms(text)))

    def relevance(self, counts: Mapping[str, int]) -> float:
        """The cosine of a document, given as its term counts, with the keywords, 0 to 1."""
        product = dot(self.query, counts)
        return cosine_of(product, self._query_norm, squared_norm(counts)) if product else 0.0

    def relevance_of(self, some: Mapping[str, int], squared: float) -> float:
        """``relevance`` of a document of which the counts of all keywords are known, and the squared norm of all its counts."""
        return cosine_of(
            sum([weight * some.get(term, 0) for term, weight in self.query.items()]), self._query_norm, squared
        )

    def span_score(self, terms: Sequence[str], span: Span) -> float:
        """The cosine of one span of ``terms`` with the keywords."""
        return self.relevance(Counter(terms[span.start : span.end]))

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        """``span_score`` of each span, for all of them together. Spans lie within ``terms``.

        Spans of aggregation nodes are nested or disjoint: however deep they nest, all are scored in time
        O(spans log terms + terms log terms), and a span without a keyword costs two look-ups. Spans that cross, which no tree
        gives, are counted one by one.
        """
        found = self._keywords_in(terms)
        if not found:
            return [0.0] * len(spans)
        places = [place for place, _ in found]
        before = list(accumulate([weight for _, weight in found], initial=0))
        products = {
            (start, end): before[bisect_left(places, end)] - before[bisect_left(places, start)] for start, end in spans
        }
        norms = span_squared_norms(terms, [span for span, product in products.items() if product])
        query_norm = self._query_norm
        scores = {span: cosine_of(products[span], query_norm, norm) for span, norm in norms.items()}
        return [scores.get(span, 0.0) for span in spans]

    def _keywords_in(self, terms: Sequence[str]) -> list[tuple[int, int]]:
        """The places of the keywords among ``terms``, in order, each with how often it is a keyword."""
        if not isinstance(terms, Terms):
            return [(place, self.query[term]) for place, term in enumerate(terms) if term in self.query]
        numbers, find = terms.numbers, terms.vocabulary.find
        return sorted(
            (place, count)
            for term, count in self.query.items()
            for place in (numbers == find(term)).nonzero()[0].tolist()
        )

    def judge(self, page: Page) -> Page:
        """``page`` with its relevance and the context score of each link filled in."""
        scores = self.context_scores(page.terms, [link.context_span for link in page.links])
        links = [with_context_score(link, score) for link, score in zip(page.links, scores, strict=True)]
        return replace(self.with_relevance(page), links=tuple(links))

    def with_relevance(self, page: Page) -> Page:
        """``page`` with its relevance filled in."""
        return replace(page, relevance=self.relevance(page.counts))

    def presumed(self, page: Page, relevance: float) -> Page:
        """``page`` with this relevance, as it cannot be judged."""
        return replace(page, relevance=relevance)


def with_context_score(link: Link, score: float) -> Link:
    """``link`` with this context score; written out, since ``dataclasses.replace`` takes five times as long."""
    if link.context_score == score:
        return link
    return Link(link.url, link.anchor, link.anchor_span, link.context_span, score, link.tag_path)
