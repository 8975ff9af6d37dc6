"""OPIC: importance as cash that flows along links (paper 004 sections 4.1 and 4.3; Abiteboul, Preda, Cobena, WWW 2003)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic

from crawlproject.orderings.graph.linkgraph import Node


class OpicCash(Generic[Node]):
    """``cash`` is what a page received since its last fetch, ``history`` what it distributed in total.

    Each of ``holders`` starts with cash 1. A fetched page distributes its cash equally over the pages it links to. The cash
    that reaches a fetched page stays there, since a batch crawl fetches nothing twice, and the cash of a page without links
    is lost. So the total never exceeds the number of holders.
    """

    def __init__(self, holders: Iterable[Node] = ()) -> None:
        self.cash: dict[Node, float] = dict.fromkeys(holders, 1.0)
        self.history: dict[Node, float] = {}

    def spend(self, node: Node, targets: Iterable[Node]) -> Sequence[Node]:
        """Distribute the cash of the fetched ``node``; return its distinct targets."""
        distinct = list(dict.fromkeys(targets))
        amount = self.cash.pop(node, 0.0)
        self.history[node] = self.history.get(node, 0.0) + amount
        for target in distinct:
            self.cash[target] = self.cash.get(target, 0.0) + amount / len(distinct)
        return distinct

    def of(self, node: Node) -> float:
        """The cash of a node, 0 for one without links to it."""
        return self.cash.get(node, 0.0)

    def merge(self, node: Node, into: Node) -> float:
        """``node`` redirects to ``into``: transfer its cash and return the cash of ``into``."""
        amount = self.cash.pop(node, 0.0)
        self.cash[into] = self.cash.get(into, 0.0) + amount
        return self.cash[into]

    def importance(self, node: Node) -> float:
        """The share of all distributed cash: an estimate of the importance of the page, 0 to 1."""
        total = sum(self.history.values()) + sum(self.cash.values())
        return (self.history.get(node, 0.0) + self.of(node)) / total if total else 0.0
