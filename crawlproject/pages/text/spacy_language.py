"""The functions that need spaCy: tokenizers of some languages, and lemmas.

Importing this module takes a second: import it only where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spacy.lookups import load_lookups
from spacy.util import get_lang_class

from crawlproject.errors import BadSetting
from crawlproject.pages.text.tokenizer import APOSTROPHES, LETTER_APOSTROPHE

_HAS_A_LETTER = re.compile(r"[^\W_]")
# The rest of a run without white space and ASCII punctuation; apostrophes belong to the run.
_REST = re.compile(r"(?<=[^\s\0-&(-/:-@\[-`{-\x7f])[^\s\0-&(-/:-@\[-`{-\x7f]+")
_APOSTROPHES = tuple(APOSTROPHES)
_TO_LETTER = str.maketrans(dict.fromkeys(APOSTROPHES, LETTER_APOSTROPHE))


class SpacyWords:
    """Tokens are those of spaCy's tokenizer for ``language``, without punctuation and elided words ("l'", "dell'").

    An apostrophe inside a token is a letter, and becomes U+02BC: "п'ять" is "пʼять". The last token keeps an apostrophe at
    its end, since the word that it is attached to may follow in another element.
    """

    def __init__(self, language: str) -> None:
        self._language = get_lang_class(language)()

    def __call__(self, text: str) -> list[str]:
        with self._language.memory_zone():  # else spaCy keeps every token it ever saw
            *found, last = [token.text for token in self._language.tokenizer(text)] or [""]
        if found and last in APOSTROPHES:
            last = found.pop() + last
        words = [token for token in found if not token.endswith(_APOSTROPHES)]
        return [_spelled(word) for word in (*words, last) if _HAS_A_LETTER.search(word)]

    def boundary(self, text: str, position: int) -> int:
        rest = _REST.match(text, position)
        return position if rest is None else rest.end()


def _spelled(token: str) -> str:
    """Return ``token`` with the letter in place of each apostrophe inside it."""
    word = token.strip(APOSTROPHES)
    return word.translate(_TO_LETTER) + ("'" if token.endswith(_APOSTROPHES) else "")


def lemmatizer(language: str) -> Callable[[str], str]:
    """Return a function from a word in lower case to its lemma in lower case, by the lookup table of ``language``.

    A word that is not in the table is looked up capitalised, as German nouns are listed; an unknown word is its own lemma.
    Of several lemmas the first is used. Raises ``BadSetting`` if no installed package has a table for the language.
    """
    try:
        table = load_lookups(language, ["lemma_lookup"]).get_table("lemma_lookup")
    except ValueError:
        wish = "spacy-lookups-data has those of 24 languages (pip install spacy-lookups-data); or choose stem or word"
        raise BadSetting("setting TOPIC_TERMS", f"no table of lemmas of {language!r} is installed; {wish}") from None

    def lemma(word: str) -> str:
        spelled = word.replace(LETTER_APOSTROPHE, "'")
        found = table.get(spelled) or table.get(spelled.capitalize()) or word
        first = found if isinstance(found, str) else found[0]
        return first.lower().translate(_TO_LETTER)

    return lemma
