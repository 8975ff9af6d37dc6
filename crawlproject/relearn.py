"""After a resume: show an ordering that learns the stored pages once more.

What an ordering learned lives in memory. Kept on disk it would be one more file that must agree with the history at
every instant; read again from the pages it always agrees, and costs what reading a page costs.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from crawlproject.appendlog import read_lines
from crawlproject.crawl import Crawl
from crawlproject.records import CrawlUrl, Page


def relearn(crawl: Crawl) -> int:
    """Take the ordering through the history, in order; the number of pages it saw.

    A page whose file is gone is passed over. Raises ``BadCrawlDir`` for a damaged history.
    """
    ordering = crawl.ordering
    handed_down: dict[str, tuple[float, ...]] = {}
    for line in read_lines(crawl.folder.path / "history.jsonl"):
        url = line["url"]
        if line["redirect"]:
            ordering.redirected(url, line["redirect"])
        elif not line["md5"]:
            ordering.failed(url)
        else:
            with suppress(FileNotFoundError):
                page = _stored_page(crawl, line, handed_down.get(line["parent"], ()))
                ordering.observe(page)
                handed_down[url] = ordering.bequeath(page)
                for link in page.links:
                    ordering.score(page, link)
    for url, score in ordering.revise():
        crawl.frontier.rescore(url, score)
    return len(handed_down)


def _stored_page(crawl: Crawl, line: dict[str, Any], inherited: tuple[float, ...]) -> Page:
    url = CrawlUrl(line["url"], line["score"], line["depth"], line["parent"], inherited=inherited)
    page = crawl.read(url, crawl.folder.pages.load(url.url))
    return crawl.weigh_links(replace(page, relevance=line["relevance"]))
