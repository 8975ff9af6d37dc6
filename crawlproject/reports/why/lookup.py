"""Where a URL is in a crawl, and why: fetched, waiting, refused, linked to, or never seen. Read from the crawl folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from crawlproject.records import CrawlUrl, Visit
from crawlproject.reports.why.path import Step, why
from crawlproject.storage.append_log import read_lines, unexpected
from crawlproject.storage.read import RefusalCounts, read_refused, read_visits
from crawlproject.storage.refusals import SHOWN

LINKS = "links.jsonl"
SOURCES = 10  # pages linking to a URL that are listed


@dataclass(frozen=True, slots=True)
class FrontierStatus:
    """What the frontier knows: ``record`` of a URL that waits or is being fetched, None for one that left it.

    ``ahead`` of the ``waiting`` URLs have higher scores. ``rests`` is for how many seconds its host is left alone yet,
    ``held`` for how many the URL itself has to wait.
    """

    record: CrawlUrl | None = None
    leased: bool = False
    ahead: int = 0
    waiting: int = 0
    rests: float = 0.0
    held: float = 0.0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a URL may have been left out: ``reason`` as in ``refused.json``, in words, and how often it happened in all.

    ``certain``: the rule refuses this very URL; else it is one of the things that can have happened to it.
    """

    reason: str
    words: str
    count: int = 0
    certain: bool = False


@dataclass(frozen=True, slots=True)
class LinkTo:
    """A link to the URL: the page it is on, its text, and the cosine of its context with the keywords.

    ``depth`` is that of the page, ``copy`` tells that it has the text of another one; both of fetched pages only.
    """

    source: str
    anchor: str
    context_score: float
    depth: int = 0
    copy: bool = False


@dataclass(frozen=True, slots=True)
class UrlStatus:
    """All that a crawl folder tells about one URL.

    ``visit`` is its line of history, ``number`` its place among ``fetches``, from 1 on. ``standing`` is None when the
    frontier never had it, or is not on disk. ``path`` leads from a seed to the URL when it was fetched, else to the
    page that its record names. ``refused`` are the reasons whose samples have the URL; ``unlisted`` those with more
    links than samples. ``links`` are the first pages that link to it, of ``link_count``; they are only looked for when
    it was neither fetched nor waits. ``nearest`` is the least depth of these pages, ``copied`` tells that all of them
    are copies. ``redirects`` are the URLs that redirected to it, ``copies`` those with its text: the first ones, of
    ``copy_count``.
    """

    url: str
    fetches: int = 0
    visit: Visit | None = None
    number: int = 0
    standing: FrontierStatus | None = None
    path: tuple[Step, ...] = ()
    refused: tuple[RefusalCounts, ...] = ()
    unlisted: tuple[RefusalCounts, ...] = ()
    links: tuple[LinkTo, ...] = ()
    link_count: int = 0
    nearest: int = 0
    copied: bool = False
    redirects: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    copy_count: int = 0


def url_status(folder: Path, url: str, standing: FrontierStatus | None = None) -> UrlStatus:
    """Everything about ``url``, which is canonical; ``standing`` is what the frontier says. Raises ``BadCrawlDir``."""
    found, number, fetches = None, 0, 0
    redirects: list[str] = []
    copies: list[str] = []
    for visit in read_visits(folder):
        fetches += 1
        if visit.url == url:
            found, number = visit, fetches
        if visit.redirect == url:
            redirects.append(visit.url)
        if visit.duplicate_of == url:
            copies.append(visit.url)
    came = tuple(redirects[:SOURCES])
    if found is not None:
        way = tuple(why(folder, url))
        return UrlStatus(
            url, fetches, found, number, standing, way,
            redirects=came, copies=tuple(copies[:SOURCES]), copy_count=len(copies),
        )  # fmt: skip
    refused = read_refused(folder)
    record = standing.record if standing else None
    parent = record.parent if record else None
    links = [] if record else _with_their_pages(folder, links_to(folder, url))
    return UrlStatus(
        url,
        fetches,
        standing=standing,
        path=tuple(why(folder, parent)) if parent else (),
        refused=tuple(refusal for refusal in refused if url[:SHOWN] in dict(refusal.samples)),
        unlisted=tuple(refusal for refusal in refused if refusal.count > len(refusal.samples)),
        links=tuple(islice(links, SOURCES)),
        link_count=len(links),
        nearest=min((link.depth for link in links), default=0),
        copied=bool(links) and all(link.copy for link in links),
        redirects=came,
    )


def _with_their_pages(folder: Path, links: list[LinkTo]) -> list[LinkTo]:
    """The links with what the history knows of the pages that they are on."""
    sources = {link.source for link in links}
    if not sources:
        return links
    pages = {v.url: (v.depth, bool(v.duplicate_of)) for v in read_visits(folder) if v.url in sources}
    return [
        replace(link, depth=pages[link.source][0], copy=pages[link.source][1]) for link in links if link.source in pages
    ]


def links_to(folder: Path, url: str) -> list[LinkTo]:
    """The links to ``url`` on fetched pages, in fetch order; none in the folder of a rehearsal."""
    path = folder / LINKS
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            if line["target"] == url:
                found.append(LinkTo(line["source"], line["anchor"], line["context_score"]))
        except (KeyError, TypeError) as damage:
            raise unexpected(path, number, damage) from damage
    return found
