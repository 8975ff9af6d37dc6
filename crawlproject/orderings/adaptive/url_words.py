"""The words of URLs, as terms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from urllib.parse import unquote

import numpy as np

from crawlproject.orderings.learning.term_ids import Numbers, TermIds
from crawlproject.pages.text.analyzer import Analyzer

try:
    from crawlproject.orderings.adaptive import url_numbers
except Exception:  # not built, or in a zip file
    url_numbers = None  # type: ignore[assignment]

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

    def numbers(self, urls: list[str], last: int, ids: TermIds) -> Numbers:
        """The numbers of the ``last`` terms of each URL, 0 where it has fewer: (URLs, ``last``)."""
        numbers = np.zeros((len(urls), last), np.int32)
        if url_numbers is not None:
            url_numbers.fill(numbers, urls, self, self._folders, self._known, ids.numbers, ids.number)
            return numbers
        found = [self.of(url, last) for url in urls]
        numbers[np.arange(last) < np.array(list(map(len, found)), np.int64)[:, None]] = ids.of(chain(*found))
        return numbers

    def of(self, url: str, last: int) -> list[str]:
        """The ``last`` terms of a canonical URL: letters only, stop words left out.

        Percent-encoding is decoded first, so that ``%E7%8F%8A`` is one word.
        """
        return self.all_of(url)[-last:]

    def all_of(self, url: str) -> list[str]:
        """All terms of a canonical URL."""
        text = url.partition("//")[2]
        if "%" in text:
            return self._terms(_WORD_OF_ANY_SCRIPT.findall(unquote(text).lower()))
        folder, _, name = text.rpartition("/")
        return self.of_folder(folder) + self._terms(_WORD.findall(name.lower()))

    def of_folder(self, folder: str) -> list[str]:
        """The terms before the last slash."""
        terms = self._folders.get(folder)
        if terms is None:
            if len(self._folders) >= _FOLDERS:
                self._folders.clear()
            terms = self._folders[folder] = self._terms(_WORD.findall(folder.lower()))
        return terms

    def of_word(self, word: str) -> list[str]:
        """The terms of a word."""
        terms = self._known.get(word)
        if terms is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            terms = self._known[word] = self._analyzer.terms(word)
        return terms

    def _terms(self, words: Iterable[str]) -> list[str]:
        """The terms of each word in turn."""
        return list(chain.from_iterable(map(self.of_word, words)))
