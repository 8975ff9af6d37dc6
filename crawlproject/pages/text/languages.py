"""Language data: the stop words, the tokenizer and the term forms of each language, and guessing the language of a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

import Stemmer

from crawlproject.errors import BadInput
from crawlproject.extras import need
from crawlproject.options import TermForm
from crawlproject.pages.text import stop_word_lists
from crawlproject.pages.text.tokenizer import LETTER_APOSTROPHE, CharacterGroups, Tokenizer, Words

# Language code -> algorithm of PyStemmer. English has the original Porter algorithm, as in the papers.
_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "porter",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_UNSPACED = frozenset(("bo", "ja", "km", "ko", "lo", "my", "th", "zh"))
# Languages in which an apostrophe or a middle dot may be a letter of a word, as in "п'ять" and "col·lecció", so that
# tokenizing needs a word list. In all others the rules of ``Words`` give the same or better terms.
_CUT_BY_SPACY = frozenset(("ca", "fr", "it", "uk"))
_LOOKED_AT = 20_000  # characters that are used to guess the language of a text
_FEW = 20  # words: fewer do not suffice
_CLEAR = 0.2  # least share of stop words of a language in a text in that language
_NEAR = 0.75  # most that another language may have, relative to the share of the best one
_UNSPACED_LETTERS = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"  # Thai, Lao, Japanese, Chinese
_WORD = re.compile(rf"[{_UNSPACED_LETTERS}]|[^\W\d_{_UNSPACED_LETTERS}]+")


def is_unspaced(language: str) -> bool:
    """Whether the language puts no spaces between words, so that its terms are groups of characters."""
    return language in _UNSPACED


def tokenizer(language: str) -> Tokenizer:
    """Return the tokenizer. Raises ``MissingExtra`` for a language that needs spaCy if it is not installed."""
    if is_unspaced(language):
        return CharacterGroups()
    if language in _CUT_BY_SPACY:
        need(f"the language {language!r}", "nlp", "spacy")
        from crawlproject.pages.text.spacy_language import SpacyWords  # takes a second

        return SpacyWords(language)
    return Words()


def term_form(language: str, form: TermForm) -> Callable[[str], str]:
    """Return a function from a word in lower case to its term.

    "stem" applies the stemmer of the language, if there is one; "lemma" looks up the dictionary form; "word"
    changes nothing. Raises ``BadSetting`` if the tables of lemmas are not installed.
    """
    if form == "lemma":
        need("setting TOPIC_TERMS=lemma", "nlp", "spacy")
        from crawlproject.pages.text.spacy_language import lemmatizer

        return lemmatizer(language)
    algorithm = _ALGORITHMS.get(language) if form == "stem" else None
    if algorithm is None:
        return str
    return Stemmer.Stemmer(algorithm, 0).stemWord  # 0: no cache


@cache
def languages() -> frozenset[str]:
    """Return the codes of the languages with a stop word list of spaCy. Raises ``MissingExtra`` if there are no lists."""
    found = stop_word_lists.languages()
    if not found:  # a checkout has no copy of the lists
        need("every topic", "nlp", "spacy")
    return found


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return spaCy's stop words of a language, in lower case. Raises ``BadInput`` for a language that spaCy lacks."""
    if language not in languages():
        raise BadInput("language", f"expected one of {', '.join(sorted(languages()))}; not {language!r}")
    plain = {word.lower().replace("’", "'") for word in stop_word_lists.words(language)}
    return frozenset(plain | {word.replace("'", LETTER_APOSTROPHE) for word in plain})


def stop_word_shares(text: str) -> Mapping[str, float]:
    """Return the share of stop words of each language in a text: 0.25 to 0.5 for its own. Empty for a very short text."""
    words = Counter(_WORD.findall(text[:_LOOKED_AT].lower()))
    total = words.total()
    if total < _FEW:
        return {}
    counts: Counter[str] = Counter()
    for word, number in words.items():
        for language in _languages_of().get(word, ()):
            counts[language] += number
    return {language: count / total for language, count in counts.items()}


def language_of(text: str) -> str:
    """Guess the language of a text, a two-letter code, from its stop words; empty if in doubt.

    They must be a fifth of the words, with no other language close. Of 434 archived pages that state their language, the guess
    was right for 368, wrong for 1, in doubt for 65.
    """
    shares = stop_word_shares(text)
    best = max(shares, key=lambda name: shares[name], default="")
    second = max((share for name, share in shares.items() if name != best), default=0.0)
    return best if best and shares[best] >= _CLEAR and second <= _NEAR * shares[best] else ""


@cache
def _languages_of() -> Mapping[str, list[str]]:
    """Map each stop word to its languages: 25,000 words, read in 60 ms."""
    found: dict[str, list[str]] = {}
    for language in sorted(languages()):
        for word in stop_words(language):
            found.setdefault(word, []).append(language)
    return found
