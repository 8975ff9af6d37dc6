"""The values that a source can be queried for: words of the topic first, then menus, then values that result pages showed.
Items are compared by terms, but queries consist of words.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

from crawlproject.pages.html.forms import Form
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.parts.forms.fields import ValueTable, address, choices, label_of, labelled_values, roles_of
from crawlproject.parts.forms.refinement import BETWEEN, joined, parts_of, ranges_in
from crawlproject.parts.forms.result_page import ListedItem
from crawlproject.parts.forms.value_graph import Value, ValueGraph
from crawlproject.urls.post import as_get

TRIED = 3  # answers to options of a menu after which it is known whether the menu makes a difference
ITEM_TERMS = 300  # terms of an item's page that count as its values
MAX_TERMS = 200_000
MOST_LABELLED = 1_000  # values under labels that are read from a page

_WORD = re.compile(r"[^\W\d_]{3,30}")
_NONSENSE = "qxzvkjwhfgpbdtmr"  # the letters of a nonsense word, one for each hexadecimal digit
_NONSENSE_WORD = re.compile(f"[{_NONSENSE}]{{12}}")


@dataclass(frozen=True, slots=True)
class Shared:
    """What the sources of a crawl share: the ``analyzer`` of the language, the ``words`` of terms, the ``table`` of values by
    label, and the words of the ``topic``."""

    analyzer: Analyzer
    words: SurfaceWords
    table: ValueTable
    topic: tuple[str, ...]


class Candidates:
    """The values of one form that were not queried yet."""

    def __init__(self, form: Form, graph: ValueGraph, shared: Shared) -> None:
        self._form = form
        self._graph = graph
        self._shared = shared
        roles = roles_of(form)
        fields = {field.name: field for field in form.fields}
        self.keyword = next((name for name, role in roles.items() if role == "keyword"), "")
        self._menus = {name: choices(fields[name]) for name, role in roles.items() if role == "category"}
        self._attributes = {name: label_of(fields[name]) for name, role in roles.items() if role == "attribute"}
        self._entries: dict[tuple[str, tuple[str, ...]], list[Value]] = {}  # by menu and label
        for name, menu in self._menus.items():
            for value, label in menu.items():
                self._entries.setdefault((name, _spelled(label)), []).append(Value(name, value))
        self._labels = {**self._attributes, **{name: label_of(fields[name]) for name in self._menus}}
        self._useless: set[str] = set()  # menus that make no difference
        self._closed: set[int] = set()
        self.furniture: frozenset[str] = frozenset()  # terms that every page of the source has
        if self.keyword:
            words = (found[0] for word in shared.topic if (found := shared.analyzer.terms(word)))
            self.topic = [Value(self.keyword, term) for term in dict.fromkeys(words)]
            for word in shared.topic:
                shared.words.learn(word)
        else:
            self.topic = []

    @property
    def menus(self) -> Collection[str]:
        """The names of the menus."""
        return self._menus.keys()

    @property
    def takes_text(self) -> str:
        """The name of a field for text; empty if there is none."""
        return self.keyword or next(iter(self._attributes), "")

    def close(self, value: Value) -> None:
        """Remove a value that was queried, or cannot be."""
        self._closed.add(self._graph.number(value))

    def open(self) -> list[int]:
        """The numbers of the values that may be queried next; in a form without free text, options of menus come first.

        A term counts only if some page contains a word for it.
        """
        graph = self._graph
        number, closed = graph.number, self._closed
        options = [
            found
            for name, menu in self._menus.items()
            if name not in self._useless
            for option in menu
            if (found := number(Value(name, option))) not in closed
        ]
        if options and not self.keyword:
            return options
        for name, label in self._attributes.items():
            for text in self._shared.table.values(label):
                number(Value(name, text))
        values, knows = graph.values, self._shared.words.knows
        words = [
            found for found in graph.by_field.get(self.keyword, ()) if found not in closed and knows(values[found].text)
        ]
        names = self._attributes
        return (
            options + words + [found for name in names for found in graph.by_field.get(name, ()) if found not in closed]
        )

    def text(self, value: Value) -> str:
        """The text that is filled in for a value; empty if it is not known."""
        return " ".join(self._filled(value).values())

    def address(self, value: Value) -> str:
        """The URL of the query for a value."""
        return address(self._form, self._filled(value))

    def _filled(self, value: Value) -> dict[str, str]:
        """The text that is filled into each field; empty if no word for the term is known."""
        filled = parts_of(value)
        if self.keyword in filled:
            if not (word := self._shared.words.word(filled[self.keyword])):
                return {}
            filled[self.keyword] = word
        return filled

    def address_of_text(self, text: str) -> str:
        """The URL of the query for an arbitrary text."""
        return address(self._form, {self.takes_text: text})

    def asked_by(self, url: str) -> Value | None:
        """The value that the URL of a query asks for; None if it asks for none."""
        sent, alone = (
            dict(parse_qsl(urlsplit(as_get(each)).query, encoding=self._form.encoding))
            for each in (url, address(self._form, {}))
        )
        ends = [name for found in ranges_in(self._form) for name in (found.low, found.high)]
        asking = {self.keyword, *self._menus, *self._attributes, *ends}
        names = [field.name for field in self._form.fields if field.name in asking]
        filled = {name: sent[name] for name in names if sent.get(name) and sent.get(name) != alone.get(name)}
        if not filled or filled.keys() <= set(ends) or any(BETWEEN in text for text in filled.values()):
            return None
        if text := filled.get(self.keyword):
            filled[self.keyword] = next(iter(self._shared.analyzer.terms(text)), text)
        return joined(filled)

    # ------------------------------------------------------------ what pages show

    def labelled(self, text: str) -> list[Value]:
        """The values that a page shows under labels of the form's fields; values of attributes are added to the table."""
        found = []
        for name, shown in islice(labelled_values(text, self._labels), MOST_LABELLED):
            if name in self._attributes:
                self._shared.table.add(self._attributes[name], shown)
                found.append(Value(name, shown))
            else:
                found += self._entries.get((name, _spelled(shown)), ())
        return list(dict.fromkeys(found))

    def with_terms(self, labelled: Iterable[Value]) -> list[tuple[Value, frozenset[str]]]:
        """Values, each with the terms of the text that a page shows for it."""
        terms = self._shared.analyzer.terms
        return [
            (value, frozenset(terms(self._menus.get(value.field, {}).get(value.text, value.text))))
            for value in labelled
        ]

    def values_of(self, item: ListedItem, labelled: Iterable[tuple[Value, frozenset[str]]]) -> Iterator[Value]:
        """Yield the values of a listed item: its terms, and the values ``labelled`` on the page whose terms it has."""
        yield from self._of_terms(item.terms)
        own = frozenset(item.terms)
        for value, terms in labelled:
            if terms and terms <= own:
                yield value

    def values_of_page(self, terms: Iterable[str], text: str) -> Iterator[Value]:
        """Yield the values of an item whose own page was fetched."""
        yield from list(self._of_terms(terms))[:ITEM_TERMS]
        yield from self.labelled(text)

    def judge_menus(self) -> None:
        """Drop menus whose options all return the same items (Madhavan and others, VLDB 2008: informative templates)."""
        for name, menu in self._menus.items():
            answers = [self._graph.answers.get(self._graph.number(Value(name, option))) for option in menu]
            sets = [frozenset(answer.items) for answer in answers if answer is not None]
            if len(sets) >= TRIED and len(set(sets)) == 1:
                self._useless.add(name)

    def _of_terms(self, terms: Iterable[str]) -> Iterator[Value]:
        if self.keyword:
            for term in terms:
                if term not in self.furniture and len(term) > 2 and not term.isdecimal():
                    yield Value(self.keyword, term)


