"""Terms and the words they come from: items are compared by terms, and a search engine is asked for words."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from crawlproject.pages.text.analyzer import Analyzer

MAX_TERMS = 200_000

_WORD = re.compile(r"[^\W\d_]{3,30}")


class SurfaceWords:
    """The most frequent word of each term, as pages have it. Knows at most ``MAX_TERMS`` terms, the first ones."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._words: dict[str, Counter[str]] = {}
        self._terms: dict[str, str] = {}

    def learn(self, text: str) -> None:
        """Learn the words of a text."""
        for word, count in Counter(_WORD.findall(text.lower())).items():
            term = self._terms.get(word)
            if term is None:
                if len(self._terms) >= MAX_TERMS:
                    continue
                found = self._analyzer.terms(word)
                term = self._terms[word] = found[0] if len(found) == 1 else ""
            if term:
                self._words.setdefault(term, Counter())[word] += count

    def word(self, term: str) -> str:
        """What to ask for; empty for a term that no page spelled out, or that is no word."""
        found = self._words.get(term)
        return min(found, key=lambda word: (-found[word], word)) if found else ""


def nonsense(seed: str) -> str:
    """A word that nobody uses: twelve letters, always the same for one ``seed``."""
    digits = hashlib.md5(seed.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]
    return digits.translate(str.maketrans("0123456789abcdef", "qxzvkjwhfgpbdtmr"))
