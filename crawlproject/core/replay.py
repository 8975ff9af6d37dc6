"""After a resume: everything that learns in a crawl learns from its history once more.

What was learned lives in memory. Kept on disk it would be one more file that must agree with the history at every instant;
learned again it always agrees. Learners that look at the pages cost what reading the pages costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Generic, TypeVar

from crawlproject.core.crawl import Crawl
from crawlproject.core.frontier_recovery import FrontierRecovery, has_lost_urls, linked_from
from crawlproject.core.link_replay import LinkReplay
from crawlproject.core.page_steps import PageSteps
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.parts.judgments.judgments import read_judgments
from crawlproject.parts.listings.sitemap_log import read_sitemap_lines
from crawlproject.parts.probes.probe_log import read_findings
from crawlproject.records import LISTINGS, NEEDS_BROWSER, SITEMAP, CrawlUrl, FetchEvent, Page, Visit
from crawlproject.storage.read import read_links, read_visits

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
        follower = LinkReplay(crawl, feed, FrontierRecovery(crawl, now) if lost else None)
    revisits = crawl.revisits if shared is not None else None  # learn from all workers' visits, in the order of time
    learners = [learner for learner in crawl.learners if (follower or learner is not feed) and learner is not revisits]
    learners_again = [learner for learner in crawl.learners_again if learner is not revisits]
    inherited: dict[str, tuple[float, ...]] = follower.linked if follower else {}
    for number, event in enumerate(read_events(crawl, inherited, now), start=1):
        if event.visit.number > 1:
            for learner in learners_again:
                learner.apply(event)
            if shared is not None:
                shared.replayed(event, number)
            continue
        for learner in learners:
            learner.apply(event)
        if follower:
            follower.follow(event)
        if shared is not None:
            shared.replayed(event, number)
    if follower:
        follower.finish()
    if revisits is not None:
        revisits.replay_workers()
    if shared is not None:
        shared.catch_up()


def read_events(
    crawl: Crawl, inherited: dict[str, tuple[float, ...]], now: float, steps: PageSteps | None = None
) -> Iterator[FetchEvent]:
    """The events of a crawl folder, in order, none after ``now``. ``inherited`` is what each URL has, as far as known.

    ``steps``: how the pages are read, unless as the crawl does.
    """
    steps = steps or crawl.steps
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
            yield FetchEvent(visit, targets, cache(partial(stored_page, crawl, visit, own, steps)))
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


def _listed(crawl: Crawl, visit: Visit, entries: Sequence[Sequence[str]]) -> Page:
    """The links of a sitemap or feed, as they were; none when its line is gone."""
    url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent)
    if visit.error == SITEMAP:
        return crawl.sitemaps.page(url, [entry[0] for entry in entries])
    return crawl.feeds.page(url, [tuple(entry) for entry in entries])


def stored_page(
    crawl: Crawl, visit: Visit, inherited: tuple[float, ...], steps: PageSteps | None = None
) -> Page | None:
    """The page of a visit, read and judged again; None when its file is not there."""
    steps = steps or crawl.steps
    try:
        body = crawl.folder.pages.load(visit.url)
    except FileNotFoundError:
        return None
    url = CrawlUrl(visit.url, visit.score, visit.depth, visit.parent, inherited=inherited)
    unfollowed = "" if visit.links else "nofollow"  # as the headers of its response may have asked
    page = steps.read(url, body, content_type=visit.content_type, robots_tag=unfollowed, now=visit.at)
    judged = replace(
        page, relevance=visit.relevance, spam=visit.spam, duplicate_of=visit.duplicate_of, signs=visit.signs
    )
    if crawl.topics is not None:  # also those that joined later
        judged = replace(steps.score_page(judged), relevance=visit.relevance)
    return steps.score_links(judged)
