"""Which terms to look at: few that tell a kind of page from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from math import log

from crawlproject.orderings.learning.naive_bayes import Counts


def telling_terms(documents: Iterable[Counts], corpus: Iterable[Counts], count: int) -> tuple[str, ...]:
    """The ``count`` terms with the highest TF-IDF in ``documents`` taken as one long document, best first.

    ``df`` is the number of documents of the ``corpus`` that hold a term, and the weight ``tf * ln((1 + n) / (1 + df))``.
    Terms of equal weight stand in alphabetical order; a term that all documents hold tells nothing and is left out.
    """
    frequencies: Counter[str] = Counter()
    for document in documents:
        frequencies.update(document)
    held = Counter(chain.from_iterable(texts := list(corpus)))
    weights = {term: tf * log((1 + len(texts)) / (1 + held[term])) for term, tf in frequencies.items()}
    best = sorted((term for term, weight in weights.items() if weight > 0), key=lambda term: (-weights[term], term))
    return tuple(best[:count])
