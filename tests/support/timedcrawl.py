"""A crawl on a virtual clock, without Scrapy, over a web that changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.responses import modified, stated_lifetime
from crawlproject.records import Fetch, Topic
from crawlproject.webs.base import answer
from crawlproject.webs.page_cache import location

START = 1_700_000_000.0
DAY = 86_400.0


class TimedCrawl:
    """Fetches one page after the other. ``now`` is its clock; ``asked`` lists its requests: time, URL, headers, status."""

    def __init__(
        self,
        topic: Topic,
        folder: Path,
        web: Any,
        now: float = START,
        token: Callable[[], str] | None = None,
        **settings: object,
    ) -> None:
        self.now = now
        self.web = web
        self.asked: list[tuple[float, str, Mapping[str, str], int]] = []
        options = read_options({"POLITENESS_MIN_DELAY": 1, "ORDERING": "dom", **settings})
        self.crawl: Crawl = assemble(topic, options, clock=lambda: self.now, folder=folder, token=token)

    def run(self, seconds: float) -> TimedCrawl:
        """Crawl for ``seconds``, or less if the crawl ends earlier."""
        end = self.now + seconds
        while self.now < end and not self.crawl.end_reason(self.now):
            url = self.crawl.take(self.now)
            if url is None:
                due = self.crawl.next_due(self.now)
                if due is None or due > end:
                    self.now = end
                    break
                self.now = max(due, self.now + 0.001)
                continue
            plan = self.crawl.plan(url)
            headers, post = plan.headers, plan.post
            sent = post.body.encode() if post else b""
            reply = answer(self.web, "POST" if post else "GET", url.url, headers, sent)
            self.asked.append((self.now, url.url, headers, reply.status))
            self.now += 0.1
            found = reply.headers
            fetch = Fetch(
                reply.status,
                self.now,
                0.1,
                etag=found.get("etag", ""),
                last_modified=modified(found, self.now - 0.1),
                lifetime=stated_lifetime(found, self.now),
            )
            if location(reply) and not plan.one_try:
                self.crawl.redirect(url, location(reply), fetch)
                continue
            page = self.crawl.receive(url, reply, fetch)
            if page is None:
                continue
            steps = self.crawl.steps_for(url)
            page = steps.examine(page, fetch)
            if page.page_type:
                self.crawl.fail(url, page.page_type, fetch)
                continue
            page = steps.score_links(steps.score_page(page))
            steps.keep(page, steps.visit(url, page, reply.body, fetch))
            steps.offer(page, fetch)
        return self

    def close(self) -> None:
        self.crawl.close("done", self.now)
