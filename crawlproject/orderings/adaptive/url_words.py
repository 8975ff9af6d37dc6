"""The words of URLs, as terms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from crawlproject.pages.text.analyzer import Analyzer

_WORD = re.compile(r"[a-z]+")
_WORD_OF_ANY_SCRIPT = re.compile(r"[a-z\x80-\U0010ffff]+")
_REMEMBERED = 100_000  # words
_FOLDERS = 500


class UrlWords:
    """Splits URLs into the stems of their words, with caches, since URLs repeat words and folders."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._known: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}  # the same for all words before the last slash

    def of(self, url: str, last: int) -> list[str]:
        """The ``last`` terms of a canonical URL: letters only, stop words left out.

        Percent-encoding is decoded first, so that ``%E7%8F%8A`` is one word.
        """
        text = url.partition("//")[2]
        if "%" in text:
            return self._terms(_WORD_OF_ANY_SCRIPT.findall(unquote(text).lower()))[-last:]
        folder, _, name = text.rpartition("/")
        terms = self._folders.get(folder)
        if terms is None:
            if len(self._folders) >= _FOLDERS:
                self._folders.clear()
            terms = self._folders[folder] = self._terms(_WORD.findall(folder.lower()))
        return (terms + self._terms(_WORD.findall(name.lower())))[-last:]

    def _terms(self, words: Iterable[str]) -> list[str]:
        """The terms of each word in turn."""
        found: list[str] = []
        for word in words:
            terms = self._known.get(word)
            if terms is None:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                terms = self._known[word] = self._analyzer.terms(word)
            found += terms
        return found
