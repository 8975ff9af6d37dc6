"""Relevance of the page to the topic."""

from __future__ import annotations

from crawlproject.adapters.feeds import PageItem
from crawlproject.core.crawl import Crawl

from .base import PagePipeline


class RelevancePipeline(PagePipeline):
    """Cosine of page and keywords (paper 000 eq. 1)."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        item.page = crawl.steps_for(item.lease).score_page(item.page)
