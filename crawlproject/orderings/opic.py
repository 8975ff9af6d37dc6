"""OPIC as an ordering (paper 004 sections 4.1 and 4.3; S. Abiteboul, M. Preda, G. Cobena: WWW 2003)."""

from __future__ import annotations

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.graph.opic_cash import OpicCash
from crawlproject.orderings.link_based import LinkBased
from crawlproject.records import Page


class Opic(LinkBased):
    """The score of a waiting URL is its cash.

    Each seed starts with cash 1; a fetched page distributes its cash equally over its distinct links. This
    estimates PageRank without random jumps, at the cost of one addition per link. The cash of a waiting URL never shrinks.
    """

    part = "cash"

    def __init__(self, context: OrderingContext) -> None:
        super().__init__(context)
        self._cash: OpicCash[str] = OpicCash(context.topic.seeds)

    def worth(self, url: str) -> float:
        return self._cash.of(url)

    def observe(self, page: Page) -> None:
        self._cash.spend(page.url, (link.url for link in page.links))

    def redirected(self, url: str, target: str) -> None:
        super().redirected(url, target)
        self._cash.merge(url, target)
