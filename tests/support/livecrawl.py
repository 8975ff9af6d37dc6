"""The steps of a live crawl, one after the other, without Scrapy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.records import CrawlUrl, Fetch, Page, Topic
from crawlproject.webs.page_cache import location


def taken(crawl: Crawl, now: float = 1.0) -> CrawlUrl:
    """The next URL; there must be one."""
    url = crawl.take(now)
    assert url is not None
    return url


def finish(crawl: Crawl, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch, *, killed: bool = False) -> Page:
    """Score a page that was read, keep it and offer its links. ``killed``: write it to the history and stop there."""
    steps = crawl.steps
    page = steps.score_links(steps.score_page(page))
    visit = steps.visit(url, page, body, fetch)
    if killed:
        crawl.folder.keep(page, visit)
        return page
    steps.keep(page, visit)
    steps.offer(page, fetch)
    return page


def crawl_on(crawl: Crawl, web: Any, fetches: int, *, kill: bool = False, begin: float = 1000.0) -> None:
    """Run up to ``fetches`` fetches, one per second from ``begin``. ``kill``: the last page reaches the history only."""
    for number in range(fetches):
        url = crawl.take(now := begin + number)
        if url is None:
            break
        reply = web.get(url.url)
        fetch = Fetch(reply.status, now, 0.1)
        if reply.status != 200:
            crawl.fail(url, f"http {reply.status}", fetch)
            continue
        page = crawl.steps.examine(crawl.steps.read(url, reply.body), fetch)
        finish(crawl, url, page, reply.body, fetch, killed=kill and number == fetches - 1)


def crawl_web(topic: Topic, web: Any, folder: Path, **settings: object) -> None:
    """Run a crawl to the end of its page budget."""
    now = 1_700_000_000.0
    options = read_options({**topic.settings, **settings})
    crawl = assemble(topic, options, clock=lambda: now, folder=folder)
    while not crawl.budget.end_reason(now):
        url = crawl.take(now)
        if url is None:
            due = crawl.frontier.next_due(now)
            if due is None:
                break
            now = max(now, due)
            continue
        now += 0.1
        reply = web.get(url.url)
        kind = reply.headers.get("content-type", "")
        fetch = Fetch(reply.status, now, 0.1, content_type=kind)
        if location(reply):
            crawl.redirect(url, crawl.canonicalize(location(reply), url.url), fetch)
        elif reply.status != 200 or (kind and kind.partition(";")[0] not in options.page_content_types):
            crawl.fail(url, f"http {reply.status}" if reply.status != 200 else f"content type {kind}", fetch)
        else:
            finish(crawl, url, crawl.steps.read(url, reply.body, content_type=kind), reply.body, fetch)
    crawl.close("done", now)
