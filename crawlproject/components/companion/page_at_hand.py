"""The HTML that a browser shows, as terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice

from crawlproject.companion.interests import TERMS_OF_A_PAGE
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer

_LEAST = 20  # terms of a main content that is worth the name
_TOKENS = 50_000  # that are looked at for the spelling of terms
_SPELLED = 3 * TERMS_OF_A_PAGE  # terms whose spelling is looked for


def terms_of(html: str, url: str, reader: Reader) -> tuple[Mapping[str, int], dict[str, str]]:
    """The term counts of the main content, or of the whole page if it has none, and the usual spelling of frequent terms."""
    page = reader.read(url, html.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")
    text = page.text_main()
    counts: Mapping[str, int] = Counter(reader.analyzer.terms(text))
    if sum(counts.values()) < _LEAST:
        text, counts = page.text, page.counts
    return counts, spellings(text, counts, reader.analyzer)


def spellings(text: str, counts: Mapping[str, int], analyzer: Analyzer) -> dict[str, str]:
    """The most frequent spelling of the most frequent terms."""
    wanted = {term for term, _ in Counter(counts).most_common(_SPELLED)}
    seen: dict[str, Counter[str]] = {}
    for token in islice(analyzer.tokenize(text), _TOKENS):
        term = analyzer.term(token)
        if term in wanted:
            seen.setdefault(term, Counter())[token] += 1
    return {term: spelled.most_common(1)[0][0] for term, spelled in seen.items()}
