"""Finding a keyword, which may be several words, in terms and in URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from crawlproject.pages.text.analyzer import Analyzer


class Phrase:
    """One keyword. ``terms`` are its stems in order, ``words`` the words behind them, in lower case.

    Stop words count for neither; a phrase of stop words only has no terms and is found nowhere.
    """

    def __init__(self, keyword: str, analyzer: Analyzer) -> None:
        self.terms = tuple(analyzer.terms(keyword))
        self.words = tuple(word for word in keyword.lower().split() if analyzer.terms(word))

    def occurrences(self, terms: Sequence[str], counts: Mapping[str, int] | None = None) -> int:
        """How often the terms of the phrase stand in ``terms``, one after the other; ``counts``, if there are any, save time."""
        size = len(self.terms)
        if counts is not None:
            if not all(counts.get(term) for term in self.terms):
                return 0
            if size == 1:
                return counts[self.terms[0]]
        first = self.terms[0] if self.terms else None
        return sum(
            term == first and tuple(terms[place : place + size]) == self.terms for place, term in enumerate(terms)
        )

    def in_url(self, url: str) -> bool:
        """Whether each word of the phrase is part of the spelling of ``url``, as in paper 002 Figure 4."""
        spelling = url.lower()
        return bool(self.words) and all(word in spelling for word in self.words)


def phrases(keywords: Iterable[str], analyzer: Analyzer) -> tuple[Phrase, ...]:
    """The keywords that are more than stop words."""
    return tuple(phrase for keyword in keywords if (phrase := Phrase(keyword, analyzer)).terms)
