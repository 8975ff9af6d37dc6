"""Narrower queries for a list that is cut off: the same value with an option of a menu, or with a range of numbers.

A site that shows only 200 of 5,000 results shows others for each part of them (paper 004 section 7.3: forms with several
fields). A menu splits a list into its options, queried one after another while they pay off. A range splits it into eighths, at
the quantiles of the numbers on result pages, and each of these again, until a list is complete (Sheng, Zhang, Tao and Jin,
"Optimal Algorithms for Crawling a Hidden Database in the Web", VLDB 2012: rank-shrink).
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

BETWEEN = "\0"  # separates the fields, and the texts, of a value that fills several; it occurs in no form
SHORTEST = 20  # least number of items of a list that may have been cut off
PARTS = 8  # of a range: halves would mostly repeat what the whole list showed
HOPE = 0.5  # share of the rate of a list that its parts are expected to have, since they repeat some items
MOST_OPTIONS = 60  # of a menu that splits a list
_SEEN = 20_000  # numbers that are remembered for a range
_LOW = frozenset(("min", "minimum", "from", "low", "lowest", "after", "since", "start", "gte", "ge"))
_HIGH = frozenset(("max", "maximum", "to", "high", "highest", "before", "until", "end", "lte", "le"))
_END = re.compile(r"[0-9]{1,10}")  # one digit more than the numbers seen: a range may start after the last
_INTEGER = re.compile(r"(?<![\d.,])\d{1,9}(?![\d]|[.,]\d)")


class NumberRange(NamedTuple):
    """Two fields of a form, for the least and the greatest number, and their common label, such as ``price``."""

    low: str
    high: str
    label: str


def _number(text: str) -> int | None:
    """The number at an end of a range; None for anything else, which links of other sites may contain."""
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
    """Chooses the narrower queries that follow a list that was cut off.

    The parts of one list are queried one at a time; the next is expected to bring about as much per fetch as the last.
    """

    def __init__(self, form: Form, graph: ValueGraph) -> None:
        roles = roles_of(form)
        menus = {field.name: choices(field) for field in form.fields if roles[field.name] == "category"}
        self._menus = {name: list(menu) for name, menu in menus.items() if len(menu) <= MOST_OPTIONS}
        self._order = [field.name for field in form.fields]
        self._graph = graph
        self.ranges = ranges_in(form)
        self._numbers: dict[str, list[int]] = {found.label: [] for found in self.ranges}
        self._brought = self._expected = 0.0  # sums over parts, in items per fetch
        self._groups: dict[Value, tuple[float, Iterator[Value]]] = {}  # part queried last -> its rate, further parts

    def learn(self, text: str) -> None:
        """Collect the numbers that a result page shows under the labels of ranges."""
        for label, shown in labelled_values(text, {label: label for label in self._numbers}):
            numbers = self._numbers[label]
            if (found := _INTEGER.search(shown)) and len(numbers) < _SEEN:
                insort(numbers, int(found[0]))

    def is_cut_off(self, value: Value) -> bool:
        """Whether the list for ``value`` is complete and one of several of the greatest length that this source returns."""
        answers = self._graph.answers
        mine = answers.get(self._graph.number(value))
        if mine is None or not mine.complete or len(mine.items) < SHORTEST:
            return False
        lengths = [len(answer.items) for answer in answers.values() if answer.complete]
        return len(mine.items) == max(lengths) and lengths.count(len(mine.items)) > 1

    def after(self, value: Value, ask: Callable[[Value], Asked | None]) -> Iterator[tuple[float, Asked]]:
        """After the end of the list for ``value``, ``ask`` for its first part, and for the next part of the list it belongs to.

        Yields the expected rate of each part, in relevant new items per fetch, and the result of ``ask``; parts for which that
        is None are skipped.
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
        """The share of the rate of a list that the parts of a range are expected to have, learned from parts of other lists."""
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
        """Where a range is split: at the quantiles of the numbers seen in it; nowhere if all are the same."""
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
