"""One rehearsal: the steps of a crawl, called in a loop.

The clock starts at 0 and moves to the moment the next fetch ends or the next host is due; nobody waits. As in a live crawl,
several fetches are under way at a time, one a host, and what a page links to is known when its fetch has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from pathlib import Path

from crawlproject.assembly import assemble
from crawlproject.core.crawl import Crawl
from crawlproject.core.robots import FORBIDDEN, MAX_REDIRECTS, RobotsCache, RobotsRules
from crawlproject.core.services import UNREACHABLE, FetchPlan
from crawlproject.core.stopping import DEAD_END
from crawlproject.options import Options
from crawlproject.orderings.base import Graph, PageArchive
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import PAGE, CrawlUrl, Fetch, Page, Reply, Topic
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import origin_of
from crawlproject.webs.base import Web, get_as
from crawlproject.webs.page_cache import PageSource, latency, location

CONCURRENCY = "concurrent_requests"  # the setting of Scrapy, in the manifest of a rehearsal


class CrawlSimulation:
    """One crawl of a topic with an ordering over a virtual web, up to ``CRAWL_MAX_PAGES`` pages.

    At most ``concurrency`` fetches are under way at a time (0: no limit). ``folder`` receives ``crawl.json`` and
    ``history.jsonl``. ``progress`` is called after each fetch. ``archive`` and ``cache_dir`` are
    those of ``assemble``, in place of which ``open_crawl`` may stand. ``judge`` is that of the pages.
    """

    def __init__(
        self,
        topic: Topic,
        options: Options,
        web: Web,
        *,
        agent: str,
        folder: Path,
        concurrency: int = 1,
        graph: Graph | None = None,
        progress: Callable[[Crawl], None] | None = None,
        archive: PageArchive | None = None,
        cache_dir: Path | None = None,
        open_crawl: Callable[..., Crawl] = assemble,
        judge: TopicJudge | None = None,
    ) -> None:
        self.now = 0.0
        self.crawl = open_crawl(
            topic,
            options,
            clock=lambda: self.now,
            folder=folder,
            graph=graph,
            rehearsal=True,
            archive=archive,
            cache_dir=cache_dir,
            **({"judge": judge} if judge else {}),
        )
        self.crawl.folder.manifest.note_setting(CONCURRENCY, concurrency)
        self._concurrency = concurrency or float("inf")
        # A heap: end of a fetch, number, what it leads to.
        self._under_way: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._allowed: set[str] = set()  # keys of URLs that wait after the fetch of their robots.txt
        self._web = web
        self._progress = progress
        self._robots = RobotsCache(size=options.crawl_robots_cache_size, max_age=float("inf"), agent=agent)

    def run(self, pages: PageSource) -> Crawl:
        """Crawl to the end, with pages that are judged for this topic; the crawl, closed."""
        while True:
            if self.begin_fetch(pages):
                continue
            if (event := self.next_event()) is None:
                return self.close()
            self.pass_time(event)

    def begin_fetch(self, pages: PageSource) -> bool:
        """Begin one more fetch, if one may begin now; whether one did."""
        if len(self._under_way) >= self._concurrency or (url := self.crawl.take(self.now)) is None:
            return False
        self._start(url, pages)
        return True

    def pass_time(self, now: float) -> None:
        """It is ``now``, or later: the fetches that have ended by then lead on."""
        self.now = max(now, self.now)
        while self._under_way and self._under_way[0][0] <= self.now:
            heappop(self._under_way)[2]()

    def close(self) -> Crawl:
        self.crawl.close(self.crawl.end_reason(self.now) or DEAD_END, self.now)
        return self.crawl

    def next_event(self) -> float | None:
        """When the next fetch ends, or another may begin; None when neither will happen."""
        ends = self._under_way[0][0] if self._under_way else None
        full = len(self._under_way) >= self._concurrency or self.crawl.budget_in_flight()
        due = None if full or self.crawl.end_reason(self.now) else self.crawl.next_due(self.now)
        if due is not None and due <= self.now and self._under_way:
            due = None  # nothing was taken just now: look again when a fetch has ended
        return min((time for time in (ends, due) if time is not None), default=None)

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        heappush(self._under_way, (self.now + seconds, next(self._numbers), then))

    # ------------------------------------------------------------ robots.txt, then the page

    def _start(self, url: CrawlUrl, pages: PageSource) -> None:
        origin = origin_of(url.url)
        if url.key in self._allowed:
            self._allowed.discard(url.key)
            self._fetch(url, pages)
            return
        if self.crawl.connections.is_in_doubt(origin):
            self._robots.forget(origin)  # it shows whether the host answers, when a page of it did not
        if (rules := self._robots.get(origin, self.now)) is None:
            reply, seconds = self._robots_reply(f"{origin}/robots.txt")
            self._after(seconds, partial(self._robots_came, url, reply, seconds, pages))
        elif self._is_allowed(url, rules):
            self._fetch(url, pages)

    def _robots_came(self, url: CrawlUrl, reply: Reply, seconds: float, pages: PageSource) -> None:
        """That was a visit: the page waits until its host has rested, unless hosts need no rest (ADR 3)."""
        options = self.crawl.options
        origin = origin_of(url.url)
        rules = self._robots.store(origin, reply.status, reply.headers, reply.body, self.now)
        rules.failure = reply.error
        delay = rules.crawl_delay(options.politeness_max_crawl_delay)
        self.crawl.learn_robots(origin, rules, self.now)
        self.crawl.robots_read(rules, url)
        if not self._is_allowed(url, rules):
            return
        if options.politeness_min_delay or options.politeness_factor or delay:
            self._allowed.add(url.key)
            self.crawl.frontier.release(url.key, self.now, seconds, picked=False)
        else:
            self._fetch(url, pages)

    def _is_allowed(self, url: CrawlUrl, rules: RobotsRules) -> bool:
        """Whether robots.txt allows it; if not, the lease is ended."""
        if rules.allows(url.url):
            return True
        if rules.unreachable and not self.crawl.connections.is_given_up(origin_of(url.url)):
            self._robots.forget(origin_of(url.url))
            self.crawl.unreachable(url, rules.failure or UNREACHABLE, Fetch(0, self.now, 0.0))
            return False
        self.crawl.refuse(url, UNREACHABLE if rules.unreachable else FORBIDDEN)
        return False

    def _robots_reply(self, url: str) -> tuple[Reply, float]:
        """The reply behind at most five redirects (RFC 9309 section 2.3.1.2), and the seconds of all fetches."""
        reply = self._web.get(url)
        seconds = latency(reply)
        for _ in range(MAX_REDIRECTS):
            target = canonical_or_none(self.crawl.canonicalize, location(reply), url) if location(reply) else None
            if target is None:
                break
            url, reply = target, self._web.get(target)
            seconds += latency(reply)
        return reply, seconds

    def _fetch(self, url: CrawlUrl, pages: PageSource) -> None:
        plan = self.crawl.plan(url)
        reply, page = self._ask(url, plan, pages)
        seconds = latency(reply)
        self._after(seconds, partial(self._end, url, plan, reply, page, seconds))

    def _end(self, url: CrawlUrl, plan: FetchPlan, reply: Reply, page: Page | None, seconds: float) -> None:
        fetch = Fetch(reply.status, self.now, seconds)
        if reply.error:
            self.crawl.unreachable(url, reply.error, fetch)
        elif location(reply) and not plan.one_try:
            self._redirect(url, location(reply), fetch)
        elif (page := self.crawl.receive(url, reply, fetch, page)) is not None:
            self._follow(url, page, fetch)
        if self._progress:
            self._progress(self.crawl)

    def _ask(self, url: CrawlUrl, plan: FetchPlan, pages: PageSource) -> tuple[Reply, Page | None]:
        """The reply, and the page in it where it was read and judged before."""
        if url.kind != PAGE:
            return get_as(self._web, url.url, plan.user_agent) if plan.user_agent else self._web.get(url.url), None
        reply, page = pages.get(url.url)
        if page is not None:
            page = replace(page, depth=url.depth, parent=url.parent, score=url.score, inherited=url.inherited)
        return reply, page

    def _follow(self, url: CrawlUrl, page: Page, fetch: Fetch) -> None:
        """What the pipelines do."""
        steps = self.crawl.steps_for(url)
        page = steps.examine(page, fetch)
        if page.page_type:
            self.crawl.fail(url, page.page_type, fetch)
            return
        if page.needs_browser:
            page = steps.score_page(page)
        steps.keep(page, steps.visit(url, page, b"", fetch))
        steps.offer(page, fetch)

    def _redirect(self, url: CrawlUrl, href: str, fetch: Fetch) -> None:
        target = canonical_or_none(self.crawl.canonicalize, href, url.url)
        if target is None or target == url.url:
            self.crawl.fail(url, "redirect to no URL" if target is None else "redirect to itself", fetch)
        else:
            self.crawl.redirect(url, target, fetch)
