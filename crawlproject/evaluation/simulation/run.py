"""One rehearsal: the steps of a crawl, called in a loop.

The clock starts at 0 and moves by what a fetch would have taken, or to the moment the next host is due; nobody waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from crawlproject.crawl.assembly import assemble
from crawlproject.crawl.crawl import Crawl
from crawlproject.crawl.kinds.handler import UNREACHABLE, FetchPlan
from crawlproject.crawl.robots import FORBIDDEN, MAX_REDIRECTS, RobotsCache, RobotsRules
from crawlproject.crawl.stopping import DEAD_END
from crawlproject.options import Options
from crawlproject.orderings.base import Graph, PageArchive
from crawlproject.records import PAGE, CrawlUrl, Fetch, Page, Topic
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of, origin_of
from crawlproject.webs.base import Reply, Web, get_as
from crawlproject.webs.page_cache import JudgedPages, latency, location


class Rehearsal:
    """One crawl of a topic with an ordering over a virtual web, up to ``CRAWL_MAX_PAGES`` pages.

    ``folder`` receives ``crawl.json`` and ``history.jsonl``. ``progress`` is called after each fetch. ``archive`` and
    ``cache_dir`` are those of ``assemble``.
    """

    def __init__(
        self,
        topic: Topic,
        options: Options,
        web: Web,
        *,
        agent: str,
        folder: Path,
        graph: Graph | None = None,
        progress: Callable[[Crawl], None] | None = None,
        archive: PageArchive | None = None,
        cache_dir: Path | None = None,
    ) -> None:
        self.now = 0.0
        self.crawl = assemble(
            topic,
            options,
            clock=lambda: self.now,
            folder=folder,
            graph=graph,
            rehearsal=True,
            archive=archive,
            cache_dir=cache_dir,
        )
        self._web = web
        self._progress = progress
        self._robots = RobotsCache(size=options.crawl_robots_cache_size, max_age=float("inf"), agent=agent)

    def run(self, pages: JudgedPages) -> Crawl:
        """Crawl to the end, with pages that are judged for this topic; the crawl, closed."""
        while not self.crawl.end_reason(self.now):
            url = self.crawl.take(self.now)
            if url is not None:
                self._fetch(url, pages)
                if self._progress:
                    self._progress(self.crawl)
                continue
            due = self.crawl.next_due(self.now)
            if due is None:
                break
            self.now = max(due, self.now)
        self.crawl.close(self.crawl.end_reason(self.now) or DEAD_END, self.now)
        return self.crawl

    def _fetch(self, url: CrawlUrl, pages: JudgedPages) -> None:
        rules = self._rules(url)
        host, connections = host_of(url.url), self.crawl.connections
        if rules.failure and not connections.is_given_up(host):
            self._robots.forget(origin_of(url.url))
            self.crawl.unreachable(url, rules.failure, Fetch(0, self.now, 0.0))
            return
        if not rules.allows(url.url):
            self.crawl.refuse(url, UNREACHABLE if rules.unreachable else FORBIDDEN)
            return
        plan = self.crawl.plan(url)
        reply, page = self._ask(url, plan, pages)
        seconds = latency(reply)
        self.now += seconds
        fetch = Fetch(reply.status, self.now, seconds)
        if reply.error:
            self.crawl.unreachable(url, reply.error, fetch)
        elif location(reply) and not plan.one_try:
            self._redirect(url, location(reply), fetch)
        elif (page := self.crawl.receive(url, reply, fetch, page)) is not None:
            self._follow(url, page, fetch)

    def _ask(self, url: CrawlUrl, plan: FetchPlan, pages: JudgedPages) -> tuple[Reply, Page | None]:
        """The reply, and the page in it where it was read and judged before."""
        if url.kind != PAGE:
            return get_as(self._web, url.url, plan.user_agent) if plan.user_agent else self._web.get(url.url), None
        reply, page = pages.get(url.url)
        if page is not None:
            page = replace(page, depth=url.depth, parent=url.parent, score=url.score, inherited=url.inherited)
        return reply, page

    def _follow(self, url: CrawlUrl, page: Page, fetch: Fetch) -> None:
        """What the pipelines do."""
        steps = self.crawl.steps
        page = steps.examine(page, fetch)
        if page.page_type:
            self.crawl.fail(url, page.page_type, fetch)
            return
        steps.keep(page, steps.visit(url, page, b"", fetch))
        steps.offer(page, fetch)

    def _redirect(self, url: CrawlUrl, href: str, fetch: Fetch) -> None:
        target = canonical_or_none(self.crawl.canonicalize, href, url.url)
        if target is None or target == url.url:
            self.crawl.fail(url, "redirect to no URL" if target is None else "redirect to itself", fetch)
        else:
            self.crawl.redirect(url, target, fetch)

    def _rules(self, url: CrawlUrl) -> RobotsRules:
        """robots.txt of the URL's origin; its fetch takes no virtual time."""
        origin = origin_of(url.url)
        if self.crawl.connections.is_in_doubt(host_of(url.url)):
            self._robots.forget(origin)
        rules = self._robots.get(origin, self.now)
        if rules is None:
            reply = self._robots_reply(f"{origin}/robots.txt")
            rules = self._robots.store(origin, reply.status, reply.headers, reply.body, self.now)
            rules.failure = reply.error
            self.crawl.learn_robots(origin, rules, self.now)
            self.crawl.name_sitemaps(rules.sitemaps, url)
        return rules

    def _robots_reply(self, url: str) -> Reply:
        """The reply behind at most five redirects (RFC 9309 section 2.3.1.2)."""
        reply = self._web.get(url)
        for _ in range(MAX_REDIRECTS):
            target = canonical_or_none(self.crawl.canonicalize, location(reply), url) if location(reply) else None
            if target is None:
                break
            url, reply = target, self._web.get(target)
        return reply
