"""Text to terms: tokens, minus stop words, stemmed (paper 000 section 2.4, paper 003 section 3).

Text is first cut at white space and ASCII punctuation, which is cheap. What is left between, a chunk, is nearly always
one word that was seen before: each distinct chunk is tokenised and stemmed once and remembered. So the tokenizer is not
on the hot path, and may be slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from sys import intern
from typing import Any

from crawlproject.options import TermForm
from crawlproject.pages.text.languages import stop_words, term_form, tokenizer
from crawlproject.pages.text.tokenizer import APOSTROPHES, SOFT_HYPHEN, Tokenizer

MAX_TERM = 40
MAX_DIGITS = 4
MAX_CHUNK = 64
CACHE_SIZE = 100_000

# Marks a cut of the text.
_MARK = "\0"
# UTF-8 keeps ASCII bytes for ASCII, so one table of 256 bytes cuts any text.
_SEPARATORS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in APOSTROPHES + _MARK else ord(" ") for code in range(256)
)


class Analyzer:
    """Turns text of one language into terms. Not thread-safe: it remembers chunks, ``CACHE_SIZE`` at most.

    ``language`` is a language code of spaCy ("en", "de", "zh"; a region after "-" is ignored). ``form`` is what becomes
    of a word: its stem, its lemma, or the word itself. ``tokenize`` replaces the tokenizer of the language. Raises
    ``BadInput`` for a language that is unknown, and ``BadSetting`` for lemmas that are not installed.

    A token is lower-cased; of words joined by apostrophes the longest that is no stop word represents the token
    ("l'homme" is "homme", "crawler's" is "crawler"). Numbers of more than ``MAX_DIGITS`` digits are left out as
    identifiers; years and versions stay. A token is cut after ``MAX_TERM`` characters.
    """

    def __init__(self, language: str = "en", form: TermForm = "stem", *, tokenize: Tokenizer | None = None) -> None:
        self.language = language.lower().replace("_", "-").split("-")[0]
        self.stop_words = stop_words(self.language)
        self.tokenize = tokenize or tokenizer(self.language)
        self._form = term_form(self.language, form)
        self._terms_of = _Remembered(self._analyze)

    def terms(self, text: str) -> list[str]:
        """The terms of ``text`` in order, stop words left out."""
        terms: list[str] = []
        self._terms_of.append(terms, _chunked(text.replace(_MARK, " ")).split())
        return terms

    def term(self, token: str) -> str:
        """The term of a token; empty for one that is none."""
        word = token.replace(SOFT_HYPHEN, "")[:MAX_TERM].lower().replace("’", "'")
        if "'" in word:
            word = self._longest_part(word.strip("'"))
        if word in self.stop_words or (len(word) > MAX_DIGITS and word.isdecimal()):
            return ""
        return self._form(word)

    def terms_between(self, text: str, cuts: Iterable[int]) -> tuple[list[str], dict[int, int]]:
        """The terms of ``text``, and for each position in ``cuts`` the number of terms before it.

        A word that a cut would split belongs to the side where it begins.
        """
        text = text.replace(_MARK, " ")
        pieces: list[str] = []
        pieces_before: dict[int, int] = {}
        done = 0
        for cut in sorted(cuts):
            if cut > done and not text[done:cut].isspace():
                end = self._end_of_word(text, done, cut)
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

    def _end_of_word(self, text: str, start: int, cut: int) -> int:
        """The first place from ``cut`` on where a cut changes no term of the text from ``start`` on."""
        if text[cut - 1].isspace() or text[cut : cut + 1].isspace():
            return cut
        end = self.tokenize.boundary(text, cut)
        if end > cut and text[cut - 1] in APOSTROPHES:
            # The "homme" of "l'homme" begins a word of its own, the "roll" of "rock'n'roll" does not.
            head, rest = text[max(start, cut - MAX_CHUNK) : cut], text[cut:end]
            if self.terms(head) + self.terms(rest) == self.terms(head + rest):
                return cut
        return end

    def _analyze(self, chunk: str) -> tuple[str, ...]:
        """The terms of a chunk, the slow way."""
        return tuple(filter(None, map(self.term, self.tokenize(chunk))))

    def _longest_part(self, word: str) -> str:
        if word in self.stop_words or word.endswith("n't"):  # spaCy lists such English verbs as "do" and "n't"
            return ""
        return max((part for part in word.split("'") if not self._is_clitic(part)), key=len, default="")

    def _is_clitic(self, part: str) -> bool:
        """Whether spaCy lists it: by itself, or leaning on the next or the last word ("l'", "'re")."""
        return not self.stop_words.isdisjoint((part, f"{part}'", f"'{part}"))


class _Remembered(dict[str, str | tuple[str, ...]]):
    """Chunk -> its term, empty when it has none; filled as chunks are asked for. Forgets everything when it is full.

    The few chunks with several terms are kept apart, so that it is noticed when one of them is asked for: nearly always
    none is, and then what was looked up is the answer.
    """

    def __init__(self, analyze: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._analyze = analyze
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

    def __missing__(self, chunk: str) -> str | tuple[str, ...]:
        terms = self._several.get(chunk)
        if terms is None:
            terms = self._analyze(chunk)
            self._remember(chunk, terms)
        if len(terms) > 1:
            self._met_several = True
            return terms
        return terms[0] if terms else ""

    def _remember(self, chunk: str, terms: tuple[str, ...]) -> None:
        if len(chunk) > MAX_CHUNK:
            return
        if len(self) + len(self._several) >= CACHE_SIZE:
            self.clear()
            self._several.clear()
        if len(terms) > 1:
            self._several[chunk] = tuple(map(intern, terms))
        else:  # a word that is its own stem is one string, which is one place of the memory less to look at
            self[intern(chunk)] = intern(terms[0]) if terms else ""


def _chunked(text: str) -> str:
    """``text`` with a blank for every separator."""
    return text.encode("utf-8", "replace").translate(_SEPARATORS).decode("utf-8")
