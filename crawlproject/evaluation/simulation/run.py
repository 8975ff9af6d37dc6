"""One rehearsal: the steps of a crawl, called in a loop.

The clock starts at 0 and jumps to the time when the next fetch ends or the next host is due, without waiting. As in a live
crawl, several fetches are in progress at a time, one per host, and the links of a page are known when its fetch has ended.
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

CONCURRENCY = "concurrent_requests"  # Scrapy's setting, recorded in the manifest of a rehearsal


class CrawlSimulation:
    """One crawl of a topic with an ordering over a virtual web, up to ``CRAWL_MAX_PAGES`` pages.

    At most ``concurrency`` fetches are in progress at a time (0: no limit). ``crawl.json`` and ``history.jsonl`` are written
    to ``folder``. ``progress`` is called after each fetch. ``archive`` and ``cache_dir`` are passed to ``open_crawl``, by
    default ``assemble``. ``judge`` is the judge of the pages, if not the default one.
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
        # A heap: end of a fetch, a number for ties, and the callback for its end.
        self._under_way: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._allowed: set[str] = set()  # keys of URLs that robots.txt allows and that wait for their host
        self._web = web
        self._progress = progress
        self._robots = RobotsCache(size=options.crawl_robots_cache_size, max_age=float("inf"), agent=agent)

    def run(self, pages: PageSource) -> Crawl:
        """Crawl to the end, with ``pages`` judged for this topic; return the closed crawl."""
        while True:
            if self.begin_fetch(pages):
                continue
            if (event := self.next_event()) is None:
                return self.close()
            self.pass_time(event)

    def begin_fetch(self, pages: PageSource) -> bool:
        """Take a URL and begin its fetch, if one may begin now; return whether a URL was taken."""
        if len(self._under_way) >= self._concurrency or (url := self.crawl.take(self.now)) is None:
            return False
        self._start(url, pages)
        return True

    def pass_time(self, now: float) -> None:
        """Advance the clock to ``now`` and process the fetches that have ended by then."""
        self.now = max(now, self.now)
        while self._under_way and self._under_way[0][0] <= self.now:
            heappop(self._under_way)[2]()

    def close(self) -> Crawl:
        self.crawl.close(self.crawl.end_reason(self.now) or DEAD_END, self.now)
        return self.crawl

    def next_event(self) -> float | None:
        """The time when the next fetch ends or another may begin; None if neither will happen."""
        ends = self._under_way[0][0] if self._under_way else None
        full = len(self._under_way) >= self._concurrency or self.crawl.budget_in_flight()
        due = None if full or self.crawl.end_reason(self.now) else self.crawl.next_due(self.now)
        if due is not None and due <= self.now and self._under_way:
            due = None  # ``take`` returned nothing just now: try again when a fetch has ended
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
            self._robots.forget(origin)  # fetched again, to see whether the host answers after a page of it failed
        if (rules := self._robots.get(origin, self.now)) is None:
            reply, seconds = self._robots_reply(f"{origin}/robots.txt")
            self._after(seconds, partial(self._robots_came, url, reply, seconds, pages))
        elif self._is_allowed(url, rules):
            self._fetch(url, pages)

    def _robots_came(self, url: CrawlUrl, reply: Reply, seconds: float, pages: PageSource) -> None:
        """Store the rules. Their fetch was a visit, so the page waits until its host has rested, if hosts rest (ADR 3)."""
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
        """Whether robots.txt allows ``url``; if not, its lease ends."""
        if rules.allows(url.url):
            return True
        if rules.unreachable and not self.crawl.connections.is_given_up(origin_of(url.url)):
            self._robots.forget(origin_of(url.url))
            self.crawl.unreachable(url, rules.failure or UNREACHABLE, Fetch(0, self.now, 0.0))
            return False
        self.crawl.refuse(url, UNREACHABLE if rules.unreachable else FORBIDDEN)
        return False

    def _robots_reply(self, url: str) -> tuple[Reply, float]:
        """The reply after at most five redirects (RFC 9309 section 2.3.1.2), and the seconds of all fetches."""
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
        """The reply, and its page if ``pages`` has parsed and judged it."""
        if url.kind != PAGE:
            return get_as(self._web, url.url, plan.user_agent) if plan.user_agent else self._web.get(url.url), None
        reply, page = pages.get(url.url)
        if page is not None:
            page = replace(page, depth=url.depth, parent=url.parent, score=url.score, inherited=url.inherited)
        return reply, page

    def _follow(self, url: CrawlUrl, page: Page, fetch: Fetch) -> None:
        """Process a page as the pipelines of a live crawl do."""
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
