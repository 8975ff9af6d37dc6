"""What a person is interested in: weights of terms, learned from pages and how they were received.

The pages are the HTML that a browser shows. Profile and reasons show words as people write them, not stems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from math import log, sqrt

from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.vectors import DocumentFrequencies, Vector, dot, squared_norm

TERMS_OF_A_PAGE = 40  # the heaviest, from which is learned
MOST = 400  # terms that are remembered
HALF_LIFE = 30 * 86_400.0  # seconds after which what was learned weighs half

# Words of what surrounds any page: no interest is learned from them, a person may still add one by hand. Their rareness would
# not tell: pages ahead of one that is read are on its topic, and so its words are as frequent there.
BOILERPLATE = (
    "web website webpage site page home homepage internet online news newsletter day today week month year date time click link "
    "menu search login log sign account cookie privacy policy copyright contact email mail subscribe share post comment read "
    "more view update"
)

_TOKENS = 50_000  # of a text that are looked at
_SPELLED = 3 * TERMS_OF_A_PAGE  # terms whose spelling is looked for
_LEAST = 20  # terms of a main content that is worth the name


def page_vector(counts: Mapping[str, int], frequencies: DocumentFrequencies) -> dict[str, float]:
    """The weights ``(1 + ln tf) * ln(1 + |C| / df)`` of a page's terms, with length 1; numbers are left out.

    G. Salton, C. Buckley: Term-weighting approaches in automatic text retrieval. Information Processing & Management 24(5), 1988;
    smoothed for terms that are new.
    """
    documents = frequencies.documents + 1
    weights = {
        term: (1 + log(count)) * log(1 + documents / (1 + frequencies.frequency(term)))
        for term, count in counts.items()
        if not term.isdecimal()
    }
    length = sqrt(squared_norm(weights)) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def heaviest(vector: Vector, n: int) -> dict[str, float]:
    """The ``n`` terms of the largest absolute weight, largest first."""
    ranked = sorted(vector.items(), key=lambda item: (-abs(item[1]), item[0]))
    return dict(ranked[:n])


class Interests:
    """``weights`` by term: above 0 for what the person stays on, below 0 for what the person turns away from.

    Relevance feedback (J. Rocchio: Relevance Feedback in Information Retrieval, 1971): the sum of the vectors of the pages,
    each times its worth.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.weights: dict[str, float] = dict(weights or {})

    def learn(self, vector: Vector, worth: float) -> None:
        """A page was worth so much: 1 for a quarter of a minute of reading, negative for one that was turned down."""
        for term, weight in heaviest(vector, TERMS_OF_A_PAGE).items():
            self.weights[term] = self.weights.get(term, 0.0) + worth * weight
        if len(self.weights) > 2 * MOST:
            self.weights = heaviest(self.weights, MOST)

    def fade(self, seconds: float) -> None:
        """So much time has passed since the last lesson."""
        if seconds > 0:
            share = 0.5 ** (seconds / HALF_LIFE)
            self.weights = {term: weight * share for term, weight in self.weights.items()}

    def likeness(self, vector: Vector) -> float:
        """The cosine with a page, -1 to 1."""
        product = dot(self.weights, vector)
        return product / sqrt(squared_norm(self.weights) * squared_norm(vector)) if product else 0.0

    def shared(self, vector: Vector, n: int = 3) -> list[str]:
        """The terms that a page owes its likeness to, the most important first."""
        products = {term: weight * self.weights.get(term, 0.0) for term, weight in vector.items()}
        ranked = sorted(products.items(), key=lambda item: (-item[1], item[0]))
        return [term for term, product in ranked[:n] if product > 0]


def spellings(text: str, counts: Mapping[str, int], analyzer: Analyzer) -> dict[str, str]:
    """The most frequent spelling of the most frequent terms."""
    wanted = {term for term, _ in Counter(counts).most_common(_SPELLED)}
    seen: dict[str, Counter[str]] = {}
    for token in islice(analyzer.tokenize(text), _TOKENS):
        term = analyzer.term(token)
        if term in wanted:
            seen.setdefault(term, Counter())[token] += 1
    return {term: spelled.most_common(1)[0][0] for term, spelled in seen.items()}


def terms_of(html: str, url: str, reader: Reader) -> tuple[Mapping[str, int], dict[str, str]]:
    """The term counts of the main content, or of the whole page if it has none, and the usual spelling of frequent terms."""
    page = reader.read(url, html.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")
    text = page.text_main()
    counts: Mapping[str, int] = Counter(reader.analyzer.terms(text))
    if sum(counts.values()) < _LEAST:
        text, counts = page.text, page.counts
    return counts, spellings(text, counts, reader.analyzer)
