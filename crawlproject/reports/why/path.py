"""The path of links from a seed to a page, read from the history."""

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
    """A page on the path. ``anchor`` and ``context_score`` belong to the link that led here; a seed has neither."""

    url: str
    title: str
    relevance: float
    score: float
    parent: str | None
    anchor: str
    context_score: float


def path_to(crawl_dir: Path, url: str) -> list[Step]:
    """The path to the canonical ``url``, from the seed to the page itself; empty when it was never fetched.

    The first step has no parent, unless the history was truncated. Raises ``BadCrawlDir`` for a damaged history.
    """
    return paths_to(crawl_dir, [url])[url]


def paths_to(crawl_dir: Path, urls: Collection[str]) -> dict[str, list[Step]]:
    """``path_to`` for several pages in one pass.

    A page precedes the pages found on it in the history. So the file is read backwards, and the number of URLs still
    wanted never exceeds the number of URLs given.
    """
    paths: dict[str, list[Step]] = {url: [] for url in urls}
    wanted: dict[str, list[str]] = {url: [url] for url in paths}
    for visit in _backwards(crawl_dir / HISTORY, wanted):
        for end in wanted.pop(visit.url):
            paths[end].append(_step(visit))
            if visit.parent is not None:
                wanted.setdefault(visit.parent, []).append(end)
    return {url: path[::-1] for url, path in paths.items()}


def _step(visit: Visit) -> Step:
    return Step(
        visit.url, visit.title, visit.relevance, visit.score, visit.parent, visit.anchor, visit.context_score
    )  # fmt: skip


def _backwards(path: Path, wanted: Collection[str]) -> Iterator[Visit]:
    """The fetches of the ``wanted`` URLs, latest first, until the caller wants no more."""
    if not path.exists():
        return
    for text in lines_backwards(path):
        if not wanted:
            return
        line = parse_line(text, path)
        if isinstance(line, dict) and line.get("url") in wanted and line.get("number", 1) == 1:
            yield visit_from(line, str(path))


def lines_backwards(path: Path, block: int = _BLOCK) -> Iterator[bytes]:
    """The lines of a file without line ends, last line first; an incomplete last line is skipped."""
    with path.open("rb") as file:
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
