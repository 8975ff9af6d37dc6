"""After a resume: show an ordering that learns the stored pages once more.

What an ordering learned lives in memory. Kept on disk it would be one more file that must agree with the history at
every instant; read again from the pages it always agrees, and costs what reading a page costs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from crawlproject.crawl.crawl import Crawl
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.inspection.examiner import honest
from crawlproject.records import NOT_KEPT, OWN_LINKS, PROBE, SITEMAP, CrawlUrl, Page
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.sitemap_log import read_sitemap_lines


def relearn(crawl: Crawl) -> int:
    """Take the ordering through the history, in order; the number of pages it saw.

    It is asked for new scores after each page, as it was then. Only the last of them are passed on to the frontier, which
    may have been killed before it had them; the others it has, or better ones since.

    Refusals have no line in the history: a link that is barred was refused where it stands, and one that neither waits
    nor was fetched was refused at its turn. The ordering is told of the latter at the end, when all fetches are known. Of
    a page that asked not to be kept, or whose file is gone, it learns nothing but that it waits no more.

    Raises ``BadCrawlDir`` for a damaged history.
    """
    ordering, frontier = crawl.ordering, crawl.frontier
    inherited_by_links: dict[str, tuple[float, ...]] = {}
    linked: dict[str, None] = {}
    revised: list[tuple[str, float]] = []
    sitemaps = read_sitemap_lines(crawl.folder.path)
    for line in read_lines(crawl.folder.path / "history.jsonl"):
        url = line["url"]
        if line["redirect"]:
            ordering.redirected(url, line["redirect"])
            _tell_if_barred(crawl, line["redirect"], line["depth"])
        elif line["error"] == SITEMAP:
            listed = _listed(crawl, line, sitemaps)
            ordering.listed(listed)
            inherited_by_links[url] = ordering.inherited_for_links(listed)
            revised = _ask(crawl, listed, linked)
        elif _repeats(line) or (line["error"] and line["error"] != NOT_KEPT):
            ordering.failed(url)
        elif (page := stored_page(crawl, line, inherited_by_links.get(line["parent"], ()))) is None:
            ordering.refused(url)
        else:
            ordering.observe(page)
            inherited_by_links[url] = ordering.inherited_for_links(page)
            revised = _ask(crawl, page, linked)
    crawl.admission.rescore(revised)
    known, waiting = _states(frontier, linked)
    for url in linked:
        if url in known and url not in waiting and url not in crawl.folder.history:
            ordering.refused(url)
    ordering.resumed(waiting)
    return len(inherited_by_links)


def _ask(crawl: Crawl, page: Page, linked: dict[str, None]) -> list[tuple[str, float]]:
    """What the ordering makes of the links of a page; the new scores of others. ``linked`` are those that are followed."""
    ordering = crawl.ordering
    for link in page.links:
        if ordering.score(page, link) is not None:
            _tell_if_barred(crawl, link.url, page.depth + 1)
            linked[link.url] = None
    revised = list(ordering.revise())
    _pass_over(ordering.put_aside(), ordering.recall())
    return revised


def _listed(crawl: Crawl, line: dict[str, Any], sitemaps: Iterator[tuple[str, list[str]]]) -> Page:
    """The links of a sitemap, as they were; none when its line is gone."""
    url = CrawlUrl(line["url"], line["score"], line["depth"], line["parent"])
    targets: list[str] = next((pages for sitemap, pages in sitemaps if sitemap == url.url), [])
    return crawl.sitemaps.page(url, targets)


def _states(frontier: Frontier, linked: Iterable[str]) -> tuple[Frontier | set[str], set[str]]:
    """What the frontier knows of what was linked, and what waits; of a shared one only what was linked here is asked."""
    if not isinstance(frontier, SharedFrontier):
        return frontier, {url.url for url in frontier.waiting() if url.kind != PROBE}
    states = frontier.states(linked)
    return {url for url, state in states.items() if state}, {url for url, state in states.items() if state == "waiting"}


def _pass_over(*answers: Iterable[object]) -> None:
    """Hear what the ordering wants without doing it: the frontier has done it already, or better since."""
    for answer in answers:
        deque(answer, maxlen=0)


def _tell_if_barred(crawl: Crawl, url: str, depth: int) -> None:
    if url not in crawl.frontier and crawl.admission.is_barred(url, depth):
        crawl.ordering.refused(url)


def _repeats(line: Mapping[str, Any]) -> bool:
    """Whether the page was the copy of another, with links of the same names: nothing was learned from it."""
    return bool(line.get("duplicate_of")) and OWN_LINKS not in (line.get("signs") or {})


def stored_page(crawl: Crawl, line: Mapping[str, Any], inherited: tuple[float, ...] = ()) -> Page | None:
    """The page of a line of the history, read and judged again; None when its file is not there."""
    try:
        body = crawl.folder.pages.load(line["url"])
    except FileNotFoundError:
        return None
    url = CrawlUrl(line["url"], line["score"], line["depth"], line["parent"], inherited=inherited)
    unfollowed = "" if line["links"] else "nofollow"  # as the headers of its response may have asked
    page = crawl.read(url, body, content_type=line.get("content_type", ""), robots_tag=unfollowed)
    return honest(crawl.score_links(replace(page, relevance=line["relevance"], spam=line.get("spam", 0.0))))
