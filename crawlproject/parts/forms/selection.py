"""Policies that choose the next value to query: published ones, and ours. ``tests/contract`` runs the same tests on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil, inf, log
from random import Random
from typing import NamedTuple, Protocol

import numpy as np

from crawlproject.errors import BadSetting
from crawlproject.parts.forms.value_graph import ValueGraph, chao

SATURATED = (
    0.5  # share of new items in the latest answers below which dependency counts (ours; the paper leaves it open)
)
LATEST = 5  # answers
LEAST = 2  # items that a value must have: one item is no evidence of dependency
POINTS = 3  # least number of answers that the line is fitted to
LOOKED_AT = 40  # values whose expectation is computed, the best by a bound
LISTED = 100  # results that a list is assumed to have room for, until one is longer
HOPE = 0.5  # share of the best of many uncertain expectations that comes true
PRIOR = 1.0  # items of mean relevance that are added to the items of every value

_COMPARED = 200  # values that are compared, those of the highest degree


class ChosenValue(NamedTuple):
    """The number of the value to query, and what a fetch of one of its result pages is expected to bring."""

    value: int
    rate: float


class QuerySelection(Protocol):
    """Chooses queries for one source.

    ``refines``: its rates are relevant new items per fetch, so they can be compared with those of narrower queries.
    """

    refines: bool

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        """The best of ``candidates``, numbers of values that were not queried yet; None if none is worth a query."""
        ...

    def rest(self, graph: ValueGraph, value: int, brought: tuple[int, float]) -> float:
        """What a fetch of a further result page for ``value`` is expected to bring, in the unit of ``ChosenValue.rate``.

        ``brought``: the number of new items on the last page, and their relevance.
        """
        ...


class PagingThrough:
    """A policy that reads every list to its end and fills one field at a time, as the published policies do."""

    refines = False

    def rest(self, graph: ValueGraph, value: int, brought: tuple[int, float]) -> float:
        return inf


def page_length(graph: ValueGraph) -> float:
    """The mean number of items on a result page, over the queries that had any; 10 before the first."""
    listed = [(len(answer.items), answer.fetches) for answer in graph.answers.values() if answer.items]
    return max(1.0, sum(items for items, _ in listed) / sum(fetches for _, fetches in listed)) if listed else 10.0


def longest_list(graph: ValueGraph) -> int:
    """The most items that one query returned; 0 before the first."""
    return max((len(answer.items) for answer in graph.answers.values()), default=0)


class RandomValue(PagingThrough):
    """Every candidate is equally likely; the choice follows from ``seed`` and the number of queries so far."""

    def __init__(self, seed: int = 1) -> None:
        self._seed = seed

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        if not candidates:
            return None
        return ChosenValue(Random(f"{self._seed} {len(graph.answers)}").choice(candidates), 1.0)


class GreedyFrequency(PagingThrough):
    """The value of the highest degree among the items seen so far. Wu and others (ICDE 2006) call it greedy link-based."""

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        value = max(candidates, key=graph.degree.__getitem__, default=None)
        return None if value is None else ChosenValue(value, float(graph.degree[value]))


class MutualInformation(PagingThrough):
    """Min-max mutual information (MMMI): greedy by degree until the answers repeat themselves; then, of the values of the highest
    degree, the one that depends least on any query so far: ``min over v of max over q of ln(P(v, q) / (P(v) P(q)))``."""

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        ranked = sorted(candidates, key=graph.degree.__getitem__, reverse=True)[:_COMPARED]
        if not ranked:
            return None
        latest = list(graph.answers.values())[-LATEST:]
        listed = sum(len(answer.items) for answer in latest)
        some = [value for value in ranked if graph.degree[value] >= LEAST]
        if not some or sum(answer.new for answer in latest) >= SATURATED * listed:
            return ChosenValue(ranked[0], float(graph.degree[ranked[0]]))
        having = items_having(graph, some)
        known = len(graph.items)

        def dependency(value: int) -> float:
            most = -inf
            for answer in graph.answers.values():
                both = len(having[value] & answer.items)
                if both:
                    most = max(most, log(both * known / (len(having[value]) * len(answer.items))))
            return most

        value = min(some, key=dependency)
        return ChosenValue(value, float(graph.degree[value]))


def items_having(graph: ValueGraph, values: Sequence[int]) -> dict[int, set[int]]:
    """For each of ``values``, the items that are known to have it."""
    having: dict[int, set[int]] = {value: set() for value in values}
    wanted = having.keys()
    for item, own in enumerate(graph.item_values):
        for value in wanted & own:
            having[value].add(item)
    return having


class EstimatedNew(PagingThrough):
    """``P_new(q) / Cost(q)``, with ``P_new(q) = P(q) - P(q | known) P(known)`` (equation 3) in numbers of items.

    ``P(q)`` is the Zipf estimator (equation 6): with values sorted by falling degree, the value of rank r has ``alpha r^-gamma``
    items. Alpha and gamma are fitted by a line through the answers so far, in logarithms; before there are three, the degree
    decides. The cost is the number of result pages; items are left out of it, since they are fetched whichever query finds them.
    """

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        if not candidates:
            return None
        ranks = {
            value: rank
            for rank, value in enumerate(sorted(range(len(graph.degree)), key=lambda v: -graph.degree[v]), 1)
        }
        points = [(ranks[v], len(a.items)) for v, a in graph.answers.items() if a.complete and a.items]
        if len(points) < POINTS or len({rank for rank, _ in points}) < POINTS:
            value = max(candidates, key=graph.degree.__getitem__)
            return ChosenValue(value, float(graph.degree[value]))
        logarithms = np.log(np.array(points, float))
        slope, height = np.polyfit(logarithms[:, 0], logarithms[:, 1], 1)
        length, most = page_length(graph), longest_list(graph)

        def rate(value: int) -> float:
            matches = min(float(np.exp(min(height, 20.0))) * ranks[value] ** min(0.0, float(slope)), 50.0 * most)
            return (matches - graph.degree[value]) / ceil(max(matches, 1.0) / length)

        some = sorted(candidates, key=lambda value: -graph.degree[value])[:1000]
        value = max(some, key=rate)
        return ChosenValue(value, rate(value))


class RelevantNew:
    """Maximizes ``new(v) * relevance(v) / fetches(v)``: the greedy algorithm for a weighted set cover of the unseen items.

    ``new(v) = unseen * P(v | unseen)``. ``unseen`` is the bound of Chao less the number of known items. No query has returned
    the unseen items, so they most resemble the items that only one query returned (Good and Turing): ``P(v | unseen)`` is the
    share of v among those. The query that returned most of those with v is left out of the count: a value that always comes
    with a queried value has nothing new. (Unless the list of that query was cut off.) ``relevance(v)`` is the mean relevance
    of the known items with v. ``fetches(v)`` counts the result pages of all matches, known ones first, up to the longest list.

    If a list was cut off, narrower queries compete with the others (``refinement.py``). A list is paused while its remaining
    pages have a lower rate than the best new query.
    """

    refines = True

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        if not candidates:
            return None
        ranked = sorted(candidates, key=lambda value: graph.single[value] * _relevance(graph, value), reverse=True)
        new = _expected_new(graph, ranked[:LOOKED_AT])
        room, per_page = max(longest_list(graph), LISTED), page_length(graph)

        def rate(value: int) -> float:
            known = graph.degree[value]
            listed = min(new[value] + known, float(room))
            return max(0.0, listed - known) * _relevance(graph, value) / max(1, ceil(listed / per_page))

        value = max(new, key=rate)
        return ChosenValue(value, rate(value))

    def rest(self, graph: ValueGraph, value: int, brought: tuple[int, float]) -> float:
        seen = len(graph.answers[value].items)
        room, per_page = max(longest_list(graph), LISTED), page_length(graph)
        known = graph.degree[value] - seen  # known items with the value, not listed yet
        left = min(_expected_new(graph, [value])[value] + known, room - seen)
        expected = max(0.0, left - known) * _relevance(graph, value) / max(1, ceil(left / per_page))
        return max(expected, brought[1]) / HOPE


def _relevance(graph: ValueGraph, value: int) -> float:
    mean = graph.total_relevance / max(1, len(graph.items))
    return (graph.worth[value] + PRIOR * mean) / (graph.degree[value] + PRIOR)


def _expected_new(graph: ValueGraph, values: Sequence[int]) -> dict[int, float]:
    """The expected number of unseen items that each of ``values`` has."""
    captures = graph.captures()
    unseen = max(1.0, chao(captures) - len(graph.items))
    longest = longest_list(graph)
    having = items_having(graph, values)
    once_by = Counter(found[0] for found in graph.finders if len(found) == 1)
    new: dict[int, float] = {}
    for value in values:
        singles = Counter(graph.finders[item][0] for item in having[value] if len(graph.finders[item]) == 1)
        finder, most = max(singles.items(), key=lambda found: found[1], default=(-1, 0))
        of_finder = once_by.get(finder, 0)
        if finder != value and not _is_exhausted(graph, finder, longest):  # v may list what it did not
            most = of_finder = 0
        share = (graph.single[value] - most + 0.5 * most / max(1, of_finder)) / (captures.get(1, 0) - of_finder + 1)
        new[value] = unseen * min(1.0, share)
    return new


def _is_exhausted(graph: ValueGraph, query: int, longest: int) -> bool:
    """Whether a query has listed all its matches; a list as long as the longest may have been cut off."""
    answer = graph.answers.get(query)
    return answer is not None and answer.complete and len(answer.items) < longest


SELECTIONS: dict[str, Callable[[], QuerySelection]] = {
    "random": RandomValue,
    "greedy_frequency": GreedyFrequency,
    "mutual_information": MutualInformation,
    "estimated_new": EstimatedNew,
    "relevant_new": RelevantNew,
}


def make_selection(name: str) -> QuerySelection:
    """The policy ``name``. Raises ``BadSetting``, which lists the known names."""
    try:
        return SELECTIONS[name]()
    except KeyError:
        wish = f"expected one of {', '.join(SELECTIONS)}; not {name!r}"
        raise BadSetting("setting CRAWL_FORM_SELECTION", wish) from None
