"""What is known of each language: its stop words, its stemmer, its tokenizer."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import Stemmer

from crawlproject.errors import BadInput
from crawlproject.pages.text.tokenizer import Bigrams, Tokenizer, Words

# Language code -> algorithm of PyStemmer. English has the original Porter algorithm, as in the papers.
_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "porter",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_UNSPACED = frozenset(("bo", "ja", "km", "ko", "lo", "my", "th", "zh"))


def tokenizer(language: str) -> Tokenizer:
    """The tokenizer of a language."""
    return Bigrams() if language in _UNSPACED else Words()


def stemmer(language: str) -> Callable[[str], str]:
    """The stemmer of a language; one that changes nothing where there is none."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return str
    return Stemmer.Stemmer(algorithm, 0).stemWord  # 0: no cache of its own


@cache
def stop_words(language: str) -> frozenset[str]:
    """spaCy's stop words of a language, lower-cased. ``BadInput`` for a language that spaCy does not have.

    Read from spaCy's file of that language: importing the package for a list of words takes over a second.
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
