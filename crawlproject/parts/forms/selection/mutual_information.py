"""Frequent values that were not queried under another name (Wu, Wen, Liu and Ma, ICDE 2006: paper 004 reference [117])."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

from crawlproject.parts.forms.selection.base import Choice, PagingThrough
from crawlproject.parts.forms.value_graph import ValueGraph

SATURATED = (
    0.5  # share of new items in the latest answers from which dependency counts (ours; the source leaves it open)
)
LATEST = 5  # answers
LEAST = 2  # items that a value must have: one is no evidence of dependency
LOOKED_AT = 200  # values of the highest degree


class MutualInformation(PagingThrough):
    """Min-max mutual information (MMMI): greedy by degree until the answers repeat themselves, then the value that depends
    least on any query so far, ``min over v of max over q of ln(P(v, q) / (P(v) P(q)))``, of those with the highest degree."""

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> Choice | None:
        ranked = sorted(candidates, key=graph.degree.__getitem__, reverse=True)[:LOOKED_AT]
        if not ranked:
            return None
        latest = list(graph.answers.values())[-LATEST:]
        listed = sum(len(answer.items) for answer in latest)
        some = [value for value in ranked if graph.degree[value] >= LEAST]
        if not some or sum(answer.new for answer in latest) >= SATURATED * listed:
            return Choice(ranked[0], float(graph.degree[ranked[0]]))
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
        return Choice(value, float(graph.degree[value]))


def items_having(graph: ValueGraph, values: Sequence[int]) -> dict[int, set[int]]:
    """The items that are known to have each of these values."""
    having: dict[int, set[int]] = {value: set() for value in values}
    wanted = having.keys()
    for item, own in enumerate(graph.item_values):
        for value in wanted & own:
            having[value].add(item)
    return having
