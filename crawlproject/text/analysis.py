"""Text to terms: tokens, minus stop words, stemmed (paper 000 section 2.4, paper 003 section 3).

Stop words are spaCy's, stems PyStemmer's: the Porter algorithm for English, as in the papers, and the Snowball stemmer of
other languages that have one.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import Stemmer

from crawlproject.errors import BadInput
from crawlproject.text.tokens import Bigrams, Tokenizer, Words

MAX_TERM = 40
MAX_DIGITS = 4
CACHE_SIZE = 100_000

_STEMMERS = {
    **{"ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "porter"},
    **{
        "es": "spanish",
        "et": "estonian",
        "eu": "basque",
        "fa": "persian",
        "fi": "finnish",
        "fr": "french",
        "ga": "irish",
    },
    **{"hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian"},
    **{"nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish"},
    **{"pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil"},
    **{"tr": "turkish"},
}
_UNSPACED_LANGUAGES = frozenset(("bo", "ja", "km", "ko", "lo", "my", "th", "zh"))


class Analyzer:
    """Turns text of one language into terms. Not thread-safe: it caches.

    ``language`` is a language code of spaCy ("en", "de", "zh"; a region after "-" is ignored). ``tokenize`` replaces the
    tokenizer of the language. ``BadInput`` for a language that is unknown.

    A token is lower-cased; of words joined by apostrophes the longest that is no stop word stands for the token
    ("l'homme" is "homme", "crawler's" is "crawler"). Numbers of more than ``MAX_DIGITS`` digits are left out as
    identifiers; years and versions stay. A token is cut after ``MAX_TERM`` characters.
    """

    def __init__(self, language: str = "en", *, tokenize: Tokenizer | None = None) -> None:
        self.language = language.lower().replace("_", "-").split("-")[0]
        self._stems = _Stems(stop_words(self.language), _stemmer(self.language))
        self.tokenize: Tokenizer = tokenize or (Bigrams() if self.language in _UNSPACED_LANGUAGES else Words())

    def terms(self, text: str) -> list[str]:
        """The stems of ``text`` in order, stop words left out."""
        return list(filter(None, map(self._stems.__getitem__, self.tokenize(text))))

    def boundary(self, text: str, position: int) -> int:
        """The first position from ``position`` on where ``text`` can be cut without cutting a word."""
        return self.tokenize.boundary(text, position)


class _Stems(dict[str, str]):
    """Token as written -> its term, empty for a token that is none. Forgets everything when it is full."""

    def __init__(self, stops: frozenset[str], stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stops = stops
        self._stem = stem

    def __missing__(self, token: str) -> str:
        term = self._term(token[:MAX_TERM].lower().replace("’", "'"))
        if len(token) <= MAX_TERM:
            if len(self) >= CACHE_SIZE:
                self.clear()
            self[token] = term
        return term

    def _term(self, word: str) -> str:
        if "'" in word:
            word = self._head(word)
        if word in self._stops or (len(word) > MAX_DIGITS and word.isdecimal()):
            return ""
        return self._stem(word)

    def _head(self, word: str) -> str:
        word = word.strip("'")
        if word in self._stops or word.endswith("n't"):  # English verbs that spaCy lists as "do" and "n't"
            return ""
        return max((part for part in word.split("'") if not self._is_clitic(part)), key=len, default="")

    def _is_clitic(self, part: str) -> bool:
        """Whether spaCy lists it: by itself, or as a part that leans on the next or the last word ("l'", "'re")."""
        return not self._stops.isdisjoint((part, f"{part}'", f"'{part}"))


@cache
def stop_words(language: str) -> frozenset[str]:
    """spaCy's stop words of a language, lower-cased. ``BadInput`` for a language that spaCy does not have.

    Read from spaCy's word-list file: importing the package for a list of words takes over a second.
    """
    spec = find_spec("spacy")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("language", "wants spaCy installed, for its stop words")
    folder = Path(spec.submodule_search_locations[0], "lang")
    known = sorted(path.parent.name for path in folder.glob("*/stop_words.py"))
    if language not in known:
        raise BadInput("language", f"wants one of {', '.join(known)}; got {language!r}")
    words = runpy.run_path(str(folder / language / "stop_words.py"))["STOP_WORDS"]
    return frozenset(word.lower().replace("’", "'") for word in words)


def _stemmer(language: str) -> Callable[[str], str]:
    algorithm = _STEMMERS.get(language)
    if algorithm is None:
        return str
    return Stemmer.Stemmer(algorithm, 0).stemWord  # no cache of its own: every word comes here once
