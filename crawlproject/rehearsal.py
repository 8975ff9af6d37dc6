"""A crawl without Scrapy: the same steps on a virtual web, one fetch at a time, on a virtual clock.

The clock starts at 0 and moves by what a fetch would have taken, or to the moment the next host is due; nobody waits. What
many rehearsals share is computed once: a page is read once a web (``PageCache``) and judged once a topic (``JudgedPages``).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from crawlproject.assembly import assemble
from crawlproject.crawl import Crawl, Fetch, canonical_or_none
from crawlproject.options import Options
from crawlproject.orderings.base import Graph
from crawlproject.reading import Reader
from crawlproject.records import CrawlUrl, Page, Topic
from crawlproject.robots import RobotsCache, RobotsRules
from crawlproject.text.judge import TopicJudge
from crawlproject.urls.hosts import host_of, origin_of
from crawlproject.virtualweb.base import Reply, Web

BYTES_PER_SECOND = 1_000_000.0  # latency model: what the virtual line carries
ROUND_TRIP = 0.1  # seconds: latency model, one request and the first byte of its reply


def latency(reply: Reply) -> float:
    """Seconds a fetch takes on the virtual clock: what the web says, else a round trip and the transfer."""
    return reply.seconds or ROUND_TRIP + len(reply.body) / BYTES_PER_SECOND


class PageCache:
    """Replies of a web, read: page, redirect target, or neither. Bounded; the least recently used page goes first.

    The text of a page is dropped (its terms stay), since no ordering looks at it.
    """

    def __init__(self, web: Web, reader: Reader, options: Options, size: int = 25_000) -> None:
        self.web = web
        self.reader = reader
        self._options = options
        self._size = size
        self._read: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """The reply without its body, and the page in it; relevance and scores are 0. The body's length stays known."""
        found = self._read.get(url)
        if found is not None:
            self._read.move_to_end(url)
            return found
        reply = self.web.get(url)
        page = self._page(url, reply) if wanted(reply, self._options.page_content_types) else None
        found = replace(reply, body=b"", seconds=latency(reply)), page
        self._read[url] = found
        if len(self._read) > self._size:
            self._read.popitem(last=False)
        return found

    def _page(self, url: str, reply: Reply) -> Page:
        content_type = reply.headers.get("content-type", "")
        robots_tag = reply.headers.get("x-robots-tag", "")
        body = reply.body[: self._options.page_max_bytes]
        return replace(self.reader.read(url, body, content_type=content_type, robots_tag=robots_tag), text="")


class JudgedPages:
    """The pages of a ``PageCache`` as one topic sees them: relevance and context scores filled in."""

    def __init__(self, pages: PageCache, judge: TopicJudge, size: int = 25_000) -> None:
        self._pages = pages
        self._judge = judge
        self._size = size
        self._judged: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """Reply and judged page."""
        found = self._judged.get(url)
        if found is None:
            reply, page = self._pages.get(url)
            found = self._judged[url] = reply, self._judge.judge(page) if page else None
            if len(self._judged) > self._size:
                self._judged.popitem(last=False)
        return found


def wanted(reply: Reply, content_types: Iterable[str]) -> bool:
    """Whether a reply is a page: a 2xx status and, when it has a content type, one of ``content_types``."""
    media_type = reply.headers.get("content-type", "").split(";")[0].strip().lower()
    return 200 <= reply.status < 300 and (not media_type or media_type in content_types)


