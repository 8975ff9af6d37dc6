"""The known part of the bipartite graph of values and content items (paper 004 section 7.3, Figures 7.2 and 7.3), and
estimates of the number of items, from how often queries returned the same ones (capture and recapture).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

RECAPTURED = 10  # least number of items returned more than once for an estimate


class Value(NamedTuple):
    """A data value that a field of a form can be filled with; in a field for free text, a term of the topic's language."""

    field: str
    text: str


@dataclass(slots=True)
class QueryResult:
    """The results of one query so far: the numbers of its ``items``, how many of them were ``new``, the ``relevant`` sum of the
    relevance of new ones, and the ``fetches`` of result pages. ``complete``: its last result page was read."""

    items: set[int] = field(default_factory=set)
    new: int = 0
    relevant: float = 0.0
    fetches: int = 0
    complete: bool = False


class ValueGraph:
    """The items that the queries of one source returned, and their known values.

    Values and items are numbered in order of appearance. ``degree[v]`` items are known to have value v, ``worth[v]`` is the
    sum of their relevance, and ``single[v]`` of them were returned by one query only.
    """

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.degree: list[int] = []
        self.worth: list[float] = []
        self.single: list[int] = []
        self.by_field: dict[str, list[int]] = {}
        self.items: dict[str, int] = {}
        self.item_values: list[set[int]] = []
        self.relevance: list[float] = []
        self.total_relevance = 0.0
        self.finders: list[list[int]] = []  # for each item: the values whose queries returned it
        self.answers: dict[int, QueryResult] = {}
        self._numbers: dict[Value, int] = {}

    def number(self, value: Value) -> int:
        """The number of a value; a new one gets the next."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
            self.degree.append(0)
            self.worth.append(0.0)
            self.single.append(0)
            self.by_field.setdefault(value.field, []).append(found)
        return found

    def describe(self, url: str, values: Iterable[Value], relevance: float) -> None:
        """Add values to an item, and set its relevance, 0 to 1. An item that no query returned is ignored."""
        item = self.items.get(url)
        if item is not None:
            self._describe(item, values, relevance)

    def returned(self, value: Value, found: Sequence[tuple[str, Iterable[Value], float]]) -> int:
        """Add the items ``(URL, values, relevance)`` of a result page of the query for ``value``; return how many were new."""
        query = self.number(value)
        answer = self.answers.setdefault(query, QueryResult())
        answer.fetches += 1
        new = 0
        for url, values, relevance in found:
            item = self.items.get(url)
            if item is None:
                item = self.items[url] = len(self.finders)
                self.item_values.append(set())
                self.relevance.append(0.0)
                self.finders.append([])
                new += 1
                answer.relevant += relevance
            if item not in answer.items:
                answer.items.add(item)
                self._found_by(item, query)
            self._describe(item, [*values, value], max(relevance, self.relevance[item]))
        answer.new += new
        return new

    def captures(self, alike: Collection[str] = ()) -> dict[int, int]:
        """How many items were returned by 1, 2, 3 ... queries; all queries of a field in ``alike`` count as one.

        The options of a menu partition the items, so it means nothing that no two of them return the same.
        """
        counts: dict[int, int] = {}
        for finders in self.finders:
            times = len(finders)
            if alike and times > 1:
                fields = [self.values[number].field for number in finders]
                times = len({field for field in fields if field in alike}) + sum(field not in alike for field in fields)
            counts[times] = counts.get(times, 0) + 1
        return counts

    def _found_by(self, item: int, query: int) -> None:
        finders = self.finders[item]
        finders.append(query)
        change = {1: 1, 2: -1}.get(len(finders), 0)
        if change:
            for value in self.item_values[item]:
                self.single[value] += change

    def _describe(self, item: int, values: Iterable[Value], relevance: float) -> None:
        known = self.item_values[item]
        more = relevance - self.relevance[item]
        if more:
            self.relevance[item] = relevance
            self.total_relevance += more
            for value in known:
                self.worth[value] += more
        alone = len(self.finders[item]) == 1
        for number in set(map(self.number, values)) - known:
            known.add(number)
            self.degree[number] += 1
            self.worth[number] += relevance
            self.single[number] += alone


def chao(captures: Mapping[int, int]) -> float:
    """The lower bound of Chao (Biometrics 43, 1987), in its bias-corrected form: ``S + f1 (f1 - 1) / (2 (f2 + 1))``.

    ``captures`` says how many items were returned by 1, 2, ... queries: f1, f2, ...; S is their sum. The bound allows for items
    that are easier to catch than others, such as long documents. If fewer than ``RECAPTURED`` items were returned twice or more,
    the result is S, since nothing is known of the rest.
    """
    once, twice, known = captures.get(1, 0), captures.get(2, 0), sum(captures.values())
    if known - once < RECAPTURED:
        return float(known)
    return known + once * (once - 1) / (2 * (twice + 1))


def schnabel(samples: Sequence[set[int]]) -> float:
    """The estimate of Schnabel (Am. Math. Monthly 45, 1938): ``sum n_t M_t / (sum m_t + 1)``.

    Sample t has ``n_t`` items, of which ``m_t`` are among the ``M_t`` items of the earlier samples. The estimate assumes that all
    items are equally easy to catch. For queries they are not, so the estimate is too low.
    """
    known: set[int] = set()
    caught, recaptured = 0, 0
    for sample in samples:
        caught += len(sample) * len(known)
        recaptured += len(sample & known)
        known |= sample
    return max(float(len(known)), caught / (recaptured + 1))
