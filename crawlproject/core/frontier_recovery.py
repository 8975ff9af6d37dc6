"""Makes the history and the frontier agree again: they are separate files, and either may have lost what the other contains.

The history decides what is done (ADR 4), and the frontier knows every URL in it. A frontier that does not know the last URL of
the history was removed, or comes from an older copy of the folder; one that knows of fewer lines than the history has lost its
end. Both are filled again from the history, the stored pages and their links. A frontier that knows of more lines is ahead of
the history: URLs that it counts as done, but that have no line, wait again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

from crawlproject.core.services import Services
from crawlproject.frontier.base import DurableFrontier, Frontier
from crawlproject.frontier.changes import best_of_paths
from crawlproject.records import ACTIVE, FIRST, PAGE, RETRY_AFTER, UNINFORMATIVE, CrawlUrl, Link, Page, Span, Visit
from crawlproject.storage.read import HISTORY, read_visits
from crawlproject.urls.post import is_post

_BEHIND = 1  # line that the frontier may miss if the process was killed between writing the two
_STEP = 1000  # URLs that become durable together


class Recovery(Protocol):
    """Receives the links of all pages, which a replay finds again."""

    def offer(self, url: CrawlUrl) -> None:
        """A URL to which a page, a sitemap or a redirect led."""
        ...

    def finish(self) -> None:
        """All URLs were offered."""
        ...


def find_recovery(services: Services, now: float) -> Recovery | None:
    """Return what restores the lost URLs; None if nothing was lost. A server may have lost URLs on their way to other workers."""
    frontier, history = services.frontier, services.folder.history
    ahead = frontier if isinstance(frontier, DurableFrontier) else None
    if ahead is not None and ahead.history_lines > history.lines:
        return HistoryRecovery(services, ahead)
    is_behind = ahead is not None and 0 < ahead.history_lines < history.lines - _BEHIND
    if history.last_url and (is_behind or history.last_url not in frontier or services.peers.was_forgotten):
        return FrontierRecovery(services, now)
    return None


class HistoryRecovery:
    """Makes URLs wait again that the frontier counts as done, but that have no line in the history.

    Among them are URLs that were refused when their turn came, because these have no line either. They will be refused again.
    All changes are made in one atomic step of the frontier, at the end.
    """

    def __init__(self, services: Services, frontier: DurableFrontier) -> None:
        self._services = services
        self._ahead = frontier
        history, seeds = services.folder.history, set(services.topic.seeds)
        self._lost = {
            url.key: url if url.parent or url.url in seeds else replace(url, depth=1, precedence=UNINFORMATIVE)
            for url in frontier.finished(known=history.__contains__)
            if not is_second_look(url.key)
        }

    def offer(self, url: CrawlUrl) -> None:
        """Update a lost URL from a link to it, because the frontier may have kept less information."""
        known = self._lost.get(url.key)
        if known is not None:
            is_bare = known.precedence == UNINFORMATIVE and not known.parent
            self._lost[url.key] = url if is_bare else best_of_paths(known, url)

    def finish(self) -> None:
        """Put all lost URLs back."""
        services, frontier, history = self._services, self._ahead, self._services.folder.history
        missing = frontier.history_lines - history.lines
        with services.frontier.batch():
            for key in self._lost:
                frontier.forget(key)
            for url in self._lost.values():
                services.kinds.offer(url)
            frontier.record_lines(history.lines)
        services.folder.warnings.append(
            f"{services.folder.path / HISTORY} had lost {missing} lines: "
            f"{len(self._lost)} URLs that the frontier counted as done are queued again"
        )


def is_second_look(key: str) -> bool:
    """Whether the key is that of another fetch of a URL, which is not recorded as the first line of the URL."""
    return "#" in key and not is_post(key)


class FrontierRecovery:
    """Puts the URLs of one crawl back into its frontier: first those that were fetched, then those that the pages link to.

    The URL that was fetched last becomes known only at the end, so that an interrupted recovery starts again.
    """

    def __init__(self, services: Services, now: float) -> None:
        self._services = services
        self._frontier: Frontier = services.frontier
        self._last = services.folder.history.last_url
        self._before = len(self._frontier)
        self._now = now
        done = (visit for visit in read_visits(services.folder.path) if visit.url != self._last)
        while some := list(islice(done, _STEP)):
            with self._frontier.batch():
                for visit in some:
                    self._done(visit)

    def offer(self, url: CrawlUrl) -> None:
        """Put back a URL to which a page, a sitemap or a redirect led."""
        if url.url != self._last:
            self._services.kinds.offer(url)

    def finish(self) -> None:
        """Complete the recovery, and report it."""
        services = self._services
        for visit in read_visits(services.folder.path):
            if visit.url == self._last:
                self._done(visit)
        if isinstance(self._frontier, DurableFrontier):
            self._frontier.record_lines(services.folder.history.lines)
        found = len(self._frontier) - self._before
        what = f"the frontier in {services.folder.path / 'frontier'} had lost its URLs"
        if services.peers.was_forgotten:
            what = "the server had lost this crawl"
        services.folder.warnings.append(
            f"{what}: rebuilt from {len(services.folder.history)} fetches and their links, {found} URLs are waiting"
        )

    def _done(self, visit: Visit) -> None:
        rests_from = min(visit.at, self._now) + visit.signs.get(RETRY_AFTER, 0.0)
        self._frontier.done(visit.url, rests_from, visit.seconds)


def target_of(visit: Visit) -> CrawlUrl:
    """The target of a redirect, as its handler offered it; only the class of seeds and listings can be restored."""
    where = visit.redirect, visit.score, visit.depth, visit.parent, visit.anchor, visit.context_score
    is_first = not visit.depth or visit.kind != PAGE
    return CrawlUrl(*where, kind=visit.kind, precedence=FIRST if is_first else ACTIVE)


def linked_from(visit: Visit, targets: Sequence[str]) -> Page:
    """A page whose file is missing, with the links of the link log: neither their anchors nor the text is known."""
    nothing = Span(0, 0)
    links = tuple(Link(url, "", nothing, nothing) for url in targets)
    page = Page(visit.url, visit.title, links=links, depth=visit.depth, parent=visit.parent, score=visit.score)
    return replace(page, relevance=visit.relevance, spam=visit.spam, signs=visit.signs)
