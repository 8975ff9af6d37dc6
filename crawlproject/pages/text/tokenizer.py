"""Cuts text into word tokens, before stop words and stemming, and caches the terms of chunks of text.

``Words`` serves most languages that put spaces between words, ``CharacterGroups`` those that do not. ``SpacyWords``
(``spacy_language.py``) serves the few in which apostrophes need a word list.

A chunk is a run of text without white space and ASCII punctuation. Nearly always it is one word that was seen before: each
distinct chunk is analysed once and cached, so the tokenizer is not on the hot path and may be slow. Where
``chunk_table.pyx`` was compiled, its ``ChunkTable`` replaces ``ChunkTerms``: change both together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, pairwise
from sys import intern
from typing import Any, Protocol

APOSTROPHES = "'’"
LETTER_APOSTROPHE = "\u02bc"  # the Unicode character for an apostrophe that is a letter
SOFT_HYPHEN = "\u00ad"  # where a word may be broken; invisible to a reader
MAX_CHUNK = 64  # characters of a chunk that is cached
REMEMBERED = 100_000  # chunks
_MARK = "\0"  # marks a cut of the text
# In UTF-8 an ASCII byte is always an ASCII character, so one table of 256 bytes cuts any text.
SEPARATORS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in APOSTROPHES + _MARK else ord(" ") for code in range(256)
)
Analyze = Callable[[str], Iterable[str]]

_JOINERS = f"{SOFT_HYPHEN}\u200d"  # occur inside words, but are no letters; the second makes conjuncts, as in Sinhala
# Unspaced scripts in which a character is a syllable or a word: hiragana, Han; and Hangul, whose words are phrases.
_SYLLABLES = "\u3041-\u3096\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe"
_LETTERS = "\u0e01-\u0e4e\u0e81-\u0ecd\u0f40-\u0fbc\u1000-\u1049\u1780-\u17d3"  # Thai, Lao, Tibetan, Myanmar, Khmer
_LONG = "\u30fc"  # the katakana mark of a long vowel; optional at the end of a word


class Tokenizer(Protocol):
    """Cuts text into tokens. White space always separates tokens, and so does ASCII punctuation except the apostrophe."""

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of ``text`` in order, with their case."""
        ...

    def boundary(self, text: str, position: int) -> int:
        """Return the first position from ``position`` on where ``text`` can be cut without splitting a word."""
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


class CharacterGroups:
    """Tokens are the overlapping character n-grams of each run of an unspaced script, and the ``Words`` between the runs.

    Text without a dictionary of its words is usually indexed by bigrams. Bigrams of letters discriminate little, and so do
    those of katakana, which spells borrowed words with a few endings: these scripts use 4-grams. A shorter run is one token.
    """

    def __init__(self) -> None:
        self._words = Words()
        self._runs = re.compile(
            f"([{_SYLLABLES}]+)|([{_KATAKANA}]+|[{_LETTERS}]+)|[^{_SYLLABLES}{_KATAKANA}{_LETTERS}]+"
        )
        self._is_unspaced = re.compile(f"[{_SYLLABLES}{_KATAKANA}{_LETTERS}]").match

    def __call__(self, text: str) -> list[str]:
        tokens: list[str] = []
        for found in self._runs.finditer(text):
            kind, run = found.lastindex, found[0]
            if kind is None:
                tokens += self._words(run)
            elif kind == 1:
                tokens += map("".join, pairwise(run)) if len(run) > 1 else [run]
            else:
                run = run.rstrip(_LONG) or run
                tokens += [run[start : start + 4] for start in range(max(1, len(run) - 3))]
        return tokens

    def boundary(self, text: str, position: int) -> int:
        return position if self._is_unspaced(text, position) else self._words.boundary(text, position)


@cache
def _word_characters() -> str:
    r"""Return the letters, digits, combining marks and joiners of Unicode, as the inside of a character class.

    Python's ``\w`` lacks the marks with which Indic scripts spell vowels, includes the underscore, which joins words
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


class ChunkTerms:
    """A cache of the terms that ``analyze`` returns for each chunk. At ``most`` chunks the cache is cleared."""

    def __init__(self, analyze: Analyze, most: int = REMEMBERED) -> None:
        self._terms_of = _Remembered(analyze, most)

    def between(
        self, text: str, cuts: Iterable[int], end_of_word: Callable[[str, int, int], int]
    ) -> tuple[list[str], dict[int, int]]:
        """Return the terms of ``text`` (without NUL), and for each position in ``cuts`` the number of terms before it.

        For a cut between two characters that are not white space, ``end_of_word(text, start, cut)`` returns where to cut the
        text from ``start`` on instead.
        """
        pieces: list[str] = []
        pieces_before: dict[int, int] = {}
        done = 0
        for cut in sorted(cuts):
            if cut > done and not text[done:cut].isspace():
                blank = text[cut - 1].isspace() or text[cut : cut + 1].isspace()
                end = cut if blank else end_of_word(text, done, cut)
                pieces.append(text[done:end])
                done = end
            pieces_before[cut] = len(pieces)
        pieces.append(text[done:])
        terms: list[str] = []
        terms_before = [0]
        for piece in _chunked(_MARK.join(pieces)).split(_MARK):
            self._terms_of.append(terms, piece.split())
            terms_before.append(len(terms))
        return terms, {cut: terms_before[number] for cut, number in pieces_before.items()}

    def __len__(self) -> int:
        """The number of cached chunks."""
        return self._terms_of.chunks()


class _Remembered(dict[str, str | tuple[str, ...]]):
    """Maps a chunk to its term, empty if it has none; filled on demand.

    The few chunks with several terms are kept apart, so that looking up one of them calls ``__missing__`` and is noticed.
    Nearly always there is none in a text, and the looked-up values are the result.
    """

    def __init__(self, analyze: Analyze, most: int) -> None:
        super().__init__()
        self._analyze = analyze
        self._most = most
        self._several: dict[str, tuple[str, ...]] = {}
        self._met_several = False

    def append(self, terms: list[Any], chunks: Iterable[str]) -> None:
        """Append the terms of all the chunks, in order."""
        before = len(terms)
        terms.extend(filter(None, map(self.__getitem__, chunks)))
        if self._met_several:
            self._met_several = False
            found = [(term,) if isinstance(term, str) else term for term in terms[before:]]
            terms[before:] = chain.from_iterable(found)

    def chunks(self) -> int:
        return len(self) + len(self._several)

    def __missing__(self, chunk: str) -> str | tuple[str, ...]:
        terms = self._several.get(chunk)
        if terms is None:
            terms = tuple(self._analyze(chunk))
            self._remember(chunk, terms)
        if len(terms) > 1:
            self._met_several = True
            return terms
        return terms[0] if terms else ""

    def _remember(self, chunk: str, terms: tuple[str, ...]) -> None:
        if len(chunk) > MAX_CHUNK:
            return
        if self.chunks() >= self._most:
            self.clear()
            self._several.clear()
        if len(terms) > 1:
            self._several[chunk] = tuple(map(intern, terms))
        else:  # interned, a word and its identical stem are one string: one memory access less
            self[intern(chunk)] = intern(terms[0]) if terms else ""


def _chunked(text: str) -> str:
    """Replace every separator in ``text`` by a blank."""
    return text.encode("utf-8", "replace").translate(SEPARATORS).decode("utf-8")
