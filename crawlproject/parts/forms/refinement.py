"""Asks for less at a time where a list is cut off: the same value with an option of a menu, or between two numbers.

A site that shows 200 of 5,000 results shows others for each part of them (paper 004 section 7.3: forms with several fields).
Parts by a menu are its options, one after another while they pay. Parts by a range are eighths, at the quantiles of the numbers
that result pages show, and eighths of these, until a list is whole (Sheng, Zhang, Tao and Jin, "Optimal Algorithms for Crawling a
Hidden Database in the Web", VLDB 2012: rank-shrink).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from crawlproject.pages.html.forms import TEXT_TYPES, Form
from crawlproject.parts.forms.fields import choices, labelled_values, roles_of
from crawlproject.parts.forms.value_graph import Value, ValueGraph

Asked = TypeVar("Asked")

BETWEEN = "\0"  # the fields, and the texts, of a value that fills several; no form has it
SHORTEST = 20  # items of a list that may have been cut off
PARTS = 8  # of a range: two would show most of what the whole list showed again
HOPE = 0.5  # of what a list brought for a fetch, what its parts are expected to: they show some of it again
MOST_OPTIONS = 60  # of a menu by which a list is split
_SEEN = 20_000  # numbers that are remembered
_LOW = frozenset(("min", "minimum", "from", "low", "lowest", "after", "since", "start", "gte", "ge"))
_HIGH = frozenset(("max", "maximum", "to", "high", "highest", "before", "until", "end", "lte", "le"))
_END = re.compile(r"[0-9]{1,10}")  # one more than the numbers seen have: a range may start behind the last
_INTEGER = re.compile(r"(?<![\d.,])\d{1,9}(?![\d]|[.,]\d)")


class NumberRange(NamedTuple):
    """Two fields of a form, the least and the greatest number, and what both are about: ``price``."""

    low: str
    high: str
    label: str


def _number(text: str) -> int | None:
    """An end of a range; None for anything else, as links of strangers may name."""
    return int(text) if _END.fullmatch(text) else None


def joined(filled: Mapping[str, str]) -> Value:
    """The value that fills several fields."""
    return Value(BETWEEN.join(filled), BETWEEN.join(filled.values()))


def parts_of(value: Value) -> dict[str, str]:
    """The fields that a value fills, with their texts."""
    return dict(zip(value.field.split(BETWEEN), value.text.split(BETWEEN), strict=True))


def ranges_in(form: Form) -> list[NumberRange]:
    """The pairs of fields of a form that are the ends of a range of numbers."""
    found: dict[str, list[str]] = {}
    for field in form.fields:
        if field.type not in ("number", *TEXT_TYPES):
            continue
        words = [
            word for word in re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", field.name).lower()) if word
        ]
        for end, names in enumerate((_LOW, _HIGH)):
            if not names.isdisjoint(words):
                label = " ".join(word for word in words if word not in names)
                found.setdefault(label, ["", ""])[end] = field.name
    return [NumberRange(low, high, label) for label, (low, high) in found.items() if label and low and high]


class Refinements:
    """Which narrower queries follow a list that was cut off.

    The parts of one list are asked one at a time; what one brought for a fetch is what the next is expected to.
    """

    def __init__(self, form: Form, graph: ValueGraph) -> None:
        roles = roles_of(form)
        menus = {field.name: choices(field) for field in form.fields if roles[field.name] == "category"}
        self._menus = {name: list(menu) for name, menu in menus.items() if len(menu) <= MOST_OPTIONS}
        self._order = [field.name for field in form.fields]
        self._graph = graph
        self.ranges = ranges_in(form)
        self._numbers: dict[str, list[int]] = {found.label: [] for found in self.ranges}
        self._brought = self._expected = 0.0  # by parts, items a fetch
        self._groups: dict[Value, tuple[float, Iterator[Value]]] = {}  # by the part that is out

    def learn(self, text: str) -> None:
        """A result page shows numbers under the labels of ranges."""
        for label, shown in labelled_values(text, {label: label for label in self._numbers}):
            numbers = self._numbers[label]
            if (found := _INTEGER.search(shown)) and len(numbers) < _SEEN:
                insort(numbers, int(found[0]))

    def is_cut_off(self, value: Value) -> bool:
        """Whether the complete list for ``value`` is one of several that are as long as lists of this source get."""
        answers = self._graph.answers
        mine = answers.get(self._graph.number(value))
        if mine is None or not mine.complete or len(mine.items) < SHORTEST:
            return False
        lengths = [len(answer.items) for answer in answers.values() if answer.complete]
        return len(mine.items) == max(lengths) and lengths.count(len(mine.items)) > 1

    def after(self, value: Value, ask: Callable[[Value], Asked | None]) -> Iterator[tuple[float, Asked]]:
        """The list for ``value`` has ended: ``ask`` for the next parts, of it and of what it is part of.

        Yields what each is expected to bring, in relevant new items a fetch, and what ``ask`` made of it (None: cannot be asked).
        """
        answer = self._graph.answers[self._graph.number(value)]
        brought = answer.relevant / max(1, answer.fetches)
        if (group := self._groups.pop(value, None)) is not None:
            expected, parts = group
            self._brought += brought
            self._expected += expected
            yield from self._ask_one((expected + brought) / 2, parts, ask)
        if self.is_cut_off(value):
            yield from self._ask_one((self._hope if self.ranges else 1.0) * brought, self._parts(value), ask)

    @property
    def _hope(self) -> float:
        """What share of what a list brought for a fetch the parts of a range bring: as parts of other lists did."""
        return HOPE * (self._brought + 1.0) / (self._expected + 1.0)

    def _ask_one(
        self, rate: float, parts: Iterator[Value], ask: Callable[[Value], Asked | None]
    ) -> Iterator[tuple[float, Asked]]:
        for part in parts:
            if (asked := ask(part)) is not None:
                self._groups[part] = rate, parts
                yield rate, asked
                return

    def _parts(self, value: Value) -> Iterator[Value]:
        filled = parts_of(value)
        for numbers in self.ranges:
            if ends := self._ends(numbers, filled):
                starts = (filled.get(numbers.low, ""), *(str(end + 1) for end in ends))
                stops = (*map(str, ends), filled.get(numbers.high, ""))
                for start, stop in zip(starts, stops, strict=True):
                    yield self._with(filled, {numbers.low: start, numbers.high: stop})
                return
        menus = [name for name in self._menus if name not in filled]
        if menus and len(filled) == 1:
            name = max(menus, key=lambda name: len(self._menus[name]))
            yield from (self._with(filled, {name: option}) for option in self._menus[name])

    def _ends(self, numbers: NumberRange, filled: Mapping[str, str]) -> list[int]:
        """Where a range is split: at the quantiles of the numbers seen in it; nowhere when all are one."""
        seen = self._numbers[numbers.label]
        low, high = (_number(filled.get(name, "")) for name in (numbers.low, numbers.high))
        start = 0 if low is None else bisect_left(seen, low)
        end = len(seen) if high is None else bisect_right(seen, high)
        inside = seen[start:end]
        ends = {inside[len(inside) * part // PARTS] for part in range(1, PARTS)} if inside else set()
        return sorted(ends - {inside[-1]}) if inside else []

    def _with(self, filled: Mapping[str, str], more: Mapping[str, str]) -> Value:
        whole = {**filled, **more}
        return joined({name: whole[name] for name in self._order if whole.get(name)})
