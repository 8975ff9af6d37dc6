"""What a query selection policy must do; ``tests/contract`` runs the same tests on each."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple, Protocol

from crawlproject.parts.forms.value_graph import ValueGraph


class Choice(NamedTuple):
    """The number of the value to be queried, and what a fetch of its result pages is expected to bring."""

    value: int
    rate: float


class QuerySelection(Protocol):
    """Chooses queries for one source.

    ``refines``: its rates are relevant new items a fetch, so they can be compared with those of narrower queries.
    """

    refines: bool

    def best(self, graph: ValueGraph, candidates: Sequence[int]) -> Choice | None:
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
