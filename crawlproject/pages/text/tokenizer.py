"""Text to word tokens, before stop words and stems, and the chunks of text whose terms are remembered.

``Words`` serves most languages that put spaces between words, ``CharacterGroups`` those that do not. ``SpacyWords``
(``spacy_language.py``) serves the few whose apostrophes need a list of words.

A chunk is what stands between white space and ASCII punctuation. Nearly always it is one word that was seen before: each
distinct chunk is analysed once and remembered, so the tokenizer is not on the hot path, and may be slow. Where
``chunk_table.pyx`` was compiled, its ``ChunkTable`` does what ``ChunkTerms`` does: who changes one changes the other.
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
LETTER_APOSTROPHE = "\u02bc"  # Unicode's own for an apostrophe that is a letter
SOFT_HYPHEN = "\u00ad"  # where a word may be broken; a reader does not see it
MAX_CHUNK = 64  # characters of a chunk that is remembered
REMEMBERED = 100_000  # chunks
_MARK = "\0"  # marks a cut of the text
# UTF-8 keeps ASCII bytes for ASCII, so one table of 256 bytes cuts any text.
SEPARATORS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in APOSTROPHES + _MARK else ord(" ") for code in range(256)
)
Analyze = Callable[[str], Iterable[str]]

_JOINERS = f"{SOFT_HYPHEN}\u200d"  # inside words, though no letters; the second makes conjuncts, as in Sinhala
# Scripts written without spaces. A character is a syllable or a word: hiragana, Han; and Hangul, whose words are phrases.
_SYLLABLES = "\u3041-\u3096\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe"
_LETTERS = "\u0e01-\u0e4e\u0e81-\u0ecd\u0f40-\u0fbc\u1000-\u1049\u1780-\u17d3"  # Thai, Lao, Tibetan, Myanmar, Khmer
_LONG = "\u30fc"  # after a vowel of katakana; at the end of a word some write it, and some do not


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


class CharacterGroups:
    """Tokens are the overlapping groups of characters in each run of an unspaced script, and the ``Words`` between.

    The usual way to index text without a dictionary of its words is by pairs. Pairs of letters say little, and so do those of
    katakana, which spells borrowed words by a few endings: there four are a group. A run that is shorter is a token by itself.
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


class ChunkTerms:
    """The terms of each chunk as ``analyze`` gives them; ``most`` chunks are remembered, then all are forgotten."""

    def __init__(self, analyze: Analyze, most: int = REMEMBERED) -> None:
        self._terms_of = _Remembered(analyze, most)

    def between(
        self, text: str, cuts: Iterable[int], end_of_word: Callable[[str, int, int], int]
    ) -> tuple[list[str], dict[int, int]]:
        """The terms of ``text``, which has no NUL, and for each position in ``cuts`` the number of terms before it.

        Where a cut touches two characters that are not blank, ``end_of_word(text, start, cut)`` says where to cut the text
        from ``start`` on instead.
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
        """Chunks that are remembered."""
        return self._terms_of.chunks()


class _Remembered(dict[str, str | tuple[str, ...]]):
    """Chunk -> its term, empty when it has none; filled as chunks are asked for.

    The few chunks with several terms are kept apart, so that it is noticed when one of them is asked for: nearly always
    none is, and then what was looked up is the answer.
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
        else:  # a word that is its own stem is one string, which is one place of the memory less to look at
            self[intern(chunk)] = intern(terms[0]) if terms else ""


def _chunked(text: str) -> str:
    """``text`` with a blank for every separator."""
    return text.encode("utf-8", "replace").translate(SEPARATORS).decode("utf-8")
