"""Estimated new items per cost (Ntoulas, Zerfos and Cho, JCDL 2005: paper 004 reference [98])."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from crawlproject.parts.forms.selection.base import Choice, PagingThrough, longest_list, page_length
from crawlproject.parts.forms.value_graph import ValueGraph

POINTS = 3  # answers that the line is drawn through, at least


class EstimatedNew(PagingThrough):
    """``P_new(q) / Cost(q)``, with ``P_new(q) = P(q) - P(q | known) P(known)`` (equation 3) in numbers of items.

    ``P(q)`` is the Zipf estimator (equation 6): of the values by falling degree, the one of rank r has ``alpha r^-gamma`` items,
    a line through what the answers so far had, in logarithms. Before there are three of them, the degree decides. The cost
    is the number of result pages: it stands for the cost of a query and of its items, which are fetched whatever found them.
    """

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> Choice | None:
        if not candidates:
            return None
        ranks = {
            value: rank
            for rank, value in enumerate(sorted(range(len(graph.degree)), key=lambda v: -graph.degree[v]), 1)
        }
        points = [(ranks[v], len(a.items)) for v, a in graph.answers.items() if a.complete and a.items]
        if len(points) < POINTS or len({rank for rank, _ in points}) < POINTS:
            value = max(candidates, key=graph.degree.__getitem__)
            return Choice(value, float(graph.degree[value]))
        logarithms = np.log(np.array(points, float))
        slope, height = np.polyfit(logarithms[:, 0], logarithms[:, 1], 1)
        length, most = page_length(graph), longest_list(graph)

        def rate(value: int) -> float:
            matches = min(float(np.exp(min(height, 20.0))) * ranks[value] ** min(0.0, float(slope)), 50.0 * most)
            return (matches - graph.degree[value]) / ceil(max(matches, 1.0) / length)

        some = sorted(candidates, key=lambda value: -graph.degree[value])[:1000]
        value = max(some, key=rate)
        return Choice(value, rate(value))
