"""Looks up the status of a URL in a crawl folder (fetched, waiting, refused, linked to, or never seen), and the path of links
that led to a page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from crawlproject.records import CrawlUrl, Visit
from crawlproject.storage.append_log import open_to_read, parse_line, read_lines, unexpected
from crawlproject.storage.logs import SHOWN
from crawlproject.storage.read import HISTORY, LINKS, RefusalCounts, first_visits, read_refused, read_visits, visit_from

SOURCES = 10  # listed pages that link to a URL

_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class FrontierStatus:
    """The status of a URL in the frontier: its ``record`` if it waits or is being fetched, None if it has left.

    ``ahead`` of the ``waiting`` URLs come before it. ``rests``, ``blocked`` and ``held`` are the seconds until the host has
    rested, until the end of its block, and until the hold of the URL ends; ``why_waits`` is the reason why the host is
    blocked, or comes later than its scores suggest.
    """

    record: CrawlUrl | None = None
    leased: bool = False
    ahead: int = 0
    waiting: int = 0
    rests: float = 0.0
    blocked: float = 0.0
    why_waits: str = ""
    held: float = 0.0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a URL was left out: ``reason`` as in ``refused.json``, in ``words``, and its ``count`` in the whole crawl.

    ``certain``: the rule refuses this URL; otherwise the cause is only possible.
    """

    reason: str
    words: str
    count: int = 0
    certain: bool = False


@dataclass(frozen=True, slots=True)
class LinkTo:
    """A link to the URL: the page that contains it, its text, and the cosine of its context with the keywords.

    ``depth`` is the depth of that page; ``copy`` says whether the page is a duplicate. Both are known for fetched pages only.
    """

    source: str
    anchor: str
    context_score: float
    depth: int = 0
    copy: bool = False


@dataclass(frozen=True, slots=True)
class UrlStatus:
    """Everything that a crawl folder records about one URL.

    ``visit`` is its line in the history, ``number`` its position among the ``fetches``, from 1. ``frontier`` is None if
    the frontier never held the URL, or is not on disk. ``path`` leads from a seed to the URL if it was fetched, else to the
    parent in its record. ``refused`` are the reasons whose samples include the URL, ``unlisted`` the reasons with more
    links than samples. ``links`` are the first of ``link_count`` links to it, read only for a URL that is neither fetched
    nor waiting; ``nearest`` is the smallest depth of their pages, ``copied`` is True if all these pages are duplicates.
    ``redirects`` are URLs that redirected to it, ``copies`` the first of ``copy_count`` duplicates; ``replaced_by`` is the
    better copy that the collection keeps in its place. ``again`` are its revisits.
    """

    url: str
    fetches: int = 0
    visit: Visit | None = None
    number: int = 0
    frontier: FrontierStatus | None = None
    path: tuple[PathStep, ...] = ()
    refused: tuple[RefusalCounts, ...] = ()
    unlisted: tuple[RefusalCounts, ...] = ()
    links: tuple[LinkTo, ...] = ()
    link_count: int = 0
    nearest: int = 0
    copied: bool = False
    redirects: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    copy_count: int = 0
    again: tuple[Visit, ...] = ()
    replaced_by: str = ""


def url_status(folder: Path, url: str, frontier: FrontierStatus | None = None) -> UrlStatus:
    """Look up the canonical ``url``; ``frontier`` is its status in the frontier. Raises ``BadCrawlDir``."""
    found, number, fetches, replaced_by = None, 0, 0, ""
    redirects: list[str] = []
    copies: list[str] = []
    again: list[Visit] = []
    for visit in read_visits(folder):
        fetches += 1
        if visit.number > 1:
            if visit.url == url:
                again.append(visit)
            continue
        if visit.url == url:
            found, number = visit, fetches
        if visit.redirect == url:
            redirects.append(visit.url)
        if visit.duplicate_of == url:
            copies.append(visit.url)
        if visit.replaces == url:
            replaced_by = visit.url
    redirected = tuple(redirects[:SOURCES])
    if found is not None:
        path = tuple(path_to(folder, url))
        return UrlStatus(
            url, fetches, found, number, frontier, path,
            redirects=redirected, copies=tuple(copies[:SOURCES]), copy_count=len(copies),
            again=tuple(again), replaced_by=replaced_by,
        )  # fmt: skip
    refused = read_refused(folder)
    record = frontier.record if frontier else None
    parent = record.parent if record else None
    links = [] if record else _with_page_facts(folder, links_to(folder, url))
    return UrlStatus(
        url,
        fetches,
        frontier=frontier,
        path=tuple(path_to(folder, parent)) if parent else (),
        refused=tuple(refusal for refusal in refused if url[:SHOWN] in dict(refusal.samples)),
        unlisted=tuple(refusal for refusal in refused if refusal.count > len(refusal.samples)),
        links=tuple(islice(links, SOURCES)),
        link_count=len(links),
        nearest=min((link.depth for link in links), default=0),
        copied=bool(links) and all(link.copy for link in links),
        redirects=redirected,
    )


