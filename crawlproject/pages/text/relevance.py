"""Scores how close a page, and the context of each of its links, is to the keywords of a topic or of several topics.

The ``TOPIC_*`` settings determine the analyzer and the judge. The judge by meaning is in ``term_vectors``, which needs
scipy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, repeat

from crawlproject.errors import BadInput, BadTopic
from crawlproject.extras import need
from crawlproject.options import Options
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.terms import Terms, counts_of_some
from crawlproject.pages.text.vectors import cosine_of, dot, span_squared_norms, squared_norm
from crawlproject.records import Link, Page, Span, Topic

BY_KEYWORDS = ("terms", "vectors")  # values of TOPIC_RELEVANCE


class TopicJudge:
    """Cosine similarity of TF vectors with the topic's keywords (paper 000 equation 1).

    ``query`` is the TF vector of the keywords. ``by_meaning``: texts that share no term with the keywords may be close to
    them. ``needs_text``: judging a page also needs ``Page.text``. Raises ``BadInput`` if the keywords contain no term.
    """

    by_meaning = False
    needs_text = False

    def __init__(self, keywords: Sequence[str], analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self.turn_to(keywords)

    def turn_to(self, keywords: Sequence[str]) -> None:
        """Judge by other keywords from now on; one given twice weighs twice. Raises ``BadInput`` like the constructor."""
        words = [keywords] if isinstance(keywords, str) else keywords
        self.query: Counter[str] = Counter(self.analyzer.terms(" ".join(words)))
        if not self.query:
            wish = f"expected a word that is not a stop word of {self.analyzer.language!r}, not {list(words)}"
            raise BadInput("keywords", wish)
        self._query_norm = squared_norm(self.query)

    def similarity(self, text: str) -> float:
        """Return the cosine of any text with the keywords, 0 to 1."""
        return self.relevance(Counter(self.analyzer.terms(text)))

    def relevance(self, counts: Mapping[str, int]) -> float:
        """Return the cosine of a document, given as its term counts, with the keywords, 0 to 1."""
        product = dot(self.query, counts)
        return cosine_of(product, self._query_norm, squared_norm(counts)) if product else 0.0

    def span_score(self, terms: Sequence[str], span: Span) -> float:
        """Return the cosine of one span of ``terms`` with the keywords."""
        return self.relevance(Counter(terms[span.start : span.end]))

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        """Return ``span_score`` of each span, computed together. Spans must lie within ``terms``.

        Spans of aggregation nodes are nested or disjoint: however deep they nest, all are scored in time
        O(spans log terms + terms log terms), and a span without a keyword costs two look-ups. Crossing spans, which no tree
        yields, are counted one by one.
        """
        found = self._keywords_in(terms)
        if not found:
            return [0.0] * len(spans)
        places, weights = zip(*found, strict=True)
        before = list(accumulate(weights, initial=0))
        products: dict[tuple[int, int], int] = {}
        for start, end in spans:
            product = before[bisect_left(places, end)] - before[bisect_left(places, start)]
            if product:
                products[start, end] = product
        norms, query_norm = span_squared_norms(terms, products), self._query_norm
        scores = {span: cosine_of(product, query_norm, norms[span]) for span, product in products.items()}
        return list(map(scores.get, spans, repeat(0.0)))

    def _keywords_in(self, terms: Sequence[str]) -> list[tuple[int, int]]:
        """Return the places of query terms in ``terms``, in order, each with the count of its term in ``query``."""
        if not isinstance(terms, Terms):
            return [(place, self.query[term]) for place, term in enumerate(terms) if term in self.query]
        found: list[tuple[int, int]] = []
        for term, count in self.query.items():
            places = (terms.numbers == terms.vocabulary.numbers.get(term, -1)).nonzero()[0]
            found += zip(places.tolist(), repeat(count))
        return sorted(found)

    def judge(self, page: Page) -> Page:
        """Return ``page`` with its relevance and the context score of each link."""
        scores = self.context_scores(page.terms, [link.context_span for link in page.links])
        links = [with_context_score(link, score) for link, score in zip(page.links, scores, strict=True)]
        return replace(self.with_relevance(page), links=tuple(links))

    def with_relevance(self, page: Page) -> Page:
        """Return ``page`` with its relevance."""
        return replace(page, relevance=self.relevance(page.counts))

    def presumed(self, page: Page, relevance: float) -> Page:
        """Return ``page`` with this relevance, for a page that cannot be judged."""
        return replace(page, relevance=relevance)

    def close(self) -> None:
        """Release resources: the judge is not used any more."""


def with_context_score(link: Link, score: float) -> Link:
    """Return ``link`` with this context score; written out, since ``dataclasses.replace`` takes five times as long."""
    if link.context_score == score:
        return link
    return Link(link.url, link.anchor, link.anchor_span, link.context_span, score, link.tag_path)


class TopicsJudge(TopicJudge):
    """The judge of a crawl of several topics: ``judges`` has one judge per topic name, ``whole`` the keywords of all topics.

    The relevance of a page is its relevance to the closest topic; its text is analysed once. Links are scored by all
    keywords together, for the link log; orderings use the judge of their own topic. ``join`` and ``leave`` add and remove
    topics.
    """

    def __init__(self, whole: TopicJudge, judges: Mapping[str, TopicJudge]) -> None:
        self._judges = dict(judges)
        self.now_of(whole)

    def now_of(self, whole: TopicJudge) -> None:
        """Take the keywords of all topics from ``whole`` from now on."""
        self.analyzer = whole.analyzer
        self.query = whole.query
        self.by_meaning = whole.by_meaning
        self._query_norm = squared_norm(whole.query)
        self._whole = whole

    def join(self, name: str, judge: TopicJudge, whole: TopicJudge) -> None:
        self._judges[name] = judge
        self.now_of(whole)

    def leave(self, name: str, whole: TopicJudge) -> None:
        del self._judges[name]
        self.now_of(whole)

    def relevance(self, counts: Mapping[str, int]) -> float:
        """Return the highest relevance to any topic, 0 to 1."""
        return max(self.topics(counts).values(), default=0.0)

    def topics(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return the relevance to each topic by its name, 0 to 1."""
        if self.by_meaning:
            return {name: judge.relevance(counts) for name, judge in self._judges.items()}
        some, norm = counts_of_some(counts, self.query), squared_norm(counts)
        return {
            name: cosine_of(dot(judge.query, some), judge._query_norm, norm) for name, judge in self._judges.items()
        }

    def with_relevance(self, page: Page) -> Page:
        """Return ``page`` with its relevance to each topic, and the highest of them."""
        found = self.topics(page.counts)
        return replace(page, relevance=max(found.values(), default=0.0), topics=found)

    def presumed(self, page: Page, relevance: float) -> Page:
        """Return ``page`` with this relevance to every topic."""
        return replace(page, relevance=relevance, topics=dict.fromkeys(self._judges, relevance))

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        """Return the context scores by the keywords of all topics."""
        return self._whole.context_scores(terms, spans)


