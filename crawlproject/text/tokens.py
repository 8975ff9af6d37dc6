"""Text to word tokens, before stop words and stems.

spaCy's tokenizer takes about 8 microseconds a token, sixty times what is used here. A tokenizer is any callable from text to
a list of tokens; ``Words`` serves languages that put spaces between words, ``Bigrams`` those that do not.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Protocol

_APOSTROPHES = "'’"
# One run of a script written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han, Hangul.
_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u0f40-\u0fbc\u1000-\u1049\u1780-\u17d3\u3041-\u3096\u30a1-\u30fe"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)


class Tokenizer(Protocol):
    """Cuts text into tokens."""

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
        self._find = re.compile(f"[{letters}{_APOSTROPHES}]+").findall
        # The rest of a word that began before: "s" of "crawlers" linked as "crawler", and its "'s"; but a link to
        # "homme" in "l'homme" begins a word of its own.
        self._rest = re.compile(f"(?<=[{letters}])(?:[{_APOSTROPHES}]?[{letters}]+)+").match

    def __call__(self, text: str) -> list[str]:
        if text.isascii():  # twice as fast, and the same tokens
            return text.translate(_ASCII_SEPARATORS).split()
        return self._find(text)

    def boundary(self, text: str, position: int) -> int:
        rest = self._rest(text, position)
        return position if rest is None else rest.end()


class Bigrams:
    """Tokens are the overlapping pairs of characters in each run of an unspaced script, and the ``Words`` between.

    The usual way to index text without a dictionary of its words; a run of one character is a token by itself.
    """

    def __init__(self) -> None:
        self._words = Words()
        self._runs = re.compile(f"([{_UNSPACED}]+)").split

    def __call__(self, text: str) -> list[str]:
        tokens: list[str] = []
        for number, piece in enumerate(self._runs(text)):
            if number % 2 == 0:
                tokens += self._words(piece)
            elif len(piece) == 1:
                tokens.append(piece)
            else:
                tokens += map("".join, zip(piece, piece[1:], strict=False))
        return tokens

    def boundary(self, text: str, position: int) -> int:
        if position < len(text) and self._runs(text[position])[0] == "":
            return position
        return self._words.boundary(text, position)


@cache
def _word_characters() -> str:
    """Letters, digits and combining marks of Unicode, as the inside of a character class.

    Python's ``\\w`` is slower (it asks the Unicode table for each character), leaves out the marks that Indic scripts spell vowels
    with, and takes the underscore, which joins words in source code.
    """
    characters = [chr(code) for code in range(0x10000) if _is_word_character(chr(code))]
    ranges: list[list[str]] = []
    for character in characters:
        if ranges and ord(character) == ord(ranges[-1][1]) + 1:
            ranges[-1][1] = character
        else:
            ranges.append([character, character])
    return (
        "".join(f"{first}-{last}" for first, last in ranges) + f"\U00010000-\U0001efff\U00020000-{chr(sys.maxunicode)}"
    )


def _is_word_character(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


_ASCII_SEPARATORS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in _APOSTROPHES)}
