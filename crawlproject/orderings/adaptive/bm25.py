"""What a page is worth to a crawl that learns: BM25 of the keywords, in units of a good page.

On the development webs this ranks target pages above others far better than the cosine of 000 equation 1 does (average
precision 0.62 against 0.42 on one, 0.68 against 0.50 on the other): it knows which keywords are rare, and that a word's
tenth occurrence says little.
"""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.orderings.adaptive.document_frequencies import TermStatistics

K1 = 1.2  # how soon further occurrences count no more
B = 0.5  # how much longer pages need more of them
GOOD = 0.3  # share of the highest possible score that is worth 1
CONTRAST = 1.5  # above 1, halfway pages count less than half


class Bm25Worth:
    """The worth of pages, 0 to 1, for keywords given as term -> number in the table of terms."""

    def __init__(self, table: TermStatistics, keywords: Mapping[str, int]) -> None:
        self._table = table
        self._keywords = keywords

    def __call__(self, counts: Mapping[str, int], length: int) -> float:
        """``min(1, bm25 / (GOOD * highest))^CONTRAST``; idf and mean length are those of the pages observed so far."""
        norm = K1 * (1 - B + B * length / (self._table.mean_length or 1.0))
        score = highest = 0.0
        for term, number in self._keywords.items():
            idf = self._table.idf(number)
            highest += idf
            tf = counts.get(term, 0)
            score += idf * tf / (tf + norm) if tf else 0.0
        return float(min(1.0, score / highest / GOOD) ** CONTRAST)