class Rehearsal:
    """One crawl of a topic with an ordering over a virtual web, up to ``CRAWL_MAX_PAGES`` pages.

    ``folder`` receives ``crawl.json`` and ``history.jsonl``. ``progress`` is called after each fetch.
    """

    def __init__(
        self,
        topic: Topic,
        options: Options,
        judged: Callable[[TopicJudge], JudgedPages],
        web: Web,
        *,
        agent: str,
        folder: Path,
        reader: Reader,
        graph: Graph | None = None,
        progress: Callable[[Crawl], None] | None = None,
    ) -> None:
        self.now = 0.0
        self.crawl = assemble(
            topic, options, clock=lambda: self.now, folder=folder, reader=reader, graph=graph, rehearsal=True
        )
        self._pages = judged(self.crawl.judge)
        self._web = web
        self._agent = agent
        self._progress = progress
        self._robots = RobotsCache(size=options.crawl_robots_cache_size, max_age=float("inf"))

    def run(self) -> Crawl:
        """Crawl to the end; the crawl, closed."""
        while not self.crawl.spent:
            url = self.crawl.take(self.now)
            if url is not None:
                self._fetch(url)
                if self._progress:
                    self._progress(self.crawl)
                continue
            due = self.crawl.frontier.next_due(self.now)
            if due is None:
                break
            self.now = max(due, self.now)
        self.crawl.close("page budget" if self.crawl.spent else "frontier empty", self.now)
        return self.crawl

    def _fetch(self, url: CrawlUrl) -> None:
        if not self._rules(url.url).allows(url.url, self._agent):
            self.crawl.refuse(url.url, "robots/forbidden", url.parent)
            return
        reply, page = self._pages.get(url.url)
        self.now += reply.seconds
        fetch = Fetch(reply.status, self.now, reply.seconds)
        if page is not None:
            self._receive(url, page, fetch)
        elif 300 <= reply.status < 400 and reply.headers.get("location"):
            self._redirect(url, reply.headers["location"], fetch)
        else:
            self.crawl.fail(url, reply.error or _why_no_page(reply), fetch)

    def _receive(self, url: CrawlUrl, page: Page, fetch: Fetch) -> None:
        page = replace(page, depth=url.depth, parent=url.parent, score=url.score, inherited=url.inherited)
        self.crawl.keep(page, self.crawl.visit(url, page, b"", fetch))
        self.crawl.offer(page, fetch)

    def _redirect(self, url: CrawlUrl, location: str, fetch: Fetch) -> None:
        target = canonical_or_none(lambda href: self.crawl.canonicalize(href, url.url), location)
        if target is None or target == url.url:
            self.crawl.fail(url, "redirect to no URL" if target is None else "redirect to itself", fetch)
        else:
            self.crawl.redirect(url, target, fetch)

    def _rules(self, url: str) -> RobotsRules:
        """robots.txt of the URL's origin; its fetch takes no virtual time."""
        origin = origin_of(url)
        rules = self._robots.get(origin, self.now)
        if rules is None:
            reply = self._web.get(f"{origin}/robots.txt")
            rules = self._robots.store(origin, reply.status, reply.headers, reply.body, self.now)
            delay = rules.crawl_delay(self._agent, self.crawl.options.politeness_max_crawl_delay)
            self.crawl.frontier.crawl_delay(host_of(url), delay)
        return rules


def _why_no_page(reply: Reply) -> str:
    if 200 <= reply.status < 300:
        return f"content type {reply.headers.get('content-type', '')[:60]}"
    return f"http {reply.status}"


# ---------------------------------------------------------------- the whole graph, for omniscience and reachability


def graph_of(pages: PageCache, canonicalize: Callable[..., str], admit: Callable[[str], bool]) -> Graph:
    """``url -> URLs it leads to`` over a web: links of a page, the target of a redirect; None for anything else."""

    def successors(url: str) -> Sequence[str] | None:
        reply, page = pages.get(url)
        if page is not None:
            return [link.url for link in page.links if admit(link.url)]
        if 300 <= reply.status < 400 and reply.headers.get("location"):
            target = canonical_or_none(lambda href: canonicalize(href, url), reply.headers["location"])
            return [target] if target and admit(target) else None
        return None

    return successors


def reachable(graph: Graph, seeds: Iterable[str], limit: int = 1_000_000) -> Iterator[str]:
    """Every URL that answers with a page or a redirect and can be reached from the seeds, nearest first."""
    queue = OrderedDict.fromkeys(seeds)
    seen = set(queue)
    while queue and len(seen) < limit:
        url, _ = queue.popitem(last=False)
        linked = graph(url)
        if linked is None:
            continue
        yield url
        for target in linked:
            if target not in seen:
                seen.add(target)
                queue[target] = None