def _with_page_facts(folder: Path, links: list[LinkTo]) -> list[LinkTo]:
    """Return the links from pages in the history, completed with depth and duplicate status of these pages."""
    sources = {link.source for link in links}
    if not sources:
        return links
    pages = {v.url: (v.depth, bool(v.duplicate_of)) for v in first_visits(folder) if v.url in sources}
    return [
        replace(link, depth=pages[link.source][0], copy=pages[link.source][1]) for link in links if link.source in pages
    ]


def links_to(folder: Path, url: str) -> list[LinkTo]:
    """Return the links to ``url`` on fetched pages, in fetch order; a rehearsal records none."""
    path = folder / LINKS
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            if line["target"] == url:
                found.append(LinkTo(line["source"], line["anchor"], line["context_score"]))
        except (KeyError, TypeError) as damage:
            raise unexpected(path, number, damage) from damage
    return found


@dataclass(frozen=True, slots=True)
class PathStep:
    """A page on the path. ``anchor`` and ``context_score`` belong to the link that led here; a seed has neither."""

    url: str
    title: str
    relevance: float
    score: float
    parent: str | None
    anchor: str
    context_score: float


def path_to(crawl_dir: Path, url: str) -> list[PathStep]:
    """Return the path to the canonical ``url``, from the seed to the page itself; empty if it was never fetched.

    The first step has no parent, unless the history was truncated. Raises ``BadCrawlDir`` for a damaged history.
    """
    return paths_to(crawl_dir, [url])[url]


def paths_to(crawl_dir: Path, urls: Collection[str]) -> dict[str, list[PathStep]]:
    """Return ``path_to`` for several pages, in one pass.

    In the history, a page precedes the pages found on it. So the file is read backwards, and the number of wanted URLs
    never exceeds the number of given URLs.
    """
    paths: dict[str, list[PathStep]] = {url: [] for url in urls}
    wanted: dict[str, list[str]] = {url: [url] for url in paths}
    for visit in _backwards(crawl_dir / HISTORY, wanted):
        for end in wanted.pop(visit.url):
            paths[end].append(_step(visit))
            if visit.parent is not None:
                wanted.setdefault(visit.parent, []).append(end)
    return {url: path[::-1] for url, path in paths.items()}


def _step(visit: Visit) -> PathStep:
    return PathStep(
        visit.url, visit.title, visit.relevance, visit.score, visit.parent, visit.anchor, visit.context_score
    )  # fmt: skip


def _backwards(path: Path, wanted: Collection[str]) -> Iterator[Visit]:
    """Yield the first visits of the ``wanted`` URLs, latest first, until ``wanted`` is empty."""
    if not path.exists():
        return
    for text in lines_backwards(path):
        if not wanted:
            return
        line = parse_line(text, path)
        if isinstance(line, dict) and line.get("url") in wanted and line.get("number", 1) == 1:
            yield visit_from(line, str(path))


def lines_backwards(path: Path, block: int = _BLOCK) -> Iterator[bytes]:
    """Yield the lines of a file without line ends, last line first; an incomplete last line is skipped."""
    with open_to_read(path) as file:
        start = file.seek(0, 2)
        rest = b""
        torn = True  # the text after the last newline is not a whole line
        while start:
            size = min(block, start)
            start -= size
            file.seek(start)
            first, *lines = (file.read(size) + rest).split(b"\n")
            if lines and torn:
                lines.pop()
                torn = False
            yield from reversed(lines)
            rest = first
        if not torn:
            yield rest
