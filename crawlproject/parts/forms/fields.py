"""Queries: which fields of a form are filled, and with what (paper 004 section 7.3, steps 1 to 3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from crawlproject.pages.html.forms import TEXT_TYPES, Field, Form
from crawlproject.parts.forms.value_graph import Value
from crawlproject.urls.post import post_url

Role = Literal["keyword", "category", "attribute", "fixed"]
MAX_VALUES = 2_000  # values of one label that are remembered
LONGEST = 60  # characters of a value that is taken from a page

# Fields that change how results are shown, not which (Madhavan and others, VLDB 2008, section 4); and ends of ranges.
_PRESENTATION = re.compile(
    r"(?:^|[^a-z])(?:sort|order|orderby|direction|dir|view|display|layout|per ?page|limit|num|hits|results|rows|count|page|start"
    r"|offset|format|fmt|lang|language|locale|currency|theme|mode|size of page|min|max|from|to|before|after|since|until)"
    r"(?:$|[^a-z])|sort(?:by|ed)|per page"
)
_KEYWORD = re.compile(
    r"(?:^|[^a-z])(?:q|qs|s|k|kw|keywords?|query|search|words?|terms?|text|title|abstract|description|anything|all fields|find)"
    r"(?:$|[^a-z])"
)
_ALL = re.compile(
    r"^\W*(?:any|all|every|no preference|select|choose|please|alle|tous|todos|\*|-+)\b.*|^\W*$", re.IGNORECASE
)


def roles_of(form: Form) -> dict[str, Role]:
    """The role of each field, by its name.

    ``keyword``: free text; at most one field, since several would ask for the same in different words. ``category``: a menu or
    radio buttons. ``attribute``: text of one kind, such as an author, known by its label. ``fixed``: left unchanged.
    """
    roles: dict[str, Role] = {}
    texts = [field for field in form.fields if field.type in TEXT_TYPES]
    named = [field for field in texts if _KEYWORD.search(_words(field)) or field.type == "search"]
    alone = len(texts) == 1 and not any(
        field.type in ("select", "radio") and len(choices(field)) > 1 for field in form.fields
    )
    keyword = next(iter(named or (texts if alone else [])), None)
    for field in form.fields:
        role: Role = "fixed"
        if field is keyword:
            role = "keyword"
        elif not _PRESENTATION.search(_words(field)):
            if field.type in TEXT_TYPES and field not in named and label_of(field):
                role = "attribute"
            elif field.type in ("select", "radio") and len(choices(field)) > 1:
                role = "category"
        roles[field.name] = role
    return roles


def choices(field: Field) -> dict[str, str]:
    """The options of a menu that select something, as value -> label; without an option for all."""
    return {option.value: option.label for option in field.options if option.value and not _ALL.match(option.label)}


def label_of(field: Field) -> str:
    """The label of a field in comparable form (Raghavan and Garcia-Molina, VLDB 2001, section 4): lower case, letters only."""
    return _plain(field.label) or _plain(field.name)


def address(form: Form, filled: Mapping[str, str]) -> str:
    """The URL that a browser requests if these fields are filled and the form is submitted; see ``post_url`` for a POST."""
    sent: list[tuple[str, str]] = []
    for field in form.fields:
        value = filled.get(field.name, "" if field.type in TEXT_TYPES else _unfilled(field))
        if value is not None:
            sent.append((field.name, value))
    if form.button:
        sent.append(form.button)
    body = urlencode(sent, encoding=form.encoding, errors="xmlcharrefreplace")
    return post_url(form.action, body) if form.method == "post" else f"{form.action.partition('?')[0]}?{body}"


def _unfilled(field: Field) -> str | None:
    """What an unfilled field sends: for a menu, its option for all, if it has one."""
    if field.type in ("select", "radio"):
        for option in field.options:
            if not option.value or _ALL.match(option.label):
                return option.value
    return field.value


class ValueTable:
    """Labels of fields with their values, over all sources; it grows from result pages (Raghavan and Garcia-Molina, VLDB 2001,
    section 4.2: the label value set table)."""

    def __init__(self) -> None:
        self._values: dict[str, Counter[str]] = {}

    def add(self, label: str, value: str) -> None:
        """Count a ``value`` that a page showed under ``label``."""
        known = self._values.setdefault(label, Counter())
        if value in known or len(known) < MAX_VALUES:
            known[value] += 1

    def values(self, label: str) -> list[str]:
        """The values of a label, the most frequent first."""
        return [value for value, _ in self._values.get(label, Counter()).most_common()]


def labelled_values(text: str, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield ``(field, value)`` for each value after the label of a field in a text: ``Author: X``, or X in the next line or cell.

    ``labels`` maps each field to its label, as ``label_of`` returns it.
    """
    for name, label in labels.items():
        spelled = r"[\s_-]+".join(map(re.escape, label.split()))
        before, between = r"(?im)(?:^|[\n|;·,(])[ \t]*", r"s?[ \t]*+(?::[ \t]*+\n?|\n)[ \t\n]*+"
        pattern = rf"{before}{spelled}{between}([^\s|;·][^\n|;·]{{0,{LONGEST - 1}}}?)[ \t]*+(?=$|[\n|;·])"
        for found in re.finditer(pattern, text):
            value = " ".join(found[1].split())
            if value:
                yield name, value


def _words(field: Field) -> str:
    return re.sub(r"[_\W]+", " ", f"{field.name} {field.label}".lower())


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", text.lower()))


class Query(NamedTuple):
    """One result page to fetch: page ``number`` of the list for ``value``, which is None in the query for a nonsense word.

    ``text`` is the text that is filled in; ``parent`` is the previous result page, or for the first one the page of the form.
    """

    url: str
    value: Value | None
    text: str
    parent: str
    number: int = 1
