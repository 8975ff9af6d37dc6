"""The steps of a live crawl, one after another, without Scrapy."""

from __future__ import annotations

from typing import Any

from crawlproject.crawl.crawl import Crawl
from crawlproject.records import CrawlUrl, Fetch, Page


def taken(crawl: Crawl, now: float = 1.0) -> CrawlUrl:
    """The next URL; there must be one."""
    url = crawl.take(now)
    assert url is not None
    return url


def finish(crawl: Crawl, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch, *, killed: bool = False) -> Page:
    """Score a page that was read, keep it and offer its links. ``killed``: it is in the history, and that is all."""
    steps = crawl.steps
    page = steps.score_links(steps.score_page(page))
    visit = steps.visit(url, page, body, fetch)
    if killed:
        crawl.folder.keep(page, visit)
        return page
    steps.keep(page, visit)
    steps.offer(page, fetch)
    return page


def crawl_on(crawl: Crawl, web: Any, fetches: int, *, kill: bool = False) -> None:
    """Up to so many fetches, one a second from 1000.0 on; ``kill``: the last page is in the history, and that is all."""
    for number in range(fetches):
        url = crawl.take(now := 1000.0 + number)
        if url is None:
            break
        reply = web.get(url.url)
        fetch = Fetch(reply.status, now, 0.1)
        if reply.status != 200:
            crawl.fail(url, f"http {reply.status}", fetch)
            continue
        page = crawl.steps.examine(crawl.steps.read(url, reply.body), fetch)
        finish(crawl, url, page, reply.body, fetch, killed=kill and number == fetches - 1)
