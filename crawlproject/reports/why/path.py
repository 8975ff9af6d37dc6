"""Why a page was crawled: the path of links from a seed to it, read from the history alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from crawlproject.records import Visit
from crawlproject.storage.append_log import parse_line
from crawlproject.storage.read import HISTORY, visit_from

_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Step:
    """A page on the path. ``anchor`` and ``context_score`` are of the link that led here; the seed has neither."""

    url: str
    title: str
    relevance: float
    score: float
    parent: str | None
    anchor: str
    context_score: float


def why(crawl_dir: Path, url: str) -> list[Step]:
    """The path to ``url`` (canonical), from the seed to the page itself; empty when it was never fetched.

    The first step has no parent, unless the history was cut. Raises ``BadCrawlDir`` for a damaged history.
    """
    return why_each(crawl_dir, [url])[url]


def why_each(crawl_dir: Path, urls: Collection[str]) -> dict[str, list[Step]]:
    """``why`` for several pages at once, in one pass.

    A page is in the history before the pages it led to. So the file is read from its end, and what is still looked
    for is never more than the URLs asked for.
    """
    paths: dict[str, list[Step]] = {url: [] for url in urls}
    wanted: dict[str, list[str]] = {url: [url] for url in paths}
    for visit in _backwards(crawl_dir / HISTORY, wanted):
        for asked in wanted.pop(visit.url):
            paths[asked].append(_step(visit))
            if visit.parent is not None:
                wanted.setdefault(visit.parent, []).append(asked)
    return {url: path[::-1] for url, path in paths.items()}


def _step(visit: Visit) -> Step:
    return Step(
        visit.url, visit.title, visit.relevance, visit.score, visit.parent, visit.anchor, visit.context_score
    )  # fmt: skip


def _backwards(path: Path, wanted: Collection[str]) -> Iterator[Visit]:
    """The fetches of the URLs that are ``wanted`` at that moment, the last one first, until none is."""
    if not path.exists():
        return
    for text in lines_backwards(path):
        if not wanted:
            return
        line = parse_line(text, path)
        if isinstance(line, dict) and line.get("url") in wanted:
            yield visit_from(line, str(path))


def lines_backwards(path: Path, block: int = _BLOCK) -> Iterator[bytes]:
    """The lines of a file without their ends, the last one first; a last line without its end is passed over."""
    with path.open("rb") as file:
        start = file.seek(0, 2)
        rest = b""
        torn = True  # what follows the last newline is no whole line
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
