"""Term selection: a few terms that distinguish one kind of page from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from math import log

from crawlproject.orderings.learning.naive_bayes import Counts


def distinctive_terms(documents: Iterable[Counts], corpus: Iterable[Counts], count: int) -> tuple[str, ...]:
    """The ``count`` terms with the highest TF-IDF in ``documents`` taken as one long document, best first.

    ``df`` is the number of documents of the ``corpus`` that hold a term, and the weight ``tf * ln((1 + n) / (1 + df))``.
    Ties are in alphabetical order; a term that occurs in all documents is left out.
    """
    frequencies: Counter[str] = Counter()
    for document in documents:
        frequencies.update(document)
    held = Counter(chain.from_iterable(texts := list(corpus)))
    weights = {term: tf * log((1 + len(texts)) / (1 + held[term])) for term, tf in frequencies.items()}
    best = sorted((term for term, weight in weights.items() if weight > 0), key=lambda term: (-weights[term], term))
    return tuple(best[:count])
