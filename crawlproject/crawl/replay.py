"""After a resume: everything that learns in a crawl learns from its history once more.

What was learned lives in memory. Kept on disk it would be one more file that must agree with the history at every instant;
learned again it always agrees. Learners that look at the pages cost what reading the pages costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import Generic, TypeVar

from crawlproject.crawl.crawl import Crawl
from crawlproject.crawl.frontier_recovery import FrontierRecovery, has_lost_urls, linked_from, target_of
from crawlproject.frontier.base import Frontier, SharedFrontier
from crawlproject.frontier.paths import larger_of_each
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.records import LISTINGS, NEEDS_BROWSER, PROBE, SITEMAP, CrawlUrl, FetchEvent, Page, Visit
from crawlproject.storage.judgments import read_judgments
from crawlproject.storage.probe_log import read_findings
from crawlproject.storage.read import read_links, read_visits
from crawlproject.storage.sitemap_log import read_sitemap_lines

Value = TypeVar("Value")


def replay(crawl: Crawl, now: float) -> None:
    """Apply the events of the crawl folder to the learners of a crawl that has fetched nothing yet.

    What a frontier has lost is put back. When a person has judged pages, all waiting URLs get new scores. Fetches that ended
    after ``now``, by a clock that was set since, count as ended then. At last what other workers have told is learned. Raises
    ``BadCrawlDir`` for a damaged folder, and ``StorageFailed``.
    """
    shared = crawl.shared
    for finding in read_findings(crawl.folder.path):
        crawl.probes.apply_finding(finding)
    crawl.admission.replay()
    feed = crawl.ordering_feed
    if crawl.options.ordering not in UNJUDGED:
        feed.judgments = read_judgments(crawl.folder.path)
    lost = has_lost_urls(crawl)
    follower = None
    if (crawl.ordering.learns or lost or feed.judgments) and crawl.stats.fetches:
        follower = _Follower(crawl, FrontierRecovery(crawl, now) if lost else None)
    learners = [learner for learner in crawl.learners if follower or learner is not feed]
    inherited: dict[str, tuple[float, ...]] = follower.linked if follower else {}
    for number, event in enumerate(read_events(crawl, inherited, now), start=1):
        if event.visit.number > 1:
            for learner in crawl.learners_again:
                learner.apply(event)
            continue
        for learner in learners:
            learner.apply(event)
        if follower:
            follower.follow(event)
        if shared is not None:
            shared.replayed(event, number)
    if follower:
        follower.finish()
    if shared is not None:
        shared.catch_up()


def read_events(crawl: Crawl, inherited: dict[str, tuple[float, ...]], now: float) -> Iterator[FetchEvent]:
    """The events of a crawl folder, in order, none after ``now``. ``inherited`` is what each URL has, as far as known."""
    links = InStep(read_links(crawl.folder.path))
    sitemaps = InStep(read_sitemap_lines(crawl.folder.path))
    for visit in read_visits(crawl.folder.path):
        if visit.at > now:
            visit = replace(visit, at=now)
        targets = links.of(visit.url)
        if visit.error in LISTINGS:
            yield FetchEvent(visit, targets, cache(partial(_listed, crawl, visit, sitemaps.of(visit.url))))
        elif visit.is_page:
            own = inherited.get(visit.url, ()) if visit.parent else ()
            yield FetchEvent(visit, targets, cache(partial(stored_page, crawl, visit, own)))
        elif visit.error == NEEDS_BROWSER:
            yield FetchEvent(visit, targets, partial(linked_from, visit, targets))
        else:
            yield FetchEvent(visit, targets)


class InStep(Generic[Value]):
    """A log whose entries ``(URL, values)`` come in the order of the history; some URLs have none."""

    def __init__(self, entries: Iterator[tuple[str, list[Value]]]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def of(self, url: str) -> Sequence[Value]:
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
    that is neither barred nor in the frontier is offered again: earlier versions put some aside. With a ``recovery`` all links
    are offered again.

    Judgments came after the pages were scored, so what the frontier has is out of date: the scores of all links are kept here
    as a frontier keeps them, and passed on at the end.
    """

    def __init__(self, crawl: Crawl, recovery: FrontierRecovery | None) -> None:
        self._crawl = crawl
        self._recovery = recovery
        self.linked: dict[str, tuple[float, ...]] = {}  # what was offered, and what it has inherited
        self._missing: dict[str, CrawlUrl] = {}
        self._revised: list[tuple[str, float]] = []
        self._judged = bool(crawl.ordering_feed.judgments)
        self._scores: dict[str, float] = {}  # of all links, if pages were judged

    def follow(self, event: FetchEvent) -> None:
        """The links of a page or sitemap, or the target of a redirect, that were offered to the frontier."""
        visit, recovery = event.visit, self._recovery
        if visit.redirect:
            unknown = self._offer(visit.redirect, visit.depth, self.linked.get(visit.url, ()))
            if unknown and recovery:
                recovery.offer(target_of(visit))
            self._note_score(visit.redirect, visit.score)
        if not visit.leads_on:
            return
        if not visit.repeats:
            page = event.page()
            if page is None and not recovery:
                return
            with self._crawl.frontier.batch() if recovery else nullcontext():
                self._follow_links(page or linked_from(visit, event.links))
        self._revised = list(self._crawl.ordering.revise())
        if self._judged:
            self._scores.update(self._revised)

    def _follow_links(self, page: Page) -> None:
        recovery, frontier = self._recovery, self._crawl.frontier
        for url in self._crawl.ordering_feed.follow(page):
            if url is None:
                continue
            unknown = self._offer(url.url, url.depth, url.inherited)
            self._note_score(url.url, url.score)
            if recovery and (unknown or url.url in frontier):
                recovery.offer(url)
            elif unknown:
                self._missing.setdefault(url.url, url)

    def finish(self) -> None:
        """All events were replayed."""
        crawl = self._crawl
        crawl.admission.rescore(self._scores.items() if self._judged else self._revised)
        crawl.admission.set_floor()  # no frontier keeps it
        known, waiting = _states(crawl.frontier, self.linked)
        for url in self.linked:
            if url in known and url not in waiting and url not in crawl.folder.history:
                crawl.ordering.refused(url)
        most = crawl.options.frontier_max_urls
        for missing in self._missing.values():
            if missing.url not in crawl.frontier and not 0 < most <= len(crawl.frontier):
                crawl.admission.offer(missing)
        if self._recovery:
            self._recovery.finish()

    def _note_score(self, url: str, score: float) -> None:
        if self._judged:
            self._scores[url] = max(score, self._scores.get(url, score))

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


def _listed(crawl: Crawl, visit: Visit, entries: Sequence[Sequence[str]]) -> Page:
    """The links of a sitemap or feed, as they were; none when its line is gone."""
    url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent)
    if visit.error == SITEMAP:
        return crawl.sitemaps.page(url, [entry[0] for entry in entries])
    return crawl.feeds.page(url, [tuple(entry) for entry in entries])


def stored_page(crawl: Crawl, visit: Visit, inherited: tuple[float, ...]) -> Page | None:
    """The page of a visit, read and judged again; None when its file is not there."""
    try:
        body = crawl.folder.pages.load(visit.url)
    except FileNotFoundError:
        return None
    url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, inherited=inherited)
    unfollowed = "" if visit.links else "nofollow"  # as the headers of its response may have asked
    page = crawl.steps.read(url, body, content_type=visit.content_type, robots_tag=unfollowed, now=visit.at)
    judged = replace(
        page, relevance=visit.relevance, spam=visit.spam, duplicate_of=visit.duplicate_of, signs=visit.signs
    )
    if crawl.topics is not None:  # also those that joined later
        judged = replace(crawl.steps.score_page(judged), relevance=visit.relevance)
    return crawl.steps.score_links(judged)