def make_analyzer(language: str, options: Options) -> Analyzer:
    """Return the analyzer. Raises ``BadInput`` for an unknown language, ``BadSetting`` if its lemmas are not installed."""
    return Analyzer(language, options.topic_terms)


def refuse_wordless(topic: Topic, options: Options, place: str) -> None:
    """Raise ``BadTopic`` at ``place`` if the keywords of a topic contain no term. Raises like ``make_analyzer``, too."""
    analyzer = make_analyzer(topic.language, options)
    try:
        TopicJudge(topic.keywords, analyzer)
    except BadInput as wrong:
        raise BadTopic(place, str(wrong)) from None


def make_judge(keywords: Sequence[str], analyzer: Analyzer, options: Options) -> TopicJudge:
    """Return the judge by keywords. Values of ``TOPIC_RELEVANCE`` outside ``BY_KEYWORDS`` belong to parts (``Part.appoint``).

    Raises ``BadInput`` for keywords without a term, and ``BadSetting`` if vectors are required and not installed.
    """
    if options.topic_relevance != "vectors":
        return TopicJudge(keywords, analyzer)
    need(f"setting TOPIC_RELEVANCE={options.topic_relevance}", "nlp")
    from crawlproject.pages.text.term_vectors import SemanticJudge, load_term_vectors  # imports scipy and spaCy

    return SemanticJudge(keywords, analyzer, load_term_vectors(options.topic_vectors, analyzer))


def make_topics_judge(topic: Topic, analyzer: Analyzer, options: Options) -> TopicJudge:
    """Return the judge of a topic, or of all its members if it has any. Raises like ``make_judge``."""
    whole = make_judge(topic.keywords, analyzer, options)
    if not topic.members:
        return whole
    return TopicsJudge(whole, {each.name: make_judge(each.keywords, analyzer, options) for each in topic.members})
