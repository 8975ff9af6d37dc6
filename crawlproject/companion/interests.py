"""The interests of a person: term weights, learned from pages and from how the person received them.

The pages are the HTML that the browser shows. The profile and the reasons for suggestions show full words, not stems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from math import log, sqrt

from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.vectors import DocumentFrequencies, Vector, dot, squared_norm

TERMS_OF_A_PAGE = 40  # only the heaviest terms of a page are learned
MOST = 400  # terms kept when more than twice as many have accumulated
HALF_LIFE = 30 * 86_400.0  # seconds after which a learned weight has halved

# Words that occur around the content of any page. No interest is learned from them, but the person may add one by hand.
# Document frequency cannot identify them: the pages ahead are on the topic of the current page, and its topical words are as
# frequent there.
BOILERPLATE = (
    "web website webpage site page home homepage internet online news newsletter day today week month year date time click link "
    "menu search login log sign account cookie privacy policy copyright contact email mail subscribe share post comment read "
    "more view update"
)

_TOKENS = 50_000  # tokens of a text that are examined
_SPELLED = 3 * TERMS_OF_A_PAGE  # terms whose spelling is recorded
_LEAST = 20  # terms that a main content must have


def page_vector(counts: Mapping[str, int], frequencies: DocumentFrequencies) -> dict[str, float]:
    """The term weights ``(1 + ln tf) * ln(1 + |C| / df)`` of a page, normalised to length 1. Numbers are left out.

    G. Salton, C. Buckley: Term-weighting approaches in automatic text retrieval. Information Processing & Management 24(5), 1988;
    smoothed for unseen terms: ``|C|`` and ``df`` are one more than counted.
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
    """The ``n`` terms with the largest absolute weights, largest first."""
    ranked = sorted(vector.items(), key=lambda item: (-abs(item[1]), item[0]))
    return dict(ranked[:n])


class Interests:
    """Term ``weights``: positive for pages that the person stays on, negative for pages that the person rejects.

    Relevance feedback (J. Rocchio: Relevance Feedback in Information Retrieval, 1971): the sum of the page vectors, each
    multiplied by the worth of its page.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.weights: dict[str, float] = dict(weights or {})

    def learn(self, vector: Vector, worth: float) -> None:
        """Add a page with this ``worth``: 1 for 15 seconds of reading, negative for a rejected page."""
        for term, weight in heaviest(vector, TERMS_OF_A_PAGE).items():
            self.weights[term] = self.weights.get(term, 0.0) + worth * weight
        if len(self.weights) > 2 * MOST:
            self.weights = heaviest(self.weights, MOST)

    def fade(self, seconds: float) -> None:
        """Decay all weights for the ``seconds`` that have passed since the last call of ``learn``."""
        if seconds > 0:
            share = 0.5 ** (seconds / HALF_LIFE)
            self.weights = {term: weight * share for term, weight in self.weights.items()}

    def likeness(self, vector: Vector) -> float:
        """The cosine similarity to a page vector, -1 to 1."""
        product = dot(self.weights, vector)
        return product / sqrt(squared_norm(self.weights) * squared_norm(vector)) if product else 0.0

    def shared(self, vector: Vector, n: int = 3) -> list[str]:
        """The ``n`` terms that contribute most to the likeness of a page, the most important first."""
        products = {term: weight * self.weights.get(term, 0.0) for term, weight in vector.items()}
        ranked = sorted(products.items(), key=lambda item: (-item[1], item[0]))
        return [term for term, product in ranked[:n] if product > 0]


def spellings(text: str, counts: Mapping[str, int], analyzer: Analyzer) -> dict[str, str]:
    """The most frequent spelling of each of the most frequent terms."""
    wanted = {term for term, _ in Counter(counts).most_common(_SPELLED)}
    seen: dict[str, Counter[str]] = {}
    for token in islice(analyzer.tokenize(text), _TOKENS):
        term = analyzer.term(token)
        if term in wanted:
            seen.setdefault(term, Counter())[token] += 1
    return {term: spelled.most_common(1)[0][0] for term, spelled in seen.items()}


def terms_of(html: str, url: str, reader: Reader) -> tuple[Mapping[str, int], dict[str, str]]:
    """The term counts of the main content (the whole page if it is too short), and the usual spelling of frequent terms."""
    page = reader.read(url, html.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")
    text = page.text_main()
    counts: Mapping[str, int] = Counter(reader.analyzer.terms(text))
    if sum(counts.values()) < _LEAST:
        text, counts = page.text, page.counts
    return counts, spellings(text, counts, reader.analyzer)
