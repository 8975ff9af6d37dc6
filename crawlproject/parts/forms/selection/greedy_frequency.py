"""The most frequent value (Barbosa and Freire, SBBD 2004: paper 004 reference [13])."""

from __future__ import annotations

from collections.abc import Sequence

from crawlproject.parts.forms.selection.base import Choice, PagingThrough
from crawlproject.parts.forms.value_graph import ValueGraph


class GreedyFrequency(PagingThrough):
    """The value of the highest degree among the items seen so far. Wu and others (ICDE 2006) call it greedy link-based."""

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> Choice | None:
        value = max(candidates, key=graph.degree.__getitem__, default=None)
        return None if value is None else Choice(value, float(graph.degree[value]))
