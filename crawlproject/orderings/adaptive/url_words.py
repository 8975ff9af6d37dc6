"""The words of URLs, as terms."""

from __future__ import annotations

import re
from urllib.parse import unquote

from crawlproject.pages.text.analyzer import Analyzer

_WORD = re.compile(r"[a-z]+")
_WORD_OF_ANY_SCRIPT = re.compile(r"[a-z\x80-\U0010ffff]+")
_REMEMBERED = 100_000


class UrlWords:
    """Splits URLs into the stems of their words, with a cache, since URLs repeat words."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._known: dict[str, list[str]] = {}

    def of(self, url: str, last: int) -> list[str]:
        """The ``last`` terms of a canonical URL: letters only, stop words left out.

        Percent-encoding is decoded first, so that ``%E7%8F%8A`` is one word.
        """
        found: list[str] = []
        text = url.partition("//")[2]
        words = _WORD_OF_ANY_SCRIPT.findall(unquote(text).lower()) if "%" in text else _WORD.findall(text.lower())
        for word in words:
            terms = self._known.get(word)
            if terms is None:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                terms = self._known[word] = self._analyzer.terms(word)
            found += terms
        return found[-last:]
