"""Turns text into terms: tokens without stop words, stemmed (paper 000 section 2.4, paper 003 section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawlproject.options import TermForm
from crawlproject.pages.text.languages import stop_words, term_form, tokenizer
from crawlproject.pages.text.tokenizer import APOSTROPHES, MAX_CHUNK, REMEMBERED, SOFT_HYPHEN, ChunkTerms, Tokenizer

try:
    from crawlproject.pages.text.chunk_table import ChunkTable
except Exception:  # not built, or in a zip file
    ChunkTable = ChunkTerms  # type: ignore[misc, assignment]

MAX_TERM = 40
MAX_DIGITS = 4


class Analyzer:
    """Turns text of one language into terms. Not thread-safe, since it caches ``chunks``.

    ``language`` is a language code of spaCy ("en", "de", "zh"; a region after "-" is ignored). ``form`` is the term form
    of a word: its stem, its lemma, or the word itself. ``tokenize`` replaces the tokenizer of the language. Raises
    ``BadInput`` for an unknown language, and ``BadSetting`` for lemmas that are not installed.

    Tokens are lower-cased. Of words joined by apostrophes, the longest that is not a stop word represents the token
    ("l'homme" is "homme", "crawler's" is "crawler"). Numbers of more than ``MAX_DIGITS`` digits are left out as
    identifiers; years and versions stay. A token is cut after ``MAX_TERM`` characters.
    """

    def __init__(
        self,
        language: str = "en",
        form: TermForm = "stem",
        *,
        tokenize: Tokenizer | None = None,
        remembered: int = REMEMBERED,
    ) -> None:
        self.language = language.lower().replace("_", "-").split("-")[0]
        self.stop_words = stop_words(self.language)
        self.tokenize = tokenize or tokenizer(self.language)
        self._form = term_form(self.language, form)
        self.chunks = ChunkTable(self._analyze, remembered)

    def terms(self, text: str) -> list[str]:
        """Return the terms of ``text`` in order, without stop words."""
        return list(self.terms_between(text, ())[0])

    def term(self, token: str) -> str:
        """Return the term of a token; empty for a stop word or a long number."""
        word = token.replace(SOFT_HYPHEN, "")[:MAX_TERM].lower().replace("’", "'")
        if "'" in word:
            word = self._longest_part(word.strip("'"))
        if word in self.stop_words or (len(word) > MAX_DIGITS and word.isdecimal()):
            return ""
        return self._form(word)

    def terms_between(self, text: str, cuts: Iterable[int]) -> tuple[Sequence[str], dict[int, int]]:
        """Return the terms of ``text`` (a list, or ``Terms``), and for each position in ``cuts`` the number of terms before it.

        A word that a cut would split belongs to the side where it begins.
        """
        return self.chunks.between(text.replace("\0", " "), cuts, self._end_of_word)

    def _end_of_word(self, text: str, start: int, cut: int) -> int:
        """Return the first place from ``cut`` on where a cut changes no term of the text from ``start`` on."""
        end = self.tokenize.boundary(text, cut)
        if end > cut and text[cut - 1] in APOSTROPHES:
            # The "homme" of "l'homme" is a separate word, the "roll" of "rock'n'roll" is not.
            head, rest = text[max(start, cut - MAX_CHUNK) : cut], text[cut:end]
            if self.terms(head) + self.terms(rest) == self.terms(head + rest):
                return cut
        return end

    def _analyze(self, chunk: str) -> tuple[str, ...]:
        """Return the terms of a chunk, uncached."""
        return tuple(filter(None, map(self.term, self.tokenize(chunk))))

    def _longest_part(self, word: str) -> str:
        if word in self.stop_words or word.endswith("n't"):  # spaCy lists such English verbs as "do" and "n't"
            return ""
        return max((part for part in word.split("'") if not self._is_clitic(part)), key=len, default="")

    def _is_clitic(self, part: str) -> bool:
        """Whether spaCy lists a part as a stop word: alone, or attached to the next or previous word ("l'", "'re")."""
        return not self.stop_words.isdisjoint((part, f"{part}'", f"'{part}"))
