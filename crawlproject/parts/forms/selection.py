"""Which value is queried next: the published policies, and ours; ``tests/contract`` runs the same tests on each."""

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
    0.5  # share of new items in the latest answers from which dependency counts (ours; the source leaves it open)
)
LATEST = 5  # answers
LEAST = 2  # items that a value must have: one is no evidence of dependency
POINTS = 3  # answers that the line is drawn through, at least
LOOKED_AT = 40  # values whose expectation is worked out, the best by a bound
LISTED = 100  # results that a list has room for, while none was longer
HOPE = 0.5  # of what the best of many uncertain expectations promises, what comes true
PRIOR = 1.0  # items of mean relevance that every value counts besides its own

_COMPARED = 200  # values of the highest degree


class ChosenValue(NamedTuple):
    """The number of the value to be queried, and what a fetch of its result pages is expected to bring."""

    value: int
    rate: float


class QuerySelection(Protocol):
    """Chooses queries for one source.

    ``refines``: its rates are relevant new items a fetch, so they can be compared with those of narrower queries.
    """

    refines: bool

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> ChosenValue | None:
        """One of ``candidates``, numbers of values that were not queried; None: none of them is worth a query."""
        ...

    def rest(self, graph: ValueGraph, value: int, brought: tuple[int, float]) -> float:
        """What a fetch of the further result pages for ``value`` is expected to bring, as the ``rate`` of a choice.

        The last page ``brought`` so many new items, of so much relevance.
        """
        ...


class PagingThrough:
    """A policy that reads every list to its end, and fills one field at a time, as the published ones do."""

    refines = False

    def rest(self, graph: ValueGraph, value: int, brought: tuple[int, float]) -> float:
        return inf


def page_length(graph: ValueGraph) -> float:
    """Mean number of items on a result page that had some; 10 before the first."""
    listed = [(len(answer.items), answer.fetches) for answer in graph.answers.values() if answer.items]
    return max(1.0, sum(items for items, _ in listed) / sum(fetches for _, fetches in listed)) if listed else 10.0


def longest_list(graph: ValueGraph) -> int:
    """Most items that one query returned; 0 before the first."""
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
    """Min-max mutual information (MMMI): greedy by degree until the answers repeat themselves, then the value that depends
    least on any query so far, ``min over v of max over q of ln(P(v, q) / (P(v) P(q)))``, of those with the highest degree."""

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
    """The items that are known to have each of these values."""
    having: dict[int, set[int]] = {value: set() for value in values}
    wanted = having.keys()
    for item, own in enumerate(graph.item_values):
        for value in wanted & own:
            having[value].add(item)
    return having


class EstimatedNew(PagingThrough):
    """``P_new(q) / Cost(q)``, with ``P_new(q) = P(q) - P(q | known) P(known)`` (equation 3) in numbers of items.

    ``P(q)`` is the Zipf estimator (equation 6): of the values by falling degree, the one of rank r has ``alpha r^-gamma`` items,
    a line through what the answers so far had, in logarithms. Before there are three of them, the degree decides. The cost
    is the number of result pages: it stands for the cost of a query and of its items, which are fetched whatever found them.
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
    """``new(v) * relevance(v) / fetches(v)``: greedy for a weighted set cover of what was not seen yet.

    ``new(v) = unseen * P(v | unseen)``. There are ``unseen`` items by the bound of Chao, less those known. No query returned
    them, so they resemble most the items that one query returned (Good and Turing): ``P(v | unseen)`` is the share of v among
    these. One query is left out, the one that returned most of those with v: a value that always comes with a queried one has
    nothing new. (Not so when that one's list was cut off.) ``relevance(v)`` is the mean relevance of the known items with v.
    ``fetches(v)`` are the result pages of all matches, known ones first, as far as lists of this source go.

    Where a list was cut off, narrower queries are weighed against others (``refinement.py``). A list is left while its rest
    promises less, by the same count, than the best new query.
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
        known = graph.degree[value] - seen  # and not listed yet
        left = min(_expected_new(graph, [value])[value] + known, room - seen)
        expected = max(0.0, left - known) * _relevance(graph, value) / max(1, ceil(left / per_page))
        return max(expected, brought[1]) / HOPE


def _relevance(graph: ValueGraph, value: int) -> float:
    mean = graph.total_relevance / max(1, len(graph.items))
    return (graph.worth[value] + PRIOR * mean) / (graph.degree[value] + PRIOR)


def _expected_new(graph: ValueGraph, values: Sequence[int]) -> dict[int, float]:
    """How many items that were not seen yet each of ``values`` has."""
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
        if finder != value and not _is_exhausted(graph, finder, longest):  # what it did not list may be what v lists
            most = of_finder = 0
        share = (graph.single[value] - most + 0.5 * most / max(1, of_finder)) / (captures.get(1, 0) - of_finder + 1)
        new[value] = unseen * min(1.0, share)
    return new


def _is_exhausted(graph: ValueGraph, query: int, longest: int) -> bool:
    """Whether a query has listed all that it matches; the longest list may be as long as the source lets lists be."""
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
