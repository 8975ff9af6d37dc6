"""A random value: the control."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from crawlproject.parts.forms.selection.base import Choice, PagingThrough
from crawlproject.parts.forms.value_graph import ValueGraph


class RandomValue(PagingThrough):
    """Every candidate is equally likely; the choice follows from ``seed`` and the number of queries so far."""

    def __init__(self, seed: int = 1) -> None:
        self._seed = seed

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> Choice | None:
        if not candidates:
            return None
        return Choice(Random(f"{self._seed} {len(graph.answers)}").choice(candidates), 1.0)