def _spelled(label: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", label.lower()))


class SurfaceWords:
    """The most frequent word for each term on pages. Knows at most ``MAX_TERMS`` words, the first ones."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._words: dict[str, Counter[str]] = {}
        self._terms: dict[str, str] = {}

    def learn(self, text: str) -> None:
        """Learn the words of a text."""
        for word, count in Counter(_WORD.findall(text.lower())).items():
            term = self._terms.get(word)
            if term is None:
                if len(self._terms) >= MAX_TERMS:
                    continue
                found = self._analyzer.terms(word)
                term = self._terms[word] = found[0] if len(found) == 1 else ""
            if term:
                self._words.setdefault(term, Counter())[word] += count

    def knows(self, term: str) -> bool:
        """Whether there is a word for a term."""
        return term in self._words

    def word(self, term: str) -> str:
        """The word to query for a term; empty if no page contained one."""
        found = self._words.get(term)
        return min(found, key=lambda word: (-found[word], word)) if found else ""


def nonsense(seed: str) -> str:
    """A word that does not exist: twelve letters, always the same for one ``seed``."""
    digits = hashlib.md5(seed.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]
    return digits.translate(str.maketrans("0123456789abcdef", _NONSENSE))


def is_nonsense(text: str) -> bool:
    """Whether a text is such a word."""
    return _NONSENSE_WORD.fullmatch(text) is not None
