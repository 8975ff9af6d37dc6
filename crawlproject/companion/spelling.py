"""How people write a term: the profile and the reasons show words, not stems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice

from crawlproject.companion.interests import TERMS_OF_A_PAGE
from crawlproject.pages.text.analyzer import Analyzer

_TOKENS = 50_000  # of a text that are looked at
_SPELLED = 3 * TERMS_OF_A_PAGE  # terms whose spelling is looked for


def spellings(text: str, counts: Mapping[str, int], analyzer: Analyzer) -> dict[str, str]:
    """The most frequent spelling of the most frequent terms."""
    wanted = {term for term, _ in Counter(counts).most_common(_SPELLED)}
    seen: dict[str, Counter[str]] = {}
    for token in islice(analyzer.tokenize(text), _TOKENS):
        term = analyzer.term(token)
        if term in wanted:
            seen.setdefault(term, Counter())[token] += 1
    return {term: spelled.most_common(1)[0][0] for term, spelled in seen.items()}
