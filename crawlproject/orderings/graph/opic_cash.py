"""OPIC: importance as cash that pages hand on (paper 004 sections 4.1 and 4.3; S. Abiteboul, M. Preda, G. Cobena, WWW 2003)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic

from crawlproject.orderings.graph.linkgraph import Node


class OpicCash(Generic[Node]):
    """``cash`` is what a page received since it was fetched last, ``history`` what it handed on in all.

    Each of ``holders`` begins with cash 1. A fetched page hands its cash on to the pages it links to, in equal parts. What
    reaches a page that was fetched already stays there, since a crawl in batch fetches nothing twice; what a page
    without links holds is out of the game. So no cash is made, and what waits has at most one for each holder.
    """

    def __init__(self, holders: Iterable[Node] = ()) -> None:
        self.cash: dict[Node, float] = dict.fromkeys(holders, 1.0)
        self.history: dict[Node, float] = {}

    def spend(self, node: Node, targets: Iterable[Node]) -> Sequence[Node]:
        """``node`` was fetched and hands on its cash; its distinct targets."""
        distinct = list(dict.fromkeys(targets))
        amount = self.cash.pop(node, 0.0)
        self.history[node] = self.history.get(node, 0.0) + amount
        for target in distinct:
            self.cash[target] = self.cash.get(target, 0.0) + amount / len(distinct)
        return distinct

    def of(self, node: Node) -> float:
        """The cash of a node, 0 for one that nobody linked to."""
        return self.cash.get(node, 0.0)

    def merge(self, node: Node, into: Node) -> float:
        """``node`` redirects to ``into``, which gets its cash; what ``into`` has now."""
        amount = self.cash.pop(node, 0.0)
        self.cash[into] = self.cash.get(into, 0.0) + amount
        return self.cash[into]

    def importance(self, node: Node) -> float:
        """The share of all cash that ever moved: the estimate of the page's importance, 0 to 1."""
        total = sum(self.history.values()) + sum(self.cash.values())
        return (self.history.get(node, 0.0) + self.of(node)) / total if total else 0.0
