"""Text to word tokens, before stop words and stems.

``Words`` serves most languages that put spaces between words, ``Bigrams`` those that do not. ``SpacyWords``
(``spacy_language.py``) serves the few whose apostrophes need a list of words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import Protocol

APOSTROPHES = "'’"
LETTER_APOSTROPHE = "\u02bc"  # Unicode's own for an apostrophe that is a letter
SOFT_HYPHEN = "\u00ad"  # where a word may be broken; a reader does not see it
_JOINERS = f"{SOFT_HYPHEN}\u200d"  # inside words, though no letters; the second makes conjuncts, as in Sinhala

# Scripts written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han; and Hangul, whose words are phrases.
_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u0f40-\u0fbc\u1000-\u1049\u1780-\u17d3\u3041-\u3096\u30a1-\u30fe"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)


class Tokenizer(Protocol):
    """Cuts text into tokens. White space always separates tokens, and so does ASCII punctuation but the apostrophe."""

    def __call__(self, text: str) -> list[str]:
        """The tokens of ``text`` in order, case kept."""
        ...

    def boundary(self, text: str, position: int) -> int:
        """The first position from ``position`` on where ``text`` can be cut without cutting a word."""
        ...


class Words:
    """Tokens are runs of letters, digits, combining marks and apostrophes."""

    def __init__(self) -> None:
        letters = _word_characters()
        self._find = re.compile(f"[{letters}{APOSTROPHES}]+").findall
        self._rest = re.compile(f"(?<=[{letters}{APOSTROPHES}])[{letters}{APOSTROPHES}]+").match

    def __call__(self, text: str) -> list[str]:
        return self._find(text)

    def boundary(self, text: str, position: int) -> int:
        rest = self._rest(text, position)
        return position if rest is None else rest.end()


class Bigrams:
    """Tokens are the overlapping pairs of characters in each run of an unspaced script, and the ``Words`` between.

    The usual way to index text without a dictionary of its words. A run of one character is a token by itself.
    """

    def __init__(self) -> None:
        self._words = Words()
        self._split = re.compile(f"([{_UNSPACED}]+)").split
        self._is_unspaced = re.compile(f"[{_UNSPACED}]").match

    def __call__(self, text: str) -> list[str]:
        tokens: list[str] = []
        for number, piece in enumerate(self._split(text)):
            if number % 2 == 0:
                tokens += self._words(piece)
            else:
                tokens += map("".join, pairwise(piece)) if len(piece) > 1 else [piece]
        return tokens

    def boundary(self, text: str, position: int) -> int:
        return position if self._is_unspaced(text, position) else self._words.boundary(text, position)


@cache
def _word_characters() -> str:
    r"""Letters, digits, combining marks and joiners of Unicode, as the inside of a character class.

    Python's ``\w`` leaves out the marks that Indic scripts spell vowels with, takes the underscore, which joins words
    in source code, and is slower than a fixed class.
    """
    ranges: list[tuple[int, int]] = [(0x10000, 0x1EFFF), (0x20000, 0x3FFFF)]
    first = None
    for code in range(0x10000):
        if _is_word_character(chr(code)):
            first = code if first is None else first
        elif first is not None:
            ranges.append((first, code - 1))
            first = None
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character in _JOINERS or unicodedata.category(character).startswith("M")
