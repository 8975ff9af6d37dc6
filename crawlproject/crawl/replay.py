"""After a resume: everything that learns in a crawl learns from its history once more.

What was learned lives in memory. Kept on disk it would be one more file that must agree with the history at every instant;
learned again it always agrees. Learners that look at the pages cost what reading the pages costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from crawlproject.crawl.crawl import Crawl
from crawlproject.frontier.base import Frontier, SharedFrontier
from crawlproject.frontier.paths import larger_of_each
from crawlproject.records import PROBE, SITEMAP, CrawlUrl, FetchEvent, Page, Visit
from crawlproject.storage.probe_log import read_findings
from crawlproject.storage.read import read_links, read_visits
from crawlproject.storage.sitemap_log import read_sitemap_lines


def replay(crawl: Crawl) -> None:
    """Apply the events of the crawl folder to the learners of a crawl that has fetched nothing yet.

    Then from what other workers have told. Raises ``BadCrawlDir`` for a damaged folder.
    """
    shared = crawl.shared
    for finding in read_findings(crawl.folder.path):
        crawl.probes.apply_finding(finding)
    crawl.admission.replay()
    feed = crawl.ordering_feed
    follower = _Follower(crawl) if crawl.ordering.learns and crawl.stats.fetches else None
    learners = [learner for learner in crawl.learners if follower or learner is not feed]
    inherited: dict[str, tuple[float, ...]] = follower.linked if follower else {}
    for number, event in enumerate(read_events(crawl, inherited), start=1):
        for learner in learners:
            learner.apply(event)
        if follower:
            follower.follow(event)
        if shared is not None:
            shared.fetched(event, number)  # unless the server has it
    if follower:
        follower.finish()
    if shared is not None:
        shared.catch_up()


def read_events(crawl: Crawl, inherited: dict[str, tuple[float, ...]]) -> Iterator[FetchEvent]:
    """The events of a crawl folder, in order. ``inherited`` is what each URL has inherited, as far as known."""
    links = InStep(read_links(crawl.folder.path))
    sitemaps = InStep(read_sitemap_lines(crawl.folder.path))
    for visit in read_visits(crawl.folder.path):
        targets = links.of(visit.url)
        if visit.error == SITEMAP:
            yield FetchEvent(visit, targets, cache(partial(_listed, crawl, visit, sitemaps.of(visit.url))))
        elif visit.is_page:
            own = inherited.get(visit.url, ()) if visit.parent else ()
            yield FetchEvent(visit, targets, cache(partial(_stored, crawl, visit, own)))
        else:
            yield FetchEvent(visit, targets)


class InStep:
    """A log whose entries ``(URL, values)`` come in the order of the history; some URLs have none."""

    def __init__(self, entries: Iterator[tuple[str, list[str]]]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def of(self, url: str) -> Sequence[str]:
        """The values of ``url``, when its entry is the next."""
        if self._next is None or self._next[0] != url:
            return ()
        values = self._next[1]
        self._next = next(self._entries, None)
        return values


class _Follower:
    """Shows an ordering the links of each page again, in order.

    It is asked for new scores after each page, as it was then. Only the last of them are passed on to the frontier, which
    may have been killed before it had them; the others it has, or better ones since.

    Refusals have no line in the history: a link that is barred was refused where it was found, and one that neither waits
    nor was fetched was refused at its turn. The ordering learns of the latter at the end, when all fetches are known. A link
    that is neither barred nor in the frontier is offered again: earlier versions put some aside.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self.linked: dict[str, tuple[float, ...]] = {}  # what was offered, and what it has inherited
        self._missing: dict[str, CrawlUrl] = {}
        self._revised: list[tuple[str, float]] = []

    def follow(self, event: FetchEvent) -> None:
        """The links of a page or sitemap, or the target of a redirect, that were offered to the frontier."""
        visit, ordering = event.visit, self._crawl.ordering
        if visit.redirect:
            self._offer(visit.redirect, visit.depth, self.linked.get(visit.url, ()))
        if not visit.is_page and visit.error != SITEMAP:
            return
        if not visit.repeats:
            page = event.page()
            if page is None:
                return
            for url in self._crawl.ordering_feed.follow(page):
                if url is not None and self._offer(url.url, url.depth, url.inherited):
                    self._missing.setdefault(url.url, url)
        self._revised = list(ordering.revise())

    def finish(self) -> None:
        """All events were replayed."""
        crawl = self._crawl
        crawl.admission.rescore(self._revised)
        crawl.admission.set_floor()  # no frontier keeps it
        known, waiting = _states(crawl.frontier, self.linked)
        for url in self.linked:
            if url in known and url not in waiting and url not in crawl.folder.history:
                crawl.ordering.refused(url)
        most = crawl.options.frontier_max_urls
        for missing in self._missing.values():
            if missing.url not in crawl.frontier and not 0 < most <= len(crawl.frontier):
                crawl.admission.offer(missing)

    def _offer(self, url: str, depth: int, inherited: tuple[float, ...]) -> bool:
        """Whether the frontier does not know the URL, although no rule bars it."""
        self.linked[url] = larger_of_each(self.linked.get(url, inherited), inherited)
        if url in self._crawl.frontier:
            return False
        barred = self._crawl.admission.rules.is_barred(url, depth)
        if barred:
            self._crawl.ordering.refused(url)
        return not barred


def _states(frontier: Frontier, linked: Iterable[str]) -> tuple[Frontier | set[str], set[str]]:
    """What the frontier knows of what was linked, and what waits; of a shared one only what was linked here is asked."""
    if not isinstance(frontier, SharedFrontier):
        return frontier, {url.url for url in frontier.waiting() if url.kind != PROBE}
    states = frontier.states(linked)
    return {url for url, state in states.items() if state}, {url for url, state in states.items() if state == "waiting"}


def _listed(crawl: Crawl, visit: Visit, targets: Sequence[str]) -> Page:
    """The links of a sitemap, as they were; none when its line is gone."""
    return crawl.sitemaps.page(CrawlUrl(visit.url, visit.score, visit.depth, visit.parent), targets)


def _stored(crawl: Crawl, visit: Visit, inherited: tuple[float, ...]) -> Page | None:
    """The page of a visit, read and judged again; None when its file is not there."""
    try:
        body = crawl.folder.pages.load(visit.url)
    except FileNotFoundError:
        return None
    url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, inherited=inherited)
    unfollowed = "" if visit.links else "nofollow"  # as the headers of its response may have asked
    page = crawl.steps.read(url, body, content_type=visit.content_type, robots_tag=unfollowed)
    judged = replace(
        page, relevance=visit.relevance, spam=visit.spam, duplicate_of=visit.duplicate_of, signs=visit.signs
    )
    return crawl.steps.score_links(judged)
