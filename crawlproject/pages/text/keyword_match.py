"""Finds keywords, of one word or several, in terms and in URLs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Page


class KeywordMatcher:
    """Finds all ``keywords`` at once, each as a phrase of terms. A keyword of stop words only is never found."""

    def __init__(self, keywords: Iterable[str], analyzer: Analyzer) -> None:
        self._terms = {keyword: terms for keyword in keywords if (terms := tuple(analyzer.terms(keyword)))}
        self._words = {
            keyword: [word for word in keyword.lower().split() if analyzer.terms(word)] for keyword in self._terms
        }
        self._by_first: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for keyword, phrase in self._terms.items():
            self._by_first.setdefault(phrase[0], []).append((keyword, phrase))

    def occurrences(self, terms: Sequence[str], counts: Mapping[str, int] | None = None) -> Counter[str]:
        """Count how often the terms of each keyword occur consecutively in ``terms``. Passing their ``counts`` saves time."""
        counts = Counter(terms) if counts is None else counts
        found: Counter[str] = Counter()
        if any(all(map(counts.get, phrase)) for phrase in self._terms.values()):
            terms = tuple(terms)
            for place, term in enumerate(terms):
                for keyword, phrase in self._by_first.get(term, ()):
                    if terms[place : place + len(phrase)] == phrase:
                        found[keyword] += 1
        return found

    def in_url(self, url: str) -> bool:
        """Whether all words of some keyword are substrings of ``url``, as in paper 002 Figure 4."""
        spelling = url.lower()
        return any(words and all(word in spelling for word in words) for words in self._words.values())


class HotPages:
    """Whether a page is hot (paper 002 section 7): a keyword is in its title, or ``occurrences`` times in its body."""

    def __init__(self, matcher: KeywordMatcher, analyzer: Analyzer, occurrences: int = 10) -> None:
        self._matcher = matcher
        self._analyzer = analyzer
        self._occurrences = occurrences

    def __call__(self, page: Page) -> bool:
        if self._matcher.occurrences(self._analyzer.terms(page.title)):
            return True
        found = self._matcher.occurrences(page.terms, page.counts)
        return any(times >= self._occurrences for times in found.values())
