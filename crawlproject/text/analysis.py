"""Text to terms: tokens, minus stop words, stemmed (paper 000 section 2.4, paper 003 section 3).

Text is first cut at white space and ASCII punctuation, which is cheap. What stands between, a chunk, is nearly always
one word and nearly always a known one: each distinct chunk is tokenised and stemmed once and remembered. So the
tokenizer is not on the hot path, and may be slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from crawlproject.text.languages import stemmer, stop_words, tokenizer
from crawlproject.text.tokens import APOSTROPHES, Tokenizer

MAX_TERM = 40
MAX_DIGITS = 4
MAX_CHUNK = 64
CACHE_SIZE = 100_000

# A chunk by itself that stands for a cut of the text.
_MARK = "\0"
# UTF-8 keeps ASCII bytes for ASCII, so one table of 256 bytes cuts any text.
_SEPARATORS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in APOSTROPHES + _MARK else ord(" ") for code in range(256)
)


class Analyzer:
    """Turns text of one language into terms. Not thread-safe: it remembers chunks, ``CACHE_SIZE`` at most.

    ``language`` is a language code of spaCy ("en", "de", "zh"; a region after "-" is ignored). ``tokenize`` replaces
    the tokenizer of the language. ``BadInput`` for a language that is unknown.

    A token is lower-cased; of words joined by apostrophes the longest that is no stop word stands for the token
    ("l'homme" is "homme", "crawler's" is "crawler"). Numbers of more than ``MAX_DIGITS`` digits are left out as
    identifiers; years and versions stay. A token is cut after ``MAX_TERM`` characters.
    """

    def __init__(self, language: str = "en", *, tokenize: Tokenizer | None = None) -> None:
        self.language = language.lower().replace("_", "-").split("-")[0]
        self.stop_words = stop_words(self.language)
        self.tokenize = tokenize or tokenizer(self.language)
        self._stem = stemmer(self.language)
        self._terms_of = _Remembered(self._analyze)

    def terms(self, text: str) -> list[str]:
        """The stems of ``text`` in order, stop words left out."""
        return self._marked_terms(text.replace(_MARK, " "))

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
        terms, terms_before = _without_marks(self._marked_terms(f" {_MARK} ".join(pieces)), len(pieces) - 1)
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

    def _marked_terms(self, text: str) -> list[str]:
        chunks = text.encode("utf-8", "replace").translate(_SEPARATORS).decode("utf-8").split()
        return list(chain.from_iterable(map(self._terms_of.__getitem__, chunks)))

    def _analyze(self, chunk: str) -> tuple[str, ...]:
        """The terms of a chunk, the slow way."""
        if chunk == _MARK:
            return (_MARK,)
        return tuple(filter(None, map(self._term, self.tokenize(chunk))))

    def _term(self, token: str) -> str:
        """The term of a token; empty for one that is none."""
        word = token[:MAX_TERM].lower().replace("’", "'")
        if "'" in word:
            word = self._longest_part(word.strip("'"))
        if word in self.stop_words or (len(word) > MAX_DIGITS and word.isdecimal()):
            return ""
        return self._stem(word)

    def _longest_part(self, word: str) -> str:
        if word in self.stop_words or word.endswith("n't"):  # spaCy lists such English verbs as "do" and "n't"
            return ""
        return max((part for part in word.split("'") if not self._is_clitic(part)), key=len, default="")

    def _is_clitic(self, part: str) -> bool:
        """Whether spaCy lists it: by itself, or leaning on the next or the last word ("l'", "'re")."""
        return not self.stop_words.isdisjoint((part, f"{part}'", f"'{part}"))


class _Remembered(dict[str, tuple[str, ...]]):
    """Chunk -> its terms, filled as chunks are asked for. Forgets everything when it is full."""

    def __init__(self, analyze: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._analyze = analyze

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        terms = self._analyze(chunk)
        if len(chunk) <= MAX_CHUNK:
            if len(self) >= CACHE_SIZE:
                self.clear()
            self[chunk] = terms
        return terms


def _without_marks(marked: list[str], marks: int) -> tuple[list[str], list[int]]:
    """The terms without the marks; and how many stand before each mark, a 0 for the beginning of the text first."""
    terms_before = [0]
    place = -1
    for number in range(marks):
        place = marked.index(_MARK, place + 1)
        terms_before.append(place - number)
    return list(filter(_MARK.__ne__, marked)), terms_before
