"""Context scores: how close the words around each link are to the topic."""

from __future__ import annotations

from crawlproject.adapters.feeds import PageItem
from crawlproject.core.crawl import Crawl

from .base import PagePipeline


class LinksPipeline(PagePipeline):
    """Context score of each link: cosine of its aggregation node's text and the keywords (paper 003 section 4.4)."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.steps_for(item.lease).score_links(item.page)
