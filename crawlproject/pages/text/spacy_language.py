"""What needs spaCy: tokenizers and lemmas of some languages, and finding keywords of several words in terms and in URLs.

To import this file takes a second: import it where it is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from spacy.lookups import load_lookups
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc
from spacy.util import get_lang_class
from spacy.vocab import Vocab

from crawlproject.errors import BadSetting
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.tokenizer import APOSTROPHES, LETTER_APOSTROPHE
from crawlproject.records import Page

_HAS_A_LETTER = re.compile(r"[^\W_]")
# The rest of what white space and ASCII punctuation, save the apostrophe, leave in one piece.
_REST = re.compile(r"(?<=[^\s\0-&(-/:-@\[-`{-\x7f])[^\s\0-&(-/:-@\[-`{-\x7f]+")
_APOSTROPHES = tuple(APOSTROPHES)
_TO_LETTER = str.maketrans(dict.fromkeys(APOSTROPHES, LETTER_APOSTROPHE))
_OTHER = "\0"  # takes the place of terms that no keyword has


class SpacyWords:
    """Tokens are those of spaCy's tokenizer for ``language``, less punctuation and elided words ("l'", "dell'").

    An apostrophe that stays inside a token is a letter there, and is given as U+02BC: "п'ять" is "пʼять". A last token
    keeps the apostrophe behind it, since what it leans on may follow in another element.
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
    """``token`` with the letter for each apostrophe inside it."""
    word = token.strip(APOSTROPHES)
    return word.translate(_TO_LETTER) + ("'" if token.endswith(_APOSTROPHES) else "")


def lemmatizer(language: str) -> Callable[[str], str]:
    """A function from a word in lower case to its lemma in lower case, by the lookup table of ``language``.

    A word that the table does not have is tried with a capital, as German nouns are listed; one that is still unknown is
    its own lemma. Of several lemmas it is the first. Raises ``BadSetting`` when no installed package has a table for the
    language.
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


class KeywordMatcher:
    """Finds all ``keywords`` at once, each a phrase of terms; those of stop words only are nowhere."""

    def __init__(self, keywords: Iterable[str], analyzer: Analyzer) -> None:
        self._terms = {keyword: terms for keyword in keywords if (terms := tuple(analyzer.terms(keyword)))}
        self._words = {
            keyword: [word for word in keyword.lower().split() if analyzer.terms(word)] for keyword in self._terms
        }
        self._vocabulary = frozenset(term for terms in self._terms.values() for term in terms)
        self._vocab = Vocab()
        self._matcher = PhraseMatcher(self._vocab)
        for keyword, terms in self._terms.items():
            self._matcher.add(keyword, [Doc(self._vocab, list(terms))])

    def occurrences(self, terms: Sequence[str], counts: Mapping[str, int] | None = None) -> Counter[str]:
        """How often the terms of each keyword occur in ``terms``, one after the other; their ``counts`` save time."""
        counts = Counter(terms) if counts is None else counts
        if not any(all(map(counts.get, phrase)) for phrase in self._terms.values()):
            return Counter()
        known = [term if term in self._vocabulary else _OTHER for term in terms]
        return Counter(span.label_ for span in self._matcher(Doc(self._vocab, known), as_spans=True))

    def in_url(self, url: str) -> bool:
        """Whether each word of some keyword is part of the spelling of ``url``, as in paper 002 Figure 4."""
        spelling = url.lower()
        return any(words and all(word in spelling for word in words) for words in self._words.values())


class HotPages:
    """Whether a page is hot (paper 002 section 7): a keyword is in its title, or ``occurrences`` times in its body."""

    def __init__(self, matcher: KeywordMatcher, analyzer: Analyzer, occurrences: int = 10) -> None:
        self._matcher = matcher
        self._analyzer = analyzer
        self._occurrences = occurrences

    def __call__(self, page: Page) -> bool:
        if self._matcher.occurrences(self._analyzer.terms(page.title)):
            return True
        found = self._matcher.occurrences(page.terms, page.counts)
        return any(times >= self._occurrences for times in found.values())
