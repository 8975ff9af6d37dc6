"""Expected relevant new items per fetch (ours)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

from crawlproject.parts.forms.selection.base import Choice, longest_list, page_length
from crawlproject.parts.forms.selection.mutual_information import items_having
from crawlproject.parts.forms.size import chao
from crawlproject.parts.forms.value_graph import ValueGraph

LOOKED_AT = 40  # values whose expectation is worked out, the best by a bound
LISTED = 100  # results that a list has room for, while none was longer
HOPE = 0.5  # of what the best of many uncertain expectations promises, what comes true
PRIOR = 1.0  # items of mean relevance that every value counts besides its own


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

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> Choice | None:
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
        return Choice(value, rate(value))

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
