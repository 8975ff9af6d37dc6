"""The HTML that a browser shows, as terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from crawlproject.companion.spelling import spellings
from crawlproject.pages.reader import Reader

_LEAST = 20  # terms of a main content that is worth the name


def terms_of(html: str, url: str, reader: Reader) -> tuple[Mapping[str, int], dict[str, str]]:
    """The term counts of the main content, or of the whole page if it has none, and the usual spelling of frequent terms."""
    page = reader.read(url, html.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")
    text = page.text_main()
    counts: Mapping[str, int] = Counter(reader.analyzer.terms(text))
    if sum(counts.values()) < _LEAST:
        text, counts = page.text, page.counts
    return counts, spellings(text, counts, reader.analyzer)
