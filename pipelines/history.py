"""The page's line in the history: from now on the page counts."""

from __future__ import annotations

from crawlproject.adapters.feeds import PageItem
from crawlproject.core.crawl import Crawl

from .base import PagePipeline


class HistoryPipeline(PagePipeline):
    """Writes links and the item for the index, then the history line that commits them: all or none."""

    def step(self, item: PageItem, crawl: Crawl) -> None:
        assert item.visit is not None, "the pages pipeline runs before the history pipeline"
        crawl.steps_for(item.lease).keep(item.page, item.visit)
